import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#test/ast/forms.ts';
import { openService } from '#test/service.ts';
import { listFiles, makeForm } from '#test/visitor.ts';
import { sweepFiles } from './stored-files.ts';

const service = await openService();
const tenant = await service.makeTenant();

/** Uploads a text by key, for a question of a form. */
const upload = (form: string, text: string, more: Record<string, string> = {}) =>
  tenant.call(
    'POST',
    `/files?${new URLSearchParams({ form_id: form, element: 'cv', filename: 'cv.txt', ...more }).toString()}`,
    Buffer.from(text),
  );
type File = { id: string; filename: string; size: number; content_type: string; url: string };
const filesOf = (answers: Record<string, unknown>, name = 'cv') => answers[name] as File[];
const read = async (url: string) => {
  const response = await fetch(url);
  return [response.status, response.ok ? await response.text() : undefined];
};

test('a file is uploaded by key and used in a submission; a merge patch that replaces it deletes the old one', async () => {
  const { id: form } = await makeForm(tenant, [element('text', 'name'), element('file_upload', 'cv')]);
  const first = await upload(form, 'one', { content_type: 'text/plain' });
  assert.equal(first.status, 201);
  const { id } = first.body;
  assert.deepEqual(first.body, { id, filename: 'cv.txt', size: 3, content_type: 'text/plain' });
  const sent = await tenant.call('POST', `/forms/${form}/submissions`, {
    answers: { name: 'Ada', cv: [id] },
  });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  const [one] = filesOf(sent.body.answers);
  assert.deepEqual(await read(one!.url), [200, 'one']);

  const second = (await upload(form, 'and two')).body.id;
  const patched = await tenant.call('PATCH', `/submissions/${sent.body.id}`, { answers: { cv: [second] } });
  assert.equal(patched.status, 200, JSON.stringify(patched.body));
  assert.deepEqual(
    filesOf(patched.body.answers).map((file) => file.id),
    [second],
  );
  assert.deepEqual(await read(filesOf(patched.body.answers)[0]!.url), [200, 'and two']);
  assert.equal((await read(one!.url))[0], 404);
  await sweepFiles(service.services);
  assert.deepEqual(
    (await listFiles(service))
      .filter((path) => path.includes(id) || path.includes(second))
      .map((path) => path.slice(-36)),
    [second],
  );
});

test('files in rows are named in their rows, and another file can be added', async () => {
  const group = composite('people', [element('file_upload', 'cv')], { repeatable: true });
  const { id: form } = await makeForm(tenant, [group]);
  const [one, two] = [(await upload(form, '1')).body.id, (await upload(form, '2')).body.id];
  const sent = await tenant.call('POST', `/forms/${form}/submissions`, {
    answers: { people: [{ cv: [one] }] },
  });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  const people = [{ cv: [one] }, { cv: [two] }];
  const { status, body } = await tenant.call('PATCH', `/submissions/${sent.body.id}`, {
    answers: { people },
  });
  assert.equal(status, 200, JSON.stringify(body));
  const rows = body.answers['people'] as Record<string, unknown>[];
  assert.deepEqual(
    rows.map((row) => filesOf(row).map((file) => file.id)),
    [[one], [two]],
  );
});

test('a file answers one question of one submission; files of other questions, submissions or forms, and unknown ids, are rejected', async () => {
  const questions = [element('file_upload', 'cv'), element('file_upload', 'photo')];
  const { id: form } = await makeForm(tenant, questions);
  const { id: other } = await makeForm(tenant, questions);
  const file = (await upload(form, 'one')).body.id;
  const send = async (place: string, answers: object) => {
    const { status, body } = await tenant.call('POST', `/forms/${place}/submissions`, { answers });
    return [status, body.errors?.map(({ field }) => field)];
  };
  assert.deepEqual(await send(form, { photo: [file] }), [422, ['photo']]);
  assert.deepEqual(await send(other, { cv: [file] }), [422, ['cv']]);
  assert.deepEqual(await send(form, { cv: [file, file] }), [422, ['cv']]);
  assert.deepEqual(await send(form, { cv: ['nonsense'] }), [422, ['cv']]);
  assert.deepEqual(await send(form, { cv: [file] }), [201, undefined]);
  assert.deepEqual(await send(form, { cv: [file] }), [422, ['cv']]);

  assert.deepEqual((await upload(form, 'x', { element: 'unknown' })).status, 422);
  const stranger = await service.makeTenant();
  const query = `form_id=${form}&element=cv&filename=x`;
  assert.equal((await stranger.call('POST', `/files?${query}`, Buffer.from('x'))).status, 404);
});
