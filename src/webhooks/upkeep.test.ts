import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt, now } from '#kit/clock.ts';
import { testDatabase } from '#test/database.ts';
import { happen, makeForm, makeWebhook } from '#test/webhooks/make-webhook.ts';
import { pruneDeliveryLog } from './upkeep.ts';

const { database } = await testDatabase();
const daysAgo = (days: number): string => leastIdAt(new Date(now().getTime() - days * 86_400_000));

test('ended deliveries older than the retention are deleted; waiting and newer ones are kept', async () => {
  const place = await makeForm(database);
  const webhookId = await makeWebhook(database, place, { url: 'https://receiver.test/' });
  await makeWebhook(database, place, { url: 'https://other.test/' });
  for (let count = 0; count < 3; count += 1) await happen(database, place);
  const { rows: events } = await database.query('select id from events order by id');
  // Three events have two deliveries each. Both deliveries of the first event are old and ended; one of the
  // second still waits.
  const move = async (event: string, days: number, status: string, onlyWebhook?: string): Promise<void> => {
    const { rows } = await database.query(
      'select id from deliveries where event_id = $1 and ($2::uuid is null or webhook_id = $2)',
      [event, onlyWebhook ?? null],
    );
    for (const [index, { id }] of rows.entries()) {
      const older = `${daysAgo(days).slice(0, -4)}${String(index).padStart(4, '0')}`.replace(
        /.{12}$/,
        id.slice(-12),
      );
      await database.query('update deliveries set id = $2, status = $3 where id = $1', [id, older, status]);
    }
  };
  await move(events[0].id, 40, 'Success');
  await move(events[1].id, 40, 'Failed', webhookId);
  const aged = [daysAgo(41), daysAgo(40)];
  for (const [index, id] of aged.entries()) {
    const former = events[index].id;
    await database.query(
      `insert into events select (jsonb_populate_record(events, jsonb_build_object('id', $2::uuid))).* from events where id = $1`,
      [former, id],
    );
    await database.query('update deliveries set event_id = $2 where event_id = $1', [former, id]);
    await database.query('delete from events where id = $1', [former]);
  }
  assert.deepEqual(await pruneDeliveryLog({ database }, { retentionDays: 30 }), {
    deliveries: 3,
    events: 1,
  });
  const left = await database.query('select id from events order by id');
  assert.deepEqual(
    left.rows.map(({ id }) => id),
    [aged[1], events[2].id],
  );
  assert.deepEqual(await pruneDeliveryLog({ database }, { retentionDays: 30 }), {
    deliveries: 0,
    events: 0,
  });
});
