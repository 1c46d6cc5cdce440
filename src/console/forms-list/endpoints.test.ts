import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { signIn } from '#test/console.ts';
import { openService, until } from '#test/service.ts';
import type { ExportedForm, FormLine, LocatedForm } from './shapes.ts';

const service = await openService();

type List = { data: FormLine[]; pagination: { total_count: number } };

/** A workspace of its own, so that no test sees another's forms. */
async function openWorkspace() {
  const editor = await signIn(service, { role: 'editor' });
  const forms = `/workspaces/${editor.workspaceId}/forms`;
  return {
    editor,
    forms,
    create: async (name: string, settings?: object): Promise<string> =>
      (
        await editor.call<{ id: string }>('POST', forms, {
          structure: named(name),
          ...(settings && { settings }),
        })
      ).body.id,
    names: async (query: string): Promise<string[]> =>
      (await editor.call<List>('GET', `${forms}${query}`)).body.data.map(({ name }) => name),
  };
}

const named = (name: string) => ({
  ...structure(element('text', 'subject')),
  attrs: { name, description: 'About' },
});

const publish = (id: string) =>
  service.services.database.query(
    "update forms set status = 'published', published_at = now() where id = $1",
    [id],
  );

async function submit(id: string, subject: string): Promise<void> {
  const answer = await fetch(`${service.url}/f/${id}`, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ answers: { subject } }),
  });
  assert.equal(answer.status, 201);
}

test('the list says of each form its name, status, submissions and last activity', async () => {
  const { editor, forms, create } = await openWorkspace();
  const quiet = await create('Quiet');
  const busy = await create('Busy');
  await publish(busy);
  await submit(busy, 'one');
  await submit(busy, 'two');
  const { data, pagination } = (await editor.call<List>('GET', forms)).body;
  assert.equal(pagination.total_count, 2);
  assert.deepEqual(
    data.map(({ id, name, status, submission_count }) => [id, name, status, submission_count]),
    [
      [busy, 'Busy', 'published', 2],
      [quiet, 'Quiet', 'draft', 0],
    ],
  );
  assert.ok(data[0]!.last_submission_at);
  assert.equal(data[0]!.last_activity_at >= data[0]!.last_submission_at, true);
  assert.equal(data[1]!.last_submission_at, null);
  assert.equal(data[1]!.last_activity_at, data[1]!.updated_at);
  assert.equal(data[0]!.description, 'About');
});

test('the list is searched by part of a name, filtered by status, and sorted', async () => {
  const { create, names } = await openWorkspace();
  await create('banana');
  const apple = await create('Apple 100%');
  const cherry = await create('Cherry');
  await publish(apple);
  await submit(apple, 'x');
  await publish(cherry);
  assert.deepEqual(await names('?sort=name'), ['Apple 100%', 'banana', 'Cherry']);
  assert.deepEqual(await names('?sort=created'), ['Cherry', 'Apple 100%', 'banana']);
  assert.deepEqual((await names('?sort=submissions'))[0], 'Apple 100%');
  assert.deepEqual((await names('?sort=activity'))[0], 'Apple 100%');
  assert.deepEqual(await names('?q=AN'), ['banana']);
  assert.deepEqual(await names('?q=%25'), ['Apple 100%'], 'a percent sign is itself');
  assert.deepEqual(await names('?q=_'), []);
  assert.deepEqual(await names('?status=published&sort=name'), ['Apple 100%', 'Cherry']);
  assert.deepEqual(await names('?status=draft'), ['banana']);
  assert.deepEqual(await names('?sort=name&per_page=1&page=2'), ['banana']);
  assert.deepEqual(await names('?page=9'), []);
});

test('wrong parameters of the list are a 400', async () => {
  const { editor, forms } = await openWorkspace();
  for (const query of ['?page=0', '?per_page=101', '?status=open', '?sort=size', `?q=${'x'.repeat(201)}`]) {
    assert.equal((await editor.call('GET', forms + query)).status, 400, query);
  }
});

test('a form is created from a structure and settings; what is wrong with them is located', async () => {
  const { editor, forms, create } = await openWorkspace();
  const id = await create('Made', { confirmation_message: 'Thanks' });
  const exported = (await editor.call<ExportedForm>('GET', `${forms}/${id}/export`)).body;
  assert.deepEqual(exported, { structure: named('Made'), settings: { confirmation_message: 'Thanks' } });
  assert.deepEqual((await editor.call<{ id: string }>('POST', forms, exported)).status, 201);

  const twice = structure(element('text', 'a'), element('text', 'a'));
  const answer = await editor.call('POST', forms, { structure: twice });
  assert.equal(answer.status, 422);
  assert.deepEqual(
    answer.body.errors.map(({ path }) => path),
    [[0, 1]],
  );
  assert.equal(
    (await editor.call('POST', forms, { structure: named('X'), settings: { colour: 'red' } })).status,
    422,
  );
});

test('a form is located by its id for members alone', async () => {
  const { editor, create } = await openWorkspace();
  const id = await create('Somewhere');
  const found = await editor.call<LocatedForm>('GET', `/forms/${id}/locate`);
  assert.deepEqual(
    [found.body.workspace_id, found.body.name, found.body.status, found.body.role, found.body.public_url],
    [editor.workspaceId, 'Somewhere', 'draft', 'editor', `${service.services.config.publicUrl}/f/${id}`],
  );
  const stranger = await signIn(service);
  const foreign = await stranger.call('GET', `/forms/${id}/locate`);
  const absent = await stranger.call('GET', `/forms/${randomUUID()}/locate`);
  assert.equal(foreign.status, 404);
  assert.deepEqual(foreign.body, absent.body);
  assert.equal((await editor.call('GET', '/forms/x/locate')).status, 400);
});

test('a duplicate is a draft under another name, with the settings and without the submissions', async () => {
  const { editor, forms, create, names } = await openWorkspace();
  const id = await create('Original', { confirmation_message: 'Thanks' });
  await publish(id);
  await submit(id, 'x');
  const copy = await editor.call<{ id: string }>('POST', `${forms}/${id}/duplicate`);
  assert.equal(copy.status, 201);
  const exported = (await editor.call<ExportedForm>('GET', `${forms}/${copy.body.id}/export`)).body;
  assert.deepEqual(exported, {
    structure: named('Original (copy)'),
    settings: { confirmation_message: 'Thanks' },
  });
  assert.deepEqual(await names('?status=draft'), ['Original (copy)']);
  assert.equal(
    (await editor.call<LocatedForm>('GET', `/forms/${copy.body.id}/locate`)).body.submission_count,
    0,
  );
  assert.equal((await editor.call('POST', `${forms}/${randomUUID()}/duplicate`)).status, 404);
});

test('a duplicate takes the working copy along, and a name as long as a name may be is cut', async () => {
  const { editor, forms, create, names } = await openWorkspace();
  const id = await create('é'.repeat(512));
  const edited = { ...named('Edited'), children: [] };
  await service.services.database.query(
    `insert into form_drafts (workspace_id, form_id, structure, settings, revision, base_version, saved_at)
     values ($1, $2, $3, '{}', 1, 1, now())`,
    [editor.workspaceId, id, JSON.stringify(edited)],
  );
  const copy = (await editor.call<{ id: string }>('POST', `${forms}/${id}/duplicate`)).body.id;
  assert.ok((await names('')).includes('Edited (copy)'));
  const { rows } = await service.services.database.query<{ structure: object; name: string }>(
    'select d.structure, f.name from form_drafts d join forms f on f.id = d.form_id where d.form_id = $1',
    [copy],
  );
  assert.equal(rows[0]!.name, `${'é'.repeat(508)} (copy)`);
  assert.deepEqual(rows[0]!.structure, { ...edited, attrs: { ...edited.attrs, name: 'Edited (copy)' } });
});

test('a form that visitors do not see is listed, found, headed and exported as it is being made', async () => {
  const { editor, forms, create, names } = await openWorkspace();
  const id = await create('Untitled form');
  const settings = { confirmation_message: 'Thanks' };
  const save = (revision: number, sent: object) =>
    editor.call('PUT', `${forms}/${id}/draft`, { revision, structure: sent, settings, base_version: 1 });
  const exported = async () => (await editor.call<ExportedForm>('GET', `${forms}/${id}/export`)).body;
  const headed = async () => (await editor.call<LocatedForm>('GET', `/forms/${id}/locate`)).body.name;
  await save(0, named('Garden party'));
  assert.deepEqual(await names('?q=garden'), ['Garden party']);
  assert.deepEqual(await names('?q=untitled'), []);
  assert.equal(await headed(), 'Garden party');
  assert.deepEqual(await exported(), { structure: named('Garden party'), settings });
  await editor.call('POST', `${forms}/${id}/archive`);
  assert.deepEqual([await headed(), (await exported()).settings], ['Garden party', settings]);
  await editor.call('POST', `${forms}/${id}/restore`);
  await save(1, { type: 'form', attrs: { name: ' ' }, children: [] });
  assert.equal(await headed(), 'Untitled form', 'a name that was taken away leaves the last one');

  await save(2, named('Garden party'));
  await editor.call('POST', `${forms}/${id}/publish`, { revision: 3, version: 1 });
  await save(3, named('Next party'));
  assert.deepEqual(await names(''), ['Garden party'], 'what visitors see has the name that they see');
  assert.deepEqual((await exported()).structure, named('Garden party'));
});

test('an archived form takes no answers until it is restored, as a draft', async () => {
  const { editor, forms, create, names } = await openWorkspace();
  const id = await create('Old');
  await publish(id);
  assert.equal((await editor.call('POST', `${forms}/${id}/archive`)).status, 204);
  assert.deepEqual(await names('?status=archived'), ['Old']);
  assert.equal((await fetch(`${service.url}/f/${id}`)).status, 410);
  assert.equal((await editor.call('POST', `${forms}/${id}/restore`)).status, 204);
  assert.deepEqual(await names('?status=draft'), ['Old']);
  assert.equal((await editor.call('POST', `${forms}/${randomUUID()}/archive`)).status, 404);
});

test('a deleted form is gone at once, and its submissions behind', async () => {
  const { editor, forms, create, names } = await openWorkspace();
  const id = await create('Doomed');
  await publish(id);
  await submit(id, 'x');
  assert.equal((await editor.call('DELETE', `${forms}/${id}`)).status, 204);
  assert.deepEqual(await names(''), []);
  assert.equal((await editor.call('GET', `/forms/${id}/locate`)).status, 404);
  assert.equal((await editor.call('DELETE', `${forms}/${id}`)).status, 404);
  await until('the submissions to be removed', async () => {
    const { rows } = await service.services.database.query('select from submissions where form_id = $1', [
      id,
    ]);
    return rows.length === 0;
  });
});

test('a form of another workspace is not there', async () => {
  const [mine, other] = [await openWorkspace(), await openWorkspace()];
  const id = await other.create('Theirs');
  for (const [method, path] of [
    ['POST', 'duplicate'],
    ['POST', 'archive'],
    ['POST', 'restore'],
    ['GET', 'export'],
    ['DELETE', ''],
  ] as const) {
    const answer = await mine.editor.call(method, `${mine.forms}/${id}${path && `/${path}`}`);
    assert.equal(answer.status, 404, path);
  }
  assert.deepEqual(await other.names(''), ['Theirs']);
});
