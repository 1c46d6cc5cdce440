import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '#kit/config.ts';
import { openMailServer, type TakenMail } from '#test/mail-server.ts';
import { openReceiver } from '#test/receiver.ts';
import { closedPort, openService, until } from '#test/service.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { addMember } from '#workspaces/members.ts';
import { reportNewIncidents } from './watch.ts';

const server = await openMailServer();
const service = await openService(
  {
    SMTP_URL: server.url,
    MAIL_FROM: 'forms@formloom.test',
    MAIL_PER_MINUTE: '60000',
    WEBHOOK_RETRY_DELAYS: '0.01',
    // Emails may be retried while the server is away.
    MAIL_RETRY_DELAYS: '0.1,0.1,0.2,0.5,1,2,5',
  },
  // On a busy machine the service's own checks would interfere with those of the tests.
  { isWatched: false },
);
const { services } = service;
const { database } = services;
const tenant = await service.makeTenant();
const owner = await createUser(database, {
  email: 'owner@example.test',
  name: 'Olga',
  password: 'a long secret password',
});
await addMember(database, { workspaceId: tenant.workspaceId, userId: owner.id, role: 'owner' });
const stranger = await createUser(database, {
  email: 'owner@elsewhere.test',
  name: 'Otto',
  password: 'a long password of somebody else',
});
const elsewhere = await service.makeTenant();
await addMember(database, { workspaceId: elsewhere.workspaceId, userId: stranger.id, role: 'owner' });

/** Runs the checks like three concurrent processes, and returns new warning lines. */
async function look(
  environment: Record<string, string> = {},
  { mailProblem, calm }: { mailProblem?: string; calm?: number } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) });
  const config = readConfig({
    ...service.environment,
    // Ignores the free disk space of this machine.
    UPLOAD_FREE_MB: '16',
    OPERATOR_EMAIL: 'operator@example.test',
    ...environment,
  });
  const context: Parameters<typeof reportNewIncidents>[0] = {
    ...services,
    config,
    log,
    mailProblem: () => mailProblem,
  };
  // With `calm`, one process would end an incident that another has just found.
  await Promise.all((calm === undefined ? [1, 2, 3] : [1]).map(() => reportNewIncidents(context, calm)));
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

const taken = (address: string): TakenMail[] =>
  server.taken.filter(({ to, mail }) => to.includes(address) && !mail.subject!.includes('API key'));
const receivedMails = (address: string, count: number): Promise<TakenMail[]> =>
  until(`${count} mails to ${address}`, async () => taken(address).length === count && taken(address));
const over = 'an incident has ended';

test('a healthy instance reports nothing', async () => {
  assert.deepEqual(await look(), []);
});

test('the first permanent delivery failure, and a pause, are emailed once each to the owners of the workspace only', async () => {
  const receiver = await openReceiver();
  receiver.replyWith(500);
  const leaf = { type: 'text', attrs: { id: 'a', label: 'A' }, children: [] };
  const structure = {
    type: 'form',
    attrs: { name: 'Orders' },
    children: [{ type: 'step', attrs: {}, children: [leaf] }],
  };
  const { body: form } = await tenant.call('POST', '/forms', { structure, publish: true });
  await tenant.call('POST', '/forms', { structure });
  const { rows } = await database.query<{ id: string }>(
    `insert into webhooks (workspace_id, id, form_id, url, events, created_at, updated_at)
     values ($1, gen_random_uuid(), $2, $3, '{submission.created}', now(), now()) returning id`,
    [tenant.workspaceId, form.id, receiver.url],
  );
  // Fills the limit of one check with webhooks that were abandoned long ago.
  await database.query(
    `with abandoned as (
       insert into webhooks (workspace_id, id, form_id, url, events, active, paused_at, paused_by, created_at, updated_at)
       select workspace_id, gen_random_uuid(), form_id, url, '{submission.deleted}', false, now() - interval '1 year', 'failure', now(), now()
         from webhooks, generate_series(1, 1000) returning id)
     insert into incidents (key, began_at, seen_at, is_told)
     select 'webhook ' || id || ' paused', now(), now(), true from abandoned`,
  );
  const submit = () =>
    fetch(`${service.url}/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ answers: { a: 'b' } }),
    });
  assert.equal((await submit()).status, 201);
  const failed = async (count: number) =>
    until('the delivery to fail for good', async () => {
      const found = await database.query("select from deliveries where status = 'Failed'");
      return found.rowCount === count;
    });
  await failed(1);
  assert.deepEqual(await look(), ['A webhook for “Orders” is failing: a delivery has no retries left']);
  const [{ mail }] = (await receivedMails('owner@example.test', 1)) as [TakenMail];
  assert.match(mail.text!, /Fix the endpoint/);
  assert.match(mail.text!, new RegExp(`/app/forms/${form.id}/webhooks/${rows[0]!.id}`));
  assert.ok(!mail.text!.includes('/hook'), 'its path may be a secret');
  await database.query("delete from webhooks where paused_at < now() - interval '1 month'");
  // Another webhook that starts to fail still has retries left.
  await database.query(
    `insert into webhooks (workspace_id, id, form_id, url, events, failing_since, created_at, updated_at)
     select workspace_id, gen_random_uuid(), form_id, url, '{submission.deleted}', failing_since, now(), now() from webhooks`,
  );
  assert.equal((await submit()).status, 201);
  await failed(2);
  assert.deepEqual(await look(), []);
  const pause = "update webhooks set active = false, paused_at = now(), paused_by = 'failure' where id = $1";
  await database.query(pause, [rows[0]!.id]);
  assert.deepEqual(await look(), ['A webhook for “Orders” was paused after failing for days']);
  await receivedMails('owner@example.test', 2);
  assert.deepEqual(taken('operator@example.test'), []);
  assert.deepEqual(taken('owner@elsewhere.test'), []);

  await database.query(
    'update webhooks set active = true, paused_at = null, paused_by = null, failing_since = now()',
  );
  assert.equal((await look({}, { calm: 0 })).length, 1_002);
  assert.deepEqual(await look(), [], 'what failed before it was well again is past');
  await database.query(pause, [rows[0]!.id]);
  assert.equal((await look()).length, 1);
  await database.query('update forms set deleted_at = now()');
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
  assert.deepEqual(await look(), [], 'a form in the trash misses nothing');
});

test('a nearly full disk is reported to the operator; a recurring one is a single incident, reported again only after it has ended', async () => {
  const full = { UPLOAD_FREE_MB: '999999999' };
  const [line] = await look(full);
  assert.match(line!, /^The disk of .* is nearly full$/);
  await receivedMails('operator@example.test', 1);
  assert.deepEqual(await look(), []);
  assert.deepEqual(await look(full), []);
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
  assert.equal((await look(full)).length, 1);
  await receivedMails('operator@example.test', 2);
  await look({}, { calm: 0 });
});

test('a check that cannot run is an error, and does not stop the report of other incidents', async () => {
  await database.query('alter table backups rename to gone');
  await assert.rejects(look({ BACKUP_SCHEDULE: '0 3 * * *', UPLOAD_FREE_MB: '1000000000' }), /"backups"/);
  await database.query('alter table gone rename to backups');
  const { rows } = await database.query("select is_told from incidents where key like 'disk %'");
  assert.deepEqual(rows, [{ is_told: true }]);
  await look({}, { calm: 0 });
});

test('the disks of the linked database folder and of backups are checked, even before their folders exist', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-watch-'));
  after(() => rm(dataDir, { recursive: true }));
  // No disk is fuller than /proc.
  await symlink('/proc', join(dataDir, 'postgres'));
  const line = ['The disk of /proc is nearly full'];
  // The URL through which one of several processes finds the embedded database.
  const bySocket = 'postgres://formloom@localhost:5432/formloom?host=%2Fproc';
  const quiet = { DATA_DIR: dataDir, OPERATOR_EMAIL: '' };
  assert.deepEqual(await look({ ...quiet, DATABASE_URL: 'postgres://db/formloom' }), []);
  for (const DATABASE_URL of ['', bySocket]) {
    assert.deepEqual(await look({ ...quiet, DATABASE_URL }), line);
    assert.deepEqual(await look({}, { calm: 0 }), [over]);
  }
  const backups = { BACKUP_SCHEDULE: '0 3 * * *', BACKUP_TO: '/proc/nowhere' };
  assert.deepEqual(await look({ ...backups, OPERATOR_EMAIL: '' }), line);
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
});

test('without SMTP_URL an incident is a log line, and no email waits for a mail server', async () => {
  const count = async () => (await database.query("select from mails where kind = 'incident'")).rowCount;
  const before = await count();
  assert.equal((await look({ UPLOAD_FREE_MB: '999999999', SMTP_URL: '', MAIL_FROM: '' })).length, 1);
  assert.equal(await count(), before);
  await look({}, { calm: 0 });
});

test('a mail server that rejects emails is logged once, and emailed when it accepts emails again', async () => {
  const before = taken('operator@example.test').length;
  await server.goAway();
  assert.deepEqual(await look({}, { mailProblem: 'The mail server cannot be reached' }), [
    'The mail server does not accept emails',
  ]);
  await until('the mail to be tried in vain', async () => {
    const tried = "select from mails where kind = 'incident' and attempts > 0 and state <> 'sent'";
    return (await database.query(tried)).rowCount === 1;
  });
  await server.comeBack();
  await receivedMails('operator@example.test', before + 1);
  await look({}, { calm: 0 });
});

test('an unreachable Valkey is reported to the operator once', async () => {
  const before = taken('operator@example.test').length;
  const away = { VALKEY_URL: `redis://127.0.0.1:${closedPort}` };
  assert.deepEqual(await look(away), ['Valkey does not respond']);
  assert.deepEqual(await look(away), []);
  await receivedMails('operator@example.test', before + 1);
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
});

test('a failed backup, and one older than three scheduled times, are reported to the operator', async () => {
  const schedule = { BACKUP_SCHEDULE: '0 3 * * *' };
  assert.deepEqual(await look(schedule), [], 'a new instance has none yet');
  const addBackup = (days: number, problem: string | null) =>
    database.query(
      `insert into backups (due_at, name, begun_at, finished_at, bytes, problem)
       values (now() - make_interval(days => $1), 'a', now(), now() - make_interval(days => $1), 1, $2)`,
      [days, problem],
    );
  await addBackup(1, null);
  assert.deepEqual(await look(schedule), []);
  await addBackup(0, '2 files are missing or incomplete in storage');
  assert.deepEqual(await look(schedule), ['A backup is missing files']);
  const failed = ['A backup failed'];
  await database.query(
    "update backups set bytes = null, problem = 'the disk is full' where problem is not null",
  );
  assert.deepEqual(
    await look(schedule),
    failed,
    'which is another incident, and is emailed although files are still missing',
  );
  await database.query(
    `insert into backups (due_at, name, begun_at) values (now() + interval '1 minute', 'b', now())`,
  );
  assert.deepEqual(await look({}, { calm: 0 }), [over, over]);
  assert.deepEqual(await look(schedule), failed, 'one that is being made has not succeeded yet');
  await database.query('delete from backups');
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
  await addBackup(4, null);
  assert.deepEqual(await look(schedule), ['The last backup is old']);
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
  await addBackup(1, 'the disk is full');
  await database.query("update backups set due_at = now() - interval '5 days' where problem is not null");
  assert.deepEqual(await look(schedule), ['The last backup is old'], 'one that failed is no backup');
  assert.deepEqual(await look({}, { calm: 0 }), [over]);
  await database.query('update backups set finished_at = null, problem = null, bytes = null');
  assert.deepEqual(
    await look(schedule),
    ['The last backup is old'],
    'nor are those that were all broken off',
  );
});
