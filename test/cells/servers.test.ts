import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cellForNew } from '#kit/cells/cell-for-new.ts';
import { backUpWhenDue } from '#backup/schedule/back-up-when-due.ts';
import { makeBackup } from '#backup/make-backup.ts';
import { cellsOf, connectionsOf, openCells, refreshCells } from '#kit/cells/cells.ts';
import { createCellOnServer } from '#kit/cells/servers/create-cell-on-server.ts';
import { reachServers, sealAddress } from '#kit/cells/servers/reach-server.ts';
import { isLost } from '#kit/cells/servers/server.ts';
import { readConfig } from '#kit/config.ts';
import { openDatabase, transaction } from '#kit/database.ts';
import { placeOf } from '#kit/find-host.ts';
import { openLog } from '#kit/log.ts';
import { migrationLock } from '#kit/cells/queries.ts';
import { openStorage } from '#kit/open-storage.ts';
import { openVault } from '#kit/vault.ts';
import { removeEndedAccounts } from '#workspaces/endings/endings.ts';
import { announce } from '#mail/announcements/announce.ts';
import { noteInWorkspace } from '#workspaces/audit/note-person.ts';
import { createKey } from '#workspaces/keys.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';
import { addMember } from '#workspaces/members.ts';
import { firstWorkspace, reportPasswordChange } from '#workspaces/mail-news.ts';
import { createForm } from '#forms/forms.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { watch } from '#app/watch/watch.ts';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { command, startCommand } from '../command-line.ts';
import { form, makeForm, submit, tenantIn } from './guest-book.ts';
import { joinService } from './make-cells.ts';
import { beginSession, callConsole, password, signIn } from '../console.ts';
import { openReceiver } from '../receiver.ts';
import { callApi, openService, until } from '../service.ts';
import { testDatabase } from '../database.ts';
import { findWaiting, untilOneWaits } from '../while-held.ts';

/* Three cells in two databases, of which the second is all that another server is to the service. */

const other = await testDatabase({ isEmpty: true });
const service = await openService({}, { cells: 2, elsewhere: other.url });
const { database } = service.services;
/** The cells, the last of which is elsewhere. */
let there = cellsOf(database).at(-1)!.database;

test('a form and its submissions are in the database of their cell alone, and answer no other tenant', async () => {
  const tenants = [await service.makeTenant(), await service.makeTenant(), await service.makeTenant()];
  for (const [index, tenant] of tenants.entries()) {
    const made = await makeForm(tenant);
    await submit(made.public_url, `Ada ${index}`);
    const listed = await tenant.call('GET', `/forms/${made.id}/submissions`);
    assert.deepEqual(
      listed.body.data.map(({ answers }) => answers),
      [{ name: `Ada ${index}` }],
    );
    assert.equal((await tenant.call('GET', '/submissions/search?q=Ada')).body.data.length, 1);
    for (const other of tenants.filter((each) => each !== tenant))
      assert.equal((await other.call('GET', `/forms/${made.id}`)).status, 404);
  }
  const { rows } = await other.database.query(
    'select count(*)::int as found from cell_elsewhere.submissions',
  );
  assert.deepEqual(rows, [{ found: 1 }]);
});

test('a webhook of a cell there hears of its submissions', async () => {
  const receiver = await openReceiver();
  const tenant = await tenantIn(service, there);
  const { id, public_url } = await makeForm(tenant);
  const made = await fetch(`${service.url}/api/v1/forms/${id}/webhooks`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await tenant.makeFullKey()}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ url: `${receiver.url}/there`, events: ['submission.created'] }),
  });
  assert.equal(made.status, 201, await made.text());
  await submit(public_url, 'Heard');
  const [request] = await receiver.waitFor(1);
  assert.equal(JSON.parse(String(request!.body)).submission.responses.name, 'Heard');
  await receiver.close();
});

const countThere = async (question: string): Promise<number> =>
  (await there.query<{ count: number }>(`select count(*)::int as count from ${question}`)).rows[0]!.count;
/** A command of the operator: its exit code, its answer and what it complains of. */
const formloom = (...args: string[]) => command(service.environment, ...args);

test('a person has workspaces on two servers, is known there by the name of now, and cannot go while one there has no other owner', async () => {
  const { id } = await createWorkspace(there, { name: 'There', plan: 'free' });
  const person = await signIn(service, { name: 'Before' });
  await addMember(there, { workspaceId: id, userId: person.userId, role: 'owner' });
  const session = await person.call<{ workspaces: { name: string; role: string }[] }>('GET', '/session');
  assert.deepEqual(
    session.body.workspaces.map(({ name, role }) => [name, role]),
    [
      ['Test', 'owner'],
      ['There', 'owner'],
    ],
  );
  const inThere = { 'X-Workspace-ID': id };
  assert.equal((await person.api('POST', '/forms', { ...form, publish: true }, inThere)).status, 201);
  const members = async () =>
    (await person.api<{ data: { name: string }[] }>('GET', '/members', undefined, inThere)).body.data;
  assert.deepEqual(
    (await members()).map(({ name }) => name),
    ['Before'],
  );
  assert.equal((await person.call('PATCH', '/person', { name: 'After' })).status, 204);
  await until('the other name to be there', async () => (await members())[0]!.name === 'After');
  await until(
    'what they did to stand in the log there',
    async () => (await countThere("audit_lines where operation = 'renamePerson'")) === 1,
  );

  const end = () => person.call<{ message: string }>('DELETE', '/person', { password });
  assert.match((await end()).body.message, /^Nobody else owns Test, There\./);
  const successor = await signIn(service);
  await addMember(database, { workspaceId: person.workspaceId, userId: successor.userId, role: 'owner' });
  assert.match((await end()).body.message, /^Nobody else owns There\./);
  await addMember(there, { workspaceId: id, userId: successor.userId, role: 'owner' });
  assert.equal((await end()).status, 200);
  // At once: the other one may not leave in the moment until it is brought.
  assert.equal(await countThere(`users where id = '${person.userId}' and ends_at is not null`), 1);
  const left = await successor.call<{ message: string }>('DELETE', `/memberships/${id}`);
  assert.deepEqual(
    [left.status, left.body.message],
    [409, 'This is the last owner. Make somebody else an owner first.'],
  );

  await database.query("update users set ends_at = now() - interval '1 s' where id = $1", [person.userId]);
  await removeEndedAccounts(database);
  await until(
    'them to be gone there',
    async () => (await countThere(`users where id = '${person.userId}'`)) === 0,
  );
  assert.equal(await countThere(`members where user_id = '${person.userId}'`), 0);
});

test('of two owners of a workspace there who end their accounts at once one stays', async () => {
  const { id: workspaceId } = await createWorkspace(there, { name: 'Of two', plan: 'free' });
  const owners = [await signIn(service), await signIn(service)];
  for (const owner of owners) {
    // What is theirs alone has another owner.
    const other = await signIn(service);
    await addMember(database, { workspaceId: owner.workspaceId, userId: other.userId, role: 'owner' });
    await addMember(there, { workspaceId, userId: owner.userId, role: 'owner' });
  }
  // The first has looked who else owns it, and is held up before it ends.
  const end = (owner: (typeof owners)[number]) => owner.call('DELETE', '/person', { password });
  const ends: Promise<{ status: number }>[] = [];
  let isOver = false;
  await transaction(database, async (client) => {
    await client.query('select from users where id = $1 for update', [owners[0]!.userId]);
    ends.push(end(owners[0]!));
    await untilOneWaits(database, 'update users set ends_at');
    // What else is written there meanwhile, a mail about it for one, does not wait.
    await noteInWorkspace(there, { workspaceId, operation: 'changeNothing', by: 'service' });
    ends.push(end(owners[1]!).finally(() => (isOver = true)));
    await until(
      'the second to wait there, or to be through',
      async () => isOver || (await findWaiting(other.database, 'select from workspaces where id in')),
    );
  });
  const statuses = (await Promise.all(ends)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 409]);
});

test('somebody who is invited joins a workspace there, with a new account and with the one that they have', async () => {
  const { id } = await createWorkspace(there, { name: 'Joined', plan: 'free' });
  const invite = async (email: string): Promise<string> => {
    const { answer } = await formloom(
      'user',
      'invite',
      '--email',
      email,
      '--workspace',
      id,
      '--role',
      'editor',
    );
    return (answer as { link: string }).link.split(/[/#]/).at(-1)!;
  };
  const post = (path: string, body: object) =>
    fetch(`${service.url}/app/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: service.url },
      body: JSON.stringify(body),
    });
  const token = await invite('joins@example.org');
  const joined = await post('/joins/accounts', { token, name: 'Joins', password });
  assert.equal(joined.status, 201, await joined.text());
  assert.equal((await post('/joins/lookups', { token })).status, 410);
  const { rows } = await database.query("select id from users where email = 'joins@example.org'");
  const cookie = await beginSession(service, rows[0].id as string);
  const forms = await fetch(`${service.url}/api/v1/forms`, {
    headers: { Cookie: cookie, 'X-Workspace-ID': id },
  });
  assert.equal(forms.status, 200);
  const person = await signIn(service, { email: 'invited@example.org' });
  const joinedToo = await person.call('POST', '/joins', { token: await invite(person.email) });
  assert.equal(joinedToo.status, 200);
  assert.equal(await countThere(`members where workspace_id = '${id}'`), 2);
  // Nobody is known there who has nothing to do with it, and of nobody more than is needed.
  const stranger = await signIn(service);
  assert.equal(await countThere(`users where id = '${stranger.userId}'`), 0);
  const { rows: columns } = await other.database.query(
    "select column_name as name from information_schema.columns where table_schema = 'cell_elsewhere' and table_name = 'users' order by 1",
  );
  assert.deepEqual(
    columns.map(({ name }) => name as string),
    ['email', 'ends_at', 'id', 'name', 'second_factor'],
  );
});

test('an invitation whose account was made, and whose membership could not be, opens again', async () => {
  const { id } = await createWorkspace(there, { name: 'Again', plan: 'free' });
  const email = 'again@example.org';
  const invited = await formloom('user', 'invite', '--email', email, '--workspace', id, '--role', 'editor');
  const token = (invited.answer as { link: string }).link.split(/[/#]/).at(-1)!;
  const join = async () =>
    (await callConsole(service.url, '', 'POST', '/joins/accounts', { token, name: 'Again', password }))
      .status;
  await there.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on members for each row execute function refuse()`);
  assert.equal(await join(), 500);
  await there.query('drop function refuse cascade');
  assert.equal(await join(), 201);
});

test('a change that comes while somebody joins is there when they have joined', async () => {
  const { id: workspaceId } = await createWorkspace(there, { name: 'Late', plan: 'free' });
  const { userId } = await signIn(service, { name: 'Early' });
  const isDue = async (): Promise<boolean> =>
    (await database.query('select from people_due where user_id = $1 and line is null', [userId]))
      .rowCount !== 0;
  await transaction(there, async (client) => {
    await addMember(client, { workspaceId, userId, role: 'editor' });
    await database.query("update users set name = 'Late' where id = $1", [userId]);
    await until('the change to be brought, or to wait', async () => {
      const waiting = await findWaiting(other.database, 'lock table users');
      return waiting !== undefined || !(await isDue());
    });
  });
  await until('the change to be brought', async () => !(await isDue()));
  const { rows } = await there.query<{ name: string }>('select name from users where id = $1', [userId]);
  assert.deepEqual(rows, [{ name: 'Late' }]);
});

test('two people who exchange their addresses are both known there by those of now', async () => {
  const { id: workspaceId } = await createWorkspace(there, { name: 'Exchange', plan: 'free' });
  const [one, two] = [await signIn(service), await signIn(service)];
  for (const { userId } of [one, two]) await addMember(there, { workspaceId, userId, role: 'editor' });
  const rename = (id: string, email: string) =>
    database.query('update users set email = $2 where id = $1', [id, email]);
  await rename(one.userId, 'meanwhile@example.org');
  await rename(two.userId, one.email);
  await rename(one.userId, two.email);
  const emailOf = async ({ userId }: { userId: string }) =>
    (await there.query<{ email: string }>('select email from users where id = $1', [userId])).rows[0]!.email;
  await until(
    'both to be known',
    async () => (await emailOf(one)) === two.email && (await emailOf(two)) === one.email,
  );
});

test('a new workspace goes to the cell that takes the least, on whichever server', async () => {
  await database.query("update cells set created_at = created_at - interval '1 hour'");
  const ballast = 'create table ballast as select repeat(md5(n::text), 100) from generate_series(1, 3000) n';
  for (const { database: own } of cellsOf(database).slice(0, -1)) await own.query(ballast);
  assert.ok((await cellForNew(database)) === there);
  for (const { database: own } of cellsOf(database).slice(0, -1)) await own.query('drop table ballast');
  await there.query(ballast);
  assert.ok((await cellForNew(database)) !== there);
  await there.query('drop table ballast');
});

test('a process hears there of keys that are revoked there', async () => {
  await until('it to listen', async () => {
    const { rowCount } = await other.database.query(
      'select from pg_stat_activity where datname = current_database() and query = $1',
      [`listen ${keyChannel}`],
    );
    return rowCount !== 0;
  });
});

test('an announcement goes once to who owns workspaces on both servers, and to who owns one there', async () => {
  const tenant = await tenantIn(service, there);
  const [one, two] = [await signIn(service), await signIn(service)];
  await createKey(database, { workspaceId: one.workspaceId, name: 'Here' });
  for (const { userId } of [one, two])
    await addMember(there, { workspaceId: tenant.workspaceId, userId, role: 'owner' });
  const { vault, config } = service.services;
  const letter = { subject: 'News', text: 'There is news.' };
  const context = { database, vault, publicUrl: config.publicUrl };
  const mailed = await announce(context, letter);
  const emails = mailed.map(({ email }) => email).filter((email) => [one.email, two.email].includes(email));
  assert.deepEqual(emails.toSorted(), [one.email, two.email].toSorted());
  assert.equal(await countThere(`mails where recipient = '${two.email}' and kind = 'announcement'`), 1);
  assert.deepEqual(await announce(context, letter), []);
});

test('an announcement that one workspace there cannot take goes once to those who got it, and later to the others', async () => {
  const owners = await Promise.all(
    ['First', 'Second'].map(async (name) => {
      const { id } = await createWorkspace(there, { name, plan: 'free' });
      await createKey(there, { workspaceId: id, name: 'Key' });
      const { userId, email } = await signIn(service);
      await addMember(there, { workspaceId: id, userId, role: 'owner' });
      return { id, userId, email };
    }),
  );
  const [first, last] = owners.toSorted((a, b) => (a.userId < b.userId ? -1 : 1));
  await there.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on mails for each row when (new.recipient = '${last!.email}') execute function refuse()`);
  const { vault, config } = service.services;
  const tell = () =>
    announce({ database, vault, publicUrl: config.publicUrl }, { subject: 'Twice', text: 'Once.' });
  const got = (email: string) => countThere(`mails where recipient = '${email}' and kind = 'announcement'`);
  await assert.rejects(tell(), /not now/);
  assert.equal(await got(first!.email), 1);
  await there.query('drop function refuse cascade');
  await tell();
  assert.deepEqual([await got(first!.email), await got(last!.email)], [1, 1]);
});

/** Does something whose transaction is lost in the moment in which it is committed on the first server, when all is committed that is elsewhere. */
async function loseAtCommit(trigger: string, work: () => Promise<unknown>): Promise<void> {
  await database.query(`
    create function hold() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(4711); return null; end $$;
    create constraint trigger hold ${trigger} deferrable initially deferred for each row execute function hold()`);
  await transaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock(4711)');
    const lost = assert.rejects(work());
    await until('it to be committed', async () => {
      const { rowCount } = await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query = 'commit' and wait_event = 'advisory'`,
      );
      return rowCount !== 0;
    });
    await lost;
  });
  await database.query('drop function hold cascade');
}

const jobsOfMails = (email: string) =>
  countThere(`jobs join mails using (workspace_id, id) where recipient = '${email}'`);

test('an announcement whose process is lost between the two commits goes once to those who got it', async () => {
  const { id } = await createWorkspace(there, { name: 'Lost', plan: 'free' });
  await createKey(there, { workspaceId: id, name: 'Key' });
  const { userId, email } = await signIn(service);
  await addMember(there, { workspaceId: id, userId, role: 'owner' });
  const { vault, config } = service.services;
  const letter = { subject: 'Lost', text: 'Between two commits.' };
  const tell = () => announce({ database, vault, publicUrl: config.publicUrl }, letter);
  const mails = () => countThere(`mails where recipient = '${email}' and subject = 'Lost'`);
  await tell();
  await database.query('delete from announced where user_id = $1', [userId]);
  // The job before the mail, as the service does that may be sending it.
  const lost = "mails where recipient = $1 and subject = 'Lost'";
  await there.query(`delete from jobs where id in (select id from ${lost})`, [email]);
  await there.query(`delete from ${lost}`, [email]);
  await loseAtCommit('after insert on announced', tell);
  assert.equal(await mails(), 1);
  const told = await tell();
  assert.deepEqual(
    told.map((each) => each.email),
    [email],
  );
  assert.equal(await mails(), 1);
  assert.ok((await jobsOfMails(email)) <= 1);
});

test('of webhooks there that were paused their owners are told, once each also where one mail fails', async () => {
  const tenants = [await tenantIn(service, there), await tenantIn(service, there)];
  const owners = [await signIn(service), await signIn(service)];
  for (const [index, tenant] of tenants.entries()) {
    const member = { workspaceId: tenant.workspaceId, userId: owners[index]!.userId, role: 'owner' } as const;
    await addMember(there, member);
    const { id } = await makeForm(tenant);
    const made = await callApi(service.url, await tenant.makeFullKey(), 'POST', `/forms/${id}/webhooks`, {
      url: 'https://example.org/',
      events: ['submission.created'],
    });
    assert.equal(made.status, 201);
  }
  await there.query(
    "update webhooks set active = false, paused_by = 'failure' where workspace_id = any ($1)",
    [tenants.map(({ workspaceId }) => workspaceId)],
  );
  const smtp = readConfig({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'forms@example.org' }).smtp;
  const { services } = service;
  const look = () =>
    watch({ ...services, config: { ...services.config, smtp }, mailProblem: () => undefined });
  const told = () =>
    Promise.all(
      owners.map(({ email }) => countThere(`mails where recipient = '${email}' and kind = 'incident'`)),
    );
  // Whoever comes second is refused.
  await there.query(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if exists (select from mails where kind = 'incident') then raise exception 'not now'; end if;
      return new;
    end $$;
    create trigger refuse before insert on mails for each row when (new.kind = 'incident') execute function refuse()`);
  await assert.rejects(look(), /not now/);
  assert.equal(
    (await told()).reduce((sum, count) => sum + count, 0),
    1,
  );
  await there.query('drop function refuse cascade');
  await look();
  assert.deepEqual(await told(), [1, 1]);

  // As if it had been over for a while.
  await database.query('delete from incidents');
  await loseAtCommit('after update on incidents', look);
  const sum = async () => (await told()).reduce((total, count) => total + count, 0);
  assert.equal(await sum(), 3, 'one of them was told before the process was lost');
  await look();
  assert.deepEqual(await told(), [2, 2]);
  for (const { email } of owners) assert.ok((await jobsOfMails(email)) <= 2);
  await look();
  assert.deepEqual(await told(), [2, 2]);
});

test('the doctor looks at the version there', async () => {
  const look = async () => {
    const { data } = (await formloom('doctor')).answer as { data: { check: string; finding: string }[] };
    return data.find(({ check }) => check === 'servers of cells')!.finding;
  };
  assert.equal(await look(), 'Each answers and is of this version: elsewhere.');
  await there.query("insert into migrations (number, name, checksum) values (9999, '9999_later.sql', '')");
  assert.match(
    await look(),
    /^The cell elsewhere at \S+ cannot be used: The database is newer than this version/,
  );
  await there.query('delete from migrations where number = 9999');
});

test('what is of no workspace is done in the first one that there is, of another server where the first one has none, and of one that answers', async () => {
  const { database: alone, url } = await testDatabase();
  const { url: server } = await testDatabase({ isEmpty: true });
  const { vault } = service.services;
  const log = openLog('silent');
  const reach = async (there: typeof alone) => {
    const cells = await openCells(
      there,
      (path, pool) => openDatabase({ connectionString: url }, { path, pool, log }),
      reachServers(there, vault, { log }),
    );
    after(() => cells.close());
    return cellsOf(there).at(-1)!;
  };
  const there = openDatabase({ connectionString: server }, { pool: 1, log, limits: false });
  await createCellOnServer(alone, 'far', {
    there,
    server: sealAddress(vault, server),
    place: placeOf(server),
    service: { pool: 1, processes: 1, channel: keyChannel },
  });
  await there.end();
  const far = await reach(alone);
  await far.server!.open();
  const jobs = async () =>
    (await far.database.query<{ payload: object }>("select payload from jobs where kind = 'mail_news'")).rows;

  assert.equal(await firstWorkspace(alone), undefined);
  await reportPasswordChange(alone, 'somebody');
  assert.deepEqual(await jobs(), []);
  const { id } = await createWorkspace(far.database, { name: 'Far', plan: 'free' });
  assert.deepEqual(await firstWorkspace(alone), { id });
  await transaction(alone, (client) => reportPasswordChange(client, 'somebody'));
  assert.deepEqual(await jobs(), [{ payload: { kind: 'password_changed', userId: 'somebody' } }]);
  const here = await createWorkspace(alone, { name: 'Here', plan: 'free' });
  assert.deepEqual(await firstWorkspace(alone), { id: here.id });

  await alone.query('delete from workspaces');
  await alone.query("update cells set server = $1 where name = 'far'", [
    sealAddress(vault, server.replace(/test_[0-9a-f]+/, 'nowhere')),
  ]);
  const later = openDatabase({ connectionString: url }, { pool: 2, log });
  await assert.rejects((await reach(later)).server!.open(), /does not exist/);
  assert.equal(await firstWorkspace(later), undefined);
  await reportPasswordChange(later, 'somebody');
  await later.end();
});

test('the doctor looks at each server that has cells: what it is, and how many connections all that is on it may take', async () => {
  const look = async (environment: Record<string, string> = {}) => {
    const { answer } = await command({ ...service.environment, ...environment }, 'doctor');
    type Line = { check: string; state: string; finding: string };
    return (answer as { data: Line[] }).data.find(({ check }) => check === 'server of elsewhere')!;
  };
  const name = new URL(other.url).pathname.slice(1);
  // The first database is on the same one.
  const needed = (pool: number) => connectionsOf(2, pool) + connectionsOf(1, pool + 4) + 20;
  const { state, finding } = await look({ DATABASE_POOL: '2' });
  assert.equal(state, 'ok');
  assert.match(
    finding,
    new RegExp(
      `^At \\S+/${name}: PostgreSQL \\d+, UTF8\\. Up to ${needed(2)} connections of \\d+ \\(max_connections\\)\\.$`,
    ),
  );
  const full = await look({ DATABASE_POOL: '200' });
  assert.equal(full.state, 'warning');
  assert.match(full.finding, new RegExp(`^At \\S+/${name}: .* Up to ${needed(200)} connections of`));
  await other.database.query(`alter database ${name} set default_transaction_read_only = on`);
  const shut = await look();
  await other.database.query(`alter database ${name} reset default_transaction_read_only`);
  assert.deepEqual([shut.state, shut.finding.endsWith(': The database is read-only.')], ['problem', true]);
});

test('what is found of a cell that was let go of is taken in as the handbook says', async () => {
  const create = () => formloom('cell', 'create', 'kept', '--server', other.url);
  const opened = () =>
    until('the cell to be open', async () => {
      const cell = cellsOf(database).find(({ name }) => name === 'kept');
      return cell?.server!.isOpen() ? cell : undefined;
    });
  assert.equal((await create()).code, 0);
  const { database: kept } = await opened();
  const { id } = await createWorkspace(kept, { name: 'Kept', plan: 'pro' });
  const { key } = await createKey(kept, { workspaceId: id, name: 'Kept' });
  const twins = await Promise.all(
    ['here', 'there'].map(async () => (await callApi(service.url, key, 'POST', '/forms', form)).body.id),
  );
  const ask = async () => (await callApi(service.url, key, 'GET', '/forms')).status;
  assert.equal(await ask(), 200);
  await other.database.query('alter schema cell_kept rename to lost');
  const forgotten = await formloom('cell', 'forget', 'kept', '--yes');
  assert.equal(forgotten.code, 0, forgotten.complaint);
  await until('its key to be unknown', async () => (await ask()) === 401);
  for (const [index, cell] of [database, there].entries()) {
    const { id: workspaceId } = await createWorkspace(cell, { name: 'Other', plan: 'pro' });
    await createForm(cell, workspaceId, { structure: form.structure, id: twins[index]! });
  }

  assert.equal((await create()).code, 0);
  await opened();
  // The service runs, and may be in the way.
  await until('it to be in its place', () =>
    other.database
      .query(
        'drop schema cell_kept cascade; alter schema lost rename to cell_kept; comment on schema cell_kept is null',
      )
      .then(
        () => true,
        () => false,
      ),
  );
  const told = await formloom('cell', 'address', 'kept', '--server', other.url);
  assert.match(told.complaint, /has what another cell has too/);
  for (const [index, cell] of ['default', 'elsewhere'].entries())
    assert.ok(
      told.complaint.includes(`the form ${twins[index]!} of the workspace ${id} in the cell ${cell}`),
      told.complaint,
    );
  const again = await joinService(service);
  const opening = cellsOf(again.database)
    .find(({ name }) => name === 'kept')!
    .server!.open();
  await assert.rejects(opening, /has what another cell has too/);
  await again.close();
  const { answer } = await formloom('doctor');
  const checks = (answer as { data: { check: string; finding: string }[] }).data;
  const { finding } = checks.find(({ check }) => check === 'servers of cells')!;
  for (const twin of twins) assert.ok(finding.includes(twin), finding);
  await database.query('delete from forms where id = $1', [twins[0]]);
  await there.query('delete from forms where id = $1', [twins[1]]);
  const taken = await formloom('cell', 'address', 'kept', '--server', other.url);
  assert.equal(taken.code, 0, taken.complaint);
  await until('its key to be known again', async () => (await ask()) === 200);

  const full = await formloom('cell', 'forget', 'kept', '--yes');
  assert.match(full.complaint, /has 1 workspace\./);
  for (const code of ['57014', '53300', '57P03', '40P01'])
    assert.equal(isLost(Object.assign(new Error('busy'), { code, severity: 'ERROR' })), false, code);
  assert.equal(isLost(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })), true);
  assert.equal(isLost(Object.assign(new Error('gone'), { code: '08006', severity: 'ERROR' })), true);
  await (await opened()).database.query('delete from workspaces');
  assert.equal((await formloom('cell', 'forget', 'kept', '--yes')).code, 0);
});

test('a cell there that is of an earlier version is brought to this one by who opens it, and a start waits for none that takes long', async () => {
  const count = () => countThere('migrations');
  const before = await count();
  // The last two change nothing in a cell where they ran.
  await there.query('delete from migrations where number >= 79');
  const again = await transaction(other.database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const another = await joinService(service);
    assert.equal(cellsOf(another.database).at(-1)!.server!.isOpen(), false);
    return another;
  });
  await cellsOf(again.database).at(-1)!.server!.open();
  assert.equal(await count(), before);
  await again.close();
});

test('that a cell there has no connection left is no silence', async () => {
  const { id } = await createWorkspace(there, { name: 'Busy', plan: 'free' });
  const person = await signIn(service);
  await addMember(there, { workspaceId: id, userId: person.userId, role: 'editor' });
  const busy = await Promise.all(Array.from({ length: there.options.max }, () => there.connect()));
  const session = await person.call<{ workspaces: { name: string }[] }>('GET', '/session');
  const page = await fetch(`${service.url}/f/${crypto.randomUUID()}`);
  for (const client of busy) client.release();
  assert.deepEqual(
    session.body.workspaces.map(({ name }) => name),
    ['Busy', 'Test'],
  );
  assert.equal(page.status, 404);
});

test('what an operator asks of all cells has those there', async () => {
  const tenant = await tenantIn(service, there);
  const { id } = await makeForm(tenant);
  const listed = (await formloom('workspace', 'list')).answer as { data: { id: string }[] };
  assert.equal(listed.data[0]!.id, tenant.workspaceId);
  const keys = (await formloom('key', 'list')).answer as { data: { workspace_id: string; id: string }[] };
  assert.equal(keys.data[0]!.workspace_id, tenant.workspaceId);
  assert.equal((await formloom('webhook', 'list', '--form', id)).code, 0);
  assert.equal((await formloom('key', 'revoke', keys.data[0]!.id)).code, 0);
  await until('the key to be refused', async () => (await tenant.call('GET', '/forms')).status === 401);
  const cells = (await formloom('cell', 'list')).answer as { data: { name: string; server?: string }[] };
  assert.deepEqual(
    cells.data.map(({ name, server }) => [name, server?.split('/').at(-1)]),
    [
      ['default', undefined],
      ['c2', undefined],
      ['elsewhere', new URL(other.url).pathname.slice(1)],
    ],
  );
  const again = await formloom('cell', 'create', 'again', '--server', service.environment['DATABASE_URL']!);
  assert.match(again.complaint, /That database has an instance itself/);
});

test('a cell there is made by a command while the service runs, and serves soon after', async () => {
  const made = await formloom('cell', 'create', 'late', '--server', other.url);
  assert.equal(made.code, 0, made.complaint);
  const taken = await formloom('cell', 'create', 'elsewhere', '--server', other.url);
  assert.match(taken.complaint, /There is a cell elsewhere already/);
  await other.database.query('create schema cell_used');
  const used = await formloom('cell', 'create', 'used', '--server', other.url);
  assert.match(used.complaint, /That database has a schema cell_used/);
  await database.query("update cells set created_at = created_at - interval '1 hour'");
  const { answer } = await formloom('workspace', 'create', 'Late', '--cell', 'late');
  const { id } = answer as { id: string };
  const { key } = (await formloom('key', 'create', '--name', 'Late', '--workspace', id)).answer as {
    key: string;
  };
  const response = await fetch(`${service.url}/api/v1/forms`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...form, publish: true }),
  });
  assert.equal(response.status, 201);
  await submit(((await response.json()) as { public_url: string }).public_url, 'Late');
  const { rows } = await other.database.query('select count(*)::int as found from cell_late.submissions');
  assert.deepEqual(rows, [{ found: 1 }]);
  // A process listens there once for each of the two.
  const diagnosed = await command({ ...service.environment, DATABASE_POOL: '2' }, 'doctor');
  const found = (diagnosed.answer as { data: { check: string; finding: string }[] }).data;
  const needed = connectionsOf(2, 2) + connectionsOf(2, 2 + 4) + 20;
  assert.match(
    found.find(({ check }) => check === 'server of elsewhere, late')!.finding,
    new RegExp(`Up to ${needed} connections`),
  );
  // One that has no workspace goes with its tables.
  assert.equal((await formloom('cell', 'create', 'idle', '--server', other.url)).code, 0);
  assert.equal((await formloom('cell', 'forget', 'idle', '--yes')).code, 0);
  const { rows: schemas } = await other.database.query("select to_regnamespace('cell_idle') as schema");
  assert.deepEqual(schemas, [{ schema: null }]);
});

test('what a `cell create` leaves there that is killed between its commits is taken away by the next, and nothing else is', async () => {
  const insert = 'insert into cells';
  const create = ['cell', 'create', 'half', '--server', other.url] as const;
  await transaction(database, async (client) => {
    await client.query('lock table cells in share mode');
    const running = startCommand(service.environment, ...create);
    await untilOneWaits(database, insert);
    running.kill();
    assert.ok((await running.ended).wasKilled);
    // It queues for a lock no more, which others would wait behind.
    await until('its session to end', async () => !(await findWaiting(database, insert)));
  });
  const commentThere = async () =>
    (
      await other.database.query<{ comment: string }>(
        "select obj_description(to_regnamespace('cell_half'), 'pg_namespace') as comment",
      )
    ).rows[0]!.comment;
  const left = await commentThere();
  assert.match(left, /^Formloom cell /);
  const known = async () => (await database.query("select from cells where name = 'half'")).rowCount;
  assert.equal(await known(), 0);
  // As one that another instance has made.
  await other.database.query(`comment on schema cell_half is 'Formloom cell ${crypto.randomUUID()}'`);
  assert.match((await formloom(...create)).complaint, /has a schema cell_half/);
  await other.database.query(`comment on schema cell_half is '${left}'`);
  const listed = async () =>
    (await formloom('cell', 'list')).answer as { data: { name: string; state?: string }[] };
  const half = (await listed()).data.find(({ name }) => name === 'half');
  assert.match(half!.state!, /half made: `cell create half --server <its address>` again/);
  const said = async () => {
    const { data } = (await formloom('doctor')).answer as {
      data: { check: string; finding: string; remedy: string }[];
    };
    return data.find(({ check }) => check === 'cells half made');
  };
  const { finding, remedy } = (await said())!;
  assert.match(finding, /The cell half at \S+ was begun .*Z, and is not made yet/);
  assert.match(remedy, /`cell create half --server <its address>` again .* `cell forget half`/);
  const again = await formloom(...create);
  assert.equal(again.code, 0, again.complaint);
  assert.notEqual(await commentThere(), left);
  assert.equal(await known(), 1);
  assert.equal(await said(), undefined);
  assert.deepEqual(
    (await listed()).data.filter(({ name, state }) => name === 'half' && state !== undefined),
    [],
  );
  assert.deepEqual((await database.query('select cells_begun from instance')).rows, [{ cells_begun: [] }]);
});

test('a `cell forget` that is killed when its cell is gone there is said by the doctor, and ends when it is run again', async () => {
  await transaction(database, async (client) => {
    await client.query('lock table cells in share mode');
    const running = startCommand(service.environment, 'cell', 'forget', 'half', '--yes');
    await untilOneWaits(database, 'delete from cells');
    running.kill();
    await running.ended;
  });
  const { answer } = await formloom('doctor');
  const checks = (answer as { data: { check: string; finding: string; remedy: string }[] }).data;
  const { finding, remedy } = checks.find(({ check }) => check === 'servers of cells')!;
  assert.match(finding, /has no schema cell_half/);
  assert.match(remedy, /`cell forget`.*broken off/);
  const again = await formloom('cell', 'forget', 'half', '--yes');
  assert.equal(again.code, 0, again.complaint);
});

/** The pool of the cell there, when it is open at an address. */
const openAt = (url: string) =>
  until('the service to have gone there', async () => {
    const { server, database: pool } = cellsOf(database).find(({ name }) => name === 'elsewhere')!;
    const isThere = server!.isOpen() && server!.isAt(sealAddress(service.services.vault, url));
    return isThere && pool;
  });

test('the address of a cell there can be another, where the cell is there', async () => {
  const address = (name: string, url: string) => formloom('cell', 'address', name, '--server', url);
  assert.match((await address('c2', other.url)).complaint, /No cell c2 is on another server/);
  const empty = await testDatabase({ isEmpty: true });
  assert.match((await address('elsewhere', empty.url)).complaint, /has no schema cell_elsewhere/);
  const another = `${other.url}&application_name=another`;
  const changed = await address('elsewhere', another);
  assert.equal(changed.code, 0, changed.complaint);
  assert.ok((await openAt(another)) !== there);
  const { rows } = await database.query<{ server: Buffer }>(
    "select server from cells where name = 'elsewhere'",
  );
  const { vault } = service.services;
  assert.match(vault.unseal('servers of cells', rows[0]!.server), /another$/);
  assert.equal((await address('elsewhere', other.url)).code, 0);
  there = await openAt(other.url);
  // The same one once more ends nothing.
  assert.equal((await address('elsewhere', other.url)).code, 0);
  await refreshCells(database);
  assert.ok((await openAt(other.url)) === there);

  // Of an earlier version it is brought to this one; that of a later one is refused.
  const before = await countThere('migrations');
  await there.query('delete from migrations where number >= 79');
  assert.equal((await address('elsewhere', other.url)).code, 0);
  assert.equal(await countThere('migrations'), before);
  await there.query("insert into migrations (number, name, checksum) values (9999, '9999_later.sql', '')");
  assert.match(
    (await address('elsewhere', other.url)).complaint,
    /newer than this version .*9999_later\.sql.*Start the newer version/,
  );
  await there.query('delete from migrations where number = 9999');
});

test('a database that has another cell of the name is not taken for the cell, by no command and by no process', async () => {
  const stranger = await testDatabase();
  const { url } = await testDatabase({ isEmpty: true });
  const log = openLog('silent');
  const { vault } = service.services;
  const server = sealAddress(vault, url);
  const open = (connectionString: string, options = {}) =>
    openDatabase({ connectionString }, { pool: 2, log, ...options });
  const theirs = open(url, { limits: false });
  const running = { pool: 1, processes: 1, channel: keyChannel };
  await createCellOnServer(stranger.database, 'elsewhere', {
    there: theirs,
    server,
    place: 'elsewhere',
    service: running,
  });
  const count = async () =>
    (await theirs.query<{ count: number }>('select count(*)::int as count from cell_elsewhere.users'))
      .rows[0]!.count;
  const address = () => formloom('cell', 'address', 'elsewhere', '--server', url);
  const refused = await address();
  assert.equal(refused.code, 1);
  assert.match(
    refused.complaint,
    /^formloom: The schema cell_elsewhere at \S+ is that of another cell, or of another instance\. `cell address` says where this one is\.$/m,
  );

  const { rows } = await database.query<{ server: Buffer }>(
    "select server from cells where name = 'elsewhere'",
  );
  await database.query("update cells set server = $1 where name = 'elsewhere'", [server]);
  const again = await joinService(service);
  const cell = cellsOf(again.database).find(({ name }) => name === 'elsewhere')!;
  await assert.rejects(cell.server!.open(), /is that of another cell/);
  await assert.rejects(cell.server!.ask(count), { code: 'service_unavailable' });
  const { answer } = await formloom('doctor');
  const checks = (answer as { data: { check: string; finding: string }[] }).data;
  assert.match(checks.find(({ check }) => check === 'servers of cells')!.finding, /is that of another cell/);
  // Nothing that is asked of it tells what a cell has that is not reached.
  const asked = await formloom('cell', 'forget', 'elsewhere');
  assert.match(asked.complaint, /Let go of the cell elsewhere at/);
  await again.close();
  await database.query("update cells set server = $1 where name = 'elsewhere'", [rows[0]!.server]);

  await theirs.query('comment on schema cell_elsewhere is null');
  const [, statement] = /does not say which cell it is\. If you are sure of it: (.*)/.exec(
    (await address()).complaint,
  )!;
  assert.match(statement!, /^comment on schema "cell_elsewhere" is 'Formloom cell [0-9a-f-]{36}'$/);
  await theirs.query(statement!);

  // Who writes to the database of before goes on until they have heard: it has to take nothing any more.
  const back = () => formloom('cell', 'address', 'elsewhere', '--server', other.url);
  const goOver = async (from: typeof theirs, to: string, say: typeof address): Promise<void> => {
    const twice = await say();
    assert.equal(twice.code, 1);
    assert.match(
      twice.complaint,
      /The cell elsewhere is at \S+ too, in another database, and \d process of the service writes there: that would be lost\./,
    );
    await from.query('alter schema cell_elsewhere rename to shut');
    const told = await say();
    assert.equal(told.code, 0, told.complaint);
    there = await openAt(to);
    await from.query('alter schema shut rename to cell_elsewhere');
  };
  await goOver(other.database, url, address);
  await goOver(theirs, other.url, back);
  await theirs.end();
});

test('a cell of a version that said nothing says which it is as soon as it is opened', async () => {
  await other.database.query('comment on schema cell_elsewhere is null');
  const again = await joinService(service);
  await cellsOf(again.database)
    .find(({ name }) => name === 'elsewhere')!
    .server!.open();
  await again.close();
  assert.equal((await formloom('cell', 'address', 'elsewhere', '--server', other.url)).code, 0);
});

test('a cell that comes back from a backup knows people as they are now', async () => {
  const person = await signIn(service, { name: 'Now' });
  await addMember(there, {
    workspaceId: (await tenantIn(service, there)).workspaceId,
    userId: person.userId,
    role: 'editor',
  });
  await there.query("update users set name = 'Then' where id = $1", [person.userId]);
  await there.query("insert into users (id, name, email) values ('gone', 'Gone', 'gone@example.org')");
  assert.equal((await formloom('cell', 'address', 'elsewhere', '--server', other.url)).code, 0);
  await until(
    'them to be known there',
    async () =>
      (await countThere(`users where id = '${person.userId}' and name = 'Now'`)) === 1 &&
      (await countThere("users where id = 'gone'")) === 0,
  );
});

test('where the key of the instance is lost, it is said of which cells the addresses are lost with it', async () => {
  const environment = { ...service.environment, SECRET_KEY: '3d'.repeat(32) };
  let complaint = '';
  const code = await runCommandLine(['instance-key', 'replace', '--json'], {
    environment,
    print: () => {},
    complain: (text) => void (complaint += text),
  });
  assert.equal(code, 1);
  assert.match(complaint, /addresses of cells on other servers are lost with it too \(elsewhere, late\)/);
  await database.query('update instance set key_fingerprint = $1', [
    openVault(service.environment['SECRET_KEY']!).derive('fingerprint')[0],
  ]);
});

test('a backup, a restore and a move are refused by name before they begin', async () => {
  const home = await mkdtemp(join(tmpdir(), 'formloom-servers-'));
  after(() => rm(home, { recursive: true, force: true }));
  const why = /cells on other servers \(elsewhere, late\), which neither a backup nor a move takes along/;
  const file = join(home, 'all.backup');
  assert.match((await formloom('backup', file)).complaint, why);
  await assert.rejects(rm(file));
  const { database: whole } = await testDatabase();
  const storage = openStorage(service.services.config);
  await makeBackup({ database: whole, storage }, { path: file, version: 'test' });
  assert.match((await formloom('restore', file)).complaint, why);
  const due = { ...service.services, config: readConfig({ DATA_DIR: home, BACKUP_SCHEDULE: '* * * * *' }) };
  await backUpWhenDue({ ...due, version: 'test' });
  const { rows } = await database.query<{ problem: string }>('select problem from backups');
  assert.match(rows[0]!.problem, why);
  const empty = await testDatabase({ isEmpty: true });
  assert.match((await formloom('move', '--to', empty.url)).complaint, why);
});

test('the addresses of servers are sealed, and sealed anew with another key', async () => {
  assert.equal(placeOf('postgres://ada:secret@db:5433/forms?password=secret'), 'db:5433/forms');
  const { rows } = await database.query<{ server: Buffer }>(
    'select server from cells where server is not null',
  );
  assert.ok(!rows[0]!.server.toString('latin1').includes('postgres'));
  const former = service.environment['SECRET_KEY']!;
  const key = '1c'.repeat(32);
  const environment = { ...service.environment, SECRET_KEY: `${key},${former}` };
  const run = async (...args: string[]) => {
    let printed = '';
    const print = (text: unknown): void => void (printed += String(text));
    assert.equal(await runCommandLine([...args, '--json'], { environment, print, complain: assert.fail }), 0);
    return JSON.parse(printed) as { data: { what: string; found: number }[] };
  };
  const found = async () =>
    (await run('instance-key', 'reseal')).data.find(({ what }) => what === 'servers of cells')!.found;
  assert.deepEqual([await found(), await found()], [2, 0]);
  const { rows: now } = await database.query<{ server: Buffer }>(
    'select server from cells where server is not null',
  );
  assert.equal(openVault(key).unseal('servers of cells', now[0]!.server), other.url);
  // For the process that serves.
  await database.query('update cells set server = $1 where server is not null', [rows[0]!.server]);
  await database.query('update instance set key_fingerprint = $1', [
    openVault(former).derive('fingerprint')[0],
  ]);
});
