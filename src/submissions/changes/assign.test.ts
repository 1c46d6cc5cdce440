import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Static } from 'typebox';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { type Body, shareService, type Tenant, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { addMember, removeMember } from '#workspaces/members.ts';
import type { ImportProgress } from '../import/endpoints.ts';

const service = await shareService();

type Assignment = Body & { stage_id: string; assignee_id: string | null };

/** Opens a workspace with a form that has these submissions, and with members of these names. */
async function openDesk(names: readonly string[], members: readonly string[] = ['Ada']) {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant, [element('text', 'name')]);
  const visitor = openVisitor(service);
  const ids: string[] = [];
  for (const name of names) ids.push((await visitor.submit(form.id, { name })).body.id);
  const people: string[] = [];
  for (const name of members) people.push(await makeMember(tenant, name));
  /** The stage and the assignee are absent until they are set. */
  const read = async (id: string): Promise<Assignment> => {
    const body = (await tenant.call('GET', `/submissions/${id}`)).body as Partial<Assignment>;
    return {
      ...(body as Assignment),
      stage_id: body.stage_id ?? 'new',
      assignee_id: body.assignee_id ?? null,
    };
  };
  const change = async (id: string, body: object) => tenant.call('PATCH', `/submissions/${id}`, body);
  const found = async (query: Record<string, string>): Promise<string[]> => {
    const address = new URLSearchParams(query);
    const { body } = await tenant.call('GET', `/forms/${form.id}/rows?${address.toString()}`);
    return body.data.map(({ answers }) => answers['name'] as string);
  };
  const setStages = async (data: object[]) =>
    tenant.call('PUT', '/stages', { data }, { Authorization: `Bearer ${await tenant.makeFullKey()}` });
  return { tenant, form, ids, people, read, change, found, setStages };
}

async function makeMember(tenant: Tenant, name: string): Promise<string> {
  const email = `${newId()}@example.org`;
  const { id } = await createUser(tenant.database, { email, password: 'a long enough password', name });
  await addMember(tenant.database, { workspaceId: tenant.workspaceId, userId: id, role: 'owner' });
  return id;
}

const where = (condition: object) => ({ where: JSON.stringify(condition) });

test('a submission has a stage and an assignee, which PATCH changes and the timeline lists', async () => {
  const { tenant, form, ids, people, read, change } = await openDesk(['a']);
  const [id] = ids as [string];
  assert.partialDeepStrictEqual(await read(id), { stage_id: 'new', assignee_id: null });
  const changed = await change(id, { stage_id: 'done', assignee_id: people[0] });
  assert.partialDeepStrictEqual(changed.body, {
    stage_id: 'done',
    assignee_id: people[0],
    status: 'completed',
  });
  const { body: list } = await tenant.call('GET', `/forms/${form.id}/submissions`);
  assert.partialDeepStrictEqual(list.data[0], { stage_id: 'done', assignee_id: people[0] });
  const { body: shown } = await tenant.call('GET', `/submissions/${id}/view`);
  assert.partialDeepStrictEqual(shown, { stage_id: 'done', assignee_id: people[0] });
  const { body: timeline } = await tenant.call('GET', `/submissions/${id}/timeline`);
  assert.deepEqual((timeline.data[0] as Body & { changes: object[] }).changes, [
    { part: 'stage', name: '', from: 'new', to: 'done' },
    { part: 'assignee', name: '', to: people[0] },
  ]);
  // Other changes keep both.
  await change(id, { answers: { name: 'b' }, tags: ['x'] });
  assert.partialDeepStrictEqual(await read(id), { stage_id: 'done', assignee_id: people[0] });
});

test('an unknown stage and a person of another workspace are refused', async () => {
  const { ids, people, change } = await openDesk(['a']);
  const other = await openDesk([]);
  const { status, body } = await change(ids[0]!, { stage_id: 'nowhere', assignee_id: other.people[0] });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field, code }) => [field, code]),
    [
      ['stage_id', 'invalid_choice'],
      ['assignee_id', 'invalid_reference'],
    ],
  );
  assert.equal((await change(ids[0]!, { assignee_id: people[0] })).status, 200);
});

test('events do not contain the stage or the assignee', async () => {
  const { tenant, ids, people, change } = await openDesk(['a']);
  const count = async () =>
    (await tenant.database.query('select from events where submission_id = $1', [ids[0]])).rowCount;
  const before = await count();
  await change(ids[0]!, { stage_id: 'done', assignee_id: people[0] });
  assert.equal(await count(), before);
});

test('lists are filtered and sorted by stage and assignee', async () => {
  const { tenant, ids, people, change, found } = await openDesk(['a', 'b', 'c'], ['Zoe', 'Ada']);
  await change(ids[0]!, { stage_id: 'done', assignee_id: people[0] });
  await change(ids[1]!, { stage_id: 'in_progress', assignee_id: people[1] });
  const stage = (is: string, value?: unknown) => where({ element: '$stage', is, value });
  assert.deepEqual(await found(stage('equals', 'new')), ['c']);
  assert.deepEqual(await found(stage('not_equals', 'new')), ['b', 'a']);
  assert.deepEqual(await found(stage('one_of', ['new', 'done'])), ['c', 'a']);
  assert.deepEqual(await found(stage('one_of', ['unknown'])), []);
  assert.deepEqual(await found(where({ element: '$assignee', is: 'not_answered' })), ['c']);
  assert.deepEqual(await found(where({ element: '$assignee', is: 'answered' })), ['b', 'a']);
  const mixed = [
    { element: '$assignee', is: 'equals', value: people[0] },
    { element: 'name', is: 'equals', value: 'c' },
  ];
  assert.deepEqual(await found(where({ any: mixed })), ['c', 'a']);
  assert.deepEqual(await found({ sort: '$stage' }), ['c', 'b', 'a']);
  assert.deepEqual(await found({ sort: '-$stage' }), ['a', 'b', 'c']);
  assert.deepEqual(await found({ sort: '$assignee' }), ['b', 'a', 'c']);
  const all = new URLSearchParams(stage('equals', 'done'));
  assert.equal((await tenant.call('GET', `/submissions?${all.toString()}`)).body.pagination.total_count, 1);
  const wrong = new URLSearchParams(stage('greater_than', 'done'));
  assert.equal((await tenant.call('GET', `/submissions?${wrong.toString()}`)).status, 400);
});

test('stages are renamed, reordered, added and deleted; a deleted one leads to the first', async () => {
  const { tenant, ids, read, change, found, setStages } = await openDesk(['a', 'b']);
  await change(ids[0]!, { stage_id: 'in_progress' });
  const saved = await setStages([
    { id: 'new', name: 'Inbox', color: 'gray' },
    { name: 'Waiting', color: 'yellow' },
    { id: 'done', name: 'Done', color: 'green' },
  ]);
  assert.equal(saved.status, 200);
  const waiting = saved.body.data[1]!.id;
  assert.deepEqual((await tenant.call('GET', '/stages')).body.data, saved.body.data);
  assert.equal((await read(ids[0]!)).stage_id, 'new');
  assert.deepEqual(await found(where({ element: '$stage', is: 'equals', value: 'new' })), ['b', 'a']);
  assert.partialDeepStrictEqual((await change(ids[1]!, { stage_id: waiting })).body, { stage_id: waiting });
  const refused = await setStages([
    { id: 'a', name: 'One', color: 'gray' },
    { id: 'a', name: 'one ', color: 'blue' },
  ]);
  assert.deepEqual(
    refused.body.errors.map(({ field, code }) => [field, code]),
    [
      ['data.1.name', 'duplicate'],
      ['data.1.id', 'duplicate'],
    ],
  );
  assert.equal((await setStages([])).status, 422);
  assert.equal((await tenant.call('PUT', '/stages', { data: saved.body.data })).status, 403);
});

test('stages are changed with If-Match, and renaming the workspace does not change their ETag', async () => {
  const { tenant } = await openDesk([]);
  const Authorization = `Bearer ${await tenant.makeFullKey()}`;
  const { body, headers } = await tenant.call('GET', '/stages', undefined, { Authorization });
  const change = (etag: string) => tenant.call('PUT', '/stages', body, { Authorization, 'If-Match': etag });
  const seen = headers.get('etag')!;
  await tenant.call('PATCH', '/workspace', { name: 'Other' }, { Authorization });
  assert.equal((await change(seen)).status, 200);
  assert.equal((await change(seen)).status, 412);
});

test('a member who leaves is no longer the assignee', async () => {
  const { tenant, ids, people, read, change } = await openDesk(['a'], ['Ada', 'Zoe']);
  await change(ids[0]!, { assignee_id: people[1] });
  const { database, workspaceId } = tenant;
  await removeMember(database, { workspaceId, userId: people[1]!, keeper: { may: () => true } });
  assert.equal((await read(ids[0]!)).assignee_id, null);
});

test('many submissions are moved or assigned at once, and this is undone', async () => {
  const { tenant, form, ids, people, read, change } = await openDesk(['a', 'b', 'c'], ['Ada', 'Zoe']);
  const changes = `/forms/${form.id}/submissions/changes`;
  const finish = async (id: string) =>
    until('the change has ended', async () => {
      const { body } = await tenant.call('GET', `${changes}/${id}`);
      return (body as Body & { finished_at: string | null }).finished_at ? body : undefined;
    });
  const start = async (body: object) => (await tenant.call('POST', changes, body)).body.id;
  const state = async () =>
    Promise.all(ids.map(async (id) => [(await read(id)).stage_id, (await read(id)).assignee_id]));
  await change(ids[0]!, { stage_id: 'done' });
  const moved = await start({ filter: {}, stage_id: 'in_progress', expected: 3 });
  assert.partialDeepStrictEqual(await finish(moved), { kind: 'stage', total: 3, done: 3 });
  await change(ids[1]!, { assignee_id: people[1] });
  const assigned = await start({ ids: ids.slice(0, 2), assignee_id: people[0] });
  assert.partialDeepStrictEqual(await finish(assigned), { kind: 'assign', done: 2 });
  const [ada] = people;
  assert.deepEqual(await state(), [
    ['in_progress', ada],
    ['in_progress', ada],
    ['in_progress', null],
  ]);
  await change(ids[1]!, { stage_id: 'done' });
  // The undo cannot assign it to Zoe again.
  const { database, workspaceId } = tenant;
  await removeMember(database, { workspaceId, userId: people[1]!, keeper: { may: () => true } });
  for (const id of [moved, assigned]) {
    const undo = (await tenant.call('POST', `${changes}/${id}/undo`)).body.id;
    await finish(undo);
  }
  assert.deepEqual(await state(), [
    ['done', null],
    ['done', null],
    ['new', null],
  ]);
  const both = await tenant.call('POST', changes, { ids, stage_id: 'done', status: 'completed' });
  assert.equal(both.status, 422);
  assert.equal((await tenant.call('POST', changes, { ids, stage_id: 'nowhere' })).status, 422);
});

test('exports have the stage and the assignee if the form uses them, and imports read both', async () => {
  const { tenant, form, ids, people, change } = await openDesk(['a', 'b']);
  const read = async (format: string) => {
    const address = `${service.url}/api/v1/forms/${form.id}/submissions/export?format=${format}`;
    return (await fetch(address, { headers: { Authorization: `Bearer ${tenant.key}` } })).text();
  };
  assert.match((await read('csv')).split('\r\n')[0]!, /,Reference$/);
  await change(ids[1]!, { stage_id: 'done', assignee_id: people[0] });
  const [head, first, second] = (await read('csv')).split('\r\n');
  assert.match(head!, /,Reference,Stage,Assignee$/);
  assert.match(first!, /,b,,Done,Ada$/);
  assert.match(second!, /,a,,New,$/);
  const lines = (await read('ndjson')).trim().split('\n');
  assert.partialDeepStrictEqual(JSON.parse(lines[0]!), { stage_id: 'done', assignee_id: people[0] });

  const copy = await makeForm(tenant, [element('text', 'name')]);
  const imports = `/forms/${copy.id}/submissions/imports`;
  const send = async (text: string) => {
    assert.equal((await tenant.call('POST', imports, { kind: 'csv', text })).status, 202);
    return until('the import has ended', async () => {
      const { body } = await tenant.call('GET', imports);
      const [last] = body.data as unknown as Static<typeof ImportProgress>[];
      return last!.finished_at !== null && [last!.created, last!.refused];
    });
  };
  const file = await read('csv');
  assert.deepEqual(await send(file), [2, 0]);
  const { body: rows } = await tenant.call('GET', `/forms/${copy.id}/rows?sort=name`);
  const data = rows.data as (Body & Assignment)[];
  assert.deepEqual(
    data.map(({ answers, stage_id, assignee_id }) => [answers['name'], stage_id, assignee_id]),
    [
      ['a', 'new', null],
      ['b', 'done', people[0]],
    ],
  );
  const { body: timeline } = await tenant.call('GET', `/submissions/${data[1]!.id}/timeline`);
  assert.equal((timeline.data[0] as Body & { changes: object[] }).changes.length, 2);
  // A line is the same line in another stage.
  assert.deepEqual(await send(file.replace('Done,Ada', 'New,')), [0, 2]);
});
