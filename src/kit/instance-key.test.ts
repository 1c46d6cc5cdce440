import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { openInstanceVault } from './instance-key.ts';
import { InstanceKeyError } from './vault.ts';

const { database } = await testDatabase();
const home = await mkdtemp(join(tmpdir(), 'formloom-key-'));
after(() => rm(home, { recursive: true }));
const open = (name: string, secretKey?: string, options?: { replaces: boolean }) =>
  openInstanceVault(database, { dataDir: join(home, name), secretKey }, options);
const refused = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof InstanceKeyError);
  assert.match(error.message, words);
  return true;
};

test('of two first processes with different keys, one is rejected, and so is any other key later', async () => {
  const keys = ['1a'.repeat(32), '2b'.repeat(32)];
  const [one, two] = await Promise.allSettled(keys.map((key) => open('none', key)));
  assert.deepEqual([one!.status, two!.status].sort(), ['fulfilled', 'rejected']);
  const [taken, other] = one!.status === 'fulfilled' ? keys : keys.toReversed();
  await open('none', taken);
  await open('none', taken!.toUpperCase());
  await assert.rejects(open('none', other), refused(/a key other than SECRET_KEY.*instance-key replace/s));
});

test('a key file without a valid key is rejected, and the error does not show its content', async () => {
  await mkdir(join(home, 'torn'));
  await writeFile(join(home, 'torn', 'secret.key'), '1a1a\n');
  await assert.rejects(
    open('torn'),
    refused(
      /^(?!.*1a1a).*torn\/secret\.key does not contain a key.*backup.*delete the file.*instance-key replace/s,
    ),
  );
});

test('a missing key file is created again only if the key is declared lost', async () => {
  await assert.rejects(
    open('gone'),
    refused(/gone.*secret\.key does not exist.*Restore.*instance-key replace/s),
  );
  await assert.rejects(stat(join(home, 'gone')), { code: 'ENOENT' });

  const vault = await open('gone', undefined, { replaces: true });
  const sealed = vault.seal('webhook secrets', 'new');
  assert.equal((await open('gone')).unseal('webhook secrets', sealed), 'new');
  await assert.rejects(open('none', '1a'.repeat(32)), refused(/a key other than/));
  await assert.rejects(open('none', '2b'.repeat(32)), refused(/a key other than/));
});
