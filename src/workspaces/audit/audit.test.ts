import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteExpired } from '#app/server/delete-expired.ts';
import { newId } from '#kit/clock.ts';
import { openLog } from '#kit/log.ts';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { callApi, openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { createKey } from '../keys.ts';
import {
  auditEntryOfRequest,
  openAuditLog,
  recordAuditOutcomes,
  toAuditEntryParameters,
} from './audit-log.ts';
import { ipAndAgentOf } from './record-account-event.ts';

const service = await openService();
const { database } = service.services;
const owner = await signIn(service, { name: 'Ada' });
const { workspaceId } = owner;
const form = { structure: structure(element('text', 'a')), publish: true };

type Line = {
  id: string;
  at: string;
  actor: { kind: string; id: string | null; name: string | null };
  operation: string;
  path: string;
  thing_id: string | null;
  request_id: string;
  status: number | null;
  by: string;
  address: string | null;
  agent: string | null;
  session_id: string | null;
  changes: Record<string, { from?: unknown; to?: unknown }> | null;
};
const read = async (query = '', person = owner): Promise<Line[]> =>
  (await person.api<{ data: Line[] }>('GET', `/audit${query}`)).body.data;
/** Waits for the statuses of operations, which are written later. */
const settled = (person = owner): Promise<Line[]> =>
  until('all lines to be settled', async () => {
    const lines = await read('?per_page=100', person);
    return lines.every(({ status }) => status !== null) && lines;
  });

test('the audit log records who changed what, with the request, but no secrets', async () => {
  const created = await owner.api<{ id: string }>('POST', '/forms', form);
  const permissions = ['forms:write', 'webhooks:write'];
  // Another key, whose name no entry shows.
  await createKey(database, { workspaceId, name: 'Neighbour' });
  const key = await owner.api<{ id: string; key: string }>('POST', '/keys', { name: 'Deploy', permissions });
  const webhook = await callApi(service.url, key.body.key, 'POST', `/forms/${created.body.id}/webhooks`, {
    url: 'https://93.184.215.14/hooks?token=hidden-token',
    events: ['submission.created'],
    secret: 'hidden-secret-of-16',
  });
  assert.equal(webhook.status, 201);
  const lines = await settled();
  assert.deepEqual(
    lines.map(({ id, at, address, agent, session_id, changes, ...line }) => ({
      ...line,
      isFrom: address === '127.0.0.1' && agent !== null && (session_id !== null) === (line.by === 'session'),
      changed: changes && Object.keys(changes).sort(),
      isTimed: id !== '' && Math.abs(Date.parse(at) - Date.now()) < 60_000,
    })),
    [
      {
        actor: { kind: 'key', id: key.body.id, name: 'Deploy' },
        operation: 'createWebhook',
        method: 'POST',
        path: `/forms/${created.body.id}/webhooks`,
        thing_id: created.body.id,
        request_id: webhook.headers.get('x-request-id'),
        status: 201,
        by: 'key',
        isFrom: true,
        changed: [
          'active',
          'events',
          'form_id',
          'form_name',
          'format',
          'has_secret',
          'header_names',
          'pauses_on_failure',
          'url',
        ],
        isTimed: true,
      },
      {
        actor: { kind: 'person', id: owner.userId, name: 'Ada' },
        operation: 'createKey',
        method: 'POST',
        path: '/keys',
        thing_id: key.body.id,
        request_id: key.headers.get('x-request-id'),
        status: 201,
        by: 'session',
        isFrom: true,
        changed: ['created_by', 'created_by_role', 'name', 'permissions', 'withheld'],
        isTimed: true,
      },
      {
        actor: { kind: 'person', id: owner.userId, name: 'Ada' },
        operation: 'createForm',
        method: 'POST',
        path: '/forms',
        thing_id: created.body.id,
        request_id: created.headers.get('x-request-id'),
        status: 201,
        by: 'session',
        isFrom: true,
        changed: null,
        isTimed: true,
      },
    ],
  );
  const { rows } = await database.query<{ row: string }>('select a::text as row from audit_lines a');
  assert.doesNotMatch(JSON.stringify(rows), /hidden|fl_/);
  const operations = async (query: string) => (await read(query)).map(({ operation }) => operation);
  assert.deepEqual(await operations(`?thing_id=${created.body.id}`), ['createWebhook', 'createForm']);
  assert.deepEqual(await operations(`?actor_id=${key.body.id}`), ['createWebhook']);
  assert.deepEqual(await operations('?operation=createKey'), ['createKey']);
  assert.deepEqual(await operations(`?from=${lines[1]!.at}&to=${lines[0]!.at}`), ['createKey']);
});

test('one statement creates a form and its completed audit entry, and a refused form has no entry', async () => {
  const person = await signIn(service, { name: 'Grace' });
  const refused = await person.api('POST', '/forms', { structure: { type: 'form' } });
  assert.equal(refused.status, 422);
  const created = await person.api<{ id: string }>('POST', '/forms', form);
  const lines = await read('', person);
  assert.deepEqual(
    lines.map(({ operation, thing_id, status }) => ({ operation, thing_id, status })),
    [{ operation: 'createForm', thing_id: created.body.id, status: 201 }],
  );
});

test('an operator’s entry has no actor ID, and an invalid ID in a response is not recorded', async () => {
  const audit = openAuditLog({ database, log: openLog('silent') });
  const scope = { workspaceId, formIds: null, actor: { kind: 'operator', id: '' }, may: () => true } as const;
  const line = auditEntryOfRequest({ name: 'testMail', method: 'POST', path: '/mail/test' }, scope, {
    params: {},
  });
  assert.equal(toAuditEntryParameters(line).line_actor_id, null);
  const answer = { status: 201, body: { id: 'number 7' } };
  await audit.note({ audit: 'entry' }, line, scope, async () => answer);
  await audit.stop();
  const { rows } = await database.query(
    `select actor_id, thing_id, status from audit_lines where workspace_id = $1 and actor_kind = 'operator'`,
    [workspaceId],
  );
  assert.deepEqual(rows, [{ actor_id: null, thing_id: null, status: 201 }]);
});

test('reads, refused requests and visitors’ requests have no audit entry', async () => {
  const person = await signIn(service);
  const created = await person.api<{ id: string }>('POST', '/forms', form);
  await openVisitor(service).submit(created.body.id, { a: 'word' });
  await person.api('GET', `/forms/${created.body.id}/submissions`);
  assert.equal((await person.api('POST', '/forms', { structure: {} })).status, 422);
  assert.equal((await person.api('DELETE', `/forms/${newId()}`)).status, 404);
  assert.equal((await person.api('DELETE', `/forms/${created.body.id}`)).status, 204);
  const noted = await until('what was refused to be gone', async () => {
    const lines = await settled(person);
    return lines.length === 2 && lines;
  });
  assert.deepEqual(
    noted.map(({ operation, status }) => [operation, status]),
    [
      ['deleteForm', 204],
      ['createForm', 201],
    ],
  );
});

test('an export is recorded with its actor, and a HEAD request for it is not', async () => {
  const person = await signIn(service);
  const permissions = ['submissions:read'];
  const { body: created } = await person.api<{ id: string }>('POST', '/forms', form);
  const { body: own } = await person.api<{ key: string }>('POST', '/keys', { name: 'Export', permissions });
  for (const method of ['HEAD', 'GET']) {
    const path = `/forms/${created.id}/submissions/export`;
    assert.equal((await callApi(service.url, own.key, method, path)).status, 200);
  }
  const lines = await settled(person);
  assert.deepEqual(
    lines.map(({ operation }) => operation),
    ['exportFormSubmissions', 'createKey', 'createForm'],
  );
});

test('an operation fails if its audit entry cannot be written', async () => {
  const person = await signIn(service);
  await database.query(`
    create function refuse_line() returns trigger language plpgsql as
      $$begin raise exception 'no line is noted'; end$$;
    create trigger refuse_line before insert on audit_lines for each row
      when (new.workspace_id = '${person.workspaceId}') execute function refuse_line()`);
  assert.equal((await person.api('POST', '/forms', form)).status, 500);
  const { rows } = await database.query('select from forms where workspace_id = $1', [person.workspaceId]);
  assert.equal(rows.length, 0);
  // Entries of another workspace that are written at the same moment succeed.
  const [theirs, ours] = await Promise.all([
    person.api('POST', '/keys', { name: 'K' }),
    owner.api('POST', '/keys', { name: 'K' }),
  ]);
  assert.deepEqual([theirs.status, ours.status], [500, 201]);
});

test('a request repeated with its Idempotency-Key is recorded once', async () => {
  const person = await signIn(service);
  for (const _ of [1, 2]) await person.api('POST', '/forms', form, { 'Idempotency-Key': 'once' });
  assert.equal((await settled(person)).length, 1);
});

test('only admins read the audit log of their workspace, and entries are deleted after a year or as configured', async () => {
  const editor = await signIn(service, { workspaceId, role: 'editor' });
  assert.equal((await editor.api('GET', '/audit')).status, 403);
  const other = await signIn(service);
  assert.deepEqual(await read('', other), []);
  assert.equal((await callApi(service.url, (await makeKey()).key, 'GET', '/audit')).status, 403);
  const before = await settled();
  const day = 86_400_000;
  const idOfAge = (days: number): string => {
    const digits = (Date.now() - days * day).toString(16).padStart(12, '0');
    return `${digits.slice(0, 8)}-${digits.slice(8)}${newId().slice(13)}`;
  };
  const lineOfAge = async (days: number, workspace = workspaceId) => {
    const id = idOfAge(days);
    await database.query(
      `insert into audit_lines (workspace_id, id, actor_kind, operation, method, path, status)
       values ($1, $2, 'operator', 'createKey', 'POST', '/keys', 201)`,
      [workspace, id],
    );
    return id;
  };
  const kept = await lineOfAge(364);
  await lineOfAge(366);
  const own = [idOfAge(364), idOfAge(366)];
  await database.query(
    `insert into person_lines (user_id, id, actor_kind, operation, status)
     select id, unnest($2::uuid[]), 'person', 'renamePerson', 200 from users where email = $1`,
    [owner.email, own],
  );
  await deleteExpired(database, 'audit_lines');
  await deleteExpired(database, 'person_lines');
  const left = await database.query<{ id: string }>('select id from person_lines where id = any ($1)', [own]);
  assert.deepEqual(
    left.rows.map(({ id }) => id),
    own.slice(0, 1),
  );
  assert.deepEqual(
    (await read('?per_page=100')).map(({ id }) => id),
    [...before.map(({ id }) => id), kept],
  );
  // A workspace sets the retention of its own entries only.
  const theirs = await lineOfAge(40, other.workspaceId);
  await database.query('update workspaces set audit_days = 30 where id = $1', [workspaceId]);
  await deleteExpired(database, 'audit_lines');
  await deleteExpired(database, 'person_lines');
  assert.deepEqual(
    (await read('', other)).map(({ id }) => id),
    [theirs],
  );
  assert.equal((await read('?per_page=100')).length, before.length);
});

test('no statement can change or delete an audit entry', async () => {
  const [line] = await settled();
  const refused = { code: '42501' };
  for (const statement of [
    "update audit_lines set operation = 'nothing' where id = $1",
    'update audit_lines set status = 404 where id = $1',
    'update audit_lines set id = gen_random_uuid() where id = $1',
    'delete from audit_lines where id = $1',
  ])
    await assert.rejects(database.query(statement, [line!.id]), refused, statement);
  await assert.rejects(database.query('truncate audit_lines'), refused);
  const { rows } = await database.query<{ id: string }>(
    `insert into audit_lines (workspace_id, id, actor_kind, operation, method, path)
     values ($1, $2, 'operator', 'createKey', 'POST', '/keys') returning id`,
    [workspaceId, '01900000-0000-7000-8000-000000000000'],
  );
  // An entry without status can still get its status. Nothing else of it can change, and it cannot be
  // deleted.
  for (const statement of [
    "update audit_lines set status = 201, actor_id = 'somebody' where id = $1",
    'update audit_lines set status = 201, address = null, workspace_id = gen_random_uuid() where id = $1',
  ])
    await assert.rejects(database.query(statement, [rows[0]!.id]), refused, statement);
  await database.query('update audit_lines set status = 201 where id = $1', [rows[0]!.id]);
  // Deleting the workspace deletes its entries.
  const gone = await signIn(service);
  await gone.api('POST', '/forms', form);
  await database.query('delete from workspaces where id = $1', [gone.workspaceId]);
});

test('changes of settings are recorded with old and new value, without secrets and URL parameters', async () => {
  const person = await signIn(service, { name: 'Joan' });
  const created = await person.api<{ id: string }>('POST', '/forms', form);
  const webhook = await person.api<{ id: string }>('POST', `/forms/${created.body.id}/webhooks`, {
    url: 'https://93.184.215.14/hooks?token=hidden-2',
    events: ['submission.created'],
  });
  await person.api('PATCH', `/webhooks/${webhook.body.id}`, { active: false });
  await person.api('PATCH', '/workspace', { name: 'Another' }, { 'If-Match': '*' });
  const key = await person.api<{ id: string }>('POST', '/keys', { name: 'K' });
  await person.api('PATCH', `/keys/${key.body.id}`, { name: 'L' });
  await person.api('DELETE', `/keys/${key.body.id}`);
  await person.api('POST', '/members', { email: 'new@example.org', role: 'editor' });
  const lines = await settled(person);
  const changesOf = (operation: string) => lines.find((line) => line.operation === operation)!.changes;
  assert.deepEqual(changesOf('changeWorkspace')!['name'], { from: 'Test', to: 'Another' });
  assert.deepEqual(changesOf('changeKey'), { name: { from: 'K', to: 'L' } });
  assert.ok(changesOf('revokeKey')!['revoked_at']!.to);
  assert.deepEqual(changesOf('changeWebhook')!['active'] ?? changesOf('changeWebhook')!['webhook.active'], {
    from: true,
    to: false,
  });
  assert.deepEqual(changesOf('inviteMember'), { email: { to: 'new@example.org' }, role: { to: 'editor' } });
  assert.doesNotMatch(JSON.stringify(lines), /hidden|fl_/);
  assert.match(JSON.stringify(changesOf('createWebhook')), /93\.184\.215\.14\/hooks/);
});

test('an audit entry is written when a person reads a single submission, but not when an API key does', async () => {
  const person = await signIn(service);
  const created = await person.api<{ id: string }>('POST', '/forms', form);
  await openVisitor(service).submit(created.body.id, { a: 'a secret answer' });
  const { body } = await person.api<{ data: { id: string }[] }>(
    'GET',
    `/forms/${created.body.id}/submissions`,
  );
  const { id } = body.data[0]!;
  const key = await person.api<{ key: string }>('POST', '/keys', { name: 'K' });
  assert.equal((await callApi(service.url, key.body.key, 'GET', `/submissions/${id}`)).status, 200);
  assert.equal((await person.api('GET', `/submissions/${id}`)).status, 200);
  assert.equal((await person.api('GET', `/submissions/${id}/view`)).status, 200);
  const lines = (await settled(person)).filter(({ thing_id }) => thing_id === id);
  assert.deepEqual(
    lines.map(({ operation, by, changes }) => ({ operation, by, changes })),
    [
      { operation: 'viewSubmission', by: 'session', changes: null },
      { operation: 'getSubmission', by: 'session', changes: null },
    ],
  );
  assert.doesNotMatch(JSON.stringify(lines), /secret answer/);
});

test('the audit log can be exported with the filter of the list, and the export is recorded', async () => {
  const person = await signIn(service);
  for (const name of ['A', 'B']) await person.api('POST', '/keys', { name });
  await settled(person);
  const answer = await fetch(`${service.url}/api/v1/audit/export?operation=createKey&by=session`, {
    headers: { cookie: person.cookie, 'x-workspace-id': person.workspaceId, 'sec-fetch-site': 'same-origin' },
  });
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
  const rows = (await answer.text())
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row) as Line);
  const listed = (await settled(person)).filter(({ operation }) => operation === 'createKey');
  assert.deepEqual(rows, listed);
  assert.equal(rows.length, 2);
  assert.deepEqual((await read('?by=command', person)).length, 0);
  assert.equal((await read('?operation=exportAuditLog', person)).length, 1);
});

test('a key that is limited to some forms cannot read the audit log, even with the permission', async () => {
  const created = await owner.api<{ id: string }>('POST', '/forms', form);
  const { key } = await createKey(database, {
    workspaceId,
    name: 'Of one form',
    permissions: ['audit:read'],
    formIds: [created.body.id],
  });
  for (const path of ['/audit', '/audit/export'])
    assert.equal((await callApi(service.url, key, 'GET', path)).status, 403, path);
});

test('at most 1,000 personal audit entries wait to be written, each for its account', async () => {
  const [person, stranger] = [await signIn(service), await signIn(service)];
  const audit = openAuditLog({ database, log: openLog('silent') });
  const by = {
    origin: ipAndAgentOf({ ip: '10.0.0.1', headers: new Headers({ 'User-Agent': '' }) }),
    sessionId: 'known',
  };
  for (let deeds = 0; deeds < 1_005; deeds += 1)
    audit.noteLater({ who: { userId: person.userId }, operation: 'renamePerson', by });
  await audit.stop();
  const { rows } = await database.query(
    `select user_id = $1 as is_theirs, agent, count(*) from person_lines
      where user_id = any ($2) group by 1, 2`,
    [person.userId, [person.userId, stranger.userId]],
  );
  assert.deepEqual(rows, [{ is_theirs: true, agent: null, count: 1_000 }]);
  assert.equal(
    ipAndAgentOf({ ip: '10.0.0.1', headers: new Headers({ 'User-Agent': 'Firefox' }) }).agent,
    'Firefox',
  );

  type Page = { data: { id: string }[]; next_cursor: string; pagination: { total_count: number } };
  const pageOf = async (whose: typeof person, cursor = '*') =>
    (await whose.call<Page>('GET', `/person/activity?per_page=2&cursor=${cursor}`)).body;
  const strangers = await pageOf(stranger);
  assert.deepEqual([strangers.data, strangers.pagination.total_count], [[], 0]);
  const first = await pageOf(person);
  const second = await pageOf(person, first.next_cursor);
  assert.equal(new Set([...first.data, ...second.data].map(({ id }) => id)).size, 4);
  assert.deepEqual(await read('', stranger), []);
});

test('statuses are written only to the given audit entries, and only the refused ones among them are deleted', async () => {
  const other = await signIn(service);
  const [refused, done, beside] = [newId(), newId(), newId()];
  for (const [workspace, id] of [
    [workspaceId, refused],
    [workspaceId, done],
    [workspaceId, beside],
    [other.workspaceId, refused],
    [other.workspaceId, done],
  ])
    await database.query(
      `insert into audit_lines (workspace_id, id, actor_kind, operation, method, path) values ($1, $2, 'operator', 'settled', '', '')`,
      [workspace, id],
    );
  await recordAuditOutcomes(database, {
    workspace_ids: [workspaceId, workspaceId],
    ids: [refused, done],
    statuses: [422, 201],
    thing_ids: ['', ''],
    changes: ['', ''],
  });
  const { rows } = await database.query<{ id: string; is_own: boolean; status: number | null }>(
    `select id, workspace_id = $1 as is_own, status from audit_lines where operation = 'settled' order by 2 desc, 1`,
    [workspaceId],
  );
  assert.deepEqual(rows, [
    { id: done, is_own: true, status: 201 },
    { id: beside, is_own: true, status: null },
    { id: refused, is_own: false, status: null },
    { id: done, is_own: false, status: null },
  ]);
});

const makeKey = async () => (await owner.api<{ key: string }>('POST', '/keys', { name: 'Data' })).body;

test('a dry run has no audit entry, and a request with `dry_run=false` has one', async () => {
  const ada = await signIn(service);
  const { body: created } = await ada.api<{ id: string }>('POST', '/forms', form);
  await ada.api('PATCH', `/forms/${created.id}?dry_run=true`, { status: 'archived' });
  await ada.api('PATCH', `/forms/${created.id}?dry_run=false`, { status: 'archived' });
  const lines = await settled(ada);
  assert.deepEqual(
    lines.map(({ operation }) => operation),
    ['changeForm', 'createForm'],
  );
});
