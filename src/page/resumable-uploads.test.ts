import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import { sweepFiles } from '#files/stored-files.ts';
import { composite, element } from '#test/ast/forms.ts';
import { openS3Server } from '#test/s3-server.ts';
import { openService, type TestService, until } from '#test/service.ts';
import { asJson, listFiles, makeForm, openVisitor } from '#test/visitor.ts';

const megabyte = 1024 * 1024;
const limits = { UPLOAD_MAX_FILE_MB: '40', UPLOAD_MB_PER_FORM: '60' };
const tus = { 'Tus-Resumable': '1.0.0' };
const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Opens a service and functions that upload to a form of it, as a tus client does. */
async function openScene(environment: Record<string, string> = {}) {
  const service = await openService({ ...limits, ...environment });
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant, [
    element('file_upload', 'film', { required: true }),
    element('file_upload', 'small', { max_file_size: 1_000 }),
    element('text', 'name'),
    composite('team', [element('file_upload', 'cv')], { repeatable: true }),
  ]);
  const visitor = openVisitor(service);
  const create = (length: number | string, given: Record<string, string> = {}, formId = form.id) => {
    const metadata = { field: 'film', filename: 'film.mp4', filetype: 'video/mp4', ...given };
    return visitor.fetch(`/f/${formId}/files`, {
      method: 'POST',
      headers: {
        ...tus,
        ...asJson.headers,
        'Upload-Length': String(length),
        'Upload-Metadata': Object.entries(metadata)
          .map(([key, value]) => `${key} ${encode(value)}`)
          .join(','),
      },
    });
  };
  const begin = async (length: number, given?: Record<string, string>): Promise<string> => {
    const { status, headers, text } = await create(length, given);
    assert.equal(status, 201, text);
    assert.ok(Date.parse(headers.get('upload-expires')!) > Date.now());
    return headers.get('location')!;
  };
  const send = (url: string, offset: number, body: Buffer | ReadableStream, headers = {}) =>
    visitor.fetch(url, {
      method: 'PATCH',
      headers: {
        ...tus,
        ...asJson.headers,
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(offset),
        ...headers,
      },
      body: body as NonNullable<RequestInit['body']>,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    });
  const head = async (url: string) => {
    const { status, headers } = await visitor.fetch(url, { method: 'HEAD', headers: tus });
    const type = /filetype (\S+)/.exec(headers.get('upload-metadata') ?? '')?.[1] ?? '';
    return [status, Number(headers.get('upload-offset')), Buffer.from(type, 'base64').toString()] as const;
  };
  const submit = (url: string, field = 'film') =>
    visitor.post(form.id, [[`_file[${field}]`, url.split('/').at(-1)!]], asJson);
  const storedBytes = async () => {
    const { rows } = await tenant.database.query<{ bytes: number }>(
      'select coalesce(sum(bytes), 0)::bigint as bytes from stored_bytes where form_id = $1',
      [form.id],
    );
    return rows[0]!.bytes;
  };
  const isLocked = async (url: string): Promise<boolean> => {
    const id = url.split('/').at(-1)!.split('.')[0];
    return (
      (await tenant.database.query('select from files where id = $1 and locked_until > now()', [id])).rows
        .length > 0
    );
  };
  const untilUnlocked = (url: string) => until('the upload is unlocked', async () => !(await isLocked(url)));
  return {
    service,
    tenant,
    form,
    visitor,
    create,
    begin,
    send,
    head,
    submit,
    storedBytes,
    isLocked,
    untilUnlocked,
  };
}

/** Sends a part of a body and then breaks the connection. */
async function sendAndBreak(
  { url }: TestService,
  path: string,
  offset: number,
  bytes: Buffer,
  length: number,
) {
  const sent = request(`${url}${path}`, {
    method: 'PATCH',
    headers: {
      ...tus,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': offset,
      'Content-Length': length,
    },
  });
  sent.on('error', () => {});
  await new Promise((resolve) => sent.write(bytes, resolve));
  return sent;
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** The first bytes of an MP4 file, and random ones. */
const film = Buffer.concat([Buffer.from('0000001c667479706d703432', 'hex'), randomBytes(20 * megabyte + 5)]);

function testUploads(where: string, scene: Scene): void {
  const { service, tenant, visitor, begin, send, head, submit, storedBytes, untilUnlocked } = scene;

  test(`${where}: an upload continues after a broken connection, and the bytes arrive as they were sent`, async () => {
    const url = await begin(film.length, { filename: '../a/ü.mp4' });
    assert.equal((await send(url, 0, film.subarray(0, 3))).headers.get('upload-offset'), '3');
    const half = film.subarray(3, 9 * megabyte);
    const cut = await sendAndBreak(service, url, 3, half, film.length - 3);
    await until('the first piece is stored', async () => (await head(url))[1] >= 8 * megabyte);
    assert.equal((await submit(url)).status, 422, 'an incomplete file cannot be submitted');
    cut.destroy();
    await untilUnlocked(url);
    const [, stored] = await head(url);
    assert.equal(await storedBytes(), stored);
    const last = await send(url, stored, film.subarray(stored));
    assert.deepEqual([last.status, last.headers.get('upload-offset')], [204, String(film.length)]);
    assert.deepEqual(await head(url), [200, film.length, 'video/mp4']);
    assert.equal(await storedBytes(), film.length);
    const { status, body, text } = await submit(url);
    assert.equal(status, 201, text);
    const { answers } = (await tenant.call('GET', `/submissions/${body.id}`)).body;
    const [file] = answers['film'] as { url: string; filename: string; size: number }[];
    assert.deepEqual([file!.filename, file!.size], ['ü.mp4', film.length]);
    const whole = await fetch(file!.url);
    assert.ok(Buffer.from(await whole.arrayBuffer()).equals(film));
    const part = await fetch(file!.url, { headers: { Range: `bytes=${film.length - 10}-` } });
    assert.deepEqual(
      [part.status, part.headers.get('content-range'), part.headers.get('content-length')],
      [206, `bytes ${film.length - 10}-${film.length - 1}/${film.length}`, '10'],
    );
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(film.subarray(-10)));
    assert.equal((await send(url, film.length, Buffer.alloc(0))).status, 404, 'it belongs to the submission');
    await tenant.call('DELETE', `/submissions/${body.id}?permanent=true`);
    await sweepFiles(service.services);
  });

  test(`${where}: a file smaller than a piece, and one of exactly two pieces, are complete`, async () => {
    for (const length of [1, 16 * megabyte]) {
      const url = await begin(length, { field: 'team[0][cv]' });
      assert.equal((await send(url, 0, film.subarray(0, length))).status, 204);
      assert.equal((await head(url))[1], length);
      assert.equal((await submit(url, 'team[0][cv]')).status, 422, 'only the film is missing');
      assert.equal((await visitor.fetch(url, { method: 'DELETE', headers: tus })).status, 204);
      assert.equal((await head(url))[0], 404);
    }
  });

  test(`${where}: a crash between the last byte and the end of an upload is repaired by HEAD`, async () => {
    const url = await begin(100);
    const id = url.split('/').at(-1)!.split('.')[0]!;
    await send(url, 0, film.subarray(0, 99));
    const { rows } = await tenant.database.query<{ upload: object }>(
      'select upload from files where id = $1',
      [id],
    );
    await send(url, 99, film.subarray(99, 100));
    await tenant.database.query('update files set upload = $2 where id = $1', [id, rows[0]!.upload]);
    assert.deepEqual(await head(url), [200, 100, 'video/mp4']);
    assert.equal((await submit(url)).status, 201);
  });

  test(`${where}: an upload that is not finished within a day is deleted with its bytes, and so is a canceled one`, async () => {
    const before = [await storedBytes(), (await listFiles(service)).length];
    const url = await begin(10 * megabyte);
    const canceled = await begin(10 * megabyte);
    for (const each of [url, canceled]) await send(each, 0, film.subarray(0, 9 * megabyte));
    assert.equal((await visitor.fetch(canceled, { method: 'DELETE', headers: tus })).status, 204);
    await tenant.database.query("update files set created_at = now() - interval '25 hours' where id = $1", [
      url.split('/').at(-1)!.split('.')[0],
    ]);
    await sweepFiles(service.services);
    assert.equal((await head(url))[0], 404);
    assert.equal((await send(url, 9 * megabyte, film.subarray(0, megabyte))).status, 404);
    assert.deepEqual([await storedBytes(), (await listFiles(service)).length], before);
  });
}

const scene = await openScene();
testUploads('on disk', scene);
const s3 = await openS3Server();
testUploads('in S3', await openScene(s3.environment));

test('two requests at once do not mix their bytes, and one of them continues', async () => {
  const { service, begin, send, head, isLocked, untilUnlocked } = scene;
  const url = await begin(1_000);
  const first = await sendAndBreak(service, url, 0, film.subarray(0, 10), 1_000);
  await until('the first has the lock', () => isLocked(url));
  assert.equal((await send(url, 0, Buffer.alloc(5, 'x'))).status, 409);
  first.destroy();
  await untilUnlocked(url);
  assert.equal((await head(url))[1], 10);
  const rest = () => send(url, 10, film.subarray(10, 1_000));
  const answers = await Promise.all([rest(), rest(), rest()]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 409, 409]);
  assert.equal((await head(url))[1], 1_000);
});

test('requests that break the protocol or a limit are refused, and keep what is stored', async () => {
  const { tenant, visitor, form, create, begin, send, head } = scene;
  const url = await begin(100);
  await send(url, 0, film.subarray(0, 50));
  const more = film.subarray(0, 60);
  const asStream = () => new Blob([more]).stream();
  const other = await makeForm(tenant, [element('file_upload', 'film')]);
  const cases: readonly [string, () => Promise<{ status: number }>, number][] = [
    ['a smaller offset', () => send(url, 0, more), 409],
    ['a larger offset', () => send(url, 60, more.subarray(0, 40)), 409],
    ['more bytes than declared', () => send(url, 50, more), 413],
    ['more bytes than declared, without a length', () => send(url, 50, asStream()), 413],
    ['no offset', () => send(url, 0, more, { 'Upload-Offset': 'x' }), 400],
    ['another content type', () => send(url, 50, more, { 'Content-Type': 'application/json' }), 400],
    ['no version', () => send(url, 50, more, { 'Tus-Resumable': '0.2.2' }), 412],
    ['another form', () => send(url.replace(form.id, other.id), 50, more), 404],
    ['another signature', () => send(`${url.slice(0, -3)}aaa`, 50, more), 404],
    ['no UUID', () => send(`/f/${form.id}/files/x.y`, 50, more), 404],
    ['a length above the limit', () => create(40 * megabyte + 1), 413],
    ['a huge length', () => create('9'.repeat(15)), 413],
    ['an endless length', () => create('9'.repeat(40)), 400],
    ['no length', () => create(''), 400],
    ['an empty file', () => create(0), 413],
    ['a length above the limit of the question', () => create(1_001, { field: 'small' }), 413],
    ['an unknown question', () => create(10, { field: 'unknown' }), 422],
    ['a name with a NUL', () => create(10, { field: 'film\0' }), 422],
    ['a question without files', () => create(10, { field: 'name' }), 422],
    ['another form that does not exist', () => create(10, {}, url.slice(3, 39).replace(/^./, 'f')), 404],
    ['GET', () => visitor.fetch(url), 405],
  ];
  for (const [what, act, status] of cases) assert.equal((await act()).status, status, what);
  assert.deepEqual((await head(url)).slice(0, 2), [200, 50]);
  const options = await visitor.fetch(`/f/${form.id}/files`, { method: 'OPTIONS' });
  assert.deepEqual(
    [options.status, options.headers.get('tus-max-size'), options.headers.get('tus-extension')],
    [204, String(40 * megabyte), 'creation,expiration,termination'],
  );
});

test('the storage limit of a form holds for uploads that are not complete', async () => {
  const { begin, create, send, visitor, storedBytes } = scene;
  const room = 60 * megabyte - (await storedBytes());
  const urls = [await begin(38 * megabyte), await begin(38 * megabyte)];
  const bytes = Buffer.alloc(38 * megabyte);
  assert.equal((await send(urls[0]!, 0, bytes)).status, 204);
  const refused = await send(urls[1]!, 0, bytes);
  assert.deepEqual([refused.status, refused.body.errors[0]!.field], [422, 'film']);
  assert.ok((await storedBytes()) <= 60 * megabyte, `${room}`);
  assert.equal((await create(30 * megabyte)).status, 422);
  for (const url of urls) await visitor.fetch(url, { method: 'DELETE', headers: tus });
});

test('the type is detected from the bytes, whatever was declared, and rules for types hold at the submit', async () => {
  const { tenant, visitor } = scene;
  const pictures = await makeForm(tenant, [element('file_upload', 'film', { accept: ['image/*'] })]);
  const created = await scene.create(
    film.length,
    { filetype: 'image/png\0\uD800', filename: 'a\0.png' },
    pictures.id,
  );
  const url = created.headers.get('location')!;
  await scene.send(url, 0, film);
  const token = url.split('/').at(-1)!;
  const sent = await visitor.post(pictures.id, [['_file[film]', token]], asJson);
  assert.equal(sent.status, 422);
  assert.match(sent.text, /accepted file type/);
  const elsewhere = await visitor.post(scene.form.id, [['_file[film]', token]], asJson);
  assert.equal(elsewhere.status, 422, 'a file of another form is no answer');
});

test('a key uploads a file above 10 MB, up to the limit of the operator and of the form', async () => {
  const { tenant } = scene;
  const { id: form } = await makeForm(tenant, [element('file_upload', 'film')]);
  const query = `form_id=${form}&element=film&filename=film.mp4`;
  const stored = await tenant.call('POST', `/files?${query}`, film);
  assert.deepEqual([stored.status, stored.body.id?.length], [201, 36]);
  const sent = await tenant.call('POST', `/forms/${form}/submissions`, {
    answers: { film: [stored.body.id] },
  });
  assert.equal(sent.status, 201);
  const [file] = sent.body.answers['film'] as { url: string }[];
  assert.ok(Buffer.from(await (await fetch(file!.url)).arrayBuffer()).equals(film));
  assert.equal((await tenant.call('POST', `/files?${query}`, Buffer.alloc(40 * megabyte + 1))).status, 413);
  assert.equal((await tenant.call('POST', `/files?${query}`, Buffer.alloc(38 * megabyte))).status, 201);
  const full = await tenant.call('POST', `/files?${query}`, Buffer.alloc(10 * megabyte));
  assert.deepEqual([full.status, full.body.errors[0]!.field], [422, 'form_id']);
});
