import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { shareService, until } from '#test/service.ts';
import { openVisitor, makeForm as publish } from '#test/visitor.ts';
import { makeWebhook } from '#test/webhooks/make-webhook.ts';
import { whileHeld } from '#test/while-held.ts';
import type { BulkChange } from './bulk.ts';
import { mostNotes } from './notes.ts';

/* Changes to submissions through the API with a key. */
const service = await shareService();
const tenant = await service.makeTenant();
const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor', name: 'Ada' });
const { database } = service.services;
const visitor = openVisitor(service);

const elements = [
  element('text', 'name', { required: true }),
  element('number', 'age'),
  element('file_upload', 'cv'),
  element('matrix', 'likes'),
];
const makeForm = async (settings: object = {}): Promise<string> =>
  (await publish(tenant, elements, { settings })).id;
const submit = async (form: string, name: string): Promise<string> =>
  (await visitor.submit(form, { name })).body.id;
const call: typeof tenant.call = (...request) => tenant.call(...request);
const namesIn = async (path: string): Promise<unknown[]> =>
  (await call('GET', path)).body.data.map(({ answers }) => answers['name']);
const codeOf = async (answer: ReturnType<typeof call>) =>
  (({ status, body }) => [status, body?.error])(await answer);

test('a merge patch changes a submission, and the response has its new state with tags and ETag', async () => {
  const form = await makeForm();
  const id = await submit(form, 'Grace');
  const read = await call('GET', `/submissions/${id}`);
  const tag = read.headers.get('etag')!;
  assert.equal((await call('GET', `/submissions/${id}`, undefined, { 'If-None-Match': tag })).status, 304);
  const patch = { answers: { age: 85 }, reference: { campaign: 'spring' }, tags: ['VIP'] };
  const changed = await call('PATCH', `/submissions/${id}`, patch, {
    'If-Match': tag,
    'Content-Type': 'application/merge-patch+json',
  });
  const { tags, unasked, answers, metadata } = changed.body as typeof changed.body & Record<string, unknown>;
  assert.deepEqual(
    [changed.status, answers, metadata.reference, tags, unasked],
    [200, { name: 'Grace', age: 85 }, { campaign: 'spring' }, ['VIP'], []],
  );
  const again = await call('GET', `/submissions/${id}`);
  assert.equal(again.headers.get('etag'), changed.headers.get('etag'));
  assert.ok(!('tags' in again.body), 'the specification names the fields of a submission');
  assert.deepEqual((await call('GET', `/submissions/${id}?include=tags`)).body, { ...again.body, tags });

  assert.deepEqual(await codeOf(call('PATCH', `/submissions/${id}`, { tags: [] }, { 'If-Match': tag })), [
    412,
    'precondition_failed',
  ]);
  const wrong = await call('PATCH', `/submissions/${id}`, { answers: { name: null, age: 'x' } });
  assert.deepEqual([wrong.status, wrong.body.errors.map(({ field }) => field)], [422, ['name', 'age']]);
  for (const body of [{ tags: Array.from({ length: 21 }, (_, at) => `${at}`) }, { tags: ['x'.repeat(51)] }])
    assert.equal((await call('PATCH', `/submissions/${id}`, body)).status, 422);
});

test('a merge patch changes rows of a matrix, and null removes a row', async () => {
  const form = await makeForm();
  const { id } = (await visitor.submit(form, { name: 'Grace', likes: { Tea: 'Red' } })).body;
  const patched = async (likes: object) =>
    (await call('PATCH', `/submissions/${id}`, { answers: { likes } })).body.answers;
  assert.deepEqual(await patched({ Coffee: 'Blue' }), {
    name: 'Grace',
    likes: { Tea: 'Red', Coffee: 'Blue' },
  });
  assert.deepEqual(await patched({ Tea: null }), { name: 'Grace', likes: { Coffee: 'Blue' } });
  assert.deepEqual(await patched({ Coffee: null }), { name: 'Grace' });
});

test('the ETag of a submission with files changes when their links expire', async () => {
  const form = await makeForm();
  const parts = [
    ['name', 'Ada'],
    ['cv', new File(['x'], 'cv.txt')],
  ] as const;
  const sent = await visitor.post(form, parts, { headers: { Accept: 'application/json' } });
  const { headers } = await call('GET', `/submissions/${sent.body.id}`);
  assert.match(headers.get('etag')!, /^"\w+\.\d+"$/);
});

test('a deleted submission goes to the trash with the name of the person who deleted it, and can be restored', async () => {
  const form = await makeForm();
  const [ada, ben] = [await submit(form, 'Ada'), await submit(form, 'Ben')];
  const tag = (await call('GET', `/submissions/${ada}`)).headers.get('etag')!;
  await call('PATCH', `/submissions/${ada}`, { tags: ['x'] });
  assert.equal((await call('DELETE', `/submissions/${ada}`, undefined, { 'If-Match': tag })).status, 412);
  assert.equal((await person.api('DELETE', `/submissions/${ada}`)).status, 204);
  assert.equal((await call('DELETE', `/submissions/${ben}`)).status, 204);
  assert.deepEqual(await namesIn(`/forms/${form}/submissions`), []);
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { tags: [] }],
    ['DELETE', undefined],
  ] as const)
    assert.equal((await call(method, `/submissions/${ada}`, body)).status, 404);

  const trash = (await call('GET', `/forms/${form}/trash`)).body;
  const shown = trash.data as unknown as { trashed_by: string; removed_at: string; trashed_at: string }[];
  assert.deepEqual(
    shown.map(({ trashed_by }) => trashed_by),
    ['Test', 'Ada'],
  );
  assert.equal(Date.parse(shown[0]!.removed_at) - Date.parse(shown[0]!.trashed_at), 30 * 86_400_000);
  assert.deepEqual([trash.pagination.total_count, 'at_once' in trash], [2, true]);

  const back = await call('POST', `/submissions/${ada}/restore`);
  assert.deepEqual([back.status, back.body.answers], [200, { name: 'Ada' }]);
  assert.equal((await call('POST', `/submissions/${ada}/restore`)).status, 404);
  const restore = () => call('POST', `/forms/${form}/trash/restorations`, { ids: [ada, ben] });
  assert.deepEqual((await restore()).body, { restored: 1 });
  assert.equal((await restore()).status, 404);
  assert.deepEqual(await namesIn(`/forms/${form}/submissions`), ['Ben', 'Ada']);
});

test('permanent deletion removes a submission, in the trash or not, and triggers webhooks', async () => {
  const form = await makeForm();
  const place = { workspaceId: tenant.workspaceId, formId: form };
  await makeWebhook(database, place, { url: 'https://receiver.invalid/', events: ['submission.deleted'] });
  const [live, trashed] = [await submit(form, 'Live'), await submit(form, 'Trashed')];
  await call('DELETE', `/submissions/${trashed}`);
  for (const id of [live, trashed]) {
    assert.equal((await call('DELETE', `/submissions/${id}?permanent=true`)).status, 204);
    assert.equal((await call('DELETE', `/submissions/${id}?permanent=true`)).status, 404);
  }
  const { rows } = await database.query('select submission_id from events where form_id = $1 and kind = $2', [
    form,
    'submission.deleted',
  ]);
  assert.equal(rows.length, 2);
  assert.equal((await call('DELETE', `/submissions/${live}?permanent=yes`)).status, 400);
});

test('notes have an author and a time, can be deleted, and have a maximum per submission', async () => {
  const form = await makeForm();
  const id = await submit(form, 'Ada');
  const add = (text: string) =>
    person.api<{ id: string; author: string; text: string }>('POST', `/submissions/${id}/notes`, { text });
  const first = await add('  Called back.\nWaits for an offer. ');
  assert.deepEqual(
    [first.status, first.body.author, first.body.text],
    [201, 'Ada', 'Called back.\nWaits for an offer.'],
  );
  await call('POST', `/submissions/${id}/notes`, { text: 'Synced' });
  const authors = async () =>
    ((await call('GET', `/submissions/${id}/notes`)).body.data as unknown as { author: string }[]).map(
      ({ author }) => author,
    );
  assert.deepEqual(await authors(), ['Test', 'Ada']);
  for (const text of ['', '  ', 'half \ud800', 'x'.repeat(10_001)])
    assert.equal((await add(text)).status, 422);
  const other = await submit(form, 'Ben');
  const remove = (submission: string) => call('DELETE', `/submissions/${submission}/notes/${first.body.id}`);
  assert.deepEqual(
    [(await remove(other)).status, (await remove(id)).status, (await remove(id)).status],
    [404, 204, 404],
  );
  assert.deepEqual(await authors(), ['Test']);
  await database.query(
    `insert into submission_notes (workspace_id, submission_id, id, text, created_at, updated_at)
     select $1, $2, gen_random_uuid(), 'x', now(), now() from generate_series(1, $3)`,
    [tenant.workspaceId, other, mostNotes],
  );
  assert.deepEqual(await codeOf(call('POST', `/submissions/${other}/notes`, { text: 'x' })), [
    409,
    'conflict',
  ]);
});

test('deleting a note while its submission is permanently deleted returns 404, without a deadlock', async () => {
  const id = await submit(await makeForm(), 'Ada');
  const { body: note } = await call('POST', `/submissions/${id}/notes`, { text: 'Called back.' });
  const lock = { text: 'select from submissions where id = $1 for update', values: [id] };
  const answer = await whileHeld(
    database,
    lock,
    1,
    () => call('DELETE', `/submissions/${id}/notes/${note.id}`),
    (client) => client.query('delete from submissions where id = $1', [id]),
  );
  assert.equal(answer.status, 404);
});

test('answers submitted with a key follow the rules of the page', async () => {
  const form = await makeForm({ access: 'password', password: 'a long password', max_submissions: 2 });
  const send = (body: object, key?: string) =>
    call('POST', `/forms/${form}/submissions`, body, key === undefined ? {} : { 'Idempotency-Key': key });
  const created = await send({ answers: { name: 'Ada', age: 36 }, reference: { campaign: 'spring' } }, 'a');
  assert.deepEqual(
    [created.status, created.body.status, created.body.metadata.reference],
    [201, 'completed', { campaign: 'spring' }],
  );
  assert.deepEqual((await call('GET', `/submissions/${created.body.id}`)).body, created.body);
  const same = await send({ answers: { name: 'Ada', age: 36 }, reference: { campaign: 'spring' } }, 'a');
  assert.equal(same.body.id, created.body.id);
  const wrong = await send({ answers: { age: 'x', colour: 'red' } });
  assert.deepEqual(
    [wrong.status, wrong.body.errors.map(({ field }) => field)],
    [422, ['name', 'age', 'colour']],
  );
  assert.equal((await send({ answers: { name: 'Ben' }, reference: { a: '\ud800' } })).status, 422);
  assert.equal((await send({ answers: { name: 'Ben' } })).status, 201);
  assert.deepEqual(await codeOf(send({ answers: { name: 'Cleo' } })), [410, 'gone']);
});

for (const [what, settings, status] of [
  ['closed', { access: 'closed' }, 410],
  ['not open yet', { opens_at: '2999-01-01T00:00:00Z' }, 403],
  ['over', { closes_at: '2001-01-01T00:00:00Z' }, 410],
] as const) {
  test(`a form that is ${what} rejects submissions with a key too`, async () => {
    const form = await makeForm(settings);
    assert.equal(
      (await call('POST', `/forms/${form}/submissions`, { answers: { name: 'Ada' } })).status,
      status,
    );
  });
}

test('an unpublished form rejects submissions, and tells its own key the reason', async () => {
  const draft = await publish(tenant, elements, { publish: false });
  const send = () => call('POST', `/forms/${draft.id}/submissions`, { answers: { name: 'Ada' } });
  assert.deepEqual(await codeOf(send()), [409, 'conflict']);
  const stranger = await service.makeTenant();
  const path = `/forms/${draft.id}/submissions`;
  assert.equal((await stranger.call('POST', path, { answers: { name: 'Eve' } })).status, 404);
});

const bulk = async (path: string, body: object, of: 'deletions' | 'taggings', form: string) => {
  const started = await person.api<BulkChange & { message: string }>('POST', path, body);
  if (started.status !== 202) return started;
  await until('the bulk change', async () => {
    const found = await person.api<BulkChange>('GET', `/forms/${form}/submissions/${of}/${started.body.id}`);
    return found.body.finished_at !== null;
  });
  return started;
};

test('deleting by filter requires the expected number, and keeps submissions outside the filter', async () => {
  const form = await makeForm();
  for (const name of ['Spam one', 'Spam two', 'Good']) await submit(form, name);
  const remove = (body: object) => bulk(`/forms/${form}/submissions/deletions`, body, 'deletions', form);
  const wrong = await remove({ filter: { q: 'spam' }, expected: 3 });
  assert.deepEqual(
    [wrong.status, wrong.body.message],
    [409, 'Expected 3 submissions, but found 2. Nothing was changed.'],
  );
  const { status, body } = await remove({ filter: { q: 'spam' }, expected: 2 });
  assert.deepEqual([status, body.total, body.kind], [202, 2, 'trash']);
  assert.deepEqual(await namesIn(`/forms/${form}/submissions`), ['Good']);
  for (const neither of [{}, { ids: [body.id], filter: {} }, { filter: { colour: 'red' } }])
    assert.equal((await remove(neither)).status, 422);
  const { data } = (await call('GET', `/forms/${form}/submissions`)).body;
  await remove({ ids: [data[0]!.id], permanent: true });
  assert.deepEqual(await namesIn(`/forms/${form}/trash`), ['Spam two', 'Spam one']);
});

test('emptying the trash checks the expected number, and changes nothing outside the trash', async () => {
  const form = await makeForm();
  const ids = [await submit(form, 'Ada'), await submit(form, 'Ben')];
  const live = await submit(form, 'Cleo');
  for (const id of ids) await call('DELETE', `/submissions/${id}`);
  const empty = (body: object) => bulk(`/forms/${form}/trash/deletions`, body, 'deletions', form);
  assert.equal((await empty({ everything: true, expected: 1 })).status, 409);
  assert.equal((await empty({ ids: [live], expected: 1 })).status, 409);
  assert.equal((await empty({})).status, 422);
  assert.equal((await empty({ ids: [ids[0]], expected: 1 })).body.total, 1);
  assert.equal((await empty({ everything: true })).body.total, 1);
  assert.deepEqual(await namesIn(`/forms/${form}/trash`), []);
  assert.deepEqual(await namesIn(`/forms/${form}/submissions`), ['Cleo']);
});

test('submissions can be tagged by filter, and a form lists its tags with their counts', async () => {
  const form = await makeForm();
  for (const name of ['Refund one', 'Refund two', 'Other']) await submit(form, name);
  const tag = (body: object) => bulk(`/forms/${form}/submissions/taggings`, body, 'taggings', form);
  assert.equal((await tag({ filter: { q: 'refund' }, add: ['billing'] })).body.total, 2);
  await tag({ filter: { q: 'one' }, add: ['urgent', 'Billing'] });
  const tags = async () => (await call('GET', `/forms/${form}/tags`)).body.data as unknown[];
  assert.deepEqual(await tags(), [
    { tag: 'billing', count: 2 },
    { tag: 'urgent', count: 1 },
  ]);
  await tag({ filter: {}, remove: ['BILLING'] });
  assert.deepEqual(await tags(), [{ tag: 'urgent', count: 1 }]);
  assert.equal((await tag({ filter: {} })).status, 422);
});

test('deleting a form also deletes its trash', async () => {
  const form = await makeForm();
  const id = await submit(form, 'Ada');
  await call('DELETE', `/submissions/${id}`);
  assert.equal((await call('DELETE', `/forms/${form}`)).status, 204);
  assert.equal((await call('GET', `/forms/${form}/trash`)).status, 404);
  assert.equal((await call('POST', `/submissions/${id}/restore`)).status, 404);
});
