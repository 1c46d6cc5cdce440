import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#ast/basics/condition.ts';
import { changeForm } from '#forms/forms.ts';
import { now } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene } from '#test/submissions/scene.ts';
import { makeWebhook } from '#test/webhooks/make-webhook.ts';
import { type EventKind, eventKinds } from '#webhooks/event.ts';
import { changeSubmission } from './changes/edit.ts';
import { removeSubmission } from './changes/remove.ts';

const { database } = await testDatabase();
const url = 'https://receiver.test/hook';
const country = element('radio', 'country', { options: ['Germany', 'France'] });
const german: Condition = { element: 'country', is: 'equals', value: 'Germany' };

async function openFiltered(filter: Condition | null = german, settings: object = {}) {
  const scene = await openScene(
    database,
    [country, element('text', 'name'), element('date', 'day')],
    settings,
  );
  const { workspaceId, formId } = scene;
  const webhook = await makeWebhook(database, scene, { url, filter, events: eventKinds });
  const target = (id: string) => ({ workspaceId, formId, id, by: null, unchanged: null });
  return {
    ...scene,
    webhook,
    target,
    edit: (id: string, answers: Record<string, unknown>) =>
      changeSubmission(scene.context, target(id), { answers }),
    /** Returns the events of the webhook, oldest first. */
    async deliveries(of = webhook): Promise<[EventKind, submission: string][]> {
      const { rows } = await database.query(
        `select events.kind, events.submission_id from deliveries
           join events on events.workspace_id = deliveries.workspace_id and events.id = deliveries.event_id
          where deliveries.workspace_id = $1 and deliveries.webhook_id = $2 order by deliveries.id`,
        [workspaceId, of],
      );
      return rows.map(({ kind, submission_id }) => [kind, submission_id]);
    },
    async rows(table: string): Promise<number> {
      const found = await database.query(`select from ${table} where workspace_id = $1`, [workspaceId]);
      return found.rows.length;
    },
  };
}

test('a submission that does not match the filter creates no event, no delivery and no job', async () => {
  const scene = await openFiltered();
  await scene.submit({ country: 'France' });
  await scene.submit({ name: 'Nobody' });
  for (const table of ['events', 'deliveries', 'jobs']) assert.equal(await scene.rows(table), 0, table);
  const id = await scene.submit({ country: 'Germany' });
  assert.deepEqual(await scene.deliveries(), [['submission.created', id]]);
  for (const table of ['events', 'deliveries', 'jobs']) assert.equal(await scene.rows(table), 1, table);
});

test('each webhook of a form has its own filter, and one without a filter gets all events', async () => {
  const scene = await openFiltered();
  const all = await makeWebhook(database, scene, { url });
  const french = await makeWebhook(database, scene, { url, filter: { not: german } });
  const first = await scene.submit({ country: 'Germany' });
  const second = await scene.submit({ country: 'France' });
  const submissionsOf = async (webhook: string) => (await scene.deliveries(webhook)).map(([, id]) => id);
  assert.deepEqual(await submissionsOf(scene.webhook), [first]);
  assert.deepEqual((await submissionsOf(all)).toSorted(), [first, second].toSorted());
  assert.deepEqual(await submissionsOf(french), [second]);
});

test('an update is filtered by the new answers: an update that no longer matches is not sent', async () => {
  const scene = await openFiltered();
  const id = await scene.submit({ country: 'France' });
  await scene.edit(id, { country: 'Germany' });
  await scene.edit(id, { country: 'Germany', name: 'Ada' });
  await scene.edit(id, { country: 'France', name: 'Ada' });
  assert.deepEqual(await scene.deliveries(), [
    ['submission.updated', id],
    ['submission.updated', id],
  ]);
});

test('reference data is filtered by its new values after a change', async () => {
  const scene = await openFiltered({ reference: 'plan', is: 'equals', value: 'pro' });
  const id = await scene.submit({}, { reference: { plan: 'free' } });
  await changeSubmission(scene.context, scene.target(id), { reference: { plan: 'pro' } });
  assert.deepEqual(await scene.deliveries(), [['submission.updated', id]]);
});

test('a deletion is filtered by the last answers', async () => {
  const scene = await openFiltered();
  const stayed = await scene.submit({ country: 'Germany' });
  const left = await scene.submit({ country: 'Germany' });
  await scene.edit(left, { country: 'France' });
  for (const id of [stayed, left]) await removeSubmission(scene.context, scene.target(id));
  const deleted = (await scene.deliveries()).filter(([kind]) => kind === 'submission.deleted');
  assert.deepEqual(deleted, [['submission.deleted', stayed]]);
});

test('the removed element counts as unanswered in submissions to a later version, but not in earlier submissions', async () => {
  const scene = await openFiltered();
  const before = await scene.submit({ country: 'Germany' });
  const blank = await makeWebhook(database, scene, {
    url,
    filter: { element: 'country', is: 'not_answered' },
  });
  const withoutCountry = { structure: structure(element('text', 'name')), status: 'published' as const };
  await changeForm(database, scene.workspaceId, scene.formId, withoutCountry);
  const after = await scene.submit({ name: 'Ada' });
  await removeSubmission(scene.context, scene.target(before));
  assert.deepEqual(await scene.deliveries(), [
    ['submission.created', before],
    ['submission.deleted', before],
  ]);
  assert.deepEqual(await scene.deliveries(blank), [['submission.created', after]]);
});

test("a date is compared with today in the form's time zone", async () => {
  // Kiritimati is 14 hours ahead of UTC, Pago Pago 11 behind: their dates always differ.
  const today: Condition = { element: 'day', is: 'equals', value: 'today' };
  const dayIn = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(now());
  for (const [zone, other] of [
    ['Pacific/Kiritimati', 'Pacific/Pago_Pago'],
    ['Pacific/Pago_Pago', 'Pacific/Kiritimati'],
  ] as const) {
    const scene = await openFiltered(today, { time_zone: zone });
    const id = await scene.submit({ day: dayIn(zone) });
    await scene.submit({ day: dayIn(other) });
    assert.deepEqual(await scene.deliveries(), [['submission.created', id]]);
  }
});
