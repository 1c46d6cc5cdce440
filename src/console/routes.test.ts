import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callConsole, type ConsolePerson, signIn } from '#test/console.ts';
import { openService, until } from '#test/service.ts';
import { openAccounts } from '#workspaces/accounts.ts';
import { isAtLeast, isRole, type Role, roleNames } from '#workspaces/roles.ts';
import { consoleRoutes } from './routes.ts';

const service = await openService();
const { services, url } = service;
const routes = consoleRoutes({
  ...services,
  accounts: openAccounts({ ...services, publicUrl: services.config.publicUrl }),
});
const owner = await signIn(service);
const { workspaceId } = owner;
const people: Record<Role, ConsolePerson> = {
  owner,
  admin: await signIn(service, { role: 'admin', workspaceId }),
  editor: await signIn(service, { role: 'editor', workspaceId }),
  viewer: await signIn(service, { role: 'viewer', workspaceId }),
};
const stranger = await signIn(service);
// Each of them is news to be mailed; from here on nothing changes but by the requests below.
await until('the news to be told', async () => {
  const { rows } = await services.database.query<{ count: number }>('select count(*) from jobs');
  return rows[0]!.count === 0;
});

/** A path with the workspace in it, and ids of things that do not exist. */
const pathOf = (path: string): string =>
  path.replace(':workspace', workspaceId).replace(/:[a-z]+/g, () => randomUUID());

/** What a viewer may change: reading needs no more; leaving, and how one's own table looks, is everyone's own matter. */
const viewersChanges = [
  'DELETE /workspaces/:workspace/membership',
  'PUT /workspaces/:workspace/forms/:form/submissions/settings',
];

/** Whatever anybody may have changed in a workspace, in one text. */
async function readEverything(): Promise<string> {
  const tables = await services.database.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const kept = tables.rows.map(({ name }) => name).filter((name) => name !== 'sessions');
  const contents = kept.map(
    (name) => `select '${name}' as name, (select json_agg(t order by t::text) from ${name} t)::text as rows`,
  );
  return JSON.stringify((await services.database.query(contents.join(' union all '))).rows);
}

test('every route is declared once, and those of a workspace say so in their path', () => {
  const names = routes.map(([method, path]) => `${method} ${path}`);
  assert.deepEqual(names, [...new Set(names)]);
  assert.ok(routes.length >= 20);
  for (const [method, path, { needs }] of routes) {
    assert.equal(
      path.startsWith('/workspaces/:workspace'),
      isRole(needs),
      `${method} ${path} needs ${needs}`,
    );
  }
});

test('a viewer may call nothing that changes something', () => {
  const open = routes.filter(([method, , { needs }]) => method !== 'GET' && needs === 'viewer');
  assert.deepEqual(
    open.map(([method, path]) => `${method} ${path}`),
    viewersChanges,
  );
});

for (const [method, path, { needs }] of routes.filter(([, , { needs }]) => needs !== 'visitor')) {
  test(`${method} ${path} is refused to whoever is not signed in`, async () => {
    const answer = await callConsole<{ error: string }>(url, '', method, pathOf(path));
    assert.deepEqual([answer.status, answer.body.error], [401, 'unauthorized']);
  });

  if (!isRole(needs)) continue;

  test(`${method} ${path} is for members, and of them for ${needs} and above`, async () => {
    const before = await readEverything();
    const absent = await stranger.call(
      method,
      path.replace(':workspace', randomUUID()).replace(/:[a-z]+/g, () => randomUUID()),
    );
    const foreign = await stranger.call(method, pathOf(path));
    assert.equal(foreign.status, 404);
    assert.deepEqual(foreign.body, absent.body, 'a foreign workspace looks like an absent one');
    for (const role of roleNames.filter((name) => !isAtLeast(name, needs))) {
      const answer = await people[role].call(method, pathOf(path));
      assert.deepEqual([role, answer.status, answer.body.error], [role, 403, 'forbidden']);
    }
    assert.equal(await readEverything(), before, 'nothing was changed');
  });
}

test('a workspace that is no UUID is a 400, an unknown path a 404, each as JSON', async () => {
  assert.equal((await owner.call('GET', '/workspaces/x')).status, 400);
  const unknown = await owner.call('GET', '/nothing');
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'not_found']);
});

test('unknown parameters and fields are refused', async () => {
  assert.equal((await owner.call('GET', `/workspaces/${workspaceId}/forms?colour=red`)).status, 400);
  assert.equal(
    (await owner.call('PATCH', `/workspaces/${workspaceId}`, { name: 'X', plan: 'enterprise' })).status,
    422,
  );
  assert.equal(
    (await owner.call('DELETE', `/workspaces/${workspaceId}/membership`, { force: true })).status,
    422,
  );
});
