import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { callConsole, type ConsolePerson, signIn } from '#test/console.ts';
import { createForm } from '#forms/forms.ts';
import { openService, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
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
  assert.ok(routes.length >= 10);
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
    // How one's own table looks is everyone's own matter.
    ['PUT /workspaces/:workspace/forms/:form/arrangement'],
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

/** What routes need to get past the check of shapes, by their path below the workspace; a query begins with a question mark. */
const absentId = randomUUID();
const valid = structure(element('text', 'a'));
const shapes: Readonly<Record<string, object | string>> = {
  'PUT /forms/:form/arrangement': { order: [], hidden: [], widths: {}, pinned: 0, is_tall: false },
};

test('on every route the ids of another workspace are answered exactly like ids that do not exist: 404', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant, [element('text', 'a')]);
  const own = await createForm(services.database, workspaceId, { structure: valid, status: 'published' });
  const { id: submission } = (await openVisitor(service).submit(form.id, { a: 'theirs' })).body;
  const theirs: Readonly<Record<string, string>> = {
    form: form.id,
    submission,
  };
  const answersTo = async (method: string, path: string, ids: Readonly<Record<string, string>>) => {
    const shape = shapes[`${method} ${path}`] ?? {};
    const filled = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? absentId);
    const query = typeof shape === 'string' ? shape : '';
    return owner.call(
      method,
      `/workspaces/${workspaceId}${filled}${query}`,
      query === '' ? shape : undefined,
    );
  };
  for (const [method, whole] of routes) {
    const path = whole.replace('/workspaces/:workspace', '');
    if (!path.includes(':')) continue;
    const absent = await answersTo(method, path, {});
    assert.deepEqual([absent.status, absent.body.error], [404, 'not_found'], `${method} ${path}`);
    for (const ids of [theirs, { ...theirs, form: own.id }]) {
      if (ids !== theirs && !path.replace(':form', '').includes(':')) continue;
      assert.deepEqual(plain(await answersTo(method, path, ids)), plain(absent), `${method} ${path}`);
    }
  }
  const kept = await tenant.call('GET', `/forms/${form.id}`);
  assert.deepEqual(
    [kept.status, kept.body.updated_at, kept.body.submission_count],
    [200, form.updated_at, 1],
  );
});

const plain = ({ status, body, headers }: { status: number; body: unknown; headers: Headers }) => ({
  status,
  body,
  names: [...headers.keys()],
});

test('a workspace that is no UUID is a 400, an unknown path a 404, each as JSON', async () => {
  assert.equal((await owner.call('GET', `/workspaces/x/forms/${absentId}/arrangement`)).status, 400);
  const unknown = await owner.call('GET', '/nothing');
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'not_found']);
});

test('unknown parameters and fields are refused', async () => {
  assert.equal((await owner.call('GET', `/forms/${absentId}/locate?colour=red`)).status, 400);
  assert.equal((await owner.call('POST', '/workspaces', { name: 'X', plan: 'enterprise' })).status, 422);
  assert.equal((await owner.call('DELETE', `/memberships/${workspaceId}`, { force: true })).status, 422);
});
