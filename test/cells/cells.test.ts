import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  bytesOfId,
  findCell,
  findInAllCells,
  findUnavailableCells,
  isCellUnavailable,
  runInEachCell,
} from '#cells/across-cells.ts';
import { type Cell, cellsOf, countProcessConnections, migrateCells, openCells } from '#cells/cells.ts';
import { chooseCellForWorkspace, listCells } from '#cells/choose-cell.ts';
import { findConnectionCapacity } from '#cells/create-cell.ts';
import { type Database, openClient } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { readMigrations } from '#kit/migrate.ts';
import { enqueueMails } from '#kit/outbox.ts';
import type { Queryable } from '#kit/statement.ts';
import { checkMailLimits } from '#mail/sending/mail-limits.ts';
import { reserveSendSlot } from '#mail/sending/send-mail.ts';
import { deleteDueAccounts } from '#workspaces/account-deletion.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { command } from '../command-line.ts';
import { beginSession, password, signIn } from '../console.ts';
import { testDatabase } from '../database.ts';
import { openReceiver } from '../receiver.ts';
import { openService, type Tenant, until } from '../service.ts';
import { form, makeForm, submit } from './guest-book.ts';
import { makeCells } from './make-cells.ts';

const service = await openService({}, { cells: 3 });
const { database } = service.services;

/** Returns the result of a query in each cell. */
const inEach = async (question: string): Promise<unknown[]> => {
  return findInAllCells(database, async (cell) => {
    const { rows } = await cell.query(question);
    return [rows[0].found];
  });
};
/** Runs a command of the operator outside the service. Returns its exit code, its answer and its errors. */
const formloom = (...args: string[]) => command(service.environment, ...args);
const noteAge = async (): Promise<void> =>
  void (await database.query("update cells set created_at = created_at - interval '1 hour'"));

test('a form and its submissions are only in the cell of their workspace', async () => {
  const tenants = [await service.makeTenant(), await service.makeTenant(), await service.makeTenant()];
  for (const [index, tenant] of tenants.entries()) {
    const made = await makeForm(tenant);
    await submit(made.public_url, `Ada ${index}`);
    const listed = await tenant.call('GET', `/forms/${made.id}/submissions`);
    assert.deepEqual(
      listed.body.data.map(({ answers }) => answers),
      [{ name: `Ada ${index}` }],
    );
    const found = await tenant.call('GET', `/submissions/search?q=${index}`);
    assert.equal(found.body.data.length, 1);
    for (const other of tenants.filter((each) => each !== tenant)) {
      assert.equal((await other.call('GET', `/forms/${made.id}`)).status, 404);
      assert.equal((await other.call('GET', '/submissions/search?q=Ada')).body.data.length <= 1, true);
    }
  }
  assert.deepEqual(await inEach('select count(*)::int as found from submissions'), [1, 1, 1]);
  await database.query('create extension if not exists pageinspect schema public');
  const pending = `select n_pending_pages::int as found from public.gin_metapage_info(public.get_raw_page('search_documents_terms', 0))`;
  await until('the word index of every cell to be cleaned', async () =>
    (await inEach(pending)).every((pages) => pages === 0),
  );
});

test('a webhook receives the submissions of its form in any cell, and no others', async () => {
  const receiver = await openReceiver();
  const tenants = [await service.makeTenant(), await service.makeTenant(), await service.makeTenant()];
  const forms = await Promise.all(tenants.map(makeForm));
  for (const [index, { id }] of forms.entries()) {
    const admin = await tenants[index]!.makeFullKey();
    const made = await fetch(`${service.url}/api/v1/forms/${id}/webhooks`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: `${receiver.url}/${index}`, events: ['submission.created'] }),
    });
    assert.equal(made.status, 201, await made.text());
  }
  await Promise.all(forms.map(({ public_url }, index) => submit(public_url, `Of ${index}`)));
  const requests = await receiver.waitFor(3);
  assert.deepEqual(
    requests.map(({ path, body }) => [path, JSON.parse(String(body)).submission.responses.name]).sort(),
    [
      ['/hook/0', 'Of 0'],
      ['/hook/1', 'Of 1'],
      ['/hook/2', 'Of 2'],
    ],
  );
  await receiver.close();
});

test('a revoked key of any cell is refused, and a deleted form is found in no cell', async () => {
  await service.makeTenant();
  const tenant = await service.makeTenant();
  assert.ok(tenant.database !== database);
  const { id } = await makeForm(tenant);
  const place = bytesOfId(id);
  assert.ok((await findCell(database, place)) === tenant.database);
  assert.equal((await tenant.call('DELETE', `/forms/${id}`)).status, 204);
  await until('no cell to have it', async () => (await findCell(database, place)) === database);
  const key = await tenant.makeKey();
  const ask = async () =>
    (await fetch(`${service.url}/api/v1/forms`, { headers: { Authorization: `Bearer ${key}` } })).status;
  assert.equal(await ask(), 200);
  const { code, answer } = await formloom('key', 'list');
  assert.equal(code, 0);
  const { data } = answer as { data: { id: string; workspace_id: string }[] };
  const own = data.find(({ workspace_id }) => workspace_id === tenant.workspaceId)!;
  assert.equal((await formloom('key', 'revoke', own.id)).code, 0);
  await until('the key to be refused', async () => (await ask()) === 401);
});

test('a person can have workspaces in several cells, and cannot delete the account while one has no other owner', async () => {
  const [here, there] = cellsOf(database).slice(1) as [Cell, Cell];
  const workspaces = [
    await createWorkspace(here.database, { name: 'Here', plan: 'free' }),
    await createWorkspace(there.database, { name: 'There', plan: 'free' }),
  ];
  const person = await signIn(service);
  await addMember(here.database, { workspaceId: workspaces[0]!.id, userId: person.userId, role: 'editor' });
  await addMember(there.database, { workspaceId: workspaces[1]!.id, userId: person.userId, role: 'owner' });
  const session = await person.call<{ workspaces: { name: string; role: string }[] }>('GET', '/session');
  assert.deepEqual(
    session.body.workspaces.map(({ name, role }) => [name, role]),
    [
      ['Here', 'editor'],
      ['Test', 'owner'],
      ['There', 'owner'],
    ],
  );
  const inThere = { 'X-Workspace-ID': workspaces[1]!.id };
  const made = await person.api('POST', '/forms', { ...form, publish: true }, inThere);
  assert.equal(made.status, 201);
  const located = await person.call<{ workspace_id: string }>(
    'GET',
    `/forms/${String(made.body['id'])}/locate`,
  );
  assert.deepEqual([located.status, located.body.workspace_id], [200, workspaces[1]!.id]);

  const end = () => person.call('DELETE', '/person', { password });
  const refused = await end();
  assert.equal(refused.status, 409);
  assert.match(refused.body.message, /^Test, There would have no owner\./);
  const successor = await signIn(service);
  await addMember(database, { workspaceId: person.workspaceId, userId: successor.userId, role: 'owner' });
  assert.match((await end()).body.message, /^There would have no owner\./);
  await addMember(there.database, {
    workspaceId: workspaces[1]!.id,
    userId: successor.userId,
    role: 'owner',
  });
  const left = await person.call('DELETE', `/memberships/${workspaces[0]!.id}`);
  assert.equal(left.status, 204, JSON.stringify(left.body));
  assert.equal((await end()).status, 200);
  // The audit log of each of their workspaces has an entry.
  assert.deepEqual(
    await inEach("select count(*)::int as found from audit_lines where operation = 'deleteAccount'"),
    [1, 0, 1],
  );
  assert.deepEqual(
    await inEach("select count(*)::int as found from audit_lines where operation = 'leaveWorkspace'"),
    [0, 1, 0],
  );
  await database.query("update users set ends_at = now() - interval '1 s' where id = $1", [person.userId]);
  await deleteDueAccounts(database);
  assert.deepEqual(
    await inEach(`select count(*)::int as found from members where user_id = '${person.userId}'`),
    [0, 0, 0],
  );
});

test('an invited person can join a workspace of another cell', async () => {
  const { database: second } = cellsOf(database)[1]!;
  let tenant = await service.makeTenant();
  while (tenant.database !== second) tenant = await service.makeTenant();
  const { answer } = await formloom(
    'user',
    'invite',
    '--email',
    'joins@example.org',
    '--workspace',
    tenant.workspaceId,
    '--role',
    'editor',
  );
  const token = new URL((answer as { link: string }).link).href.split(/[/#]/).at(-1)!;
  const post = (path: string, body: object) =>
    fetch(`${service.url}/app/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: service.url },
      body: JSON.stringify(body),
    });
  const found = await post('/joins/lookups', { token });
  assert.deepEqual([found.status, ((await found.json()) as { workspace: string }).workspace], [200, 'Test']);
  const joined = await post('/joins/accounts', { token, name: 'Joins', password });
  assert.equal(joined.status, 201, await joined.text());
  assert.equal((await post('/joins/lookups', { token })).status, 410);
  const rolesOf = async (cookie: string) => {
    const session = await fetch(`${service.url}/app/api/session`, { headers: { Cookie: cookie } });
    const { workspaces } = (await session.json()) as { workspaces: { id: string; role: string }[] };
    return workspaces.map(({ id, role }) => [id, role]);
  };
  const { rows } = await database.query("select id from users where email = 'joins@example.org'");
  const cookie = await beginSession(service, rows[0].id as string);
  assert.deepEqual(await rolesOf(cookie), [[tenant.workspaceId, 'editor']]);
  const forms = await fetch(`${service.url}/api/v1/forms`, {
    headers: { Cookie: cookie, 'X-Workspace-ID': tenant.workspaceId },
  });
  assert.equal(forms.status, 200);

  // Repeats this for a person with an account and a confirmed email.
  const person = await signIn(service, { email: 'invited@example.org' });
  const again = await formloom(
    'user',
    'invite',
    '--email',
    person.email,
    '--workspace',
    tenant.workspaceId,
    '--role',
    'viewer',
  );
  const other = (again.answer as { link: string }).link.split(/[/#]/).at(-1)!;
  assert.equal((await person.call('POST', '/joins', { token: other })).status, 200);
  const roles = await rolesOf(person.cookie);
  assert.ok(roles.some(([id, role]) => id === tenant.workspaceId && role === 'viewer'));
  assert.deepEqual(
    await inEach("select count(*)::int as found from audit_lines where operation = 'joinWorkspace'"),
    [0, 2, 0],
  );
});

test('emails of all cells share one pace, and the limit of an address counts the emails of all cells', async () => {
  const tenants = [await service.makeTenant(), await service.makeTenant()];
  const place = { names: ['bulk'], bulk_step: 300, prompt_step: 300, patience: 600 };
  await database.query("update mail_pace set next_at = now() - interval '1 hour'");
  const waits = [];
  for (const each of tenants) waits.push((await reserveSendSlot(each.database, place))[0]!.wait);
  await database.query("update mail_pace set next_at = now() - interval '1 hour'");
  assert.equal(waits[0], 0);
  assert.ok(waits[1]! > 200, String(waits));

  const [from, to] = tenants as [Tenant, Tenant];
  const often = { kind: 'announcement', to: { address: 'often@example.org' }, subject: 'Often' } as const;
  const mails = Array.from({ length: 50 }, () => ({
    ...often,
    letter: { heading: 'Often', blocks: [], reason: '' },
  }));
  const ids = await enqueueMails(
    from.database,
    service.services.vault,
    { workspaceId: from.workspaceId, delay: 3_600 },
    mails,
  );
  await from.database.query('update counted_emails set sent_at = now() where id = any ($1)', [ids]);
  const owner = { workspaceId: to.workspaceId, form_id: null, account_id: null };
  const mail = { ...owner, kind: 'announcement' } as const;
  const { config } = service.services;
  const late = await checkMailLimits(to.database, { ...mail, recipient: 'often@example.org' }, config);
  assert.match(late!.reason, /this address has reached the limit/);
  assert.equal(
    await checkMailLimits(to.database, { ...mail, recipient: 'seldom@example.org' }, config),
    undefined,
  );
});

test('a new workspace goes to the smallest or the named cell, after every process knows that cell', async () => {
  const cells = await listCells(database);
  assert.deepEqual(
    cells.map(({ name }) => name),
    ['default', 'c2', 'c3'],
  );
  const chosen = async (named?: string) => {
    const found = await chooseCellForWorkspace(database, named);
    return cellsOf(database).find((cell) => cell.database === found)!.name;
  };
  await database.query("update cells set created_at = now() + interval '1 ms' where name <> $1", ['default']);
  assert.equal(await chosen(), 'default');
  await assert.rejects(chooseCellForWorkspace(database, 'c3'), /was just created\. Try again in 15 seconds/);
  await assert.rejects(chooseCellForWorkspace(database, 'c9'), /No cell named c9/);
  await noteAge();
  for (const schema of ['public', 'cell_c2'])
    await database.query(
      `create table ${schema}.ballast as select repeat(md5(n::text), 100) from generate_series(1, 10000) n`,
    );
  assert.equal(await chosen(), 'c3');
  for (const schema of ['public', 'cell_c2']) await database.query(`drop table ${schema}.ballast`);
  const made = await formloom('workspace', 'create', 'Named', '--cell', 'c3');
  const { id } = made.answer as { id: string };
  assert.ok((await findCell(database, bytesOfId(id))) === cellsOf(database)[2]!.database);
  const listed = (await formloom('workspace', 'list')).answer as { data: { id: string }[] };
  assert.equal(listed.data[0]!.id, id);
  assert.equal((await formloom('workspace', 'plan', id, 'business')).code, 0);
});

test('a cell that is created while the service runs is soon usable, and its name cannot be used again', async () => {
  assert.equal((await formloom('cell', 'create', 'late')).code, 0);
  const again = await formloom('cell', 'create', 'late');
  assert.deepEqual([again.code, again.complaint], [1, 'A cell late already exists. Choose another name.']);
  assert.match((await formloom('cell', 'create', 'No-name')).complaint, /lowercase letters/);
  await database.query('create schema cell_left');
  assert.match(
    (await formloom('cell', 'create', 'left')).complaint,
    /^The database has a schema cell_left that is not a cell\./,
  );
  await noteAge();
  const made = await formloom('workspace', 'create', 'Late', '--cell', 'late');
  const { id } = made.answer as { id: string };
  const { key } = (await formloom('key', 'create', '--name', 'Late', '--workspace', id)).answer as {
    key: string;
  };
  const response = await fetch(`${service.url}/api/v1/forms`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...form, publish: true }),
  });
  assert.equal(response.status, 201);
  const { public_url } = (await response.json()) as { public_url: string };
  await submit(public_url, 'Late');
  assert.deepEqual(
    await inEach("select count(*)::int as found from submissions where answers ->> 'name' = 'Late'"),
    [0, 0, 0, 1],
  );
});

test('a backup contains every cell, a restore creates them and a move includes them', async () => {
  const tenants = [await service.makeTenant(), await service.makeTenant(), await service.makeTenant()];
  for (const tenant of tenants) {
    const { id } = await makeForm(tenant);
    const data = new FormData();
    data.set('name', 'Kept');
    data.set('papers', new File([`Of ${tenant.workspaceId}`], 'paper.txt', { type: 'text/plain' }));
    const headers = { Accept: 'application/json' };
    const sent = await fetch(`${service.url}/f/${id}`, { method: 'POST', headers, body: data });
    assert.equal(sent.status, 201, await sent.text());
  }
  const home = await mkdtemp(join(tmpdir(), 'formloom-cells-'));
  after(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'whole.backup');
  const made = await formloom('backup', path);
  assert.equal(made.code, 0, made.complaint);
  assert.ok((made.answer as { files: number }).files >= 3);

  const count = async (db: Database): Promise<unknown[]> => {
    const { rows } = await db.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
        where schemaname in ('public', 'elsewhere') or schemaname like 'cell%' order by 1`,
    );
    return Promise.all(
      rows
        .filter(({ name }) => /\.(workspaces|forms|submissions|files|cells|api_key_lookup|users)$/.test(name))
        .map(
          async ({ name }) =>
            (
              await db.query(
                `select replace('${name}', 'elsewhere.', 'public.') as name, count(*)::int from ${name}`,
              )
            ).rows[0],
        ),
    );
  };
  const other = await testDatabase({ isEmpty: true, name: 'restores' });
  const there = { ...service.environment, DATABASE_URL: other.url, DATA_DIR: join(home, 'data') };
  const restored = await command(there, 'restore', path);
  assert.equal(restored.code, 0, restored.complaint);
  const whole = await count(database);
  assert.ok(whole.length >= 3 * 6);
  assert.deepEqual(await count(other.database), whole);
  const again = await command(there, 'restore', path);
  assert.match(again.complaint, /in use/);

  // In the database it moves to next, tables outside cells are in a schema with another name.
  const last = await testDatabase({ isEmpty: true, name: 'restores' });
  await last.database.query(
    `create schema elsewhere;
     do $$ begin execute format('alter database %I set search_path = elsewhere', current_database()); end $$`,
  );
  const moved = await command(there, 'move', '--to', last.url);
  assert.equal(moved.code, 0, moved.complaint);
  assert.deepEqual(await count(last.database), whole);
  // The instance continues in that database.
  const further = { ...there, DATABASE_URL: last.url };
  const { answer } = await command(further, 'workspace', 'create', 'After', '--cell', 'c3');
  const { rows } = await last.database.query('select name from cell_c3.workspaces where id = $1', [
    (answer as { id: string }).id,
  ]);
  assert.deepEqual(rows, [{ name: 'After' }]);
  const listed = await command(further, 'cell', 'list');
  const [first] = (listed.answer as { data: { schema: string; bytes: number }[] }).data;
  assert.equal(first!.schema, 'elsewhere');
  assert.ok(first!.bytes > 0);
});

test('`doctor` reports the number of cells, cells without tables and cells that may use too many connections', async () => {
  const look = async (more: Record<string, string> = {}) => {
    const { answer } = await command({ ...service.environment, ...more }, 'doctor');
    const { data } = answer as { data: { check: string; state: string; finding: string }[] };
    return data.find(({ check }) => check === 'cells')!;
  };
  assert.match((await look()).finding, /^There are 4 cells; they use up to \d+ of \d+ connections\.$/);
  const crowded = await look({ WEB_PROCESSES: '8', DATABASE_POOL: '100' });
  assert.equal(crowded.state, 'warning');
  assert.match(crowded.finding, /^4 cells take up to \d+ connections .*\(8 processes, DATABASE_POOL\)/);
  // Each process of every machine listens for keys and uses its share of the connections.
  const ofOne = await findConnectionCapacity(database, 4, {
    pool: 10,
    processes: 1,
    channel: keyChangeChannel,
  });
  const machines = [openClient(database), openClient(database)];
  for (const machine of machines) {
    await machine.connect();
    await machine.query(`listen ${keyChangeChannel}`);
  }
  const ofThree = await findConnectionCapacity(database, 4, {
    pool: 10,
    processes: 1,
    channel: keyChangeChannel,
  });
  assert.deepEqual([ofOne.processes, ofThree.processes], [1, 3]);
  assert.equal(ofThree.needed - ofOne.needed, 2 * countProcessConnections(4, 10));
  for (const machine of machines) await machine.end();
  await database.query('alter table cell_late.workspaces rename to gone');
  const lost = await look();
  assert.deepEqual(
    [lost.state, lost.finding.slice(0, 39)],
    ['problem', 'Tables of these cells are missing: late'],
  );
  await database.query('alter table cell_late.gone rename to workspaces');
});

test('cells at nodes that do not respond are named, and skipped where partial results are useful', async () => {
  const { database: own, url } = await testDatabase();
  const opened = (await makeCells(own, { connectionString: url }, 3))!;
  const cells = cellsOf(own);
  for (const { name, database: cell } of cells) await createWorkspace(cell, { name, plan: 'free' });
  const names = async (isPartial: boolean) => {
    const find = async (db: Queryable) =>
      (await db.query<{ name: string }>('select name from workspaces')).rows;
    const order = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    return (await findInAllCells(own, find, { isPartial, order })).map(({ name }) => name);
  };
  assert.deepEqual(await names(false), ['c2', 'c3', 'default']);
  const third = cells[2]!;
  // Simulates a cluster node that is lost.
  third.place = { node: 'lost:5432', host: undefined };
  await third.database.end();
  assert.deepEqual(await names(true), ['c2', 'default']);
  assert.deepEqual(
    (await findUnavailableCells(own)).map(({ name }) => name),
    ['c3'],
  );
  await assert.rejects(names(false), isCellUnavailable);
  await assert.rejects(
    findCell(own, bytesOfId(crypto.randomUUID())),
    isCellUnavailable,
    'it may be in that cell',
  );
  const { rows } = await cells[1]!.database.query<{ id: string }>('select id from workspaces');
  assert.ok((await findCell(own, bytesOfId(rows[0]!.id))) === cells[1]!.database);
  third.place = undefined;
  await assert.rejects(opened.close(), /Called end on pool more than once/);
});

test('an upgrade updates every cell or none', async () => {
  const migrations = await readMigrations();
  const next = (number: number, sql: string) => ({
    number,
    name: `${number}_next.sql`,
    checksum: String(number),
    sql,
  });
  const tenants = next(9001, 'alter table forms add column remark text');
  const shared = next(9002, '-- Of the instance: once.\nalter table users add column remark text');
  const broken = next(
    9003,
    "do $$ begin if current_schema() like 'cell%' then raise exception 'broken in a cell'; end if; end $$",
  );
  await assert.rejects(migrateCells(database, [...migrations, tenants, shared, broken]), /broken in a cell/);
  assert.deepEqual(await migrateCells(database, [...migrations, tenants, shared]), [
    '9001_next.sql',
    '9002_next.sql',
  ]);
  const found = await findInAllCells(
    database,
    async (cells) => (await cells.query('select remark from forms limit 1')).rows,
  );
  assert.deepEqual(
    found,
    cellsOf(database).map(() => ({ remark: null })),
  );
  assert.deepEqual(await migrateCells(database, [...migrations, tenants, shared]), []);
});

test('an instance with one cell makes no queries to locate data', async () => {
  const one = await testDatabase();
  const cells = await openCells(one.database, () => assert.fail('no pool is opened'));
  await cells.close();
  const closed = one.database;
  const end = closed.end.bind(closed);
  await end();
  closed.end = async () => {};
  assert.ok((await findCell(closed, bytesOfId(crypto.randomUUID()))) === closed);
  assert.ok((await chooseCellForWorkspace(closed)) === closed);
  assert.deepEqual(await findInAllCells(closed, async (cells) => [cells === closed]), [true]);
  let isDone = false;
  await runInEachCell(closed, async (cell) => void (isDone = cell === closed));
  assert.equal(isDone, true);
  await assert.rejects(chooseCellForWorkspace(closed, 'other'), (error) => !(error instanceof ApiError));
});
