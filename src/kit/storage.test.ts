import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { streamOf, testStorage } from '#test/kit/test-storage.ts';
import { diskStorage } from './storage.ts';

const directory = await mkdtemp(join(tmpdir(), 'formloom-disk-'));
after(() => rm(directory, { recursive: true }));
const storage = diskStorage(join(directory, 'uploads'), 0);

const left = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

testStorage(storage, left);

test('a key is a path below the directory, readable only by its owner, whatever the umask is', async () => {
  const umask = process.umask(0);
  try {
    await storage.put('ws/ff/mine', streamOf('x'), 10);
    await storage.put('open/to/all', streamOf('x'), 10);
  } finally {
    process.umask(umask);
  }
  assert.equal((await stat(join(directory, 'uploads', 'open', 'to'))).mode & 0o777, 0o750);
  assert.equal((await stat(join(directory, 'uploads', 'ws', 'ff', 'mine'))).mode & 0o777, 0o600);
});

test('an open stream reads to its end, even if the file is removed meanwhile', async () => {
  await storage.put('ws/ff/read', streamOf('still here'), 100);
  const stream = (await storage.open('ws/ff/read'))!;
  await storage.remove('ws/ff/read');
  assert.equal(await text(stream), 'still here');
});

test('a file that a crash left half-written is not readable under its key, and is removed with the key', async () => {
  await storage.put('ws/gg/other', streamOf('x'), 10);
  const before = await left();
  await writeFile(join(directory, 'uploads', 'ws', 'gg', 'crashed.part'), 'half');
  assert.equal(await storage.open('ws/gg/crashed'), undefined);
  await storage.remove('ws/gg/crashed');
  assert.deepEqual(await left(), before);
});

test('a file that does not fit on the disk is rejected as a whole, not cut off', async () => {
  const place = join(directory, 'full');
  const put = `
    const { diskStorage } = await import(${JSON.stringify(new URL('storage.ts', import.meta.url).href)});
    const { Readable } = await import('node:stream');
    const source = Readable.from([Buffer.alloc(100_000)], { objectMode: false });
    await diskStorage(${JSON.stringify(place)}, 0).put('cut', source, 1_000_000).then(
      ({ size }) => console.log('stored', size),
      ({ code, cause }) => console.log(code, cause.message, cause.cause.code),
    );`;
  // To a write, this limit looks like a disk with 16 KB of free space.
  const limited = [
    '-c',
    'ulimit -f 32 && exec "$0" --disable-warning=ExperimentalWarning -e "$1"',
    process.execPath,
  ];
  const { stdout } = await promisify(execFile)('sh', [...limited, put]);
  assert.equal(
    stdout.trim(),
    `service_unavailable ${join(place, 'cut')} cannot be written: EFBIG: file too large, write EFBIG`,
  );
  assert.deepEqual(await readdir(place), []);
});
