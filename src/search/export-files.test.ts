import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBufferPromise } from 'yauzl';
import { storageKey } from '#files/stored-files.ts';
import { element } from '#test/ast/forms.ts';
import { shareService, until } from '#test/service.ts';
import { asJson, makeForm, openVisitor, type Part } from '#test/visitor.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();

const makeFilesForm = () =>
  makeForm(tenant, [
    element('text', 'name'),
    element('file_upload', 'cv', { max_files: 5 }),
    element('file_upload', 'photo:1'),
  ]);

const file = (name: string, content: string): File => new File([content], name, { type: 'text/plain' });

async function submit(formId: string, ...parts: Part[]): Promise<string> {
  const { status, body } = await visitor.post(formId, parts, asJson);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

const exportFiles = (formId: string, query = '', key = tenant.key): Promise<Response> =>
  fetch(`${service.url}/api/v1/forms/${formId}/files${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });

/** Returns the content of each file in the archive, by path. */
async function unpack(response: Response): Promise<Record<string, string>> {
  assert.equal(response.status, 200);
  const zip = await fromBufferPromise(Buffer.from(await response.arrayBuffer()));
  const files: Record<string, string> = {};
  for await (const entry of zip.eachEntry()) {
    const chunks = await (await zip.openReadStreamPromise(entry)).toArray();
    files[entry.fileName] = Buffer.concat(chunks as Buffer[]).toString();
  }
  return files;
}

test('the files of a form are one ZIP file, by submission and element, with names that every system accepts', async () => {
  const form = await makeFilesForm();
  const first = await submit(
    form.id,
    ['cv', file('cv.pdf', 'one')],
    ['cv', file('CV.pdf', 'two')],
    ['photo:1', file('what? "me".png.', 'three')],
  );
  const second = await submit(form.id, ['cv', file('con.txt', 'four')], ['cv', file('Übersicht €.txt', '')]);
  await submit(form.id, ['name', 'No file']);

  const response = await exportFiles(form.id, '?format=zip');
  assert.equal(response.headers.get('content-type'), 'application/zip');
  assert.match(
    response.headers.get('content-disposition')!,
    /^attachment; filename=".* files \d{4}-\d\d-\d\d\.zip"$/,
  );
  assert.deepEqual(await unpack(response), {
    [`${second}/cv/_con.txt`]: 'four',
    [`${second}/cv/Übersicht €.txt`]: '',
    [`${first}/cv/cv.pdf`]: 'one',
    [`${first}/cv/CV (2).pdf`]: 'two',
    [`${first}/photo_1/what_ _me_.png_`]: 'three',
  });
});

test('only files of submissions that match the filter are exported, and none of the trash', async () => {
  const form = await makeFilesForm();
  const ada = await submit(form.id, ['name', 'Ada'], ['cv', file('a.txt', 'ada')]);
  await submit(form.id, ['name', 'Bob'], ['cv', file('b.txt', 'bob')]);
  const where = encodeURIComponent(JSON.stringify({ element: 'name', is: 'equals', value: 'Ada' }));
  assert.deepEqual(await unpack(await exportFiles(form.id, `?where=${where}`)), {
    [`${ada}/cv/a.txt`]: 'ada',
  });
  assert.deepEqual(await unpack(await exportFiles(form.id, '?q=ada')), { [`${ada}/cv/a.txt`]: 'ada' });
  await tenant.call('DELETE', `/submissions/${ada}`);
  assert.deepEqual(Object.values(await unpack(await exportFiles(form.id))), ['bob']);
});

test('a form without files has an empty archive', async () => {
  assert.deepEqual(await unpack(await exportFiles((await makeFilesForm()).id)), {});
});

test('a file whose bytes are gone is left out', async () => {
  const form = await makeFilesForm();
  const id = await submit(form.id, ['cv', file('a.txt', 'kept')], ['photo:1', file('b.txt', 'gone')]);
  const { body } = await tenant.call('GET', `/submissions/${id}`);
  const [photo] = (body as unknown as { answers: { 'photo:1': { id: string }[] } }).answers['photo:1'];
  await service.services.storage.remove(storageKey(tenant.workspaceId, photo!.id));
  assert.deepEqual(await unpack(await exportFiles(form.id)), { [`${id}/cv/a.txt`]: 'kept' });
});

test('another format, another workspace and a key without permission are refused', async () => {
  const form = await makeFilesForm();
  assert.equal((await exportFiles(form.id, '?format=tar')).status, 400);
  assert.equal((await exportFiles(form.id, '?unknown=1')).status, 400);
  assert.equal((await exportFiles(form.id, '', (await service.makeTenant()).key)).status, 404);
  assert.equal((await exportFiles(form.id, '', await tenant.makeKey(['forms:read']))).status, 403);
});

test('a client that stops reading frees its place among the exports', async () => {
  const form = await makeFilesForm();
  for (let count = 0; count < 2; count += 1)
    await submit(form.id, ['cv', file('large.txt', 'x'.repeat(9_000_000))]);
  for (let count = 0; count < 5; count += 1) {
    const stop = new AbortController();
    const response = await fetch(`${service.url}/api/v1/forms/${form.id}/files`, {
      headers: { Authorization: `Bearer ${tenant.key}` },
      signal: stop.signal,
    });
    assert.ok([200, 429].includes(response.status));
    stop.abort();
  }
  await until('a free place', async () => {
    const response = await exportFiles(form.id);
    if (response.status === 429) return false;
    assert.equal(Object.keys(await unpack(response)).length, 2);
    return true;
  });
});
