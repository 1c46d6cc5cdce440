import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { PoolClient } from 'pg';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { storageKey } from '#files/stored-files.ts';
import { newId } from '#kit/clock.ts';
import { completeJob, enqueueJob, LeaseLost } from '#kit/queue.ts';
import { s3Storage } from '#kit/storage/open-storage.ts';
import { element, structure } from '#test/ast/forms.ts';
import { type ConsolePerson, callConsole, signIn } from '#test/console.ts';
import { makeOneOfEach } from '#test/one-of-each.ts';
import { openS3Server } from '#test/s3-server.ts';
import { callApi, openService } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { whileHeld } from '#test/while-held.ts';
import {
  cancelWorkspaceDeletion,
  deleteDueAccounts,
  scheduleWorkspaceDeletion,
} from '#workspaces/account-deletion.ts';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { deleteClosedWorkspaces } from './remove-workspace.ts';

const service = await openService();
const { services, url } = service;
const { database } = services;
const form = { structure: structure(element('text', 'a')), publish: true };

type Column = { name: string; type: string; needed: boolean };
type Key = { columns: string[]; parent: string; parent_columns: string[] };
type Table = { name: string; columns: Column[]; keys: Key[] };

/** Lists all tables with a row for a workspace, with their required columns and foreign keys. */
async function tenantTables(): Promise<Table[]> {
  const { rows } = await database.query<Table>(`
    select t.relname as name,
           (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
                                              'needed', a.attnotnull and not a.atthasdef and a.attidentity = ''))
              from pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
           coalesce((select json_agg(json_build_object(
               'columns', (select json_agg(a.attname order by k.n) from unnest(c.conkey) with ordinality k (num, n)
                             join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num),
               'parent', c.confrelid::regclass::text,
               'parent_columns', (select json_agg(a.attname order by k.n) from unnest(c.confkey) with ordinality k (num, n)
                             join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.num)))
              from pg_constraint c where c.conrelid = t.oid and c.contype = 'f'), '[]') as keys
      from pg_class t
     where t.relnamespace = 'public'::regnamespace and t.relkind = 'r'
       and exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'workspace_id' and not a.attisdropped)
     order by 1`);
  return rows;
}

const countOf = async (table: string, workspaceId: string): Promise<number> =>
  (await database.query(`select from ${table} where workspace_id = $1`, [workspaceId])).rowCount!;

/** Returns a valid value for a column; for a check constraint, a word from it. */
const valueOf = async (client: PoolClient | typeof database, table: string, { name, type }: Column) => {
  const { rows } = await client.query<{ word: string | null }>(
    `select (regexp_match(pg_get_constraintdef(c.oid), '''([^'']+)'''))[1] as word
       from pg_constraint c where c.conrelid = $1::regclass and c.contype = 'c' and pg_get_constraintdef(c.oid) ~ $2`,
    [table, `\\m${name}\\M`],
  );
  const word = rows.find((row) => row.word !== null)?.word;
  if (word !== undefined) return word;
  if (type.endsWith('[]')) return '{}';
  if (type === 'uuid') return '01890000-0000-7000-8000-000000000000';
  if (/^(integer|bigint|smallint|double)/.test(type)) return '1';
  if (/^(timestamp|date)/.test(type)) return '2026-01-01';
  if (type.startsWith('json')) return '{}';
  if (type === 'boolean') return 'false';
  return type === 'bytea' ? '\\x00' : 'word';
};

/** Inserts a row if the table has none, with references to existing rows of this workspace. */
async function plant({ name, columns, keys }: Table, workspaceId: string): Promise<void> {
  const given = new Map<string, unknown>([['workspace_id', workspaceId]]);
  for (const { columns: own, parent, parent_columns } of keys) {
    if (
      parent === 'workspaces' ||
      !own.some((column) => columns.find((each) => each.name === column)!.needed)
    )
      continue;
    const where = parent_columns.includes('workspace_id') ? `where workspace_id = '${workspaceId}'` : '';
    const { rows } = await database.query<Record<string, unknown>>(
      `select * from ${parent} ${where} limit 1`,
    );
    if (!rows[0]) throw new Error(`${name} waits for ${parent}`);
    for (const [index, column] of own.entries()) given.set(column, rows[0][parent_columns[index]!]);
  }
  for (const column of columns)
    if (column.needed && !given.has(column.name))
      given.set(column.name, await valueOf(database, name, column));
  const names = [...given.keys()];
  await database.query(
    `insert into ${name} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    [...given.values()],
  );
}

async function plantEverywhere(workspaceId: string): Promise<Table[]> {
  const tables = await tenantTables();
  const missing = new Map<string, unknown>();
  for (let turn = 0; turn < 4; turn += 1) {
    missing.clear();
    for (const table of tables)
      if ((await countOf(table.name, workspaceId)) === 0)
        await plant(table, workspaceId).catch((error: unknown) => missing.set(table.name, String(error)));
  }
  assert.deepEqual([...missing], [], 'every table of tenants has a row');
  return tables;
}

const endNow = (table: 'workspaces' | 'users', id: string) =>
  database.query(`update ${table} set ends_at = now() - interval '1 second' where id = $1`, [id]);
const again = { password: 'a long test password' };
/** Lists the files in the folders of the workspace. */
const bytesOf = async (workspaceId: string): Promise<string[]> =>
  (await readdir(service.dataDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.parentPath.includes(workspaceId))
    .map(({ name }) => name);

test('a deleted workspace is in no table and no folder, and other workspaces are unchanged', async () => {
  const tenant = await service.makeTenant();
  const { workspaceId } = tenant;
  await makeOneOfEach(service, tenant);
  const neighbour = await signIn(service);
  await neighbour.api('POST', '/forms', form);
  const owner = await signIn(service, { workspaceId, role: 'owner' });
  assert.equal((await owner.call('DELETE', `/workspaces/${workspaceId}`, again)).status, 200);
  const tables = await plantEverywhere(workspaceId);
  assert.ok(tables.length > 35, String(tables.length));
  const { rows: files } = await database.query<{ id: string }>(
    'select id from files where workspace_id = $1',
    [workspaceId],
  );
  for (const { id } of files)
    await services.storage.put(storageKey(workspaceId, id), Readable.from([Buffer.from('bytes')]), 100);
  assert.ok((await bytesOf(workspaceId)).length > 0, 'there are bytes to remove');
  const before = await countOf('forms', neighbour.workspaceId);
  // Its deletion is not due yet.
  await deleteClosedWorkspaces(services);
  assert.ok((await countOf('forms', workspaceId)) > 0);
  await endNow('workspaces', workspaceId);
  await deleteClosedWorkspaces(services);
  const left = [];
  for (const { name } of tables) if ((await countOf(name, workspaceId)) > 0) left.push(name);
  assert.deepEqual(left, []);
  assert.deepEqual((await database.query('select from workspaces where id = $1', [workspaceId])).rowCount, 0);
  assert.deepEqual(await bytesOf(workspaceId), []);
  assert.equal(await countOf('forms', neighbour.workspaceId), before);
  assert.equal((await callApi(url, tenant.key, 'GET', '/forms')).status, 401);
  assert.deepEqual((await owner.call<Session>('GET', '/session')).body.workspaces, []);
});

test('a workspace that is being deleted is closed for keys, members and visitors, and is unchanged after its restore', async () => {
  const owner = await signIn(service);
  const { workspaceId } = owner;
  const request = { structure: structure(element('file_upload', 'photo')), publish: true };
  const created = await owner.api<{ id: string }>('POST', '/forms', request);
  const key = await owner.api<{ key: string }>('POST', '/keys', { name: 'K' });
  const photo = new File(['a text'], 'a.txt', { type: 'text/plain' });
  assert.equal((await openVisitor(service).post(created.body.id, [['photo', photo]])).status, 303);
  const listed = await owner.api<{ data: { answers: { photo: { url: string }[] } }[] }>(
    'GET',
    `/forms/${created.body.id}/submissions`,
  );
  const link = listed.body.data[0]!.answers.photo[0]!.url;
  const states = async () => [
    (await callApi(url, key.body.key, 'GET', '/forms')).status,
    (await owner.api('GET', '/forms')).status,
    (await fetch(`${url}/f/${created.body.id}`)).status,
    (await fetch(link)).status,
  ];
  assert.deepEqual(await states(), [200, 200, 200, 200]);
  const neighbour = await signIn(service);
  const theirs = await neighbour.api<{ id: string }>('POST', '/forms', form);
  const closed = await signIn(service);
  assert.equal((await closed.call('DELETE', `/workspaces/${closed.workspaceId}`, again)).status, 200);
  const job = { workspace_id: neighbour.workspaceId, id: newId(), kind: 'waits', lane: 'waits', payload: {} };
  await enqueueJob(database, { ...job, delay: 3_600 });
  const timeOfJob = async (): Promise<Date> => {
    const { rows } = await database.query<{ at: Date }>('select run_at as at from jobs where id = $1', [
      job.id,
    ]);
    return rows[0]!.at;
  };
  const othersAre = async () => [
    (await neighbour.api('GET', '/forms')).status,
    (await fetch(`${url}/f/${theirs.body.id}`)).status,
    (await closed.api('GET', '/forms')).status,
    await timeOfJob(),
  ];
  const asTheyWere = [200, 200, 403, await timeOfJob()];
  const editor = await signIn(service, { workspaceId, role: 'admin' });
  const path = `/workspaces/${workspaceId}`;
  assert.equal((await editor.call('DELETE', path, again)).status, 403);
  assert.equal((await (await signIn(service)).call('DELETE', path, again)).status, 404);
  assert.equal((await owner.call('DELETE', path, { password: 'wrong' })).status, 422);
  const ended = await owner.call<{ ends_at: string }>('DELETE', path, again);
  assert.equal(ended.status, 200);
  const days = (Date.parse(ended.body.ends_at) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days < 7.1);
  assert.deepEqual(await states(), [401, 403, 404, 404]);
  assert.deepEqual(await othersAre(), asTheyWere);
  assert.equal((await owner.call('DELETE', path, again)).status, 409);
  const { body } = await owner.call<Session>('GET', '/session');
  assert.deepEqual([body.workspaces, body.ending_workspaces.map(({ id }) => id)], [[], [workspaceId]]);
  assert.equal((await editor.call('POST', `${path}/returns`)).status, 403);
  assert.equal((await owner.call('POST', `${path}/returns`)).status, 204);
  assert.deepEqual(await states(), [200, 200, 200, 200]);
  assert.deepEqual(await othersAre(), asTheyWere);
  assert.equal((await owner.call('POST', `${path}/returns`)).status, 409);
  const { body: log } = await owner.api<{ data: { operation: string }[] }>('GET', '/audit');
  const noted = log.data.map(({ operation }) => operation).filter((name) => name.endsWith('Workspace'));
  assert.deepEqual(noted, ['bringBackWorkspace', 'deleteWorkspace']);
});

const enter = async ({ email, password }: ConsolePerson) => {
  const { headers } = await callConsole(url, '', 'POST', '/session', { email, password });
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
};

test('an account that is being deleted is signed out, can sign in only to be restored, and is gone in the end', async () => {
  const owner = await signIn(service);
  const leaver = await signIn(service, { workspaceId: owner.workspaceId, role: 'admin' });
  const key = await leaver.api<{ key: string }>('POST', '/keys', { name: 'Mine' });
  const created = await leaver.api<{ id: string }>('POST', '/forms', form);
  assert.equal((await leaver.call('DELETE', '/person', { password: 'wrong' })).status, 422);
  assert.equal((await leaver.call('DELETE', '/person', again)).status, 200);
  assert.equal((await leaver.call('GET', '/session')).status, 401);
  const cookie = await enter(leaver);
  const session = await callConsole<Session>(url, cookie, 'GET', '/session');
  assert.ok(session.body.user.ends_at);
  assert.deepEqual(session.body.workspaces, []);
  assert.equal((await callConsole(url, cookie, 'GET', '/person/sessions')).status, 403);
  const inWorkspace = { 'X-Workspace-ID': owner.workspaceId };
  assert.equal((await callConsole(url, cookie, 'GET', '/forms', undefined, inWorkspace)).status, 403);
  assert.equal((await callConsole(url, cookie, 'POST', '/person/returns', {})).status, 204);
  assert.equal((await callConsole(url, cookie, 'GET', '/forms', undefined, inWorkspace)).status, 200);
  assert.equal((await callConsole(url, cookie, 'DELETE', '/person', again)).status, 200);
  await endNow('users', leaver.userId);
  await deleteDueAccounts(database);
  for (const table of ['members', 'sessions', 'accounts', 'person_lines'])
    assert.equal(
      (await database.query(`select from ${table} where user_id = $1`, [leaver.userId])).rowCount,
      0,
      table,
    );
  assert.equal((await database.query('select from users where id = $1', [leaver.userId])).rowCount, 0);
  assert.equal(
    (await callConsole(url, '', 'POST', '/session', { email: leaver.email, password: leaver.password }))
      .status,
    401,
  );
  assert.equal((await callApi(url, key.body.key, 'GET', '/forms')).status, 401);
  assert.equal((await owner.api('GET', `/forms/${created.body.id}`)).status, 200, 'what they made stays');
});

test('the only owner of a workspace must transfer or delete it before deleting the account', async () => {
  const owner = await signIn(service);
  const refused = await owner.call('DELETE', '/person', again);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /Test would have no owner/);
  await owner.call('DELETE', `/workspaces/${owner.workspaceId}`, again);
  assert.equal((await owner.call('DELETE', '/person', again)).status, 200);
});

test('of two owners who delete their accounts at the same time, one gets a conflict', async () => {
  const first = await signIn(service);
  const second = await signIn(service, { workspaceId: first.workspaceId, role: 'owner' });
  const workspace = { text: 'select from workspaces where id = $1 for update', values: [first.workspaceId] };
  const ended = await whileHeld(database, workspace, 2, () =>
    Promise.all([first, second].map((person) => person.call('DELETE', '/person', again))),
  );
  assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 409]);
});

test('the queue of a closed workspace pauses, running jobs lose their lease, and it continues from the same point', async () => {
  const { workspaceId } = await service.makeTenant();
  const token = newId();
  const plantJob = async (id: string, runAt: string, leaseToken: string | null) =>
    database.query(
      `insert into jobs (workspace_id, id, kind, lane, payload, run_at, lease_token, created_at)
       values ($1, $2, 'test', 'test', '{}', now() + $3::interval, $4, now())`,
      [workspaceId, id, runAt, leaseToken],
    );
  const [due, later, underWay] = [newId(), newId(), newId()];
  await plantJob(due, '-1 hour', null);
  await plantJob(later, '3 days', null);
  await plantJob(underWay, '20 seconds', token);
  const days = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (
        await database.query<{ id: string; days: number }>(
          `select id, round(extract(epoch from run_at - now()) / 86400)::integer as days from jobs where workspace_id = $1 and kind = 'test'`,
          [workspaceId],
        )
      ).rows.map((row) => [row.id, row.days]),
    );
  await scheduleWorkspaceDeletion(database, workspaceId, undefined);
  assert.deepEqual(await days(), { [due]: 37, [later]: 40, [underWay]: 37 });
  const job = {
    workspaceId,
    id: underWay,
    kind: 'test',
    lane: 'test',
    payload: {},
    failures: 0,
    lostClaims: 0,
  };
  await assert.rejects(completeJob(database, { ...job, leaseToken: token }), LeaseLost);
  await cancelWorkspaceDeletion(database, workspaceId, undefined);
  assert.deepEqual(await days(), { [due]: 0, [later]: 3, [underWay]: 0 });
});

test('of two parallel restores of a workspace one succeeds, and deleted forms stay deleted', async () => {
  const { workspaceId, ...owner } = await signIn(service);
  const [living, deleted] = [
    (await owner.api<{ id: string }>('POST', '/forms', form)).body.id,
    (await owner.api<{ id: string }>('POST', '/forms', form)).body.id,
  ];
  assert.equal((await owner.api('DELETE', `/forms/${deleted}`)).status, 204);
  await scheduleWorkspaceDeletion(database, workspaceId, undefined);
  const workspace = { text: 'select from workspaces where id = $1 for update', values: [workspaceId] };
  const back = await whileHeld(database, workspace, 2, () =>
    Promise.allSettled([1, 2].map(() => cancelWorkspaceDeletion(database, workspaceId, undefined))),
  );
  assert.deepEqual(back.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const { rows } = await database.query('select form_id from form_lookup where workspace_id = $1', [
    workspaceId,
  ]);
  assert.deepEqual(rows, [{ form_id: living }]);
});

test('deleting a workspace waits for a form deletion in progress, but not the other way round', async () => {
  const { workspaceId, ...owner } = await signIn(service);
  await owner.api('POST', '/forms', form);
  await enqueueJob(database, {
    workspace_id: workspaceId,
    id: newId(),
    kind: 'test',
    lane: 'test',
    payload: {},
    delay: 3_600,
  });
  const of = { values: [workspaceId] };
  await whileHeld(
    database,
    { text: 'select from form_lookup where workspace_id = $1 for update', ...of },
    1,
    () => scheduleWorkspaceDeletion(database, workspaceId, undefined),
    // The last step of a form deletion is its job.
    (client) => client.query({ text: 'select from jobs where workspace_id = $1 for update nowait', ...of }),
  );
});

test('a workspace whose owner was deleted too can be restored only after its owner', async () => {
  const owner = await signIn(service);
  await signIn(service, { workspaceId: owner.workspaceId, role: 'admin' });
  await owner.call('DELETE', `/workspaces/${owner.workspaceId}`, again);
  assert.equal((await owner.call('DELETE', '/person', again)).status, 200);
  assert.equal(await run('workspace', 'restore', owner.workspaceId), 1);
  assert.equal(await run('user', 'restore', '--email', owner.email), 0);
  assert.equal(await run('workspace', 'restore', owner.workspaceId), 0);
});

test('the files of a deleted workspace are also removed from an object store', async () => {
  const { workspaceId } = await service.makeTenant();
  const { directory, settings } = await openS3Server();
  const storage = s3Storage(settings, join(directory, 'spool'), 0);
  const owner = await signIn(service, { workspaceId });
  const { body } = await owner.api<{ id: string }>('POST', '/forms', form);
  const id = newId();
  await database.query(
    `insert into files (workspace_id, id, form_id, element, filename, created_at, content_type, size)
     values ($1, $2, $3, 'a', 'a.txt', now(), 'text/plain', 5)`,
    [workspaceId, id, body.id],
  );
  const key = storageKey(workspaceId, id);
  await storage.put(key, Readable.from([Buffer.from('bytes')]), 100);
  await endNow('workspaces', workspaceId);
  await deleteClosedWorkspaces({ ...services, storage });
  assert.equal(await storage.open(key), undefined);
  assert.equal(await countOf('files', workspaceId), 0);
});

test('a workspace that cannot be deleted does not block others, and is retried', async () => {
  const [stays, goes] = [(await service.makeTenant()).workspaceId, (await service.makeTenant()).workspaceId];
  for (const id of [stays, goes]) await endNow('workspaces', id);
  const isThere = async (id: string) =>
    (await database.query('select from workspaces where id = $1', [id])).rowCount === 1;
  await database.query(
    `create function keep_workspace() returns trigger language plpgsql as 'begin raise exception ''stays''; end'`,
  );
  await database.query(
    `create trigger stays before delete on workspaces for each row
       when (old.id = '${stays}') execute function keep_workspace()`,
  );
  await assert.rejects(deleteClosedWorkspaces(services), (error: unknown) => error instanceof AggregateError);
  assert.deepEqual([await isThere(stays), await isThere(goes)], [true, false]);
  await database.query('drop function keep_workspace cascade');
  await deleteClosedWorkspaces(services);
  assert.equal(await isThere(stays), false);
});

const run = async (...words: string[]) =>
  runCommandLine([...words, '--json'], {
    environment: service.environment,
    print() {},
    complain() {},
  });

test('the operator can delete and restore from the command line', async () => {
  const person = await signIn(service);
  const [member, other, third] = [
    await signIn(service, { workspaceId: person.workspaceId, role: 'editor' }),
    await signIn(service, { workspaceId: person.workspaceId, role: 'editor' }),
    await signIn(service, { workspaceId: person.workspaceId, role: 'editor' }),
  ];
  assert.equal(await run('workspace', 'delete', person.workspaceId), 0);
  assert.equal((await person.api('GET', '/forms')).status, 403);
  assert.equal(await run('workspace', 'restore', person.workspaceId), 0);
  assert.equal((await person.api('GET', '/forms')).status, 200);
  for (const { userId } of [member, third])
    await database.query(
      `insert into password_resets (hash, user_id, created_at, expires_at) values (decode(md5($1), 'hex'), $1, now(), now())`,
      [userId],
    );
  assert.equal(await run('user', 'delete', '--email', member.email), 0);
  assert.equal(await run('user', 'delete', '--email', other.email), 0);
  const resets = await database.query('select user_id from password_resets where user_id = any ($1)', [
    [member.userId, third.userId],
  ]);
  assert.deepEqual(resets.rows, [{ user_id: third.userId }]);
  assert.equal((await member.call('GET', '/session')).status, 401);
  assert.equal(await run('user', 'delete', '--email', member.email), 1);
  assert.equal(await run('user', 'restore', '--email', member.email), 0);
  assert.equal(await run('user', 'restore', '--email', member.email), 1);
  const { rows } = await database.query('select ends_at is null as is_back from users where id = $1', [
    other.userId,
  ]);
  assert.deepEqual(rows, [{ is_back: false }]);
  await endNow('users', other.userId);
  assert.equal(await run('user', 'restore', '--email', other.email), 1, 'the time to come back is over');
  assert.ok((await enter(member)) !== '');
  assert.equal(await run('user', 'delete', '--email', 'unknown@example.org'), 1);
});
