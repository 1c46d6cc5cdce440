import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { readConfig } from '#kit/config.ts';
import { openLog } from '#kit/log.ts';
import { enqueueMails } from '#kit/outbox.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { openVault } from '#kit/vault.ts';
import { failParkedMail } from '#mail/sending/send-mail.ts';
import { command } from '#test/command-line.ts';
import { testDatabase } from '#test/database.ts';
import { freePort, until } from '#test/service.ts';
import { happen, makeForm, makeWebhook } from '#test/webhooks/make-webhook.ts';
import { failParkedDelivery } from '#webhooks/sending/deliver.ts';
import { findIncidents } from '../checks/watch.ts';

const { database, url } = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'formloom-jobs-'));
after(() => rm(dataDir, { recursive: true }));
const environment = {
  DATABASE_URL: url,
  DATA_DIR: dataDir,
  UPLOAD_FREE_MB: '16',
  PORT: String(await freePort()),
};
const formloom = (...args: string[]) => command(environment, ...args);

const place = await makeForm(database);
await makeWebhook(database, place, { url: 'https://receiver.test/' });
await happen(database, place);
await enqueueMails(database, openVault('00'.repeat(32)), place, [
  {
    id: newId(),
    kind: 'incident',
    to: { address: 'ada@example.test' },
    subject: 'Hello',
    letter: { heading: 'Hello', blocks: [], reason: 'A test.' },
  },
]);
await database.query(
  `insert into jobs (workspace_id, id, kind, lane, payload, run_at, created_at)
   values ($1, $2, 'form.remove', 'form.remove', $3, now(), now())`,
  [place.workspaceId, newId(), { form_id: newId() }],
);

/** Parks all jobs, as if three processes had died working on each. */
async function parkAll(): Promise<void> {
  await database.query('update jobs set run_at = now(), lease_token = gen_random_uuid(), lost_claims = 2');
  const never = { perLane: 1, run: () => Promise.reject(new Error('A parked job runs.')) };
  const queue = startQueue({
    database,
    log: openLog('silent'),
    handlers: {
      'form.remove': never,
      'webhook.deliver': { ...never, onParked: failParkedDelivery },
      send_mail: { ...never, onParked: failParkedMail },
    },
  });
  await until('all jobs to be parked', async () => {
    const { rowCount } = await database.query('select from jobs where parked_at is null');
    return rowCount === 0;
  });
  await queue.stop();
}

const statesOf = async () => {
  const read = `select (select status from deliveries) as delivery, (select state from mails) as mail,
                       (select error from mails) as error, (select reason from attempts) as reason`;
  return (await database.query<Record<'delivery' | 'mail' | 'error' | 'reason', string>>(read)).rows[0]!;
};

test('doctor, incidents and `job list` show parked jobs, and `job retry` restarts each with its delivery or email', async () => {
  await parkAll();
  const { delivery, mail, error, reason } = await statesOf();
  assert.deepEqual([delivery, mail], ['Failed', 'failed']);
  assert.match(reason, /three times/);
  assert.equal(error, reason);

  const { answer } = await formloom('doctor');
  const { data } = answer as { data: { check: string; state: string; finding: string; remedy: string }[] };
  const found = data.find(({ check }) => check === 'parked jobs')!;
  assert.equal(found.state, 'problem');
  assert.match(found.finding, /3 background jobs were parked/);
  assert.match(found.remedy, /job retry/);
  const context = { config: readConfig(environment), database };
  const incidents = (await findIncidents(context)).flatMap((each) =>
    each.status === 'fulfilled' ? each.value.map(({ key }) => key) : [],
  );
  assert.ok(incidents.includes('parked jobs'));

  const listed = (await formloom('job', 'list')).answer as { data: { id: string; kind: string }[] };
  assert.deepEqual(listed.data.map(({ kind }) => kind).toSorted(), [
    'form.remove',
    'send_mail',
    'webhook.deliver',
  ]);
  for (const { id } of listed.data) assert.equal((await formloom('job', 'retry', id)).code, 0);
  const { rows } = await database.query('select from jobs where run_at <= now() and parked_at is null');
  assert.equal(rows.length, 3);
  const again = await statesOf();
  assert.deepEqual([again.delivery, again.mail], ['Retrying', 'queued']);
});

test('a parked job whose delivery was deleted can be retried, and ends', async () => {
  await parkAll();
  await database.query('delete from deliveries');
  const { rows } = await database.query<{ id: string }>("select id from jobs where kind = 'webhook.deliver'");
  assert.equal((await formloom('job', 'retry', rows[0]!.id)).code, 0);
  const due = await database.query('select from jobs where id = $1 and parked_at is null', [rows[0]!.id]);
  assert.equal(due.rowCount, 1);
});

test('`job retry` rejects an ID that is not a parked job, and names the command that lists them', async () => {
  const { code, complaint } = await formloom('job', 'retry', newId());
  assert.notEqual(code, 0);
  assert.match(complaint, /Run `job list` to see all parked jobs/);
});
