import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { openBucket, s3Storage } from '#kit/storage/open-storage.ts';
import { openSwift } from '../swift.ts';
import { streamOf, testStorage } from './test-storage.ts';

/*
 * A real storage server. It may be stricter about signatures, parts, lists or names than the fake one of
 * s3-storage.test.ts.
 */

const { settings } = await openSwift();
const spool = await mkdtemp(join(tmpdir(), 'formloom-spool-'));
after(() => rm(spool, { recursive: true }));
const storage = s3Storage(settings, spool, 0);
const bucket = openBucket(settings);

testStorage(storage, () => bucket.list(''));

test('a file uploaded in parts is read back as one and deleted with all its parts', async () => {
  const before = await bucket.list('');
  const bytes = Buffer.alloc(19 * 1024 * 1024, 'part');
  await storage.put('ws/ff/parts', streamOf(bytes), bytes.length);
  assert.ok((await buffer((await storage.open('ws/ff/parts'))!)).equals(bytes));
  await storage.remove('ws/ff/parts');
  assert.deepEqual(await bucket.list(''), before);
});

test('a list with more keys than one response holds returns every key by its name', async () => {
  const keys = Array.from({ length: 1_005 }, (_, index) => `many/${String(index).padStart(4, '0')} ü+&`);
  // In parallel batches, as in a running instance.
  for (let index = 0; index < keys.length; index += 15)
    await Promise.all(keys.slice(index, index + 15).map((key) => storage.put(key, streamOf('x'), 1)));
  assert.deepEqual(await bucket.list('many/'), keys);
});

test('a client with a wrong key can neither read nor write', async () => {
  const stranger = s3Storage({ ...settings, secretAccessKey: 'another' }, spool, 0);
  const before = await bucket.list('');
  await assert.rejects(stranger.put('ws/ff/refused', streamOf('x'), 10), /Files cannot be stored/);
  await assert.rejects(stranger.open('many/0000 ü+&'), /Files cannot be stored/);
  assert.deepEqual(await bucket.list(''), before);
});
