import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { testDatabase } from '#test/database.ts';
import { happen, makeForm, makeWebhook, type Place } from '#test/webhooks/make-webhook.ts';
import { snapshotOf } from './event.ts';
import { recordEvents, type SubmissionEvent } from './record-event.ts';

const { database } = await testDatabase();
const url = 'https://receiver.test/';

const countRows = async (table: string, { workspaceId }: Place): Promise<number> =>
  (await database.query(`select count(*) from ${table} where workspace_id = $1`, [workspaceId])).rows[0]
    .count;
const counts = async (place: Place): Promise<number[]> =>
  Promise.all(['events', 'deliveries', 'jobs'].map((table) => countRows(table, place)));

test('nothing is recorded without webhooks', async () => {
  const place = await makeForm(database);
  assert.equal(await happen(database, place), 0);
  assert.deepEqual(await counts(place), [0, 0, 0]);
});

test('an event creates a delivery and a job for each active webhook that subscribes to its kind', async () => {
  const place = await makeForm(database);
  const all = await makeWebhook(database, place, { url });
  const created = await makeWebhook(database, place, { url, events: ['submission.created'] });
  await makeWebhook(database, place, { url, events: ['submission.deleted'] });
  const paused = await makeWebhook(database, place, { url });
  await database.query('update webhooks set active = false where id = $1', [paused]);
  const other = await makeForm(database);
  await makeWebhook(database, other, { url });

  assert.equal(await happen(database, place), 2);
  assert.deepEqual(await counts(place), [1, 2, 2]);
  assert.deepEqual(await counts(other), [0, 0, 0]);
  const { rows } = await database.query(
    `select deliveries.webhook_id, deliveries.status, deliveries.kind, deliveries.attempts, jobs.lane, jobs.payload,
            jobs.run_at = deliveries.next_attempt_at as is_due_then
       from deliveries join jobs on jobs.workspace_id = deliveries.workspace_id and jobs.id = deliveries.id
      where deliveries.workspace_id = $1`,
    [place.workspaceId],
  );
  assert.deepEqual(
    rows.sort((a, b) => a.webhook_id.localeCompare(b.webhook_id)),
    [all, created].sort().map((id) => ({
      webhook_id: id,
      status: 'Retrying',
      kind: 'submission.created',
      attempts: 0,
      lane: `webhook:${id}`,
      payload: { trigger: 'schedule' },
      is_due_then: true,
    })),
  );
});

test('an event without a subscriber is not recorded', async () => {
  const place = await makeForm(database);
  await makeWebhook(database, place, { url, events: ['submission.created'] });
  assert.equal(await happen(database, place, { kind: 'submission.updated' }), 0);
  assert.deepEqual(await counts(place), [0, 0, 0]);
});

test('an event that a filter excludes is recorded for the feed, but not for a webhook paused by failures', async () => {
  const place = await makeForm(database);
  const filter = { element: 'name', is: 'equals', value: 'Grace' } as const;
  const failed = await makeWebhook(database, place, { url, filter });
  await database.query("update webhooks set active = false, paused_by = 'failure' where id = $1", [failed]);
  await happen(database, place);
  assert.deepEqual(await counts(place), [0, 0, 0]);
  await database.query('insert into feeds (workspace_id, read_at) values ($1, now())', [place.workspaceId]);
  assert.equal(await happen(database, place), 1);
  assert.deepEqual(await counts(place), [1, 0, 0]);
  assert.equal(await happen(database, place, { answers: { name: 'Grace' } }), 1);
  assert.deepEqual(await counts(place), [2, 1, 0]);
});

test('an event is not recorded if its transaction rolls back', async () => {
  const place = await makeForm(database);
  await makeWebhook(database, place, { url });
  const failing = transaction(database, async (client) => {
    await recordEvents(client, place.workspaceId, place.formId, [eventOf(place)]);
    throw new Error('the change failed');
  });
  await assert.rejects(failing, /the change failed/);
  assert.deepEqual(await counts(place), [0, 0, 0]);
});

test('many events are recorded in two round trips, each with its own snapshot', async () => {
  const place = await makeForm(database);
  await makeWebhook(database, place, { url });
  await makeWebhook(database, place, { url, events: ['submission.deleted'] });
  const events = Array.from({ length: 500 }, (_, index) => eventOf(place, `"${index}", {1} \\ 👋 null`));
  let queries = 0;
  const count = await transaction(database, async (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      queries += 1;
      return query(...args);
    }) as typeof client.query;
    try {
      return await recordEvents(client, place.workspaceId, place.formId, events);
    } finally {
      client.query = query as typeof client.query;
    }
  });
  assert.equal(count, 1_000);
  assert.equal(queries, 2);
  assert.deepEqual(await counts(place), [500, 1_000, 1_000]);
  const { rows } = await database.query(
    'select submission_id, occurred_at, snapshot from events where workspace_id = $1',
    [place.workspaceId],
  );
  const stored = new Map(rows.map((row) => [row.submission_id, row]));
  for (const { submissionId, occurredAt, snapshot } of events) {
    const expected = { submission_id: submissionId, occurred_at: occurredAt, snapshot };
    assert.deepEqual(stored.get(submissionId), expected);
  }
});

test('recording events and deleting a webhook at the same time do not disturb each other', async () => {
  const place = await makeForm(database);
  for (let round = 0; round < 30; round += 1) {
    const webhook = await makeWebhook(database, place, { url });
    const [count] = await Promise.all([
      happen(database, place),
      database.query('delete from webhooks where id = $1', [webhook]),
    ]);
    assert.ok(count === 0 || count === 1);
  }
  assert.equal(await countRows('deliveries', place), 0);
});

function eventOf({ workspaceId, formId }: Place, name = 'Ada'): SubmissionEvent {
  const id = newId();
  return {
    submissionId: id,
    kind: 'submission.deleted',
    occurredAt: new Date(),
    fields: {},
    snapshot: snapshotOf({
      form: { id: formId, name: 'Contact', workspaceId },
      submission: { id, submittedAt: null, status: 'completed', reference: {}, answers: { name } },
      fields: {},
    }),
  };
}
