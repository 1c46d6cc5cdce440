import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { isSlice } from '#test/cases.ts';
import { type ArchiveWriter, readArchive, writeArchive } from './archive.ts';
import { BackupError } from './fill-table.ts';

const home = await mkdtemp(join(tmpdir(), 'formloom-archive-'));
after(() => rm(home, { recursive: true }));
const large = randomBytes(3_000_000);

async function write(name: string, passphrase?: string): Promise<string> {
  const path = join(home, name);
  await writeArchive(path, passphrase, async (archive) => {
    await archive.add('first', 5, Buffer.from('first'));
    await archive.add('a/large', large.length, Readable.from([large.subarray(0, 7), large.subarray(7)]));
    await archive.add('empty', 0, Buffer.alloc(0));
  });
  return path;
}

async function read(path: string, passphrase?: string): Promise<[string, Buffer][]> {
  const entries: [string, Buffer][] = [];
  for await (const { name, body } of readArchive(path, passphrase)) entries.push([name, await buffer(body)]);
  return entries;
}

const all = [
  ['first', Buffer.from('first')],
  ['a/large', large],
  ['empty', Buffer.alloc(0)],
];

test('an archive is read as it was written', async () => {
  assert.deepEqual(await read(await write('whole')), all);
});

test('an archive that is truncated or changed anywhere is rejected', async () => {
  const path = await write('broken');
  const bytes = await readFile(path);
  for (const at of [20, 300, Math.floor(bytes.length / 2), bytes.length - 40]) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    await writeFile(path, changed);
    await assert.rejects(read(path), BackupError, `changed at ${at}`);
    await writeFile(path, bytes);
    await truncate(path, at);
    await assert.rejects(read(path), BackupError, `cut at ${at}`);
  }
});

test('a sealed archive only opens with its passphrase, and reveals nothing of its content', async () => {
  const path = await write('sealed', 'correct horse');
  assert.deepEqual(await read(path, 'correct horse'), all);
  await assert.rejects(read(path), /is encrypted\. Pass its passphrase/);
  await assert.rejects(read(path, 'wrong'), /with this passphrase/);
  assert.ok(!(await readFile(path)).includes('first'));
});

test('deriving a key from a passphrase takes half a second, and does not block the event loop', {
  skip: isSlice,
}, async () => {
  const before = performance.eventLoopUtilization();
  await write('beside', 'correct horse');
  const { utilization } = performance.eventLoopUtilization(before);
  assert.ok(utilization < 0.8, `the event loop was busy for ${utilization} of the time`);
});

test('an error while an archive is written leaves no file, and replaces none', async () => {
  const broken = writeArchive(join(home, 'none'), undefined, async (archive) => {
    await archive.add('short', 10, Buffer.from('five!'));
  });
  await assert.rejects(broken);
  const path = await write('there');
  const bytes = await readFile(path);
  await assert.rejects(write('there'), /already exists/);
  assert.deepEqual(await readFile(path), bytes);
  assert.deepEqual(
    (await readdir(home)).filter((name) => /none|part/.test(name)),
    [],
  );
});

test("of two writers to one file the first stops and leaves the other's file; a file that appears meanwhile is kept", async () => {
  const path = join(home, 'twice');
  const second = Promise.withResolvers<void>();
  const first = writeArchive(path, undefined, async (archive) => {
    await archive.add('first', large.length, large);
    const other = writeArchive(path, undefined, (beside) => beside.add('second', large.length, large));
    second.resolve(other);
    await archive.add('more', large.length, large);
  });
  await assert.rejects(first, /Another backup.*this one was stopped/);
  await second.promise;
  assert.deepEqual(await read(path), [['second', large]]);

  const late = join(home, 'late');
  const replaced = writeArchive(late, undefined, async (archive) => {
    await archive.add('first', 5, Buffer.from('first'));
    await writeFile(late, 'of another');
  });
  await assert.rejects(replaced, /already exists/);
  assert.equal(await readFile(late, 'utf8'), 'of another');
});

test('an archive that is abandoned at any point causes no uncaught error', async () => {
  const fill = async (archive: ArchiveWriter): Promise<void> => {
    await archive.add('first', 5, Buffer.from('first'));
    // Alternates parts that compress well with parts that do not.
    for (let part = 0; part < 400; part += 1) {
      const content = part % 2 === 0 ? Buffer.alloc(300_000, 'word') : randomBytes(30_000);
      await archive.add('part', content.length, content);
    }
  };
  const path = join(home, 'left');
  await writeArchive(path, undefined, fill);
  const thrown: Error[] = [];
  const note = (error: Error): void => void thrown.push(error);
  process.on('uncaughtExceptionMonitor', note);
  for (let round = 0; round < (isSlice ? 15 : 60); round += 1) {
    const entries = readArchive(path, undefined);
    await buffer((await entries.next()).value!.body);
    await new Promise((resolve) => setTimeout(resolve, round / 4));
    await entries.return(undefined);
  }
  process.off('uncaughtExceptionMonitor', note);
  assert.deepEqual(thrown, []);
});

test('a full disk is reported with the file and a remedy, leaves no file and does not crash the process', async () => {
  const [archive, path] = [new URL('archive.ts', import.meta.url).href, join(home, 'full')];
  const make = `
    const { writeArchive } = await import(${JSON.stringify(archive)});
    const content = (await import('node:crypto')).randomBytes(300_000);
    const fill = (archive) => archive.add('part', content.length, content);
    await writeArchive(${JSON.stringify(path)}, undefined, fill).catch((error) => console.log(error.message));`;
  // To a write this looks like a disk with 16 KB of space.
  const limited =
    'ulimit -f 32 && exec "$0" --disable-warning=ExperimentalWarning --input-type=module -e "$1"';
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', limited, process.execPath, make]);
  assert.equal(stderr, '');
  assert.match(stdout, /full cannot be written: EFBIG.* Free up space there, or choose another path\.\n$/);
  assert.deepEqual(
    (await readdir(home)).filter((name) => name.startsWith('full')),
    [],
  );
});

test('an archive is not written if the disk has less space than must stay free, and leaves no file', async () => {
  const path = join(home, 'crowded');
  const fill = (archive: ArchiveWriter) => archive.add('large', large.length, large);
  await assert.rejects(
    writeArchive(path, undefined, fill, { leastRoom: 2 ** 60 }),
    /crowded cannot be written: .*UPLOAD_FREE_MB.* Free up space there/,
  );
  assert.deepEqual(
    (await readdir(home)).filter((name) => name.startsWith('crowded')),
    [],
  );
});

test('a file that is not an archive is rejected', async () => {
  await assert.rejects(read(home), /EISDIR.*Choose a backup file/);
  await assert.rejects(read(join(home, 'nowhere')), /ENOENT.*Choose a backup file/);
  await writeFile(join(home, 'text'), 'no archive at all');
  await assert.rejects(read(join(home, 'text')), /not a backup/);
});
