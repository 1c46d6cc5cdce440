import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileSignatureBytes, pieceBytes, type Storage, type StoredPieces } from '#kit/storage.ts';

// Helpers for the tests of this room. Only tests import this file.

export const streamOf = (...chunks: readonly (string | Buffer)[]): Readable =>
  Readable.from(
    chunks.map((chunk) => Buffer.from(chunk as string)),
    { objectMode: false },
  );

/**
 * Tests what every storage guarantees (storage.ts). `left` lists everything the storage contains, including
 * temporary files.
 */
export function testStorage(storage: Storage, left: () => Promise<readonly string[]>): void {
  const read = async (key: string): Promise<Buffer | undefined> => {
    const stream = await storage.open(key);
    return stream && buffer(stream);
  };
  const limit = 1_000_000;

  test('a stored object is read back byte for byte, with its size and first bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const written = await storage.put(
      'ws/aa/large',
      streamOf(bytes.subarray(0, 3), bytes.subarray(3, 100_000), bytes.subarray(100_000)),
      limit,
    );
    assert.equal(written.size, 300_000);
    assert.deepEqual(written.head, bytes.subarray(0, fileSignatureBytes));
    assert.deepEqual(await read('ws/aa/large'), bytes);
  });

  test('an empty stream is an empty object', async () => {
    assert.deepEqual(await storage.put('ws/aa/empty', streamOf(), limit), { size: 0, head: Buffer.alloc(0) });
    assert.deepEqual(await read('ws/aa/empty'), Buffer.alloc(0));
  });

  test('an object of exactly the limit is stored, and one byte more is refused as too large and leaves nothing', async () => {
    const before = await left();
    await assert.rejects(storage.put('ws/bb/over', streamOf(Buffer.alloc(limit), 'x'), limit), {
      code: 'payload_too_large',
    });
    assert.deepEqual(await left(), before);
    assert.equal((await storage.put('ws/bb/full', streamOf(Buffer.alloc(limit)), limit)).size, limit);
  });

  test('a stream that breaks off leaves nothing', async () => {
    const before = await left();
    const broken = Readable.from(
      (async function* chunks() {
        yield Buffer.alloc(1_000);
        throw new Error('cut');
      })(),
      { objectMode: false },
    );
    await assert.rejects(storage.put('ws/cc/broken', broken, limit), /cut/);
    assert.deepEqual(await left(), before);
    assert.equal(await read('ws/cc/broken'), undefined);
  });

  test('a missing object opens as undefined and may be removed', async () => {
    assert.equal(await storage.open('ws/dd/none'), undefined);
    await storage.remove('ws/dd/none');
  });

  test('removing an object leaves its neighbor', async () => {
    const before = await left();
    await storage.put('ws/ee/one', streamOf('1'), limit);
    const withOne = await left();
    await storage.put('ws/ee/two', streamOf('2'), limit);
    await storage.remove('ws/ee/two');
    assert.deepEqual(await left(), withOne);
    assert.equal(String(await read('ws/ee/one')), '1');
    await storage.remove('ws/ee/one');
    assert.deepEqual(await left(), before);
  });

  test('an upload in pieces continues where it was saved, and becomes an object at its end', async () => {
    const before = await left();
    const bytes = randomBytes(2 * pieceBytes + 9);
    const key = 'ws/ff/pieces';
    const append = (stored: StoredPieces, end: number) =>
      storage.append(key, stored, streamOf(bytes.subarray(stored.size, end)));
    const begun = await append({ size: 0 }, 5);
    const first = await append(begun, pieceBytes);
    await append(first, pieceBytes + 3);
    // A crash before the last step was saved.
    const second = await append(await append(first, pieceBytes + 2), 2 * pieceBytes);
    const whole = await append(second, bytes.length);
    assert.equal(whole.size, bytes.length);
    assert.equal(await read(key), undefined);
    await storage.finish(key, whole);
    await storage.finish(key, whole);
    assert.ok((await read(key))?.equals(bytes));
    const part = await storage.open(key, { start: pieceBytes - 1, end: pieceBytes + 1 });
    assert.deepEqual(await buffer(part!), bytes.subarray(pieceBytes - 1, pieceBytes + 2));
    await storage.remove(key);
    assert.deepEqual(await left(), before);
  });

  test('an upload in pieces whose bytes are lost is gone, and removing one leaves nothing', async () => {
    const before = await left();
    await assert.rejects(storage.append('ws/ff/lost', { size: 3, id: 'x' }, streamOf('x')), { code: 'gone' });
    await storage.remove('ws/ff/lost');
    const begun = await storage.append('ws/ff/begun', { size: 0 }, streamOf('x'));
    await storage.remove('ws/ff/begun', begun);
    assert.deepEqual(await left(), before);
  });

  test('twenty parallel writes to a folder that does not exist yet are all stored', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `new/${index % 3}/${index}`);
    await Promise.all(keys.map((key) => storage.put(key, streamOf(key), limit)));
    assert.deepEqual(await Promise.all(keys.map(async (key) => String(await read(key)))), keys);
  });
}
