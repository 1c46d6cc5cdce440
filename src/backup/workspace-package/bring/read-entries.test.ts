import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { tarStream } from '#kit/tar-stream.ts';
import { readEntries } from './read-entries.ts';

/** Much when it is unpacked, and little before: there is always more to come when somebody stops. */
const size = 20_000_000;
const packed = (): Readable =>
  tarStream(async (tar) => {
    await tar.addText('first.json', '{}');
    await tar.add('records.ndjson', size, Readable.from(blanks()));
  });

function* blanks(): Generator<Buffer> {
  for (let left = size; left > 0; left -= 100_000) yield Buffer.alloc(100_000, '\n');
}

test('who stops amid a file, at any moment of it, stops its unpacking and nothing else', async () => {
  const file = await buffer(packed());
  for (const chunks of [0, 2, 10_000])
    for (let turns = 0; turns < 6; turns += 1) {
      let left = chunks;
      await assert.rejects(async () => {
        for await (const { name, body } of readEntries(Readable.from([file]))) {
          if (name === 'records.ndjson' && chunks > 0) for await (const _ of body) if (--left === 0) break;
          for (let turn = 0; turn < turns; turn += 1) await setImmediate();
          if (name === 'records.ndjson') throw new Error('it is refused');
          else for await (const _ of body);
        }
      }, /it is refused/);
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    }
});

test('who stops amid a file that is being packed stops its packing, and nothing else', async () => {
  for (let round = 0; round < 10; round += 1) {
    const file = packed();
    for await (const chunk of file) {
      assert.ok(chunk.length > 0);
      break;
    }
    assert.equal(file.destroyed, true);
  }
  // What is left of them comes to its end meanwhile.
  await buffer(packed());
});
