import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiRoutes } from '#app/operations/operations.ts';
import { permissionNames } from '#rules/permissions.ts';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { idIn, makeOneOfEach } from '#test/one-of-each.ts';
import { callApi, shareService, until } from '#test/service.ts';
import type { Key, RecentKeyRequest } from './key-endpoints.ts';

/* Tests what a key can access, and its request log. */

const service = await shareService();
const { url } = service;
const tenant = await service.makeTenant();
const admin = await signIn(service, { workspaceId: tenant.workspaceId, role: 'admin', name: 'Ada' });
const keys = '/keys';
type Made = { id: string; key: string };
type RotatedKey = Made & { former_until: string };

async function makeForm(name: string): Promise<{ id: string; submission: string }> {
  const created = await tenant.call('POST', '/forms', {
    structure: { ...structure(element('text', 'name')), attrs: { name } },
    publish: true,
  });
  const sent = await fetch(`${url}/f/${created.body.id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ answers: { name: 'Xylograph' } }),
  });
  const { id: submission } = (await sent.json()) as { id: string };
  return { id: created.body.id, submission };
}

const [mine, other] = [await makeForm('Mine'), await makeForm('Other')];

const makeKey = async (body: object = {}): Promise<Made> =>
  (await admin.api<Made>('POST', keys, { name: 'Test', ...body })).body;
const listed = async (id: string): Promise<Key> =>
  (await admin.api<{ data: Key[] }>('GET', keys)).body.data.find((key) => key.id === id)!;

test('a key for some forms finds only these forms and their submissions; others do not exist for it', async () => {
  const { id, key } = await makeKey({ form_ids: [mine.id] });
  const call = (path: string) => callApi(url, key, 'GET', path);
  const forms = await call('/forms');
  assert.deepEqual(
    [forms.body.data.map((form) => form.id), forms.body.pagination.total_count],
    [[mine.id], 1],
  );
  const found = await call('/submissions/search?q=xylograph');
  assert.deepEqual(
    [found.body.data.map((submission) => submission.id), found.body.pagination.total_count],
    [[mine.submission], 1],
  );
  assert.equal((await call('/submissions/search?q=xylograph&page=9')).body.pagination.total_count, 1);
  for (const path of [
    `/forms/${mine.id}`,
    `/forms/${mine.id}/submissions`,
    `/submissions/${mine.submission}`,
  ])
    assert.equal((await call(path)).status, 200, path);
  const reach = await listed(id);
  assert.deepEqual([reach.form_ids, reach.created_by], [[mine.id], 'Ada']);
});

const absentId = '01890000-0000-7000-8000-000000000000';

test('no API route lets a key access other forms', async () => {
  const { key } = await makeKey({ form_ids: [mine.id], permissions: [...permissionNames] });
  const absent = await callApi(url, key, 'GET', `/forms/${absentId}`);
  const addressed = apiRoutes(service.services).filter(({ path }) => path.includes(':id'));
  const ids = await makeOneOfEach(service, tenant);
  for (const { name, method, path, operation } of addressed) {
    const isOfForm = path.startsWith('/forms/:id/') && /:(?!id|version)/.test(path);
    // Data of another form must not be reachable under the path of an allowed form either.
    for (const id of [idIn(path, ids), ...(isOfForm ? [mine.id] : [])]) {
      const address = path
        .replace(':id', id)
        .replace(':version', '1')
        .replaceAll(/:(\w+)/g, (_all, inner: string) => ids[inner] ?? absentId);
      const answer = await callApi(url, key, method, address, operation.example.body);
      const isOfNoForm = /^\/(members|mails|people|workspace|domains)\b/.test(path);
      if (isOfNoForm) assert.deepEqual([answer.status, answer.body.error], [403, 'forbidden'], name);
      else assert.deepEqual([answer.status, answer.body], [404, absent.body], name);
    }
  }
  const search = await callApi(url, key, 'GET', `/submissions/search?q=xylograph&form_id=${other.id}`);
  assert.deepEqual([search.status, search.body], [404, absent.body]);
  const create = await callApi(url, key, 'POST', '/forms', { structure: structure(element('text', 'name')) });
  assert.deepEqual([create.status, create.body.error], [403, 'forbidden']);
  assert.equal((await tenant.call('GET', `/forms/${other.id}`)).status, 200, 'and nothing was deleted');
});

/**
 * Operations without a form in their path that a limited key can call. They return only data of its forms, or
 * data that is not in a form yet.
 */
const ofOwnForms = [
  'listForms',
  'listFormActivity',
  'listLabels',
  'validateForm',
  'convertForm',
  'createImage',
  'createFile',
  'listSubmissions',
  'searchSubmissions',
  'suggestSearch',
  'listEvents',
  'listWorkspaceWebhooks',
  'listKeys',
  'listStages',
  'listTasks',
];

test('a key for some forms cannot access the whole workspace, and other results contain only these forms', async () => {
  const { key } = await makeKey({ form_ids: [mine.id], permissions: [...permissionNames] });
  await tenant.call('POST', `/submissions/${other.submission}/notes`, { text: 'Xylograph' });
  const unnamed = apiRoutes(service.services).filter(({ path }) => !path.includes(':'));
  const answered: string[] = [];
  for (const { name, method, path, operation } of unnamed) {
    const query = new URLSearchParams(operation.example.query as Record<string, string>).toString();
    const answer = await callApi(url, key, method, `${path}${query && `?${query}`}`, operation.example.body);
    if (answer.status === 403) assert.equal(answer.body.error, 'forbidden', name);
    else answered.push(name);
    assert.ok(!JSON.stringify(answer.body ?? '').includes(other.id), name);
    assert.ok(!JSON.stringify(answer.body ?? '').includes(other.submission), name);
  }
  assert.deepEqual(answered, ofOwnForms);
});

test('the permissions of a key can be changed without a new key, effective immediately', async () => {
  const { id, key } = await makeKey();
  const edit = { name: 'Changed', permissions: ['forms:read'], form_ids: null, expires_at: null };
  assert.equal((await callApi(url, key, 'GET', `/submissions/${mine.submission}`)).status, 200);
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, edit)).status, 200);
  const lacking = await callApi(url, key, 'GET', `/submissions/${mine.submission}`);
  assert.deepEqual([lacking.status, lacking.body.error], [403, 'forbidden']);
  assert.match(lacking.body.message, /submissions:read/);
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, { expires_at: soon })).status, 200);
  const { name, permissions, expires_at } = await listed(id);
  assert.deepEqual([name, permissions, expires_at], ['Changed', ['forms:read'], soon]);
  const wrong = { ...edit, form_ids: ['01890000-0000-7000-8000-000000000000'], permissions: [] };
  const refused = await admin.api('PATCH', `${keys}/${id}`, wrong);
  assert.deepEqual(
    [refused.status, refused.body.errors.map(({ field }) => field)],
    [422, ['permissions', 'form_ids']],
  );
  const gone = await makeForm('Gone');
  assert.equal((await tenant.call('DELETE', `/forms/${gone.id}`)).status, 204);
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, { form_ids: [gone.id] })).status, 422);
  await admin.api('DELETE', `${keys}/${id}`);
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, edit)).status, 404);
});

test('a rotated key works beside its successor for the grace period, or until a second rotation', async () => {
  const { id, key: first } = await makeKey();
  const rotate = async (hours: number): Promise<RotatedKey> => {
    const { status, body } = await admin.api<RotatedKey>('POST', `${keys}/${id}/rotate`, {
      grace_hours: hours,
    });
    assert.equal(status, 200);
    return body;
  };
  const works = async (key: string): Promise<boolean> =>
    (await callApi(url, key, 'GET', '/forms')).status === 200;
  const second = await rotate(24);
  assert.deepEqual([await works(first), await works(second.key)], [true, true]);
  const shown = await listed(id);
  assert.deepEqual([shown.former_until, shown.prefix], [second.former_until, second.key.slice(0, 11)]);
  const other = await makeKey();
  assert.equal((await listed(other.id)).former_until, null, 'of a key that was not rotated');
  const third = await rotate(0);
  assert.deepEqual(
    [await works(first), await works(second.key), await works(third.key)],
    [false, false, true],
  );
  assert.equal((await listed(id)).former_until, null);
  assert.equal(await works(other.key), true, 'another key goes on');
  assert.equal((await admin.api('POST', `${keys}/${id}/rotate`, { grace_hours: 1_000 })).status, 422);
  await admin.api('DELETE', `${keys}/${id}`);
  assert.equal((await admin.api('POST', `${keys}/${id}/rotate`)).status, 404);
  assert.equal(await works(third.key), false);
});

test('the latest requests of a key are counted and listed with request IDs and without the rest of their URL', async () => {
  const { id, key } = await makeKey({ permissions: ['forms:read'] });
  const answers = [
    await callApi(url, key, 'GET', '/forms?status=draft'),
    await callApi(url, key, 'GET', `/submissions/${mine.submission}`),
    await callApi(url, key, 'GET', `/forms/${key}`),
    await callApi(url, key, 'GET', `/lost/${key}`),
  ];
  const requests = await until('the requests', async () => {
    const { body } = await admin.api<{ data: RecentKeyRequest[] }>('GET', `${keys}/${id}/requests`);
    return body.data.length === 4 && body.data;
  });
  assert.deepEqual(
    requests
      .map(({ id: request, method, path, status }) => [request, method, path, status])
      .sort((a, b) => String(a[2]).localeCompare(String(b[2]))),
    [
      [answers[3]!.headers.get('x-request-id'), 'GET', '(a path that does not exist)', 404],
      [answers[0]!.headers.get('x-request-id'), 'GET', '/api/v1/forms', 200],
      [answers[2]!.headers.get('x-request-id'), 'GET', '/api/v1/forms/:id', 400],
      [answers[1]!.headers.get('x-request-id'), 'GET', `/api/v1/submissions/${mine.submission}`, 403],
    ],
  );
  await service.services.database.query(
    `insert into api_key_days (workspace_id, api_key_id, day, requests)
     values ($1, $2, (now() at time zone 'UTC')::date - 7, 5)`,
    [tenant.workspaceId, id],
  );
  const used = await listed(id);
  assert.deepEqual([used.requests, used.last_used_address], [4, '127.0.0.1'], 'of seven days');
  assert.ok(used.last_used_at);
});

test('the latest hundred requests of a key are kept', async () => {
  const { id, key } = await makeKey();
  let last = '';
  for (let index = 0; index < 120; index += 1)
    last = (await callApi(url, key, 'GET', `/forms?page=${index + 1}`)).headers.get('x-request-id')!;
  await until('all to be counted', async () => (await listed(id)).requests === 120);
  const { data } = (await admin.api<{ data: RecentKeyRequest[] }>('GET', `${keys}/${id}/requests`)).body;
  assert.equal(data.length, 100);
  assert.ok(data.some((request) => request.id === last));
});

test('only admins can read the requests of a key', async () => {
  const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
  const { id } = await makeKey();
  assert.equal((await editor.api('GET', `${keys}/${id}/requests`)).status, 403);
});

test('a key is shown once, has only its permissions and is refused immediately after it is revoked', async () => {
  const owner = await signIn(service);
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const created = await owner.api<{ id: string; key: string }>('POST', keys, {
    name: 'Export',
    permissions: ['forms:read'],
    expires_at,
  });
  assert.equal(created.status, 201);
  const { id, key } = created.body;
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
  const lacking = await callApi(url, key, 'DELETE', '/forms/01890000-0000-7000-8000-000000000000');
  assert.deepEqual([lacking.status, lacking.body.error], [403, 'forbidden']);

  const list = await owner.api<{ data: Key[] }>('GET', keys);
  const [listed] = list.body.data;
  assert.deepEqual(
    [listed!.name, listed!.prefix, listed!.permissions, listed!.expires_at, listed!.revoked_at],
    ['Export', key.slice(0, 11), ['forms:read'], expires_at, null],
  );
  assert.ok(!JSON.stringify(list.body).includes(key), 'the key itself is not in the list');

  assert.equal((await owner.api('DELETE', `${keys}/${id}`)).status, 204);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 401);
  assert.ok((await owner.api<{ data: Key[] }>('GET', keys)).body.data[0]!.revoked_at);
});

const refusedKeys: [what: string, body: object, field: string][] = [
  ['no name', { name: '' }, 'name'],
  ['an empty list of permissions', { name: 'K', permissions: [] }, 'permissions'],
  ['an unknown permission', { name: 'K', permissions: ['everything'] }, 'permissions.0'],
  ['an expiry in the past', { name: 'K', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ['an expiry that is no time', { name: 'K', expires_at: 'tomorrow' }, 'expires_at'],
];

for (const [what, body, field] of refusedKeys) {
  test(`a key with ${what} gives a \`validation_error\``, async () => {
    const owner = await signIn(service);
    const answer = await owner.api('POST', keys, body);
    assert.deepEqual([answer.status, answer.body.errors.map((item) => item.field)], [422, [field]]);
  });
}

test('a key of another workspace cannot be revoked', async () => {
  const [owner, other] = [await signIn(service), await signIn(service)];
  const { id, key } = (
    await owner.api<{ id: string; key: string }>('POST', keys, {
      name: 'K',
    })
  ).body;
  assert.equal((await other.api('DELETE', `${keys}/${id}`)).status, 404);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
});

// Permission to create keys
// -----------------------------------------------------------------------------------

test('a key can give new keys only permissions it has, and they end with the person who made it', async () => {
  const { workspaceId } = tenant;
  const ada = await signIn(service, { workspaceId, role: 'admin' });
  const permissions = ['keys:read', 'keys:write', 'forms:read'];
  const maker = (await ada.api<Made>('POST', keys, { name: 'Maker', permissions })).body;
  const make = (body: object) => callApi(url, maker.key, 'POST', keys, { name: 'Made', ...body });
  const wider = await make({ permissions: ['forms:read', 'forms:write'] });
  assert.deepEqual([wider.status, wider.body.error], [403, 'forbidden']);
  assert.match(wider.body.message, /forms:write/);
  assert.equal((await make({})).status, 403, 'everything with data is more than reading forms');
  const own = await make({ permissions: ['forms:read'] });
  assert.equal(own.status, 201);
  const { id, key } = own.body as unknown as Made;
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
  const change = (body: object) => callApi(url, maker.key, 'PATCH', `${keys}/${id}`, body);
  assert.equal((await change({ permissions: null })).status, 403);
  assert.equal((await change({ name: 'Renamed' })).status, 200);
  await tenant.call('DELETE', `/members/${ada.userId}`, undefined, {
    Authorization: `Bearer ${await tenant.makeFullKey()}`,
  });
  for (const ended of [maker.key, key])
    assert.equal((await callApi(url, ended, 'GET', '/forms')).status, 401);
});

test('a key cannot rotate a key with more permissions, and a key for some forms sees only keys of these forms', async () => {
  const permissions = ['keys:read', 'keys:write', 'forms:read'];
  const [narrow, wide] = [await makeKey({ permissions }), await makeKey()];
  const rotate = (by: string, id: string) => callApi(url, by, 'POST', `${keys}/${id}/rotate`);
  assert.equal((await rotate(narrow.key, wide.id)).status, 403);
  assert.equal((await callApi(url, wide.key, 'GET', '/forms')).status, 200);
  assert.equal((await rotate(narrow.key, narrow.id)).status, 200, 'its own it may');

  const local = await makeKey({ permissions, form_ids: [mine.id] });
  assert.equal((await callApi(url, local.key, 'GET', `${keys}/${wide.id}`)).status, 404);
  const seen = (await callApi(url, local.key, 'GET', keys)).body.data;
  assert.ok(seen.some(({ id }) => id === local.id) && seen.every(({ id }) => id !== wide.id));
  const make = (more: object) =>
    callApi(url, local.key, 'POST', keys, { name: 'Local', permissions: ['forms:read'], ...more });
  assert.deepEqual(
    [
      (await make({})).status,
      (await make({ form_ids: [other.id] })).status,
      (await make({ form_ids: [mine.id] })).status,
    ],
    [403, 403, 201],
  );
});

test('a key never exceeds the role of its creator: a lower role limits the key immediately, and the error says so', async () => {
  const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'admin', name: 'Dana' });
  const permissions = ['forms:read', 'forms:write', 'members:write', 'keys:write'];
  const { id, key } = (await person.api<Made>('POST', keys, { name: 'Theirs', permissions })).body;
  const invite = { email: 'ghost@example.org', role: 'admin' };
  assert.equal((await callApi(url, key, 'POST', '/members', invite)).status, 201);
  await admin.api('PATCH', `/members/${person.userId}`, { role: 'viewer' });
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 200);
  for (const [path, body] of [
    ['/members', invite],
    [keys, { name: 'Another', permissions: ['forms:read'] }],
    ['/forms', { structure: structure(element('text', 'name')) }],
  ] as const) {
    const refused = await callApi(url, key, 'POST', path, body);
    assert.equal(refused.status, 403, path);
    assert.match(refused.body.message, /the role of its creator is now viewer/);
  }
  const shown = await listed(id);
  assert.deepEqual(
    [shown.created_by_role, shown.withheld],
    ['viewer', ['forms:write', 'members:write', 'keys:write']],
  );
  const { body: rotated } = await admin.api<Made>('POST', `${keys}/${id}/rotate`, {});
  assert.equal((await callApi(url, rotated.key, 'POST', '/members', invite)).status, 201);
  assert.deepEqual([(await listed(id)).created_by, (await listed(id)).withheld], ['Ada', []]);
  assert.equal((await callApi(url, key, 'GET', '/forms')).status, 401);
});

test('the second of two simultaneous changes to a key returns 412, and no later response contains its secret', async () => {
  const { id, key } = await makeKey();
  const read = await admin.api<Key>('GET', `${keys}/${id}`);
  const match = { 'If-Match': read.headers.get('etag')! };
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, { name: 'First' }, match)).status, 200);
  assert.equal((await admin.api('PATCH', `${keys}/${id}`, { name: 'Second' }, match)).status, 412);
  assert.equal((await admin.api('DELETE', `${keys}/${id}`, undefined, match)).status, 412);
  const { body } = await admin.api<Key>('GET', `${keys}/${id}`);
  assert.deepEqual([body.name, JSON.stringify(body).includes(key)], ['First', false]);
  await admin.api('DELETE', `${keys}/${id}`);
  const ended = await admin.api('PATCH', `${keys}/${id}`, { name: 'Third' }, match);
  assert.equal(ended.status, 404, 'a revoked key is not found, rather than changed by somebody else');
});

test('only a caller with all current permissions of a key can change or rotate it', async () => {
  const [narrow, wide] = [await makeKey({ permissions: ['keys:read', 'keys:write'] }), await makeKey()];
  const by = (method: string, id: string, body?: object, rest = '') =>
    callApi(url, narrow.key, method, `${keys}/${id}${rest}`, body);
  for (const change of [
    { permissions: ['keys:read'] },
    { form_ids: [mine.id] },
    { name: 'Renamed' },
    { expires_at: new Date(Date.now() + 60_000).toISOString() },
  ]) {
    const refused = await by('PATCH', wide.id, change);
    assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'], JSON.stringify(change));
    assert.match(refused.body.message, /forms:read/);
  }
  assert.equal((await by('POST', wide.id, {}, '/rotate')).status, 403);
  assert.equal((await callApi(url, wide.key, 'GET', '/forms')).status, 200);
  assert.equal((await by('PATCH', narrow.id, { name: 'Own' })).status, 200);
});

test('a key cannot create, change or rotate a key so that it expires later than itself', async () => {
  const permissions = ['keys:read', 'keys:write', 'forms:read'];
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const short = await makeKey({ permissions, expires_at: inHours(1) });
  const [lasting, ending] = [
    await makeKey({ permissions }),
    await makeKey({ permissions, expires_at: inHours(0.5) }),
  ];
  const by = (method: string, path: string, body: object) =>
    callApi(url, short.key, method, `${keys}${path}`, body);
  const create = (more: object) => by('POST', '', { name: 'Made', permissions: ['forms:read'], ...more });
  assert.deepEqual(
    [
      (await create({})).status,
      (await create({ expires_at: inHours(2) })).status,
      (await create({ expires_at: inHours(0.9) })).status,
      (await by('PATCH', `/${short.id}`, { expires_at: null })).status,
      (await by('PATCH', `/${ending.id}`, { expires_at: inHours(2) })).status,
      (await by('PATCH', `/${lasting.id}`, { expires_at: inHours(0.5) })).status,
      (await by('POST', `/${lasting.id}/rotate`, {})).status,
      (await by('POST', `/${ending.id}/rotate`, {})).status,
    ],
    [403, 403, 201, 403, 403, 403, 403, 200],
  );
});
