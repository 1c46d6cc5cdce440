import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callApi, shareService, until } from '#test/service.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const other = await service.makeTenant();

const text = (id: string, attrs: object = {}) => ({
  type: 'text',
  attrs: { id, label: id, required: false, ...attrs },
  children: [],
});
const structure = (name: string, elements: object[] = [text('subject')], attrs: object = {}) => ({
  type: 'form',
  attrs: { name, ...attrs },
  children: [{ type: 'step', attrs: { title: 'One', layout: 'stack' }, children: elements }],
});
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const absent = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';

const create = async (name: string, more: object = {}) =>
  (await tenant.call('POST', '/forms', { structure: structure(name), ...more })).body;

test('create: 201 with the structure as sent, both addresses, name and description from its attrs, as a draft', async () => {
  const sent = structure('Contact', [text('subject', { future_attribute: { kept: [1, 2.5, null] } })], {
    description: 'Say hello',
  });
  const { status, body } = await tenant.call('POST', '/forms', { structure: sent });
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body), [
    'id',
    'workspace_id',
    'name',
    'description',
    'status',
    'labels',
    'structure',
    'public_url',
    'builder_url',
    'created_at',
    'updated_at',
    'published_at',
  ]);
  assert.match(body.id, uuid);
  assert.equal(body.workspace_id, tenant.workspaceId);
  assert.equal(body.name, 'Contact');
  assert.equal(body.description, 'Say hello');
  assert.equal(body.status, 'draft');
  assert.deepEqual(body.structure, sent);
  assert.equal(body.public_url, `${service.url}/f/${body.id}`);
  assert.equal(body.builder_url, `${service.url}/app/forms/${body.id}`);
  assert.match(body.created_at, timestamp);
  assert.equal(body.published_at, null);
});

test('create with publish true publishes the form and sets published_at', async () => {
  const form = await create('Live', { publish: true });
  assert.equal(form.status, 'published');
  assert.match(String(form.published_at), timestamp);
});

const invalid: { name: string; structure: unknown; errors: object[] }[] = [
  { name: 'no name', structure: { ...structure('x'), attrs: {} }, errors: [{ path: [], field: 'name' }] },
  {
    name: 'no step',
    structure: { type: 'form', attrs: { name: 'x' }, children: [] },
    errors: [{ path: [], field: 'steps' }],
  },
  {
    name: 'a missing label',
    structure: structure('x', [text('a'), { type: 'text', attrs: { id: 'b' }, children: [] }]),
    errors: [{ path: [0, 1] }],
  },
  {
    name: 'two elements with one id: the path of the second',
    structure: structure('x', [text('a'), text('a')]),
    errors: [{ path: [0, 1] }],
  },
  {
    name: 'several problems: all at once',
    structure: structure('', [{ type: 'nonsense', attrs: {}, children: [] }, text('-bad')]),
    errors: [{ path: [], field: 'name' }, { path: [0, 0] }, { path: [0, 1] }],
  },
];
for (const scenario of invalid) {
  test(`create with ${scenario.name}: 422 validation_error with message and path, and nothing is created`, async () => {
    const before = (await tenant.call('GET', '/forms')).body.pagination.total_count;
    const { status, body } = await tenant.call('POST', '/forms', { structure: scenario.structure });
    assert.equal(status, 422);
    assert.equal(body.error, 'validation_error');
    const found = body.errors.map(({ message, code, ...rest }) => {
      assert.ok(message.length > 5);
      assert.match(code!, /^[a-z_]+$/);
      return rest;
    });
    assert.deepEqual(found, scenario.errors);
    assert.equal((await tenant.call('GET', '/forms')).body.pagination.total_count, before);
  });
}

test('create: unknown keys and another workspace are rejected by name', async () => {
  const { status, body } = await tenant.call('POST', '/forms', {
    structure: structure('x'),
    owner: absent,
    workspace_id: other.workspaceId,
  });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field }) => field),
    ['owner'],
  );
  const elsewhere = await tenant.call('POST', '/forms', {
    structure: structure('x'),
    workspace_id: other.workspaceId,
  });
  assert.deepEqual([elsewhere.status, elsewhere.body.errors[0]!.field], [422, 'workspace_id']);
});

test('create and update accept settings: known keys are stored, unknown ones rejected', async () => {
  const settings = { confirmation_message: 'Thank you', subject_element: 'subject' };
  const form = await create('With settings', { settings });
  assert.deepEqual((await tenant.call('GET', `/forms/${form.id}`)).body.settings, {
    access: 'public',
    ...settings,
  });
  const refused = await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structure('x'),
    settings: { colour: 'red' },
  });
  assert.equal(refused.status, 422);
});

test('get returns structure, settings and the number of submissions', async () => {
  const form = await create('Get me');
  const { status, body } = await tenant.call('GET', `/forms/${form.id}`);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), [
    'id',
    'workspace_id',
    'name',
    'description',
    'status',
    'labels',
    'structure',
    'settings',
    'submission_count',
    'created_at',
    'updated_at',
    'published_at',
  ]);
  assert.equal(body.submission_count, 0);
});

test('update returns the shape of get, with the new name and a later updated_at', async () => {
  const form = await create('Before');
  const { status, body } = await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structure('After', [text('added')]),
  });
  assert.equal(status, 200);
  assert.equal(body.name, 'After');
  assert.deepEqual(body, (await tenant.call('GET', `/forms/${form.id}`)).body);
  assert.ok(body.updated_at >= form.updated_at);
  assert.equal(body.status, 'draft');
});

test('update with status: draft to published to draft, archived, restored', async () => {
  const form = await create('Moves');
  for (const status of ['published', 'draft', 'published', 'archived', 'draft']) {
    const { body } = await tenant.call('PUT', `/forms/${form.id}`, { structure: structure('Moves'), status });
    assert.equal(body.status, status);
  }
});

test('of fifty parallel updates, the last one is stored completely, never a mixture', async () => {
  const form = await create('Race');
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      tenant.call('PUT', `/forms/${form.id}`, {
        structure: structure(`Name ${index}`, [text(`id_${index}`)]),
      }),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const { body } = await tenant.call('GET', `/forms/${form.id}`);
  const number = body.name.slice('Name '.length);
  assert.equal(body.structure.children[0]!.children[0]!.attrs['id'], `id_${number}`);
});

test('list returns forms newest first, without structure, filtered by status, in pages with an exact total', async () => {
  const lister = await service.makeTenant();
  const created: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const { body } = await lister.call('POST', '/forms', {
      structure: structure(`Form ${index}`),
      publish: index % 2 === 0,
    });
    created.unshift(body.id);
  }
  const { status, body } = await lister.call('GET', '/forms?per_page=2&page=2');
  assert.equal(status, 200);
  assert.deepEqual(
    body.data.map((form) => form.id),
    created.slice(2, 4),
  );
  assert.deepEqual(Object.keys(body.data[0]!), [
    'id',
    'workspace_id',
    'name',
    'description',
    'status',
    'labels',
    'submission_count',
    'created_at',
    'updated_at',
    'published_at',
  ]);
  assert.deepEqual(body.pagination, { page: 2, per_page: 2, total_count: 5, total_pages: 3 });
  const published = (await lister.call('GET', '/forms?status=published')).body;
  assert.deepEqual(published.pagination, { page: 1, per_page: 20, total_count: 3, total_pages: 1 });
  const past = await lister.call('GET', '/forms?page=9');
  assert.deepEqual([past.status, past.body.data, past.body.pagination.total_count], [200, [], 5]);
});

test('delete: 204 with an empty body; the form and its row are gone, and deleting it again is a 404', async () => {
  const form = await create('Short-lived', { publish: true });
  const { status, body } = await tenant.call('DELETE', `/forms/${form.id}`);
  assert.deepEqual([status, body], [204, undefined]);
  for (const [method, path, sent] of [
    ['GET', '', undefined],
    ['PUT', '', { structure: structure('x') }],
    ['DELETE', '', undefined],
    ['GET', '/submissions', undefined],
  ] as const) {
    assert.equal((await tenant.call(method, `/forms/${form.id}${path}`, sent)).status, 404);
  }
  assert.equal((await fetch(`${service.url}/f/${form.id}`)).status, 404);
  await until(
    'the row to go',
    async () =>
      (await service.services.database.query('select from forms where id = $1', [form.id])).rowCount === 0,
  );
});

test("another workspace's form is answered exactly like an unknown one, and is not changed", async () => {
  const form = await create('Mine');
  for (const [method, sent] of [
    ['GET', undefined],
    ['PUT', { structure: structure('stolen') }],
    ['DELETE', undefined],
  ] as const) {
    const foreign = await other.call(method, `/forms/${form.id}`, sent);
    const missing = await other.call(method, `/forms/${absent}`, sent);
    assert.deepEqual([foreign.status, foreign.body], [404, missing.body]);
  }
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.name, 'Mine');
});

for (const [name, path] of [
  ['page 0', '/forms?page=0'],
  ['page below 0', '/forms?page=-1'],
  ['a broken page', '/forms?page=1.5'],
  ['a page in words', '/forms?page=one'],
  ['a page in other notation', '/forms?page=1e2'],
  ['a huge page', '/forms?page=1e19'],
  ['per_page over 100', '/forms?per_page=101'],
  ['per_page 0', '/forms?per_page=0'],
  ['an unknown status', '/forms?status=open'],
  ['an operator as parameter', '/forms?status[$ne]=draft'],
  ['a parameter given twice', '/forms?page=1&page=2'],
  ['an unknown parameter', '/forms?sort=name'],
  ['an id that is not a UUID', '/forms/42'],
] as const) {
  test(`${name}: 400 bad_request`, async () => {
    const { status, body } = await tenant.call('GET', path);
    assert.deepEqual([status, body.error], [400, 'bad_request']);
  });
}

test('a key that may only read gets 403 for writing, and nothing changes', async () => {
  const form = await create('Guarded');
  const reader = await tenant.makeKey(['forms:read']);
  const answer = await fetch(`${service.url}/api/v1/forms/${form.id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${reader}` },
  });
  assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [403, 'forbidden']);
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).status, 200);
});

test('a key that may not read submissions cannot set a notification address, but may keep or clear one', async () => {
  const mailed = { notification_email: 'owner@example.org' };
  const { body: form } = await tenant.call('POST', '/forms', {
    structure: structure('Notified', [text('a')]),
    settings: mailed,
  });
  const key = await tenant.makeKey(['forms:write', 'forms:read']);
  const send = (method: string, path: string, settings: object) =>
    callApi(service.url, key, method, path, { structure: structure('Notified', [text('a')]), settings });
  const elsewhere = { notification_email: 'owner@example.org, eve@example.org' };
  for (const refused of [
    await send('POST', '/forms', elsewhere),
    await send('PUT', `/forms/${form.id}`, elsewhere),
  ]) {
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden']);
    assert.match(refused.body.message, /requires the permission submissions:read/);
  }
  const kept = await send('PUT', `/forms/${form.id}`, { ...mailed, editing: true });
  assert.deepEqual([kept.status, kept.body.settings], [200, { access: 'public', ...mailed, editing: true }]);
  assert.equal((await send('PUT', `/forms/${form.id}`, {})).status, 200);
  assert.equal((await send('PUT', `/forms/${form.id}`, mailed)).status, 403, 'nor does it come back');
  const reader = await tenant.makeKey(['forms:write', 'submissions:read']);
  const whole = { structure: structure('Notified', [text('a')]), settings: elsewhere };
  assert.equal((await callApi(service.url, reader, 'PUT', `/forms/${form.id}`, whole)).status, 200);
});

test("a structure is returned exactly as sent: unknown attributes, their order, and names of JavaScript's own properties", async () => {
  const sent = JSON.stringify(structure('Exact', [text('a')])).replace(
    '"label":"a"',
    '"label":"a","z":1,"b":[0.1,1e21,-5e-324,123456789012345680000],"__proto__":{"polluted":true},"toString":null,"é":"\\u2028👍"',
  );
  const { status, body } = await tenant.call('POST', '/forms', `{"structure":${sent}}`);
  assert.equal(status, 201, JSON.stringify(body));
  const read = await fetch(`${service.url}/api/v1/forms/${body.id}`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  assert.ok((await read.text()).includes(`"structure":${JSON.stringify(JSON.parse(sent))},`));
  assert.ok(!('polluted' in {}));
});

test('a published form changes immediately for its visitors, and a draft stays hidden', async () => {
  const [live, draft] = [await create('Live', { publish: true }), await create('Draft')];
  for (const [form, status] of [
    [live, 200],
    [draft, 404],
  ] as const) {
    await tenant.call('PUT', `/forms/${form.id}`, {
      structure: structure('Changed', [text('new_question')]),
    });
    const page = await fetch(`${service.url}/f/${form.id}`);
    assert.deepEqual([page.status, (await page.text()).includes('new_question')], [status, status === 200]);
  }
});

test('published_at is the time of publication, is kept through changes, and is new after a time as a draft', async () => {
  const form = await create('Times', { publish: true });
  assert.equal(form.published_at, form.created_at);
  const put = async (more: object = {}) =>
    (await tenant.call('PUT', `/forms/${form.id}`, { structure: structure('Times'), ...more })).body;
  assert.equal((await put()).published_at, form.published_at);
  assert.equal((await put({ status: 'published' })).published_at, form.published_at);
  assert.equal((await put({ status: 'draft' })).published_at, form.published_at);
  assert.ok((await put({ status: 'published' })).published_at! > form.published_at);
});

test('settings are kept if omitted, replaced if sent, and cleared by null', async () => {
  const form = await create('Settings', {
    settings: { access: 'public', confirmation_message: 'Thanks', language: 'german' },
  });
  const put = async (settings?: object) =>
    (
      await tenant.call('PUT', `/forms/${form.id}`, {
        structure: structure('Settings'),
        ...(settings && { settings }),
      })
    ).body.settings;
  assert.deepEqual(await put(), { access: 'public', confirmation_message: 'Thanks', language: 'german' });
  assert.deepEqual(await put({ editing: true, confirmation_message: null }), {
    access: 'public',
    editing: true,
  });
});

const wrongSettings: Record<string, unknown> = {
  access: 'everyone',
  confirmation_message: 5,
  notification_email: 'not-an-address',
  editing: 'yes',
  subject_element: 'unknown',
  language: 'klingon',
  opens_at: 'tomorrow',
  closes_at: '2026-01-31',
  max_submissions: 0,
  colour: 'red',
};
test('all invalid settings are reported together, and nothing is created', async () => {
  const before = (await tenant.call('GET', '/forms')).body.pagination.total_count;
  const { status, body } = await tenant.call('POST', '/forms', {
    structure: structure('x'),
    settings: wrongSettings,
  });
  assert.deepEqual(
    [status, body.errors.map(({ field }) => field).sort()],
    [422, Object.keys(wrongSettings).sort()],
  );
  assert.equal((await tenant.call('GET', '/forms')).body.pagination.total_count, before);
});

test('of ten parallel deletes one is a 204 and nine are 404s', async () => {
  const form = await create('Raced');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => tenant.call('DELETE', `/forms/${form.id}`)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [
    204,
    ...Array.from({ length: 9 }, () => 404),
  ]);
});

test('a change that races a deletion is a 200 before it or a 404 after it, and never revives the form', async () => {
  for (let round = 0; round < 5; round += 1) {
    const form = await create('Raced');
    const [removal, ...changes] = await Promise.all([
      tenant.call('DELETE', `/forms/${form.id}`),
      ...Array.from({ length: 10 }, () =>
        tenant.call('PUT', `/forms/${form.id}`, { structure: structure('Back') }),
      ),
    ]);
    assert.equal(removal.status, 204);
    assert.deepEqual(
      changes.filter(({ status }) => status !== 200 && status !== 404),
      [],
    );
    assert.equal((await tenant.call('GET', `/forms/${form.id}`)).status, 404);
  }
});

test('an id in uppercase is the same id', async () => {
  const form = await create('Capitals');
  assert.equal((await tenant.call('GET', `/forms/${form.id.toUpperCase()}`)).body.id, form.id);
});
