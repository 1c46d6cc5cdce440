import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { newId } from '#kit/clock.ts';
import { signIn } from '#test/console.ts';
import { callApi, openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { auditDays, pruneAudit } from './audit-log.ts';

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
};
const read = async (query = '', person = owner): Promise<Line[]> =>
  (await person.api<{ data: Line[] }>('GET', `/audit${query}`)).body.data;
/** How operations ended is written behind. */
const settled = (person = owner): Promise<Line[]> =>
  until('all lines to be settled', async () => {
    const lines = await read('?per_page=100', person);
    return lines.every(({ status }) => status !== null) && lines;
  });

test('who changed what is noted, with the request, and nothing of what was said in it', async () => {
  const made = await owner.api<{ id: string }>('POST', '/forms', form);
  const permissions = ['forms:write', 'webhooks:write'];
  const key = await owner.api<{ id: string; key: string }>('POST', '/keys', { name: 'Deploy', permissions });
  const webhook = await callApi(service.url, key.body.key, 'POST', `/forms/${made.body.id}/webhooks`, {
    url: 'https://93.184.215.14/hooks?token=hidden-token',
    events: ['submission.created'],
    secret: 'hidden-secret-of-16',
  });
  assert.equal(webhook.status, 201);
  const lines = await settled();
  assert.deepEqual(
    lines.map(({ id, at, ...line }) => ({
      ...line,
      isTimed: id !== '' && Math.abs(Date.parse(at) - Date.now()) < 60_000,
    })),
    [
      {
        actor: { kind: 'key', id: key.body.id, name: 'Deploy' },
        operation: 'createWebhook',
        method: 'POST',
        path: `/forms/${made.body.id}/webhooks`,
        thing_id: made.body.id,
        request_id: webhook.headers.get('x-request-id'),
        status: 201,
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
        isTimed: true,
      },
      {
        actor: { kind: 'person', id: owner.userId, name: 'Ada' },
        operation: 'createForm',
        method: 'POST',
        path: '/forms',
        thing_id: made.body.id,
        request_id: made.headers.get('x-request-id'),
        status: 201,
        isTimed: true,
      },
    ],
  );
  const { rows } = await database.query<{ row: string }>('select a::text as row from audit_lines a');
  assert.doesNotMatch(JSON.stringify(rows), /hidden|fl_/);
  const operations = async (query: string) => (await read(query)).map(({ operation }) => operation);
  assert.deepEqual(await operations(`?thing_id=${made.body.id}`), ['createWebhook', 'createForm']);
  assert.deepEqual(await operations(`?actor_id=${key.body.id}`), ['createWebhook']);
  assert.deepEqual(await operations('?operation=createKey'), ['createKey']);
  assert.deepEqual(await operations(`?from=${lines[1]!.at}&to=${lines[0]!.at}`), ['createKey']);
});

test('a form and its line are made by one statement: it says at once how that ended, and a refused form has none', async () => {
  const person = await signIn(service, { name: 'Grace' });
  const refused = await person.api('POST', '/forms', { structure: { type: 'form' } });
  assert.equal(refused.status, 422);
  const made = await person.api<{ id: string }>('POST', '/forms', form);
  const lines = await read('', person);
  assert.deepEqual(
    lines.map(({ operation, thing_id, status }) => ({ operation, thing_id, status })),
    [{ operation: 'createForm', thing_id: made.body.id, status: 201 }],
  );
});

test('what is only read, what is refused, and what visitors send is not noted', async () => {
  const person = await signIn(service);
  const made = await person.api<{ id: string }>('POST', '/forms', form);
  await openVisitor(service).submit(made.body.id, { a: 'word' });
  await person.api('GET', `/forms/${made.body.id}/submissions`);
  assert.equal((await person.api('POST', '/forms', { structure: {} })).status, 422);
  assert.equal((await person.api('DELETE', `/forms/${newId()}`)).status, 404);
  assert.equal((await person.api('DELETE', `/forms/${made.body.id}`)).status, 204);
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

test('an export is noted by whoever took it, and not where only its head was asked for', async () => {
  const person = await signIn(service);
  const permissions = ['submissions:read'];
  const { body: made } = await person.api<{ id: string }>('POST', '/forms', form);
  const { body: own } = await person.api<{ key: string }>('POST', '/keys', { name: 'Export', permissions });
  for (const method of ['HEAD', 'GET']) {
    const path = `/forms/${made.id}/submissions/export`;
    assert.equal((await callApi(service.url, own.key, method, path)).status, 200);
  }
  const lines = await settled(person);
  assert.deepEqual(
    lines.map(({ operation }) => operation),
    ['exportFormSubmissions', 'createKey', 'createForm'],
  );
});

test('nothing is done that cannot be noted', async () => {
  const person = await signIn(service);
  await database.query(`
    create function refuse_line() returns trigger language plpgsql as
      $$begin raise exception 'no line is noted'; end$$;
    create trigger refuse_line before insert on audit_lines for each row
      when (new.workspace_id = '${person.workspaceId}') execute function refuse_line()`);
  assert.equal((await person.api('POST', '/forms', form)).status, 500);
  const { rows } = await database.query('select from forms where workspace_id = $1', [person.workspaceId]);
  assert.equal(rows.length, 0);
  // Neighbours that were written at the same moment are.
  const [theirs, ours] = await Promise.all([
    person.api('POST', '/keys', { name: 'K' }),
    owner.api('POST', '/keys', { name: 'K' }),
  ]);
  assert.deepEqual([theirs.status, ours.status], [500, 201]);
});

test('a request that is sent again under its Idempotency-Key is noted once', async () => {
  const person = await signIn(service);
  for (const _ of [1, 2]) await person.api('POST', '/forms', form, { 'Idempotency-Key': 'once' });
  assert.equal((await settled(person)).length, 1);
});

test('admins alone read it, of their workspace; lines go after a year', async () => {
  const editor = await signIn(service, { workspaceId, role: 'editor' });
  assert.equal((await editor.api('GET', '/audit')).status, 403);
  const other = await signIn(service);
  assert.deepEqual(await read('', other), []);
  assert.equal((await callApi(service.url, (await makeKey()).key, 'GET', '/audit')).status, 403);
  const before = await settled();
  const old = before.at(-1)!.id;
  const ageMs = (auditDays + 1) * 86_400_000;
  const aged = (Date.now() - ageMs).toString(16).padStart(12, '0');
  await database.query('update audit_lines set id = $2 where id = $1', [
    old,
    `${aged.slice(0, 8)}-${aged.slice(8)}${old.slice(13)}`,
  ]);
  assert.equal((await read('?per_page=100')).length, before.length);
  await pruneAudit(database);
  assert.deepEqual(
    (await read('?per_page=100')).map(({ id }) => id),
    before.slice(0, -1).map(({ id }) => id),
  );
});

const makeKey = async () => (await owner.api<{ key: string }>('POST', '/keys', { name: 'Data' })).body;

test('a dry run is not noted, and what only speaks of one is', async () => {
  const ada = await signIn(service);
  const { body: made } = await ada.api<{ id: string }>('POST', '/forms', form);
  await ada.api('PATCH', `/forms/${made.id}?dry_run=true`, { status: 'archived' });
  await ada.api('PATCH', `/forms/${made.id}?dry_run=false`, { status: 'archived' });
  const lines = await settled(ada);
  assert.deepEqual(
    lines.map(({ operation }) => operation),
    ['changeForm', 'createForm'],
  );
});
