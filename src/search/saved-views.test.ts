import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '#test/console.ts';
import { makeForm, person, service, submit, tenant } from '#test/submissions.ts';
import { whileHeld } from '#test/while-held.ts';
import { mostSavedViews, type SavedView } from './saved-views.ts';

const columns = { order: ['name'], hidden: ['age'], widths: { name: 300 }, pinned: 1, is_tall: true };
const adults = {
  name: ' Adults ',
  query: {
    where: '{"element":"age","is":"at_least","value":18}',
    q: 'ada',
    status: 'completed',
    sort: '-age',
  },
  columns,
};

const save = (form: string, view: object) => person.api<SavedView>('POST', `/forms/${form}/views`, view);
const namesIn = async (form: string, who = person): Promise<string[]> =>
  (await who.api<{ data: SavedView[] }>('GET', `/forms/${form}/views`)).body.data.map(({ name }) => name);

test('a view is saved with filter, search, order and columns for all members, and lists accept its query unchanged', async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada', age: 36 });
  const { status, body: view } = await save(form, adults);
  assert.equal(status, 201);
  assert.deepEqual([view.name, view.query, view.columns], ['Adults', adults.query, columns]);
  assert.equal(
    view.created_by,
    ((await person.call('GET', '/session')).body['user'] as { name: string }).name,
  );
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  assert.deepEqual(await namesIn(form, viewer), ['Adults']);
  assert.equal((await viewer.api('POST', `/forms/${form}/views`, { name: 'Own', query: {} })).status, 403);
  const parameters = new URLSearchParams(view.query as Record<string, string>).toString();
  const rows = await viewer.api<{ data: { answers: object }[] }>('GET', `/forms/${form}/rows?${parameters}`);
  assert.deepEqual(
    rows.body.data.map(({ answers }) => answers),
    [{ name: 'Ada', age: 36 }],
  );
  const byKey = await tenant.call('POST', `/forms/${form}/views`, { name: 'By a program', query: {} });
  const { created_by, columns: arranged } = byKey.body as unknown as SavedView;
  assert.deepEqual([created_by, arranged], [null, null]);
  assert.deepEqual(await namesIn(form), ['Adults', 'By a program']);
});

test('a view can be renamed and replaced in part, and If-Match prevents overwriting a parallel change', async () => {
  const form = await makeForm();
  const { body: view } = await save(form, adults);
  const read = await person.api<SavedView>('GET', `/views/${view.id}`);
  const tag = read.headers.get('etag')!;
  const renamed = await person.api<SavedView>(
    'PATCH',
    `/views/${view.id}`,
    { name: 'Adult' },
    { 'If-Match': tag },
  );
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.query], [200, 'Adult', adults.query]);
  const late = await person.api('PATCH', `/views/${view.id}`, { query: {} }, { 'If-Match': tag });
  assert.equal(late.status, 412);
  const emptied = await person.api<SavedView>('PATCH', `/views/${view.id}`, { query: {}, columns: null });
  assert.deepEqual([emptied.body.query, emptied.body.columns], [{}, null]);
  assert.equal((await person.api('DELETE', `/views/${view.id}`)).status, 204);
  assert.equal((await person.api('GET', `/views/${view.id}`)).status, 404);
});

test('parallel changes to different parts of a view are both kept', async () => {
  const form = await makeForm();
  const { body: view } = await save(form, adults);
  const path = `/views/${view.id}`;
  const rows = { text: 'select from saved_views where id = $1 for update', values: [view.id] };
  const changes = [{ name: 'Adult' }, { query: {} }];
  const sent = await whileHeld(service.services.database, rows, changes.length, () =>
    Promise.all(changes.map((change) => person.api('PATCH', path, change))),
  );
  for (const { status } of sent) assert.equal(status, 200);
  const { body } = await person.api<SavedView>('GET', path);
  assert.deepEqual([body.name, body.query, body.columns], ['Adult', {}, columns]);
});

test('names of views are unique within a form, ignoring case, and a form has a maximum number of views', async () => {
  const [form, other] = [await makeForm(), await makeForm()];
  const { body: first } = await save(form, adults);
  assert.equal((await save(form, { name: 'ADULTS', query: {} })).status, 409);
  assert.equal((await save(other, { name: 'Adults', query: {} })).status, 201);
  const { body: second } = await save(form, { name: 'Others', query: {} });
  assert.equal((await person.api('PATCH', `/views/${second.id}`, { name: 'adults' })).status, 409);
  assert.equal((await person.api('PATCH', `/views/${first.id}`, { name: 'adults' })).status, 200);
  await service.services.database.query(
    `insert into saved_views (workspace_id, id, form_id, name, query, created_at, updated_at)
     select workspace_id, gen_random_uuid(), form_id, 'view ' || n, '{}', now(), now()
     from saved_views cross join generate_series(3, $2 - 1) as n where id = $1`,
    [first.id, mostSavedViews],
  );
  const atOnce = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) => save(form, { name: `At once ${name}`, query: {} })),
  );
  assert.deepEqual(atOnce.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  assert.equal((await save(form, { name: 'One more', query: {} })).status, 409);
});

test('a view with an invalid query is not saved, and a view of another workspace is not found', async () => {
  const form = await makeForm();
  for (const query of [{ sort: 'unknown' }, { where: '{}' }])
    assert.equal((await save(form, { name: 'Wrong', query })).status, 400, JSON.stringify(query));
  for (const wrong of [
    { name: ' ', query: {} },
    { name: 'x'.repeat(101), query: {} },
    { name: 'x\u0000', query: {} },
    { name: 'x', query: { page: 1 } },
    { name: 'x', query: {}, columns: { ...columns, widths: { 'a\u0000': 100 } } },
  ])
    assert.equal((await save(form, wrong)).status, 422, JSON.stringify(wrong));
  const { body: view } = await save(form, adults);
  const stranger = await service.makeTenant();
  assert.equal((await stranger.call('GET', `/views/${view.id}`)).status, 404);
  assert.equal((await stranger.call('DELETE', `/views/${view.id}`)).status, 404);
  assert.equal((await stranger.call('GET', `/forms/${form}/views`)).status, 404);
});
