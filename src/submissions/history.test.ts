import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#test/service.ts';
import { change, makeForm, person, service, submit, tenant } from '#test/submissions.ts';
import { makeWebhook } from '#test/webhooks/make-webhook.ts';
import type { Timeline, TimelineEntry } from './shapes.ts';

const timeline = async (id: string): Promise<TimelineEntry[]> => {
  const { status, body } = await person.api<Timeline>('GET', `/submissions/${id}/timeline`);
  assert.equal(status, 200);
  return body.data;
};

test('the history shows who changed what, the old and new values, and who was notified', async () => {
  const form = await makeForm();
  const key = { workspaceId: tenant.workspaceId, formId: form };
  const webhook = await makeWebhook(service.services.database, key, { url: 'https://receiver.invalid/hook' });
  const id = await submit(form, { name: 'Ada', colour: 'Red' }, '?campaign=spring');
  await change(id, { answers: { name: 'Grace', colour: null, age: 3 } });
  await change(id, { reference: { campaign: 'autumn' } });
  await change(id, { status: 'incomplete' });
  await change(id, { status: 'incomplete' });
  await change(id, { tags: ['VIP'] });

  const entries = await timeline(id);
  const changes = entries.flatMap((entry) => ('changes' in entry ? [entry] : []));
  assert.deepEqual(
    changes.map((entry) => entry.changes),
    [
      [{ part: 'tags', name: '', to: ['VIP'] }],
      [{ part: 'status', name: '', from: 'completed', to: 'incomplete' }],
      [{ part: 'reference', name: 'campaign', from: 'spring', to: 'autumn' }],
      [
        { part: 'answers', name: 'name', from: 'Ada', to: 'Grace' },
        { part: 'answers', name: 'colour', from: 'Red' },
        { part: 'answers', name: 'age', to: 3 },
      ],
    ],
  );
  assert.deepEqual(
    [...new Set(changes.map(({ by, through }) => `${through} ${typeof by}`))],
    ['console string'],
  );
  assert.equal(entries.at(-1)!.kind, 'created');
  const events = entries.flatMap((entry) => ('event' in entry ? [entry] : []));
  assert.deepEqual(
    events.map((entry) => [entry.event, entry.webhook_id]),
    [
      ['submission.updated', webhook],
      ['submission.updated', webhook],
      ['submission.updated', webhook],
      ['submission.created', webhook],
    ],
  );
});

test('each repeated delivery, by hand or in a replay, is a history entry', async () => {
  const form = await makeForm();
  const { database } = service.services;
  const key = { workspaceId: tenant.workspaceId, formId: form };
  await makeWebhook(database, key, { url: 'https://receiver.invalid/hook' });
  const id = await submit(form, { name: 'Ada' });
  // Dated after the automatic attempts.
  await database.query(
    `insert into attempts (workspace_id, delivery_id, attempt, trigger, started_at, response_ms)
     select d.workspace_id, d.id, given.attempt, given.trigger, now() + make_interval(mins => given.attempt), 5
     from deliveries d, (values (12, 'manual'), (13, 'replay')) as given (attempt, trigger)
     where d.form_id = $1`,
    [form],
  );
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['resend', 'resend', 'delivery', 'created']);
});

test('deleting and restoring are history entries; a submission in the trash shows no history', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  await person.api('DELETE', `/submissions/${id}`);
  assert.equal((await person.api('GET', `/submissions/${id}/timeline`)).status, 404);
  await person.api('POST', `/submissions/${id}/restore`);
  const kinds = await until('the history', async () => (await timeline(id)).map(({ kind }) => kind));
  assert.deepEqual(kinds, ['restored', 'trashed', 'created']);
});

test('deliveries are shown only to people who may read webhooks', async () => {
  const form = await makeForm();
  const key = { workspaceId: tenant.workspaceId, formId: form };
  await makeWebhook(service.services.database, key, { url: 'https://receiver.invalid/hook' });
  const id = await submit(form, { name: 'Ada' });
  const kinds = async (headers?: Record<string, string>) =>
    (await tenant.call('GET', `/submissions/${id}/timeline`, undefined, headers)).body.data.map(
      (entry) => (entry as unknown as TimelineEntry).kind,
    );
  assert.deepEqual(await kinds(), ['created']);
  const full = { Authorization: `Bearer ${await tenant.makeFullKey()}` };
  assert.deepEqual(await kinds(full), ['delivery', 'created']);
});

test("changes and notes made with an API key appear in the history under the key's name", async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  assert.equal((await tenant.call('PATCH', `/submissions/${id}`, { tags: ['VIP'] })).status, 200);
  const note = await tenant.call('POST', `/submissions/${id}/notes`, { text: 'Called back.' });
  await person.api('DELETE', `/submissions/${id}/notes/${note.body.id}`);
  const changes = (await timeline(id)).flatMap((entry) =>
    'changes' in entry ? [[entry.kind, entry.through, entry.by === 'Test']] : [],
  );
  assert.deepEqual(changes, [
    ['note_deleted', 'console', false],
    ['note_added', 'api', true],
    ['edited', 'api', true],
  ]);
});

test('a history longer than the list says so', async () => {
  const id = await submit(await makeForm(), { name: 'Ada' });
  const isCut = async () => (await person.api<Timeline>('GET', `/submissions/${id}/timeline`)).body;
  const { database } = service.services;
  // Simulates 199 sequential edits, together with the one below.
  await database.query(
    `insert into submission_changes (workspace_id, submission_id, id, kind, through, changed_at, changes)
     select workspace_id, id, gen_random_uuid(), 'edited', 'api', now(), '[]' from submissions, generate_series(1, 199)
     where id = $1`,
    [id],
  );
  await change(id, { tags: ['VIP'] });
  const whole = await isCut();
  assert.equal(whole.is_cut, false);
  assert.equal(whole.data.filter((entry) => 'changes' in entry).length, 200);
  await change(id, { tags: [] });
  const cut = await isCut();
  assert.equal(cut.is_cut, true);
  assert.equal(cut.data.filter((entry) => 'changes' in entry).length, 200);
});
