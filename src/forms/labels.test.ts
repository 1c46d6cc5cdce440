import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { callApi, shareService } from '#test/service.ts';

const service = await shareService();

/** Opens a separate workspace, so that tests do not see each other's labels. */
async function openWorkspace() {
  const tenant = await service.makeTenant();
  const create = async (name: string, more: object = {}): Promise<string> => {
    const form = { ...structure(element('text', 'name')), attrs: { name } };
    const { status, body } = await tenant.call('POST', '/forms', { structure: form, ...more });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
  };
  const get = async (path: string) => (await tenant.call('GET', path)).body;
  const names = async (path: string) => (await get(path)).data.map(({ name }: { name: string }) => name);
  return { tenant, create, get, names };
}

test('labels are set with any change of a form, and each response has them', async () => {
  const { tenant, create, get } = await openWorkspace();
  const id = await create('Gala', { labels: ['  Events ', 'Cafe\u0301'] });
  const form = await get(`/forms/${id}`);
  assert.deepEqual(form.labels, ['Events', 'Caf\u00e9']);
  assert.deepEqual((await get('/forms')).data[0]!.labels, form.labels);
  assert.deepEqual((await get('/forms/overview')).data[0]!.labels, form.labels);
  const put = await tenant.call('PUT', `/forms/${id}`, { structure: form.structure });
  assert.deepEqual(put.body.labels, form.labels, 'an omitted list is kept');
  const back = await tenant.call('PUT', `/forms/${id}`, { ...put.body, labels: ['One'] });
  assert.deepEqual([back.status, back.body.labels], [200, ['One']]);
  const patch = await tenant.call('PATCH', `/forms/${id}`, { labels: ['events', 'EVENTS', 'a,b'] });
  assert.deepEqual(patch.body.labels, ['events', 'a,b'], 'duplicates differ only in case');
  const empty = await tenant.call('PATCH', `/forms/${id}`, { labels: [] });
  assert.deepEqual(empty.body.labels, []);
});

test('labels belong to no version, and setting the same ones changes nothing', async () => {
  const { tenant, create, get } = await openWorkspace();
  const id = await create('Gala');
  const first = await tenant.call('PATCH', `/forms/${id}`, { labels: ['Events'] });
  const again = await tenant.call('PATCH', `/forms/${id}`, { labels: ['Events'] });
  assert.equal(again.body.updated_at, first.body.updated_at);
  assert.notEqual(again.body.updated_at, again.body.created_at);
  assert.equal((await get(`/forms/${id}/versions`)).data.length, 1);
  const stale = { 'If-Match': '"2020-01-01T00:00:00.000Z"' };
  assert.equal((await tenant.call('PATCH', `/forms/${id}`, { labels: [] }, stale)).status, 412);
  const tried = await tenant.call('PATCH', `/forms/${id}?dry_run=true`, { labels: ['Other'] });
  assert.deepEqual([tried.status, tried.body.labels], [200, ['Events']]);
});

test('invalid labels are rejected with their place', async () => {
  const { tenant, create } = await openWorkspace();
  const id = await create('Gala');
  const many = Array.from({ length: 21 }, (_, index) => `${index}`);
  const cases: [unknown, string][] = [
    ['Events', 'labels'],
    [null, 'labels'],
    [[1], 'labels.0'],
    [['ok', ''], 'labels.1'],
    [['a'.repeat(51)], 'labels.0'],
    [many, 'labels'],
    [['ok', ' \u200b '], 'labels.1'],
    [['a\u0007b'], 'labels.0'],
  ];
  for (const [labels, field] of cases)
    for (const query of ['', '?dry_run=true']) {
      const { status, body } = await tenant.call('PATCH', `/forms/${id}${query}`, { labels });
      assert.deepEqual([status, body.errors?.[0]?.field], [422, field], JSON.stringify(labels));
    }
});

test('lists are filtered by one label, and labels are listed with their number of forms', async () => {
  const { tenant, create, get, names } = await openWorkspace();
  const gala = await create('Gala', { labels: ['Events', 'a,b'] });
  await create('Fair', { labels: ['Events'] });
  const gone = await create('Gone', { labels: ['Gone'] });
  await tenant.call('DELETE', `/forms/${gone}`);
  await create('Plain');
  assert.deepEqual(await names('/forms?label=Events'), ['Fair', 'Gala']);
  assert.deepEqual(await names('/forms?label=a,b'), ['Gala']);
  assert.deepEqual(await names('/forms?label=events'), []);
  assert.deepEqual(await names('/forms?label='), ['Plain', 'Fair', 'Gala']);
  assert.equal((await get('/forms?label=Events&per_page=1')).pagination.total_count, 2);
  assert.deepEqual(await names('/forms/overview?label=Events&sort=name&q=g'), ['Gala']);
  assert.equal((await tenant.call('GET', '/forms?label=a&label=b')).status, 400);
  assert.deepEqual(await get('/labels'), {
    data: [
      { label: 'Events', count: 2 },
      { label: 'a,b', count: 1 },
    ],
  });
  const limited = { name: 'Limited', form_ids: [gala], permissions: ['forms:read'] };
  const owner = await signIn(service, { workspaceId: tenant.workspaceId, role: 'owner' });
  const { key } = (await owner.api<{ key: string }>('POST', '/keys', limited)).body;
  const listed = await callApi(service.url, key, 'GET', '/labels');
  assert.match(JSON.stringify(listed.body), /Events","count":1/);
  const changed = await callApi(service.url, key, 'PATCH', `/forms/${gala}`, { labels: [] });
  assert.equal(changed.status, 403);
});

test('copies and form packages keep labels', async () => {
  const { tenant, create } = await openWorkspace();
  const id = await create('Gala', { labels: ['Events'] });
  const copy = await tenant.call('POST', `/forms/${id}/duplicate`, {});
  assert.deepEqual(copy.body.labels, ['Events']);
  const other = { structure: structure(element('text', 'b')) };
  assert.deepEqual((await tenant.call('POST', `/forms/${id}/duplicate`, other)).body.labels, ['Events']);
  const auth = { Authorization: `Bearer ${await tenant.makeFullKey()}` };
  const packed = await fetch(`${service.url}/api/v1/forms/${id}/package`, { headers: auth });
  const unpacked = await fetch(`${service.url}/api/v1/forms/package`, {
    method: 'POST',
    headers: { ...auth, 'Content-Type': 'application/gzip' },
    body: await packed.arrayBuffer(),
  });
  assert.deepEqual(((await unpacked.json()) as { labels: string[] }).labels, ['Events']);
});
