import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteExpired } from '#app/server/delete-expired.ts';
import { createForm } from '#forms/forms.ts';
import { openLog } from '#kit/log.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { untilOneWaits, whileTableHeld } from '#test/while-held.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { sumVisits } from './analytics.ts';
import { durationBucket, medianDuration, openVisitCounter, type VisitCount } from './visit-counter.ts';

const { database } = await testDatabase();
const log = openLog('silent');
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });
const view: readonly VisitCount[] = [['view', '', 1]];

async function openForm(day = '2999-01-31') {
  const { id: formId } = await createForm(database, workspaceId, {
    structure: structure(element('text', 'name')),
  });
  return {
    place: { workspaceId, formId, day },
    read: async (): Promise<number> => {
      const span = { workspace_id: workspaceId, form_id: formId, from: null, to: null };
      const rows = await sumVisits(database, span);
      return rows.reduce((sum, { day, count }) => sum + (day === null ? count : 0), 0);
    },
  };
}

test('each IP address adds a limited number of visits per minute; a limit of 0 turns this off', async () => {
  const { place, read } = await openForm();
  const counter = openVisitCounter({ database, log }, 3);
  for (let visits = 0; visits < 5; visits += 1) counter.add(place, '192.0.2.1', view);
  counter.add(place, '192.0.2.2', view);
  await counter.stop();
  assert.equal(await read(), 4);
  const unlimited = openVisitCounter({ database, log }, 0);
  for (let visits = 0; visits < 5; visits += 1) unlimited.add(place, '192.0.2.1', view);
  await unlimited.stop();
  assert.equal(await read(), 9);
});

test('a failed write loses no visit, and a deleted form does not block the counts of others', async () => {
  const { place, read } = await openForm();
  const counter = openVisitCounter({ database, log }, 0);
  await whileTableHeld(database, 'visit_counts', async (client) => {
    counter.add(place, '192.0.2.1', view);
    counter.add({ ...place, formId: workspaceId }, '192.0.2.1', view);
    const pid = await untilOneWaits(database, 'visit_counts');
    counter.add(place, '192.0.2.1', view);
    await client.query('select pg_cancel_backend($1)', [pid]);
  });
  await counter.stop();
  assert.equal(await read(), 2);
});

test('counts are deleted after 400 days', async () => {
  const old = await openForm('2020-01-31');
  const recent = await openForm();
  const counter = openVisitCounter({ database, log }, 0);
  for (const { place } of [old, recent]) counter.add(place, '192.0.2.1', view);
  await counter.stop();
  await deleteExpired(database, 'visit_counts');
  assert.deepEqual([await old.read(), await recent.read()], [0, 1]);
});

test('the median time is accurate to 5 %, from a second to a month', () => {
  for (const seconds of [1, 7, 60, 1_000, 86_400, 2_000_000]) {
    const median = medianDuration([
      [durationBucket(0.2), 3],
      [durationBucket(seconds), 5],
      [durationBucket(9e9), 2],
    ])!;
    assert.ok(Math.abs(median - seconds) <= Math.max(0.5, seconds * 0.05), `${seconds} ${median}`);
  }
  assert.equal(medianDuration([]), null);
});
