import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '#ast/testing.ts';
import { signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import type { AnswerCounts, BuilderForm, VersionDetail, VersionList } from './shapes.ts';

const service = await openService();
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const editor = await signIn(service, { role: 'editor', workspaceId, name: 'Ada' });
const viewer = await signIn(service, { role: 'viewer', workspaceId });
const stranger = await signIn(service);

const live = structure(element('text', 'subject'));
const edited = structure(element('text', 'subject'), element('email', 'email'));
const incomplete = { type: 'form', attrs: {}, children: [] };

const make = async (sent: object = live, publish = false): Promise<string> =>
  (await tenant.call('POST', '/forms', { structure: sent, publish })).body.id;
const at = (form: string, more: string, workspace = workspaceId): string =>
  `/workspaces/${workspace}/forms/${form}${more}`;
const open = async (form: string) => (await editor.call<BuilderForm>('GET', at(form, '/builder'))).body;
const save = (form: string, revision: number, changed: object, base_version = 1) =>
  editor.call('PUT', at(form, '/draft'), { revision, structure: changed, base_version });

test('open: the form, its live version and its working copy', async () => {
  const id = await make();
  const { status, body } = await viewer.call<BuilderForm>('GET', at(id, '/builder'));
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ['form', 'live', 'draft']);
  assert.equal(body.form.public_url, `${service.url}/f/${id}`);
  assert.deepEqual(body.live.structure, live);
  assert.deepEqual(body.draft, {
    revision: 0,
    structure: live,
    settings: {},
    base_version: 1,
    saved_at: null,
    saved_by: null,
  });
});

test('save, publish: the working copy becomes what the API and the public page show', async () => {
  const id = await make();
  assert.equal((await save(id, 0, edited)).status, 200);
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body['structure'], live);
  const { status, body } = await editor.call<BuilderForm>('POST', at(id, '/publish'), {
    revision: 1,
    version: 1,
  });
  assert.deepEqual(
    [status, body.form.status, body.live.version, body.live.created_by],
    [200, 'published', 2, 'Ada'],
  );
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body['structure'], edited);
  assert.match(await (await fetch(`${service.url}/f/${id}`)).text(), /name="email"/);
});

test('the draft is one document: structure and settings are saved, published, and kept as a version', async () => {
  const id = await make();
  const settings = { theme: { color: '#6d28d9' }, confirmation_message: 'Merci' };
  const draft = { revision: 0, structure: edited, settings, base_version: 1 };
  assert.equal((await editor.call('PUT', at(id, '/draft'), draft)).status, 200);
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body['settings'], {});
  const { body } = await editor.call<BuilderForm>('POST', at(id, '/publish'), { revision: 1, version: 1 });
  assert.deepEqual([body.live.settings, body.draft.settings], [settings, settings]);
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body['settings'], settings);
  const kept = await viewer.call<VersionDetail>('GET', at(id, '/versions/2'));
  assert.deepEqual(kept.body.settings, settings);
});

test('publishing settings that do not hold: 422 with the name of each, and nothing is live', async () => {
  const id = await make();
  const settings = { redirect_url: 'nowhere', subject_element: 'gone' };
  await editor.call('PUT', at(id, '/draft'), { revision: 0, structure: live, settings, base_version: 1 });
  const { status, body } = await editor.call('POST', at(id, '/publish'), { revision: 1, version: 1 });
  assert.deepEqual(
    [status, body.errors.map(({ field }) => field)],
    [422, ['subject_element', 'redirect_url']],
  );
  assert.equal((await open(id)).live.version, 1);
});

test('a save on an old revision: 412 precondition_failed, naming who saved', async () => {
  const id = await make();
  await save(id, 0, edited);
  const { status, body } = await save(id, 0, live);
  assert.deepEqual([status, body.error], [412, 'precondition_failed']);
  assert.match(body.message, /^Ada saved this form at /);
});

test('publishing what is incomplete: 422 with the path of each problem', async () => {
  const id = await make();
  await save(id, 0, incomplete);
  const { status, body } = await editor.call('POST', at(id, '/publish'), { revision: 1, version: 1 });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ path }) => path),
    [[], []],
  );
});

test('a working copy over 1 MB: 413, and one that is no object: 422', async () => {
  const id = await make();
  const huge = { ...live, note: 'x'.repeat(1024 * 1024) };
  assert.equal((await save(id, 0, huge)).status, 413);
  assert.equal((await save(id, 0, [] as object)).status, 422);
  assert.equal((await open(id)).draft.revision, 0);
});

test('status: unpublish, archive, restore; publishing has its own way', async () => {
  const id = await make(live, true);
  for (const status of ['draft', 'archived', 'draft']) {
    const { body } = await editor.call<BuilderForm>('PUT', at(id, '/status'), { status });
    assert.equal(body.form.status, status);
  }
  assert.equal((await editor.call('PUT', at(id, '/status'), { status: 'published' })).status, 409);
});

test('settings: the named ones change, the others stay', async () => {
  const id = await make();
  await editor.call('PATCH', at(id, '/settings'), { settings: { confirmation_message: 'Thanks' } });
  const { status, body } = await editor.call('PATCH', at(id, '/settings'), {
    settings: { subject_element: 'subject' },
  });
  assert.deepEqual(
    [status, body],
    [200, { settings: { confirmation_message: 'Thanks', subject_element: 'subject' } }],
  );
  const refused = await editor.call('PATCH', at(id, '/settings'), { settings: { closes_at: 'tomorrow' } });
  assert.deepEqual([refused.status, refused.body.errors.map(({ field }) => field)], [422, ['closes_at']]);
});

test('versions: newest first, who and when; one with its structure; an absent one is a 404', async () => {
  const id = await make();
  await save(id, 0, edited);
  await editor.call('POST', at(id, '/publish'), { revision: 1, version: 1 });
  const { body } = await viewer.call<VersionList>('GET', at(id, '/versions'));
  assert.deepEqual(
    body.data.map(({ version, created_by, is_live }) => [version, created_by, is_live]),
    [
      [2, 'Ada', true],
      [1, null, false],
    ],
  );
  assert.deepEqual(body.pagination, { page: 1, per_page: 20, total_count: 2, total_pages: 1 });
  assert.deepEqual((await viewer.call<VersionDetail>('GET', at(id, '/versions/1'))).body.structure, live);
  assert.equal((await viewer.call('GET', at(id, '/versions/3'))).status, 404);
  assert.equal((await viewer.call('GET', at(id, '/versions/0'))).status, 400);
});

test('answer counts: how many stored submissions answer each element', async () => {
  const form = structure(
    element('text', 'name'),
    composite('people', [element('text', 'who')], { repeatable: true }),
  );
  const id = await make(form, true);
  for (const answers of [{ name: 'a' }, { name: 'b', people: [{ who: 'c' }, { who: 'd' }] }, {}]) {
    const sent = await fetch(`${service.url}/f/${id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ answers }),
    });
    assert.equal(sent.status, 201);
  }
  const { body } = await viewer.call<AnswerCounts>('GET', at(id, '/answer-counts'));
  assert.deepEqual(body, { scanned: 3, counts: { name: 2, people: 1 } });
});

test('a copy: a form of its own with what was being edited', async () => {
  const id = await make();
  const { status, body } = await editor.call<{ id: string }>('POST', at(id, '/copies'), {
    structure: incomplete,
  });
  assert.equal(status, 201);
  assert.deepEqual((await open(body.id)).draft.structure, incomplete);
});

const changes = [
  ['PUT', '/draft', { revision: 0, structure: edited, base_version: 1 }],
  ['POST', '/publish', { revision: 0, version: 1 }],
  ['PUT', '/status', { status: 'archived' }],
  ['PATCH', '/settings', { settings: { language: 'german' } }],
  ['POST', '/copies', { structure: edited }],
] as const;

for (const [method, path, body] of changes) {
  test(`${method} ${path}: a viewer gets 403, a stranger 404, and nothing changes; an unknown key is refused`, async () => {
    const id = await make();
    const before = await open(id);
    assert.equal((await viewer.call(method, at(id, path), body)).status, 403);
    assert.equal((await stranger.call(method, at(id, path), body)).status, 404);
    assert.equal((await stranger.call(method, at(id, path, stranger.workspaceId), body)).status, 404);
    assert.equal((await editor.call(method, at(id, path), { ...body, extra: 1 })).status, 422);
    assert.deepEqual(await open(id), before);
  });
}

for (const path of ['/builder', '/versions', '/versions/1']) {
  test(`GET ${path}: a stranger gets the 404 of an absent form`, async () => {
    const id = await make();
    assert.equal((await stranger.call('GET', at(id, path))).status, 404);
    assert.equal((await stranger.call('GET', at(id, path, stranger.workspaceId))).status, 404);
  });
}
