import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { diskStorage } from '#kit/storage.ts';
import { toApiError } from '#kit/validation.ts';
import { testDatabase } from '#test/database.ts';
import { cpuMsOf } from '#test/slowness.ts';
import { makeForm } from '#test/webhooks/make-webhook.ts';
import { cleanFilename, discardFiles, receiveFile, storageKey } from './stored-files.ts';

const { database } = await testDatabase();
const directory = await mkdtemp(join(tmpdir(), 'formloom-receive-'));
after(() => rm(directory, { recursive: true }));
const context = { database, storage: diskStorage(directory, 0) };
const place = await makeForm(database);
const limit = 10 * 1024 * 1024;

const receive = (
  bytes: Buffer | Readable,
  { filename = 'a.bin', declaredType = 'application/octet-stream' } = {},
) =>
  receiveFile(context, {
    ...place,
    element: 'file',
    filename,
    declaredType,
    limit,
    source: bytes instanceof Readable ? bytes : Readable.from([bytes], { objectMode: false }),
  });
const rowsOf = async () =>
  (
    await database.query<{ id: string; size: number; content_type: string; submission_id: string | null }>(
      'select id, size, content_type, submission_id from files',
    )
  ).rows;
const onDisk = async () =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const types: readonly { name: string; bytes: Buffer; declared: string; stored: string }[] = [
  { name: 'an image that says it is one', bytes: png, declared: 'image/png', stored: 'image/png' },
  { name: 'an image that says it is a page', bytes: png, declared: 'text/html', stored: 'image/png' },
  {
    name: 'a page',
    bytes: Buffer.from('<!doctype html><script>alert(1)</script>'),
    declared: 'text/html',
    stored: 'application/octet-stream',
  },
  {
    name: 'a page that says it is an image',
    bytes: Buffer.from('<html><body onload=alert(1)>'),
    declared: 'image/png',
    stored: 'application/octet-stream',
  },
  {
    name: 'a page with two types',
    bytes: Buffer.from('<html>'),
    declared: 'text/html;image/png',
    stored: 'application/octet-stream',
  },
  {
    name: 'a script',
    bytes: Buffer.from('alert(1)'),
    declared: 'text/javascript',
    stored: 'application/octet-stream',
  },
  {
    name: 'plain text',
    bytes: Buffer.from('hello'),
    declared: 'text/plain; charset=utf-8',
    stored: 'text/plain',
  },
  { name: 'a table', bytes: Buffer.from('a,b\n1,2'), declared: 'TEXT/CSV', stored: 'text/csv' },
  {
    name: 'text that says it is a program',
    bytes: Buffer.from('no program'),
    declared: 'application/x-msdownload',
    stored: 'application/octet-stream',
  },
  { name: 'an empty file', bytes: Buffer.alloc(0), declared: '', stored: 'application/octet-stream' },
  {
    name: 'a type that breaks a header',
    bytes: Buffer.from('x'),
    declared: 'text/plain\r\nX-Evil: 1',
    stored: 'application/octet-stream',
  },
];
test('the type is detected from the bytes; otherwise a harmless declared type is kept', async () => {
  for (const { name, bytes, declared, stored } of types) {
    const file = await receive(bytes, { declaredType: declared });
    assert.equal(file.content_type, stored, name);
    assert.equal(file.size, bytes.length, name);
    assert.deepEqual(await readFile(join(directory, storageKey(place.workspaceId, file.id))), bytes, name);
  }
});

test('an SVG, which may contain a script, is never stored with a type that browsers run', async () => {
  for (const bytes of [
    '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
    '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
  ]) {
    const { content_type } = await receive(Buffer.from(bytes), {
      filename: 'a.svg',
      declaredType: 'image/svg+xml',
    });
    assert.doesNotMatch(content_type, /svg|html|javascript/);
  }
});

const names: readonly [given: string, kept: string][] = [
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\boot.ini', 'boot.ini'],
  ['C:\\Users\\Ada\\cv.docx', 'cv.docx'],
  ['/etc/', 'file'],
  ['..', 'file'],
  ['', 'file'],
  ['   ', 'file'],
  ['a\u0000b.txt', 'ab.txt'],
  ['a\r\nContent-Type: text/html.txt', 'html.txt'],
  ['photo\u202Egpj.exe', 'photogpj.exe'],
  ['photo\u061C\u200B\u2060\uFEFF\u00AD\u3164\u{E0041}\u2028.exe', 'photo.exe'],
  ['half \ud800 pair.txt', 'half \ufffd pair.txt'],
  ['Übersicht – 2026 "final" 👍.pdf', 'Übersicht – 2026 "final" 👍.pdf'],
  [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(196)}.pdf`],
  ['é'.repeat(150), 'é'.repeat(100)],
  [`a.${'y'.repeat(300)}`, `a.${'y'.repeat(198)}`],
];
test('a file name is sanitized to at most 200 bytes, and keeps its extension', () => {
  for (const [given, kept] of names) assert.equal(cleanFilename(given), kept);
});

test('a name of a megabyte is truncated quickly', () => {
  const work = (): void => assert.equal(cleanFilename(`${'é'.repeat(500_000)}.pdf`), `${'é'.repeat(98)}.pdf`);
  assert.ok(cpuMsOf(work) < 500);
});

test('the storage path reveals nothing about the visitor', async () => {
  const { id } = await receive(Buffer.from('x'), { filename: '../../../../tmp/evil' });
  assert.match(storageKey(place.workspaceId, id), /^[0-9a-f-]{36}\/[0-9a-f]{2}\/[0-9a-f-]{36}$/);
  assert.ok((await onDisk()).includes(id));
});

test('a file of exactly the limit is kept; with one byte more it is rejected and nothing is stored', async () => {
  const { size } = await receive(Buffer.alloc(limit));
  assert.equal(size, limit);
  const [rows, files] = [await rowsOf(), await onDisk()];
  await assert.rejects(receive(Buffer.alloc(limit + 1)), {
    code: 'payload_too_large',
    message: /10 MB/,
  });
  assert.deepEqual([await rowsOf(), await onDisk()], [rows, files]);
});

test('an interrupted stream stores nothing', async () => {
  const [rows, files] = [await rowsOf(), await onDisk()];
  async function* broken() {
    yield Buffer.from('first');
    throw new Error('the line went dead');
  }
  await assert.rejects(receive(Readable.from(broken(), { objectMode: false })), /the line went dead/);
  assert.deepEqual([await rowsOf(), await onDisk()], [rows, files]);
});

test('an upload to a deleted form is a 404, and nothing is stored', async () => {
  const before = await onDisk();
  const source = Readable.from([Buffer.from('x')], { objectMode: false });
  const late = receiveFile(context, {
    ...place,
    formId: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
    element: 'file',
    filename: 'a',
    declaredType: '',
    source,
    limit,
  });
  await assert.rejects(late, (error) => toApiError(error).code === 'not_found');
  assert.deepEqual(await onDisk(), before);
});

test('while bytes arrive their row already exists, so that the sweep finds them after a crash', async () => {
  const before = (await rowsOf()).length;
  let during = 0;
  async function* counting() {
    yield Buffer.from('first');
    during = (await rowsOf()).length;
    yield Buffer.from('second');
  }
  const { id } = await receive(Readable.from(counting(), { objectMode: false }));
  assert.equal(during, before + 1);
  assert.deepEqual(
    (await rowsOf()).find((row) => row.id === id),
    { id, size: 11, content_type: 'application/octet-stream', submission_id: null },
  );
});

test('discarding removes the bytes and rows of unclaimed files, and keeps claimed ones', async () => {
  const [mine, claimed] = [await receive(Buffer.from('a')), await receive(Buffer.from('b'))];
  await database.query('update files set claimed_at = now() where id = $1', [claimed.id]);
  await discardFiles(context, place.workspaceId, [mine.id, claimed.id]);
  await discardFiles(context, place.workspaceId, []);
  const [ids, files] = [(await rowsOf()).map(({ id }) => id), await onDisk()];
  assert.deepEqual(
    [ids.includes(mine.id), files.includes(mine.id), ids.includes(claimed.id), files.includes(claimed.id)],
    [false, false, true, true],
  );
});
