import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { composite, element, structure } from '#test/ast/forms.ts';
import { readTestLog } from '#test/secrets.ts';
import { openService, until } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';
import { asJson, openVisitor, type Visit } from '#test/visitor.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';

const service = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { body: form } = await tenant.call('POST', '/forms', {
  structure: structure(
    element('text', 'name'),
    element('file_upload', 'photo'),
    composite('team', [element('file_upload', 'cv')], { repeatable: true }),
  ),
  publish: true,
});

const fileOf = (name: string, content = 'x'): File => new File([content], name, { type: 'text/plain' });
const upload = (parts: readonly (readonly [string, string | File])[], formId = form.id): Promise<Visit> => {
  const body = new FormData();
  for (const [name, value] of parts) body.append(name, value);
  return visitor.fetch(`/f/${formId}/files`, { method: 'POST', body, ...asJson });
};
type Stored = { token: string; filename: string; size: number; content_type: string };
const storedFiles = async (): Promise<number> =>
  (await readdir(service.dataDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    .length;

test('a file that is uploaded before its form is submitted with it by its token', async () => {
  const answer = await upload([['photo', fileOf('a.txt', 'four')]]);
  assert.equal(answer.status, 201);
  const { token, ...facts } = answer.body as unknown as Stored;
  assert.deepEqual(facts, { filename: 'a.txt', size: 4, content_type: 'text/plain' });
  const row = (await upload([['team[1][cv]', fileOf('b.txt')]])).body as unknown as Stored;
  const sent = await visitor.post(
    form.id,
    [
      ['_file[photo]', token],
      ['_file[team[0][cv]]', row.token],
    ],
    asJson,
  );
  assert.equal(sent.status, 201, sent.text);
  const { answers } = (await tenant.call('GET', `/submissions/${sent.body.id}`)).body;
  const { photo, team } = answers as { photo: Stored[]; team: { cv: Stored[] }[] };
  assert.deepEqual([photo[0]?.filename, team[0]?.cv[0]?.filename], ['a.txt', 'b.txt']);
});

test('a signature is one small PNG; other or larger files are rejected with the form, however they were sent', async () => {
  const { body: contract } = await tenant.call('POST', '/forms', {
    structure: structure(element('signature', 'sign')),
    publish: true,
  });
  const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52];
  const pictureOf = (length: number): File =>
    new File([Buffer.concat([Buffer.from(png), Buffer.alloc(length - png.length)])], 'x.png');
  const send = async (...files: readonly File[]): Promise<string> => {
    const controls: [string, string][] = [];
    for (const file of files) {
      const stored = (await upload([['sign', file]], contract.id)).body as unknown as Stored;
      controls.push(['_file[sign]', stored.token]);
    }
    const { status, text } = await visitor.post(contract.id, controls, asJson);
    return status === 201 ? '' : text;
  };
  const svg = new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'x.svg', { type: 'image/svg+xml' });
  assert.match(await send(svg), /isn’t an accepted file type/);
  assert.match(await send(fileOf('x.png')), /isn’t an accepted file type/);
  assert.match(await send(pictureOf(256 * 1024 + 1)), /larger than|too large/);
  assert.match(await send(pictureOf(100), pictureOf(100)), /at most 1/);
  assert.equal(await send(pictureOf(256 * 1024)), '');
  assert.equal((await visitor.post(contract.id, [['sign', 'Ada']], asJson)).status, 201);
  const json = await visitor.fetch(`/f/${contract.id}`, {
    method: 'POST',
    body: JSON.stringify({ answers: { sign: 'Ada' } }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(json.status, 422);
});

test('a token is valid only for its question and form', async () => {
  const { token } = (await upload([['photo', fileOf('a.txt')]])).body as unknown as Stored;
  const elsewhere = await visitor.post(form.id, [['_file[team[0][cv]]', token]], asJson);
  assert.deepEqual([elsewhere.status, elsewhere.body.errors[0]!.field], [422, 'team[0][cv]']);
});

test('anything but a single file for a file question is rejected, and nothing is stored', async () => {
  const before = await storedFiles();
  const refused: readonly [string, readonly (readonly [string, string | File])[], number][] = [
    ['no question', [['unknown', fileOf('a.txt')]], 422],
    ['a question that takes none', [['name', fileOf('a.txt')]], 422],
    ['too large', [['photo', fileOf('a.txt', 'x'.repeat(10 * 1024 * 1024 + 1))]], 422],
    [
      'two files',
      [
        ['photo', fileOf('a.txt')],
        ['photo', fileOf('b.txt')],
      ],
      400,
    ],
    ['no file', [['name', 'Ada']], 400],
  ];
  for (const [what, parts, status] of refused) {
    const answer = await upload(parts);
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
  }
  assert.equal(await storedFiles(), before);
});

test('an upload requires an open form and the method POST', async () => {
  const { body: draft } = await tenant.call('POST', '/forms', {
    structure: structure(element('file_upload', 'photo')),
  });
  assert.equal((await upload([['photo', fileOf('a.txt')]], draft.id)).status, 404);
  assert.equal((await visitor.fetch(`/f/${form.id}/files`)).status, 405);
});

test('on a full disk an upload returns 503 immediately, nothing is kept, and /readyz fails; free space fixes both', async (t) => {
  const uploads = join(service.dataDir, 'uploads');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', uploads]);
  if (mounted.status !== 0) return t.skip('only root may mount a small disk');
  t.after(() => spawnSync('umount', [uploads]));
  const ready = async (): Promise<[number, string]> => {
    const { status, body } = await visitor.fetch('/readyz', {});
    return [status, body.status];
  };
  assert.deepEqual(await ready(), [503, 'the disk for uploads is full']);

  const large = fileOf('large.txt', 'x'.repeat(8 * 1024 * 1024));
  const post = new FormData();
  post.append('photo', large);
  for (const [what, send] of [
    ['ahead of its form', () => upload([['photo', large]])],
    ['with its form', () => visitor.fetch(`/f/${form.id}`, { method: 'POST', body: post, ...asJson })],
  ] as const) {
    const since = performance.now();
    const answer = await send();
    assert.equal(answer.status, 503, `${what}: ${answer.text}`);
    const ms = performance.now() - since;
    assert.ok(ms < 5_000 || ms < 5_000 * slowness(), `${what}: ${ms} ms`);
  }
  assert.deepEqual(
    await readdir(uploads, { recursive: true }).then((names) =>
      names.filter((name) => name.includes('.part')),
    ),
    [],
  );

  // The log names the disk, once for each rejected file.
  const refusals = await until('both refusals to be logged', async () => {
    const lines = (await readTestLog()).map((line) => JSON.parse(line) as { level: unknown; err?: unknown });
    const found = lines.filter(({ err }) => JSON.stringify(err ?? '').includes(`${uploads}/`));
    return found.length >= 2 && found;
  });
  assert.deepEqual(
    refusals.map(({ level }) => level),
    ['error', 'error'],
  );

  spawnSync('mount', ['-o', 'remount,size=64m', uploads]);
  assert.deepEqual(await ready(), [200, 'ready']);
  assert.equal((await upload([['photo', large]])).status, 201);
});

test('an IP address at its daily limit can upload no more files, with or without a script, and can still submit', async () => {
  const before = await storedFiles();
  const address = `uploads from ${ipRateLimitKey('127.0.0.1')}`;
  for (let megabytes = 0; megabytes < 2_000; megabytes += 1)
    await service.services.requestCounter.count(address, 86_400);
  const refused = await upload([['photo', fileOf('a.txt')]]);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors[0]!.message, /^Too many files were uploaded from your network today/);
  const page = await visitor.post(form.id, [
    ['name', 'Ada'],
    ['photo', fileOf('a.txt')],
  ]);
  assert.equal(page.status, 422);
  assert.match(page.text, /value="Ada"/);
  assert.equal(await storedFiles(), before);
  assert.equal((await visitor.post(form.id, [['name', 'Ada']], asJson)).status, 201);
});
