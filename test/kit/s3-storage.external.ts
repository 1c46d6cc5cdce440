import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { s3Storage } from '#kit/storage/open-storage.ts';
import { openBucket } from '#kit/storage/s3-bucket.ts';
import { openSwift } from '../swift.ts';
import { streamOf, testStorage } from './test-storage.ts';

/* A store that others run: what the one of s3-storage.test.ts lets pass it may sign, split, list or name otherwise. */

const { settings } = await openSwift();
const spool = await mkdtemp(join(tmpdir(), 'formloom-spool-'));
after(() => rm(spool, { recursive: true }));
const storage = s3Storage(settings, spool, 0);
const bucket = openBucket(settings);

testStorage(storage, () => bucket.list(''));

test('a file that is sent in parts is read again as one, and goes with all of them', async () => {
  const before = await bucket.list('');
  const bytes = Buffer.alloc(19 * 1024 * 1024, 'part');
  await storage.put('ws/ff/parts', streamOf(bytes), bytes.length);
  assert.ok((await buffer((await storage.open('ws/ff/parts'))!)).equals(bytes));
  await storage.remove('ws/ff/parts');
  assert.deepEqual(await bucket.list(''), before);
});

test('more keys are listed than one answer has, each by its name', async () => {
  const keys = Array.from({ length: 1_005 }, (_, index) => `many/${String(index).padStart(4, '0')} ü+&`);
  // Some at once, as an instance has them under way.
  for (let index = 0; index < keys.length; index += 15)
    await Promise.all(keys.slice(index, index + 15).map((key) => storage.put(key, streamOf('x'), 1)));
  assert.deepEqual(await bucket.list('many/'), keys);
});

test('who has another key gets nothing in and nothing out', async () => {
  const stranger = s3Storage({ ...settings, secretAccessKey: 'another' }, spool, 0);
  const before = await bucket.list('');
  await assert.rejects(stranger.put('ws/ff/refused', streamOf('x'), 10), /Files cannot be stored/);
  await assert.rejects(stranger.open('many/0000 ü+&'), /Files cannot be stored/);
  assert.deepEqual(await bucket.list(''), before);
});
