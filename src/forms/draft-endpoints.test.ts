import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Static } from 'typebox';
import { composite, element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { callApi, shareService } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import type * as shapes from './shapes.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId, name: 'Ada' });
const bob = await signIn(service, { role: 'editor', workspaceId, name: 'Bob' });
const viewer = await signIn(service, { role: 'viewer', workspaceId });
/** A key that may change forms, but not read submissions. */
const writer = await tenant.makeKey(['forms:read', 'forms:write']);

type Draft = Static<typeof shapes.Draft>;
type Changed = Static<typeof shapes.ChangedForm>;
type Saved = Static<typeof shapes.DraftSaved>;

const live = structure(element('text', 'subject'));
const edited = structure(element('text', 'subject'), element('email', 'email'));
const incomplete = { type: 'form', attrs: {}, children: [] };

const make = async (sent: object = live, more: object = {}): Promise<string> =>
  (await tenant.call('POST', '/forms', { structure: sent, ...more })).body.id;
const open = async (id: string) => (await editor.api<Draft>('GET', `/forms/${id}/draft`)).body;
const save = (id: string, etag: string, document: object, by = editor) =>
  by.api<Saved & { error: string; message: string }>('PUT', `/forms/${id}/draft`, document, {
    'If-Match': etag,
  });
const publish = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
  editor.api<Changed & { errors: { field?: string; path?: number[] }[] }>(
    'POST',
    `/forms/${id}/publish`,
    body,
    headers,
  );

test('the draft of a form without edits is the live version, with an ETag', async () => {
  const id = await make();
  const { status, body, headers } = await viewer.api<Draft>('GET', `/forms/${id}/draft`);
  assert.equal(status, 200);
  assert.equal(body.form.public_url, `${service.url}/f/${id}`);
  assert.deepEqual([body.live.structure, body.live.version], [live, 1]);
  assert.deepEqual(
    [body.revision, body.structure, body.settings, body.base_version, body.saved_at],
    [0, live, {}, 1, null],
  );
  assert.equal(headers.get('etag'), body.etag);
  const again = await viewer.api('GET', `/forms/${id}/draft`, undefined, { 'If-None-Match': body.etag });
  assert.equal(again.status, 304);
});

test('a key edits, compares and publishes as a person does; visitors see changes only after publishing', async () => {
  const id = await make();
  const settings = { theme: { color: '#6d28d9' }, confirmation_message: 'Merci' };
  const saved = await tenant.call('PUT', `/forms/${id}/draft`, { structure: edited, settings });
  assert.equal(saved.status, 200);
  const before = (await tenant.call('GET', `/forms/${id}`)).body;
  assert.deepEqual([before.structure, before.status], [live, 'draft']);
  assert.equal((await open(id)).saved_by, null);
  const { status, body } = await tenant.call('POST', `/forms/${id}/publish`, undefined, {
    'If-Match': saved.headers.get('etag')!,
  });
  assert.deepEqual([status, body.status, body.structure], [200, 'published', edited]);
  assert.match(await (await fetch(`${service.url}/f/${id}`)).text(), /name="email"/);
  const draft = await open(id);
  assert.deepEqual([draft.live.settings, draft.settings, draft.live.version], [settings, settings, 2]);
  const kept = await viewer.api<{ settings: object }>('GET', `/forms/${id}/versions/2`);
  assert.deepEqual(kept.body.settings, settings);
});

test('two editors of one draft: the second gets 412 that names the first, and no change of either is lost', async () => {
  const id = await make();
  const { etag } = await open(id);
  const [mine, theirs] = [structure(element('text', 'mine')), structure(element('text', 'theirs'))];
  const answers = await Promise.all([
    save(id, etag, { structure: mine }),
    save(id, etag, { structure: theirs }, bob),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
  const isMine = answers[0].status === 200;
  const refused = isMine ? answers[1] : answers[0];
  assert.equal(refused.body.error, 'precondition_failed');
  assert.match(refused.body.message, new RegExp(`^${isMine ? 'Ada' : 'Bob'} saved this form at `));
  const now = await open(id);
  assert.deepEqual(now.structure, isMine ? mine : theirs);
  // The rejected editor reads the new state, decides, and saves based on it.
  const second = await save(id, now.etag, { structure: isMine ? theirs : mine }, isMine ? bob : editor);
  assert.equal(second.status, 200);
  // A save whose response was lost is sent again, and succeeds once.
  const repeated = await save(id, now.etag, { structure: isMine ? theirs : mine }, isMine ? bob : editor);
  assert.deepEqual([repeated.status, repeated.body.revision], [200, 2]);
  assert.equal((await publish(id, {}, { 'If-Match': now.etag })).status, 412);
  assert.equal((await publish(id, {}, { 'If-Match': '"nonsense"' })).status, 412);
  assert.equal((await publish(id, {}, { 'If-Match': second.body.etag })).status, 200);
});

test('a draft compared with an outdated live version is not published over the current one', async () => {
  const id = await make();
  await save(id, (await open(id)).etag, { structure: edited });
  await tenant.call('PUT', `/forms/${id}`, { structure: live });
  assert.equal((await publish(id, { version: 1 })).status, 412);
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body.structure, live);
  assert.equal((await publish(id, { version: 2 })).status, 200);
});

test('publishing an incomplete form, or invalid settings, is a 422 that names each problem, and changes nothing live', async () => {
  const id = await make();
  await save(id, (await open(id)).etag, { structure: incomplete });
  const { status, body } = await publish(id);
  assert.deepEqual([status, body.errors.map(({ path }) => path)], [422, [[], []]]);
  const settings = { redirect_url: 'nowhere', subject_element: 'gone' };
  await save(id, (await open(id)).etag, { structure: live, settings });
  const refused = await publish(id);
  assert.deepEqual(
    [refused.status, refused.body.errors.map(({ field }) => field)],
    [422, ['redirect_url', 'subject_element']],
  );
  assert.equal((await open(id)).live.version, 1);
});

test('a working copy over 1 MB is a 413, and one that is not an object a 422', async () => {
  const id = await make();
  const { etag } = await open(id);
  assert.equal((await save(id, etag, { structure: { note: 'x'.repeat(1024 * 1024) } })).status, 413);
  assert.equal((await save(id, etag, { structure: [] })).status, 422);
  assert.equal((await open(id)).revision, 0);
});

test('a key that may not read answers cannot redirect them, by a draft, by publishing one, or by an old version', async () => {
  const id = await make(live, { settings: { notification_email: 'old@example.org' } });
  await tenant.call('PATCH', `/forms/${id}`, { settings: { notification_email: 'ours@example.org' } });
  const ask = (method: string, path: string, body?: object) =>
    callApi(service.url, writer, method, `/forms/${id}${path}`, body);
  const settings = { notification_email: 'thief@example.org' };
  for (const [method, path, body] of [
    ['PUT', '/draft', { structure: live, settings }],
    ['PUT', '/draft?dry_run=true', { structure: live, settings }],
    ['PATCH', '', { settings }],
    ['POST', '/duplicate', { structure: live, settings }],
    ['POST', '/versions/1/restore', undefined],
  ] as const) {
    const { status, body: answer } = await ask(method, path, body);
    assert.deepEqual([status, answer.error], [403, 'forbidden'], `${method} ${path}`);
    assert.match(answer.message, /notification_email/);
  }
  const imported = await callApi(service.url, writer, 'POST', '/forms/import', { structure: live, settings });
  assert.equal(imported.status, 403);
  await tenant.call('PUT', `/forms/${id}/draft`, { structure: live, settings });
  assert.equal((await ask('POST', '/publish')).status, 403);
  const kept = { notification_email: 'ours@example.org', editing: true };
  await tenant.call('PUT', `/forms/${id}/draft`, { structure: live, settings: kept });
  assert.equal((await ask('PUT', '/draft', { structure: edited, settings: kept })).status, 200);
  assert.equal((await ask('POST', '/publish')).status, 200);
  const now = (await tenant.call('GET', `/forms/${id}`)).body.settings as { notification_email: string };
  assert.equal(now.notification_email, 'ours@example.org');
});

test('the first version of a form names the person who created it, and no author if a key did', async () => {
  const created = await editor.api<{ id: string }>('POST', '/forms', { structure: live });
  const imported = await editor.api<{ id: string }>('POST', '/forms/import', { structure: live });
  const copy = await editor.api<{ id: string }>('POST', `/forms/${created.body.id}/duplicate`);
  const authors = [created.body.id, imported.body.id, copy.body.id, await make()].map(async (id) => {
    const { body } = await viewer.api<Static<typeof shapes.VersionList>>('GET', `/forms/${id}/versions`);
    return body.data.map(({ created_by }) => created_by);
  });
  assert.deepEqual(await Promise.all(authors), [['Ada'], ['Ada'], ['Ada'], [null]]);
});

test('versions are listed newest first with author and time; one version has its structure; an old one can become the draft', async () => {
  const id = await make();
  await save(id, (await open(id)).etag, { structure: edited });
  await publish(id);
  const { body } = await viewer.api<Static<typeof shapes.VersionList>>('GET', `/forms/${id}/versions`);
  assert.deepEqual(
    body.data.map(({ version, created_by, is_live }) => [version, created_by, is_live]),
    [
      [2, 'Ada', true],
      [1, null, false],
    ],
  );
  assert.deepEqual(body.pagination, { page: 1, per_page: 20, total_count: 2, total_pages: 1 });
  const first = await viewer.api<{ structure: object }>('GET', `/forms/${id}/versions/1`);
  assert.deepEqual(first.body.structure, live);
  assert.equal((await viewer.api('GET', `/forms/${id}/versions/3`)).status, 404);
  assert.equal((await viewer.api('GET', `/forms/${id}/versions/0`)).status, 400);

  const stale = { 'If-Match': '"0"' };
  assert.equal((await editor.api('POST', `/forms/${id}/versions/1/restore`, undefined, stale)).status, 412);
  assert.equal((await editor.api('POST', `/forms/${id}/versions/1/restore`)).status, 200);
  assert.deepEqual((await open(id)).structure, live);
  assert.deepEqual((await tenant.call('GET', `/forms/${id}`)).body.structure, edited);
});

// Dry runs ----------------------------------------------------------------------------------------------------

const larger = structure(
  element('radio', 'colour'),
  element('text', 'name'),
  composite('people', [element('text', 'who'), element('multiple_choice', 'likes')], { repeatable: true }),
  element('matrix', 'drinks'),
);
const smaller = structure(
  element('radio', 'colour', { options: ['Red', 'Green'] }),
  composite('people', [element('multiple_choice', 'likes', { options: ['Red', 'Blue'] })], {
    repeatable: true,
  }),
  element('matrix', 'drinks', { rows: ['Coffee'], options: ['Red', 'Green'] }),
);

test('a dry run of every change reports its effects and stores nothing', async () => {
  const id = await make(larger, { publish: true });
  for (const answers of [
    { colour: 'Blue', name: 'a', people: [{ who: 'x', likes: ['Green', 'Blue'] }, { likes: ['Green'] }] },
    { colour: 'Blue', drinks: { Tea: 'Blue', Coffee: 'Blue' } },
    { colour: 'Red', name: 'b', drinks: { Tea: 'Red' } },
  ])
    assert.equal((await visitor.submit(id, answers)).status, 201);
  const before = await open(id);
  const runs = [
    await tenant.call('PUT', `/forms/${id}?dry_run=true`, { structure: smaller }),
    await tenant.call('PUT', `/forms/${id}/draft?dry_run=true`, { structure: smaller }),
  ];
  await save(id, before.etag, { structure: smaller });
  const saved = await open(id);
  runs.push(await tenant.call('POST', `/forms/${id}/publish?dry_run=true`));
  for (const { status, body } of runs) {
    assert.equal(status, 200);
    const { impact, problems, scanned } = body['dry_run'] as Static<typeof shapes.DryRun>;
    assert.deepEqual(
      impact.map(({ message }) => message),
      [
        'Removing option "Blue" of "The colour" affects 2 answers.',
        'Removing "The name" affects 2 answers.',
        'Removing "The who" affects 1 answer.',
        'Removing option "Green" of "The likes" affects 1 answer.',
        'Removing row "Tea" of "The drinks" affects 2 answers.',
        'Removing option "Blue" of "The drinks" affects 1 answer.',
      ],
    );
    assert.deepEqual([problems, scanned], [[], 3]);
  }
  assert.deepEqual(await open(id), saved);
  assert.equal(saved.live.version, 1);
  const counted = await viewer.api('GET', `/forms/${id}/answer-counts`);
  assert.deepEqual(counted.body, {
    scanned: 3,
    counts: { colour: 3, name: 2, people: 1, who: 1, likes: 1, drinks: 2 },
  });
});

test('a dry run reports all problems of structure and settings together, and fails if the change would', async () => {
  const id = await make();
  const broken = { structure: structure({ type: 'text' }), settings: { colour: 1, theme: { logo: id } } };
  const put = await tenant.call('PUT', `/forms/${id}?dry_run=true`, broken);
  assert.equal(put.status, 200);
  const { problems } = put.body['dry_run'] as Static<typeof shapes.DryRun>;
  assert.deepEqual(
    problems.map(({ field, path }) => field ?? path),
    [[0, 0], [0, 0], 'colour'],
  );
  assert.deepEqual(put.body.structure, live);
  const slips = structure(element('text', 'a', { requird: true }), {
    type: 'composite',
    attrs: { id: 'g', label: 'G' },
  });
  const warned = await tenant.call('PUT', `/forms/${id}?dry_run=true`, { structure: slips });
  const run = warned.body['dry_run'] as Static<typeof shapes.DryRun>;
  assert.deepEqual(
    [run.problems, ...run.warnings.map(({ rule, path }) => [rule, path])],
    [[], ['misspelt-attribute', [0, 0]], ['empty-composite', [0, 1]]],
  );
  const patched = await tenant.call('PATCH', `/forms/${id}?dry_run=true`, {
    settings: { theme: { logo: id } },
  });
  const found = (patched.body['dry_run'] as Static<typeof shapes.DryRun>).problems;
  assert.deepEqual(
    found.map(({ field }) => field),
    ['theme.logo'],
  );
  const stale = { 'If-Match': '"0"' };
  for (const [method, path] of [
    ['PUT', ''],
    ['PUT', '/draft'],
    ['POST', '/publish'],
  ] as const) {
    const body = method === 'PUT' ? { structure: edited } : undefined;
    const answer = await tenant.call(method, `/forms/${id}${path}?dry_run=true`, body, stale);
    assert.equal(answer.status, 412, `${method} ${path}`);
  }
  await tenant.call('POST', `/forms/${id}/archive`);
  assert.equal((await tenant.call('POST', `/forms/${id}/publish?dry_run=true`)).status, 409);
  assert.equal((await tenant.call('PUT', `/forms/${id}?dry_run=maybe`, { structure: live })).status, 400);
});

test('counts of a dry run reveal answers, so a key that may not read them sees only which elements are removed', async () => {
  const id = await make(larger, { publish: true });
  await visitor.submit(id, { colour: 'Blue' });
  const { body } = await callApi(service.url, writer, 'PUT', `/forms/${id}?dry_run=true`, {
    structure: smaller,
  });
  const { impact, scanned } = (body as unknown as { dry_run: Static<typeof shapes.DryRun> }).dry_run;
  assert.equal(scanned, null);
  assert.deepEqual(impact[0], {
    change: 'option_removed',
    element: 'colour',
    option: 'Blue',
    answers: null,
    message: 'Removing option "Blue" of "The colour".',
  });
});
