import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findInstanceKey, makeInstanceKey, openVault, replaceInstanceKeys } from './vault.ts';

const vault = openVault('00112233445566778899aabbccddeeff'.repeat(2));
const other = openVault('ff112233445566778899aabbccddeeff'.repeat(2));
const texts = ['', 'whsec_secret', 'é👍\u2028', 'x'.repeat(100_000)];

test('sealed text unseals to the same text, and sealing it again gives other bytes', () => {
  for (const text of texts) {
    const [once, twice] = [vault.seal('webhook secrets', text), vault.seal('webhook secrets', text)];
    assert.equal(vault.unseal('webhook secrets', once), text);
    assert.notDeepEqual(once, twice);
    if (text.length > 8) assert.ok(!once.includes(text));
  }
});

test('a changed byte, a truncated end, another purpose and another key are all rejected', () => {
  const sealed = vault.seal('webhook secrets', 'secret');
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    assert.throws(() => vault.unseal('webhook secrets', changed), `byte ${index}`);
  }
  for (const length of [0, 5, 12, 28, sealed.length - 1]) {
    assert.throws(() => vault.unseal('webhook secrets', sealed.subarray(0, length)), `${length} bytes`);
  }
  assert.throws(() => vault.unseal('sessions', sealed));
  assert.throws(() => other.unseal('webhook secrets', sealed));
});

test('a signature is valid for one text, one purpose and one key', () => {
  const signature = vault.sign('file links', ['a']);
  assert.equal(vault.verify('file links', ['a'], signature), true);
  for (const [purpose, text, given] of [
    ['file links', ['b'], signature],
    ['file links', ['a', ''], signature],
    ['held uploads', ['a'], signature],
    ['file links', ['a'], ''],
    ['file links', ['a'], `${signature}A`],
    ['file links', ['a'], other.sign('file links', ['a'])],
  ] as const) {
    assert.equal(vault.verify(purpose, text, given), false);
  }
});

test('each purpose derives its own key, always the same', () => {
  const keys = (['webhook secrets', 'file links', 'sessions', 'held uploads'] as const).map((purpose) =>
    vault.derive(purpose).join(),
  );
  assert.equal(new Set(keys).size, 4);
  for (const key of keys) assert.match(key, /^[0-9a-f]{64}$/);
  assert.deepEqual(vault.derive('sessions'), [keys[2]]);
});

const changed = openVault(`${'ab'.repeat(32)},${'ff112233445566778899aabbccddeeff'.repeat(2)}`);

test('text sealed or signed with a previous key remains valid, and new text uses the current key', () => {
  const sealed = other.seal('mails', 'a');
  assert.equal(changed.unseal('mails', sealed), 'a');
  assert.ok(changed.verify('file links', ['a'], other.sign('file links', ['a'])));
  assert.deepEqual(changed.signatures('mails', ['a']).slice(1), other.signatures('mails', ['a']));
  assert.deepEqual(changed.derive('sessions').slice(1), other.derive('sessions'));
  const anew = changed.seal('mails', 'a');
  assert.deepEqual(anew.subarray(0, 4), changed.keyId);
  assert.notDeepEqual(changed.keyId, other.keyId);
  assert.throws(() => other.unseal('mails', anew));
  assert.equal(other.verify('file links', ['a'], changed.sign('file links', ['a'])), false);
  assert.throws(() => changed.unseal('mails', vault.seal('mails', 'a')), /None of the keys/);
});

test('text sealed before keys had IDs can be unsealed, even if it begins like a key ID', () => {
  for (const key of [other, changed]) {
    const old = key.seal('mails', 'old').subarray(4);
    assert.equal(changed.unseal('mails', old), 'old');
  }
  // A nonce that begins with the key's ID: one in four billion does.
  const nonce = Buffer.concat([changed.keyId, Buffer.alloc(8, 7)]);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(changed.derive('mails')[0], 'hex'), nonce);
  const text = Buffer.concat([cipher.update('old'), cipher.final()]);
  assert.equal(changed.unseal('mails', Buffer.concat([nonce, cipher.getAuthTag(), text])), 'old');
});

const home = await mkdtemp(join(tmpdir(), 'formloom-vault-'));
after(() => rm(home, { recursive: true }));

test('SECRET_KEY becomes the key, in lower case, and no file is written', async () => {
  const dataDir = join(home, 'unused');
  assert.equal(await findInstanceKey(dataDir, 'AB'.repeat(32)), 'ab'.repeat(32));
  await assert.rejects(stat(dataDir), { code: 'ENOENT' });
});

test('without SECRET_KEY a key file is created for the owner alone, and every later start reads it', async () => {
  const dataDir = join(home, 'deep', 'data');
  assert.equal(await findInstanceKey(dataDir, undefined), undefined);
  const key = await makeInstanceKey(dataDir);
  assert.match(key, /^[0-9a-f]{64}$/);
  assert.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600);
  assert.equal(await findInstanceKey(dataDir, undefined), key);
  assert.deepEqual(await readdir(dataDir), ['secret.key']);
});

test('twenty parallel first starts agree on one key, and leave no other files behind', async () => {
  const dataDir = join(home, 'raced');
  const keys = await Promise.all(Array.from({ length: 20 }, () => makeInstanceKey(dataDir)));
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(await readdir(dataDir), ['secret.key']);
});

test('an invalid key file stops the start and is not changed', async () => {
  const dataDir = join(home, 'broken');
  await makeInstanceKey(dataDir);
  await writeFile(join(dataDir, 'secret.key'), 'half a ke');
  await assert.rejects(
    findInstanceKey(dataDir, undefined),
    /secret\.key does not contain a key .* Restore it/,
  );
  assert.equal(await readFile(join(dataDir, 'secret.key'), 'utf8'), 'half a ke');
});

test('a key file that root replaces keeps its owner, the user who runs the service', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root gives files away');
  const dataDir = join(home, 'given');
  await makeInstanceKey(dataDir);
  await chown(join(dataDir, 'secret.key'), 65_534, 65_534);
  await replaceInstanceKeys(dataDir, 'ab'.repeat(32));
  const { uid, gid, mode } = await stat(join(dataDir, 'secret.key'));
  assert.deepEqual({ uid, gid, mode: mode & 0o777 }, { uid: 65_534, gid: 65_534, mode: 0o600 });
  assert.deepEqual(await readdir(dataDir), ['secret.key']);
});
