import assert from 'node:assert/strict';
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { hearRevokedKeys } from '#app/hear-revoked-keys.ts';
import { openInstanceReport } from '#app/metrics/instance-report.ts';
import { cellWith, idInDirectory } from '#kit/cells/cell-with.ts';
import { cellsOf, connectionsOf } from '#kit/cells/cells.ts';
import { noteContents } from '#kit/cells/contents.ts';
import { newId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { placeOf } from '#kit/find-host.ts';
import { openLog } from '#kit/log.ts';
import { removeEndedAccounts } from '#workspaces/endings/endings.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { copyCluster } from '../cluster.ts';
import { command } from '../command-line.ts';
import { fillIn, makeForm, tenantIn } from './guest-book.ts';
import { joinService } from './make-cells.ts';
import { callConsole, password, signIn } from '../console.ts';
import { openProvider, openProviderVisitor, providerSettings } from '../provider.ts';
import { killPostmaster } from '../process.ts';
import { openReceiver } from '../receiver.ts';
import { startRelay } from '../relay.ts';
import { slowness } from '../slowness.ts';
import { callApi, freePort, openService, until } from '../service.ts';
import { untilOneWaits } from '../while-held.ts';

/* Three cells on two servers: the third is on one of its own, which is killed and stopped while the service runs. */

const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'formloom-other-')));
await chmod(dataDir, 0o755);
await copyCluster(dataDir);
const start = () => startEmbeddedPostgres({ dataDir, log: () => {} });
let server = await start();
const { host } = server.connection;
const administer = async (...statements: string[]): Promise<void> => {
  const admin = new Client({ ...server.connection, database: 'postgres' });
  await admin.connect();
  for (const sql of statements) await admin.query(sql);
  await admin.end();
};
await administer('create role elsewhere login', 'create database elsewhere owner elsewhere');
const relayed = `postgres://elsewhere@localhost/elsewhere?host=${encodeURIComponent(host)}`;
let relay = await startRelay(relayed);
/** Other addresses of the same server, which tests go on to. */
const [second, third] = [await startRelay(relayed), await startRelay(relayed)];
const providerPort = await freePort();
const [roleThere, roleHere] = [newId(), newId()];
const service = await openService(
  {
    TRUST_PROXY: '1',
    ...providerSettings(providerPort),
    OIDC_ROLES: `staff=${roleThere}:viewer,chiefs=${roleThere}:admin,staff=${roleHere}:viewer`,
  },
  { cells: 2, elsewhere: relay.url },
);
after(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});
const { database } = service.services;
let there = cellsOf(database).at(-1)!.database;

const submit = async (publicUrl: string, name: string): Promise<number> =>
  (await fillIn(publicUrl, name)).status;
const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
};
/** Ends all sessions of the service there, and waits for their end: a signal may take its time. */
const endSessionsThere = () =>
  administer("select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = 'elsewhere'");
const formloom = (...args: string[]) => command(service.environment, ...args);
const bring = async (): Promise<void> => {
  server = await start();
};

const untilBack = (): Promise<boolean> =>
  until('it to be back', async () => {
    const ready = (await (await fetch(`${service.url}/readyz`)).json()) as object;
    return !('cells_away' in ready);
  });

test('a server that is killed amid submits has all that were acknowledged, and all of them are delivered; others miss nothing', async () => {
  const receiver = await openReceiver();
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const { id, public_url: lost } = await makeForm(tenant);
  const { public_url: calm } = await makeForm(other);
  const made = await fetch(`${service.url}/api/v1/forms/${id}/webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await tenant.makeFullKey()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `${receiver.url}/lost`, events: ['submission.created'] }),
  });
  assert.equal(made.status, 201, await made.text());

  const acknowledged = new Set<string>();
  const failures = new Set<number>();
  const over = new AbortController();
  const load = async (worker: number): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const name = `${worker}-${count}`;
      const status = await submit(lost, name);
      if (status === 201) acknowledged.add(name);
      else failures.add(status);
      assert.equal(await submit(calm, name), 201);
    }
  };
  const loads = Promise.all([load(1), load(2)]);
  await until('some to be acknowledged', async () => acknowledged.size >= 20);
  await killPostmaster(server.directory, 'SIGKILL');
  await until('one to be refused', async () => failures.size > 0);
  const before = acknowledged.size;
  await until('more to be acknowledged', async () => acknowledged.size >= before + 20);
  over.abort();
  await loads;
  assert.deepEqual([...failures], [503]);
  const { rows } = await there.query<{ name: string }>(
    "select answers ->> 'name' as name from submissions where form_id = $1",
    [id],
  );
  const kept = new Set(rows.map(({ name }) => name));
  assert.deepEqual(
    [...acknowledged].filter((name) => !kept.has(name)),
    [],
  );
  await until('all of them to be delivered', async () => {
    const heard = new Set(
      receiver.requests.map(({ body }) => JSON.parse(String(body)).submission.responses.name as string),
    );
    return [...acknowledged].every((name) => heard.has(name));
  });
  await receiver.close();
});

test('while a server is away its workspaces answer 503, nobody says of what is found nowhere that it is not there, and all else goes on', async () => {
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const { public_url: lost } = await makeForm(tenant);
  const { id: calmId, public_url: calm } = await makeForm(other);
  const person = await signIn(service);
  const { id: theirs } = await createWorkspace(there, { name: 'Away', plan: 'free' });
  await addMember(there, { workspaceId: theirs, userId: person.userId, role: 'owner' });
  assert.equal(await submit(lost, 'Before'), 201);

  await server.stop();
  await until('its page to answer 503', async () => (await statusOf(lost)) === 503);
  assert.equal((await tenant.call('GET', '/forms')).status, 503);
  assert.equal(await statusOf(`${service.url}/f/${crypto.randomUUID()}`), 503);
  const unknown = { Authorization: `Bearer fl_${'a'.repeat(43)}` };
  assert.equal(await statusOf(`${service.url}/api/v1/forms`, unknown), 503);
  const ready = await fetch(`${service.url}/readyz`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready', cells_away: ['elsewhere'] }]);

  const report = await openInstanceReport(service.services)();
  const valueOf = (name: string) => report.find((each) => each.name === `formloom_${name}`)!.values[0]!.value;
  assert.deepEqual([valueOf('database_up'), valueOf('cells_away')], [1, 1]);

  assert.equal(await submit(calm, 'Meanwhile'), 201);
  // A form of a file has an id that nobody has.
  const authorized = { Authorization: `Bearer ${await other.makeFullKey()}` };
  const packed = await fetch(`${service.url}/api/v1/forms/${calmId}/package`, { headers: authorized });
  const unpacked = await fetch(`${service.url}/api/v1/forms/package`, {
    method: 'POST',
    headers: { ...authorized, 'Content-Type': 'application/gzip' },
    body: await packed.arrayBuffer(),
  });
  assert.equal(unpacked.status, 201, await unpacked.text());
  assert.equal((await other.call('GET', '/forms')).status, 200);
  const signedIn = await callConsole(service.url, '', 'POST', '/session', {
    email: person.email,
    password,
  });
  assert.equal(signedIn.status, 204);
  const session = await person.call<{ workspaces: { name: string }[] }>('GET', '/session');
  assert.equal(session.status, 200, JSON.stringify(session.body));
  assert.deepEqual(
    session.body.workspaces.map(({ name }) => name),
    ['Test'],
  );
  assert.equal((await person.call('PATCH', '/person', { name: 'Meanwhile' })).status, 204);
  assert.equal((await person.call('DELETE', '/person', { password })).status, 503);
  const made = await formloom('workspace', 'create', 'Meanwhile');
  assert.equal(made.code, 0, made.complaint);
  const listed = await formloom('cell', 'list');
  assert.deepEqual(
    (listed.answer as { data: { name: string; bytes: number | null }[] }).data.map(({ name, bytes }) => [
      name,
      bytes === null,
    ]),
    [
      ['default', false],
      ['c2', false],
      ['elsewhere', true],
    ],
  );
  const letter = join(dataDir, 'letter.txt');
  await writeFile(letter, 'Soon.');
  const mails = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'forms@example.org' };
  for (const words of [
    ['workspace', 'list'],
    ['key', 'list'],
    ['announce', '--subject', 'News', '--text-file', letter],
    ['instance-key', 'reseal'],
    ['forms', 'list', '--workspace', tenant.workspaceId],
  ]) {
    const { code, complaint } = await command({ ...service.environment, ...mails }, ...words);
    assert.equal(code, 3, `${words.join(' ')}: ${complaint}`);
    assert.match(complaint, /The cell elsewhere at .*\/elsewhere does not answer/, words.join(' '));
  }
  for (const words of [
    ['forms', 'list', '--workspace', other.workspaceId],
    ['forms', 'get', calmId],
  ]) {
    const { code, complaint } = await formloom(...words);
    assert.equal(code, 0, `${words.join(' ')}: ${complaint}`);
  }
  const { answer } = await formloom('doctor');
  const checks = (answer as { data: { check: string; state: string; finding: string }[] }).data;
  const found = checks.find(({ check }) => check === 'servers of cells')!;
  assert.equal(found.state, 'problem');
  assert.match(found.finding, /^The cell elsewhere at .*elsewhere does not answer/);

  // As a process that starts meanwhile.
  const another = await joinService(service);
  const fresh = another.database;
  const place = idInDirectory(lost.split('/').at(-1)!);
  await assert.rejects(cellWith(fresh, place), { code: 'service_unavailable' });

  assert.ok(!checks.some(({ check }) => check === 'server of elsewhere'), 'of what is away it says no more');

  await bring();
  await until('its page to answer', async () => (await statusOf(lost)) === 200);
  const back = (await formloom('doctor')).answer as { data: typeof checks };
  const { databasePool: pool } = service.services.config;
  assert.match(
    back.data.find(({ check }) => check === 'server of elsewhere')!.finding,
    new RegExp(
      `/elsewhere: PostgreSQL \\d+, UTF8\\. Up to ${connectionsOf(1, pool + 4) + 20} connections of`,
    ),
  );
  const opened = cellsOf(fresh).at(-1)!;
  await opened.server!.open();
  assert.ok((await cellWith(fresh, place)) === opened.database);
  await another.close();
  assert.equal((await tenant.call('GET', '/submissions')).body.data.length, 1);
  assert.equal(await statusOf(`${service.url}/f/${crypto.randomUUID()}`), 404);
  assert.equal(await statusOf(`${service.url}/api/v1/forms`, unknown), 401);
  await until('what somebody did meanwhile to be known there', async () => {
    const { rows } = await there.query<{ name: string; lines: number }>(
      `select name, (select count(*)::int from audit_lines where workspace_id = $2 and operation in ('signIn', 'renamePerson')) as lines
         from users where id = $1`,
      [person.userId, theirs],
    );
    return rows[0]!.name === 'Meanwhile' && rows[0]!.lines === 2;
  });
  const cleared = await fetch(`${service.url}/readyz`);
  assert.deepEqual(await cleared.json(), { status: 'ready' });
});

test('while a server hears and says nothing, each request is answered within 3 s, and those that ask other cells alone as ever', async () => {
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const [{ public_url: lost }, { public_url: calm }] = [await makeForm(tenant), await makeForm(other)];
  const person = await signIn(service);
  const requests: Readonly<Record<string, [number, () => Promise<{ status: number } | number>]>> = {
    'its page': [503, () => statusOf(lost)],
    'with its key': [503, () => tenant.call('GET', '/forms')],
    'what is nowhere': [503, () => statusOf(`${service.url}/f/${crypto.randomUUID()}`)],
    'who is signed in': [200, () => person.call('GET', '/session')],
    'a submit elsewhere': [201, () => submit(calm, 'Meanwhile')],
    'whether it is ready': [200, () => statusOf(`${service.url}/readyz`)],
  };
  const before = slowness();
  // Kubernetes asks it with a second's patience.
  const readyWithin = 1;
  relay.silence({ connected: true, next: true });
  for (let round = 1; round <= 3; round += 1)
    await Promise.all(
      Object.entries(requests).map(async ([what, [expected, ask]]) => {
        const since = performance.now();
        const answer = await ask();
        assert.equal(typeof answer === 'number' ? answer : answer.status, expected, what);
        const seconds = (performance.now() - since) / 1_000;
        const most = what === 'whether it is ready' ? readyWithin : 3;
        assert.ok(
          seconds < most || seconds < most * Math.max(before, slowness()),
          `${what}: ${seconds} s in round ${round}`,
        );
      }),
    );
  relay.silence({ connected: true, next: false });
  await until('its page to answer', async () => (await statusOf(lost)) === 200);
  // Connections of before still say nothing: whoever is given one would have the server away again, in a test that comes later.
  relay.silence({ connected: false, next: false });
  await untilBack();
});

test('a server that is lost while an account ends ends no account that it does not know of', async () => {
  const person = await signIn(service);
  const other = await signIn(service);
  await addMember(database, { workspaceId: person.workspaceId, userId: other.userId, role: 'owner' });
  let end: Promise<{ status: number }> | undefined;
  await transaction(database, async (client) => {
    await client.query('select from users where id = $1 for update', [person.userId]);
    end = person.call('DELETE', '/person', { password });
    await untilOneWaits(database, 'update users set ends_at');
    await endSessionsThere();
  });
  assert.equal((await end!).status, 503);
  const { rows } = await database.query('select ends_at from users where id = $1', [person.userId]);
  assert.deepEqual(rows, [{ ends_at: null }]);
  await until(
    'the account to end',
    async () => (await person.call('DELETE', '/person', { password })).status === 200,
  );
});

test('a role that a provider gives there is given at each sign-in, and at the next one where its server was away', async () => {
  const provider = await openProvider(providerPort, () => service.services.config.publicUrl);
  const { enter } = openProviderVisitor(service, provider);
  const name = "insert into workspaces (id, name, plan, created_at) values ($1, $2, 'free', now())";
  await there.query(name, [roleThere, 'Role there']);
  await database.query(name, [roleHere, 'Role here']);
  const ada = { sub: 'ada', email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['staff'] };
  const rolesOf = async (entered: Awaited<ReturnType<typeof enter>>) => {
    assert.equal(entered.status, 204);
    return (await entered.session()).workspaces.map((each) => `${each.name}: ${each.role}`).toSorted();
  };
  assert.deepEqual(await rolesOf(await enter(ada)), ['Role here: viewer', 'Role there: viewer']);
  assert.deepEqual(await rolesOf(await enter({ ...ada, groups: ['chiefs'] })), [
    'Role here: viewer',
    'Role there: admin',
  ]);
  const known = async () =>
    (await there.query<{ email: string }>('select email from users order by email')).rows.map(
      (each) => each.email,
    );
  assert.ok((await known()).includes('ada@example.org'));

  const grace = { ...ada, sub: 'grace', email: 'grace@example.org', name: 'Grace' };
  await server.stop();
  await until('it to be away', async () => {
    const ready = (await (await fetch(`${service.url}/readyz`)).json()) as object;
    return 'cells_away' in ready;
  });
  assert.deepEqual(await rolesOf(await enter(grace)), ['Role here: viewer']);
  await bring();
  await untilBack();
  assert.ok(!(await known()).includes('grace@example.org'));
  assert.deepEqual(await rolesOf(await enter(grace)), ['Role here: viewer', 'Role there: viewer']);
});

test('a server that lets nobody in any more is away like one that is gone', async () => {
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const [{ public_url: lost }, { public_url: calm }] = [await makeForm(tenant), await makeForm(other)];
  const person = await signIn(service);
  assert.equal(await submit(lost, 'Before'), 201);
  // As with another password, whoever is connected stays so.
  await administer('alter role elsewhere nologin');
  await endSessionsThere();
  // At once: where the form is, is known for a while yet.
  for (let count = 0; count < 8; count += 1) assert.equal(await submit(lost, 'Refused'), 503);
  assert.equal(await statusOf(lost), 503);
  assert.equal(await statusOf(`${service.url}/f/${crypto.randomUUID()}`), 503);
  assert.equal((await person.call('GET', '/session')).status, 200);
  assert.equal(await submit(calm, 'Meanwhile'), 201);
  assert.deepEqual(await (await fetch(`${service.url}/readyz`)).json(), {
    status: 'ready',
    cells_away: ['elsewhere'],
  });
  assert.equal((await formloom('cell', 'list')).code, 0);
  await administer('alter role elsewhere login');
  await until('its page to answer', async () => (await statusOf(lost)) === 200);
});

/** When this process, and another one, have gone over to the address that was just said. */
async function goneTo(url: string, other: Database): Promise<void> {
  for (const each of [database, other])
    await until('a process to have gone there', async () => {
      const { server: at } = cellsOf(each).at(-1)!;
      return at!.place === placeOf(url) && at!.isOpen();
    });
  there = cellsOf(database).at(-1)!.database;
}

test('another address of a server is gone over to under load: each visitor is taken or asked to come again, and what was taken is there', async () => {
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const { id, public_url: moved } = await makeForm(tenant);
  const { public_url: calm } = await makeForm(other);
  const former = there;
  const another = await joinService(service);
  const hearing = hearRevokedKeys({ database: another.database, log: openLog('silent') });
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  const over = new AbortController();
  const load = async (worker: number): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const name = `${worker}-${count}`;
      const status = await submit(moved, name);
      statuses.add(status);
      if (status === 201) acknowledged.push(name);
      assert.equal(await submit(calm, name), 201);
    }
  };
  const loads = Promise.all([load(1), load(2), load(3)]);
  await until('some to be acknowledged', async () => acknowledged.length >= 20);
  const told = await formloom('cell', 'address', 'elsewhere', '--server', second.url);
  assert.equal(told.code, 0, told.complaint);
  await goneTo(second.url, another.database);
  const before = acknowledged.length;
  await until('more to be acknowledged', async () => acknowledged.length >= before + 20);
  over.abort();
  await loads;
  assert.deepEqual(
    [...statuses].filter((status) => ![201, 503].includes(status)),
    [],
  );
  const { rows } = await there.query<{ name: string }>(
    "select answers ->> 'name' as name from submissions where form_id = $1",
    [id],
  );
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), acknowledged.toSorted());
  await until('what was open at the former address to end', async () => former.ending);
  await hearing.stop();
  await another.close();
  relay = second;
});

test('a server that is gone and comes back elsewhere is served as soon as its address is said, by every process, and its deliveries go on', async () => {
  const receiver = await openReceiver();
  const tenant = await tenantIn(service, there);
  const { id, public_url: lost } = await makeForm(tenant);
  const made = await callApi(service.url, await tenant.makeFullKey(), 'POST', `/forms/${id}/webhooks`, {
    url: `${receiver.url}/back`,
    events: ['submission.created'],
  });
  assert.equal(made.status, 201);
  const another = await joinService(service);
  const hearing = hearRevokedKeys({ database: another.database, log: openLog('silent') });
  relay.silence({ connected: true, next: true });
  await until('its page to answer 503', async () => (await statusOf(lost)) === 503);
  const told = await formloom('cell', 'address', 'elsewhere', '--server', third.url);
  assert.equal(told.code, 0, told.complaint);
  await goneTo(third.url, another.database);
  assert.equal(await submit(lost, 'Back'), 201);
  await receiver.waitFor(1);
  assert.equal((await tenant.call('GET', '/submissions')).body.data.length, 1);
  assert.deepEqual(await (await fetch(`${service.url}/readyz`)).json(), { status: 'ready' });
  await hearing.stop();
  await another.close();
  await receiver.close();
  relay = third;
});

test('a server that is lost for good is let go of: what waited for it goes on, what it had is nowhere, and every process knows', async () => {
  const [tenant, other] = [await tenantIn(service, there), await tenantIn(service, database)];
  const [{ public_url: lost }, { public_url: calm }] = [await makeForm(tenant), await makeForm(other)];
  const [person, gone, heir] = [await signIn(service), await signIn(service), await signIn(service)];
  for (const { workspaceId } of [person, gone])
    await addMember(database, { workspaceId, userId: heir.userId, role: 'owner' });
  for (const { userId } of [person, gone])
    await addMember(there, { workspaceId: tenant.workspaceId, userId, role: 'owner' });
  const end = () => person.call('DELETE', '/person', { password });
  const forget = (...args: string[]) => formloom('cell', 'forget', ...args);
  await noteContents(there);
  const { rows } = await there.query<{ workspaces: number; forms: number }>(
    'select (select count(*) from workspaces) as workspaces, (select count(*) from forms) as forms',
  );
  const [{ workspaces, forms }] = rows as [(typeof rows)[number]];
  assert.match(
    (await forget('elsewhere', '--yes')).complaint,
    new RegExp(`The cell elsewhere answers, and has ${workspaces} workspaces\\.`),
  );
  assert.match((await forget('default', '--yes')).complaint, /The cell default has what is of the instance/);
  assert.match((await forget('nowhere', '--yes')).complaint, /There is no cell nowhere/);

  const another = await joinService(service);
  const fresh = another.database;
  const hearing = hearRevokedKeys({ database: fresh, log: openLog('silent') });
  await database.query("update users set ends_at = now() - interval '1 s' where id = $1", [gone.userId]);
  await server.stop();
  await until('its page to answer 503', async () => (await statusOf(lost)) === 503);
  assert.equal((await end()).status, 503);
  await assert.rejects(removeEndedAccounts(database));

  const asked = await forget('elsewhere');
  assert.equal(asked.code, 2);
  assert.match(
    asked.complaint,
    new RegExp(
      `Let go of the cell elsewhere at .*/elsewhere, which had ${workspaces} workspaces and ${forms} forms when it was last seen, at 20`,
    ),
  );
  assert.ok(!asked.complaint.includes('postgres://'));
  assert.equal(await statusOf(lost), 503);
  const forgotten = await forget('elsewhere', '--yes');
  assert.equal(forgotten.code, 0, forgotten.complaint);
  assert.deepEqual(
    { ...(forgotten.answer as object), server: null, seen_at: null },
    { name: 'elsewhere', server: null, workspaces, forms, seen_at: null },
  );

  await until('its page to be nowhere, and its key to be unknown', async () => {
    const [page, { status }] = await Promise.all([statusOf(lost), tenant.call('GET', '/forms')]);
    assert.ok([503, 404].includes(page), `the page answered ${page}`);
    assert.ok([503, 401].includes(status), `the API answered ${status}`);
    return page === 404 && status === 401;
  });
  assert.equal(await statusOf(`${service.url}/f/${crypto.randomUUID()}`), 404);
  assert.equal(await submit(calm, 'Afterwards'), 201);
  await until('another process to know', async () => cellsOf(fresh).length === 2);
  await removeEndedAccounts(database);
  const { rowCount } = await database.query('select from users where id = $1', [gone.userId]);
  assert.equal(rowCount, 0);
  assert.equal((await end()).status, 200);
  assert.deepEqual(await (await fetch(`${service.url}/readyz`)).json(), { status: 'ready' });
  const listed = (await formloom('cell', 'list')).answer as { data: { name: string }[] };
  assert.deepEqual(
    listed.data.map(({ name }) => name),
    ['default', 'c2'],
  );
  assert.equal((await database.query('select from people_due')).rowCount, 0);
  await hearing.stop();
  await another.close();

  // Its name is free, and another server has it now.
  await bring();
  await administer('create database another owner elsewhere');
  const again = `postgres://elsewhere@localhost/another?host=${encodeURIComponent(host)}`;
  const made = await formloom('cell', 'create', 'elsewhere', '--server', again);
  assert.equal(made.code, 0, made.complaint);
  await database.query("update cells set created_at = created_at - interval '1 hour'");
  await until('it to be opened', async () => cellsOf(database).at(-1)!.server?.isOpen());
  const workspace = await formloom('workspace', 'create', 'Again', '--cell', 'elsewhere');
  assert.equal(workspace.code, 0, workspace.complaint);
});
