import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { openS3Server } from '#test/s3-server.ts';
import { s3Storage } from './s3-storage.ts';
import { streamOf, testStorage } from './testing.ts';

const { directory, settings } = await openS3Server();
const spool = join(directory, 'spool');
const storage = s3Storage(settings, spool, 0);

/** Objects in the bucket and files in the spool. */
const left = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter(
      (entry) => entry.isFile() && !entry.name.includes('._S3rver_metadata') && !entry.name.includes('md5'),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

testStorage(storage, left);

test('nothing stays in the spool', async () => {
  await storage.put('ws/ff/spooled', streamOf('x'), 10);
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});

test('a file that a crash left in the spool goes when its key is removed', async () => {
  await mkdir(join(spool, 'ws', 'ff'), { recursive: true });
  await writeFile(join(spool, 'ws', 'ff', 'crashed'), 'whole');
  await storage.remove('ws/ff/crashed');
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});

test('a file that is sent in parts is read again as one', async () => {
  const bytes = Buffer.alloc(9 * 1024 * 1024, 'part');
  await storage.put('ws/ff/parts', streamOf(bytes), bytes.length);
  assert.ok((await buffer((await storage.open('ws/ff/parts'))!)).equals(bytes));
});

test('a store that refuses is an error, and nothing stays', async () => {
  const stranger = s3Storage({ ...settings, accessKeyId: 'STRANGER' }, spool, 0);
  const before = await left();
  await assert.rejects(stranger.put('ws/ff/refused', streamOf('x'), 10));
  await assert.rejects(stranger.open('ws/ff/spooled'));
  assert.deepEqual(await left(), before);
});

test('a store that is away is an error, and nothing stays', async () => {
  const away = s3Storage({ ...settings, endpoint: 'http://127.0.0.1:1/uploads' }, spool, 0);
  await assert.rejects(away.put('ws/ff/away', streamOf('x'), 10));
  assert.deepEqual(
    (await left()).filter((path) => path.startsWith(spool)),
    [],
  );
});
