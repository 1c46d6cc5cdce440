import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { apiRoutes } from '#app/operations.ts';
import { signIn } from '#test/console.ts';
import { idIn, makeOneOfEach } from '#test/one-of-each.ts';
import { callApi, openService, until } from '#test/service.ts';
import { permissionNames } from '#workspaces/permissions.ts';
import type { CreatedKey, Key, KeyRequest, RotatedKey } from './shapes.ts';

/* What a key may reach, and what it did. */

const service = await openService();
const { url } = service;
const tenant = await service.makeTenant();
const admin = await signIn(service, { workspaceId: tenant.workspaceId, role: 'admin', name: 'Ada' });
const keys = `/workspaces/${tenant.workspaceId}/keys`;

async function makeForm(name: string): Promise<{ id: string; submission: string }> {
  const made = await tenant.call('POST', '/forms', {
    structure: { ...structure(element('text', 'name')), attrs: { name } },
    publish: true,
  });
  const sent = await fetch(`${url}/f/${made.body.id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ answers: { name: 'Xylograph' } }),
  });
  const { id: submission } = (await sent.json()) as { id: string };
  return { id: made.body.id, submission };
}

const [mine, other] = [await makeForm('Mine'), await makeForm('Other')];

const makeKey = async (body: object = {}): Promise<CreatedKey> =>
  (await admin.call<CreatedKey>('POST', keys, { name: 'Test', ...body })).body;
const listed = async (id: string): Promise<Key> =>
  (await admin.call<{ data: Key[] }>('GET', keys)).body.data.find((key) => key.id === id)!;

test('a key for some forms finds them and their submissions, and for it the others do not exist', async () => {
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

test('no route of the API lets a key out of its forms', async () => {
  const { key } = await makeKey({ form_ids: [mine.id], permissions: [...permissionNames] });
  const absent = await callApi(url, key, 'GET', '/forms/01890000-0000-7000-8000-000000000000');
  const addressed = apiRoutes(service.services).filter(({ path }) => path.includes(':id'));
  const made = await makeOneOfEach(service, tenant);
  for (const { name, method, path, operation } of addressed) {
    const address = path.replace(':id', idIn(path, made)).replace(':invitation', made['submissions']!);
    const answer = await callApi(url, key, method, address, operation.example.body);
    assert.deepEqual([answer.status, answer.body], [404, absent.body], name);
  }
  const search = await callApi(url, key, 'GET', `/submissions/search?q=xylograph&form_id=${other.id}`);
  assert.deepEqual([search.status, search.body], [404, absent.body]);
  const create = await callApi(url, key, 'POST', '/forms', { structure: structure(element('text', 'name')) });
  assert.deepEqual([create.status, create.body.error], [403, 'forbidden']);
  assert.equal((await tenant.call('GET', `/forms/${other.id}`)).status, 200, 'and nothing was deleted');
});

test('what a key may do is changed without another key, and acts at once', async () => {
  const { id, key } = await makeKey();
  const edit = { name: 'Changed', permissions: ['forms:read'], form_ids: null, expires_at: null };
  assert.equal((await callApi(url, key, 'GET', `/submissions/${mine.submission}`)).status, 200);
  assert.equal((await admin.call('PUT', `${keys}/${id}`, edit)).status, 204);
  const lacking = await callApi(url, key, 'GET', `/submissions/${mine.submission}`);
  assert.deepEqual([lacking.status, lacking.body.error], [403, 'forbidden']);
  assert.match(lacking.body.message, /submissions:read/);
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.equal((await admin.call('PUT', `${keys}/${id}`, { ...edit, expires_at: soon })).status, 204);
  const { name, permissions, expires_at } = await listed(id);
  assert.deepEqual([name, permissions, expires_at], ['Changed', ['forms:read'], soon]);
  const wrong = { ...edit, form_ids: ['01890000-0000-7000-8000-000000000000'], permissions: [] };
  const refused = await admin.call('PUT', `${keys}/${id}`, wrong);
  assert.deepEqual(
    [refused.status, refused.body.errors.map(({ field }) => field)],
    [422, ['permissions', 'form_ids']],
  );
  await admin.call('DELETE', `${keys}/${id}`);
  assert.equal((await admin.call('PUT', `${keys}/${id}`, edit)).status, 404);
});

test('a rotated key works beside its successor for as long as was asked, and no longer after a second rotation', async () => {
  const { id, key: first } = await makeKey();
  const rotate = async (hours: number): Promise<RotatedKey> => {
    const { status, body } = await admin.call<RotatedKey>('POST', `${keys}/${id}/rotations`, {
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
  const third = await rotate(0);
  assert.deepEqual(
    [await works(first), await works(second.key), await works(third.key)],
    [false, false, true],
  );
  assert.equal((await listed(id)).former_until, null);
  assert.equal((await admin.call('POST', `${keys}/${id}/rotations`, { grace_hours: 1_000 })).status, 422);
  await admin.call('DELETE', `${keys}/${id}`);
  assert.equal(await works(third.key), false);
});

test('the latest requests of a key are listed with their ids, without anything else of their address, and counted', async () => {
  const { id, key } = await makeKey({ permissions: ['forms:read'] });
  const answers = [
    await callApi(url, key, 'GET', '/forms?status=draft'),
    await callApi(url, key, 'GET', `/submissions/${mine.submission}`),
    await callApi(url, key, 'GET', `/forms/${key}`),
    await callApi(url, key, 'GET', `/lost/${key}`),
  ];
  const requests = await until('the requests', async () => {
    const { body } = await admin.call<{ data: KeyRequest[] }>('GET', `${keys}/${id}/requests`);
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
  const used = await listed(id);
  assert.deepEqual([used.requests, used.last_used_address], [4, '127.0.0.1']);
  assert.ok(used.last_used_at);
});

test('a hundred requests of a key are kept, the latest', async () => {
  const { id, key } = await makeKey();
  let last = '';
  for (let index = 0; index < 120; index += 1)
    last = (await callApi(url, key, 'GET', `/forms?page=${index + 1}`)).headers.get('x-request-id')!;
  await until('all to be counted', async () => (await listed(id)).requests === 120);
  const { data } = (await admin.call<{ data: KeyRequest[] }>('GET', `${keys}/${id}/requests`)).body;
  assert.equal(data.length, 100);
  assert.ok(data.some((request) => request.id === last));
});

test('whoever is not an admin sees no requests', async () => {
  const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
  const { id } = await makeKey();
  assert.equal((await editor.call('GET', `${keys}/${id}/requests`)).status, 403);
});
