import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { happen, listWebhooks, makeForm, makeWebhook, readLog } from '#test/webhooks/make-webhook.ts';
import { type Plan, plans } from '#workspaces/authenticate.ts';
import { eventKinds } from './event.ts';
import { retryDelivery } from './retry-delivery.ts';
import { createWebhook, deleteWebhook, type WebhookToCreate } from './webhooks.ts';

const { database } = await testDatabase();
const vault = openVault('00'.repeat(32));
const config = { webhookAllowNetworks: [], publicUrl: 'https://forms.test' };
const context = { database, vault, config };
const url = 'https://93.184.215.14/hook';
const place = await makeForm(database);

const create = (more: Partial<WebhookToCreate> = {}): Promise<{ id: string; secret?: string }> =>
  createWebhook(context, { ...place, url, events: ['submission.created'], ...more });

const secretOf = async (id: string): Promise<string | null> => {
  const { rows } = await database.query('select secret from webhooks where id = $1', [id]);
  return rows[0].secret && vault.unseal('webhook secrets', rows[0].secret);
};

const rejects = (work: Promise<unknown>, code: ErrorCode, ...fields: string[]): Promise<void> =>
  assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, code);
    assert.deepEqual(error.errors?.map(({ field }) => field) ?? [], fields);
    return true;
  });

test('a webhook without a secret shows none, and a list shows its activity', async () => {
  const form = await makeForm(database);
  const events = ['submission.deleted', 'submission.created', 'submission.deleted'];
  const first = await create({ ...form, events });
  assert.deepEqual(Object.keys(first), ['id']);
  const second = await create({ ...form, secret: 'a secret of my own' });
  const listed = await listWebhooks(database, form);
  const plain = { header_names: [], filter: null, pauses_on_failure: true };
  const fine = { failing_since: null, paused_by: null, ...plain };
  const active = { ...fine, url, active: true, created_at: listed[0]!.created_at };
  assert.deepEqual(
    listed.map((webhook) => ({ ...webhook, created_at: active.created_at })),
    [
      { ...active, id: second.id, events: ['submission.created'], has_secret: true },
      { ...active, id: first.id, events: ['submission.created', 'submission.deleted'], has_secret: false },
    ].sort((a, b) => b.id.localeCompare(a.id)),
  );
});

test('a secret is shown once, when it is set, and stored sealed', async () => {
  const chosen = await create({ secret: 'a secret of my own' });
  assert.equal(chosen.secret, 'a secret of my own');
  assert.equal(await secretOf(chosen.id), 'a secret of my own');
  const generated = await create({ secret: 'generate' });
  assert.match(generated.secret!, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(await secretOf(generated.id), generated.secret);
});

for (const plan of Object.keys(plans) as Plan[]) {
  const may = plan !== 'free';
  test(`on the ${plan} plan a webhook can ${may ? '' : 'not '}be signed`, async () => {
    const form = await makeForm(database, plan);
    assert.ok((await create(form)).id);
    for (const secret of ['generate', 'a secret of my own']) {
      if (may) assert.ok((await create({ ...form, secret })).secret);
      else await rejects(create({ ...form, secret }), 'validation_error', 'secret');
    }
  });
}

test('every problem is reported in one response', async () => {
  const wrong = {
    url: 'http://example.com',
    events: ['submission.created', 'submission.read'],
    secret: 'short',
  };
  await rejects(create(wrong), 'validation_error', 'url', 'events', 'secret');
});

const problems: Record<string, [Partial<WebhookToCreate>, field: string]> = {
  'plain HTTP': [{ url: 'http://93.184.215.14/' }, 'url'],
  'a private address': [{ url: 'https://10.0.0.1/' }, 'url'],
  'the service itself': [{ url: 'https://forms.test/f/1' }, 'url'],
  'a URL of 2,049 characters': [{ url: url.padEnd(2_049, 'x') }, 'url'],
  'no event': [{ events: [] }, 'events'],
  'an unknown event': [{ events: ['form.created'] }, 'events'],
  'a secret of 15 characters': [{ secret: 'x'.repeat(15) }, 'secret'],
  'a secret of 257 characters': [{ secret: 'x'.repeat(257) }, 'secret'],
  'a secret with a NUL': [{ secret: `${'x'.repeat(20)}\0` }, 'secret'],
};
for (const [what, [webhook, field]] of Object.entries(problems)) {
  test(`${what} is refused`, () => rejects(create(webhook), 'validation_error', field));
}

test('a filter is returned as sent, and each problem is reported at its position', async () => {
  const form = await makeForm(database);
  const filter = {
    all: [
      { value: 'Ada', is: 'equals', element: 'name' },
      { reference: 'utm', is: 'answered' },
    ],
  };
  await create({ ...form, filter, pausesOnFailure: false });
  const [listed] = await listWebhooks(database, form);
  assert.equal(JSON.stringify(listed!.filter), JSON.stringify(filter));
  assert.equal(listed!.pauses_on_failure, false);

  const wrong = [
    { element: 'gone', is: 'answered' },
    { element: 'name', is: 'at_least', value: 1 },
  ];
  await assert.rejects(create({ ...form, filter: { any: wrong } }), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    const places = error.errors!.map(({ field, path }) => ({ field, path }));
    assert.deepEqual(places, [
      { field: 'filter', path: [0] },
      { field: 'filter', path: [1] },
    ]);
    assert.match(error.errors![0]!.message, /"gone", which is not an element of the form/);
    return true;
  });
  await rejects(create({ ...form, filter: 'all' }), 'validation_error', 'filter');
  await rejects(create({ ...form, formId: newId(), filter }), 'not_found');
});

test('an address in an allowed network is accepted', async () => {
  const allowing = { ...context, config: { ...config, webhookAllowNetworks: ['10.0.0.0/8'] } };
  const created = await createWebhook(allowing, {
    ...place,
    url: 'https://10.0.0.1:8443/',
    events: [...eventKinds],
  });
  assert.ok(created.id);
});

test('a webhook cannot be added to a form that is unknown, deleted or of another workspace', async () => {
  const other = await makeForm(database);
  await rejects(create({ formId: newId() }), 'not_found');
  await rejects(create({ formId: other.formId }), 'not_found');
  await database.query('update forms set deleted_at = now() where id = $1', [other.formId]);
  await rejects(create(other), 'not_found');
});

test('a form has at most 20 webhooks, even if they are added at the same time', async () => {
  const form = await makeForm(database);
  const added = await Promise.allSettled(Array.from({ length: 25 }, () => create(form)));
  assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 20);
  await rejects(create(form), 'conflict');
});

test('a webhook is deleted with its log, and only by its workspace', async () => {
  const form = await makeForm(database);
  const webhookId = await makeWebhook(database, form, { url });
  assert.equal(await happen(database, form), 1);
  await rejects(deleteWebhook({ database }, { workspaceId: place.workspaceId, webhookId }), 'not_found');
  await deleteWebhook({ database }, { workspaceId: form.workspaceId, webhookId });
  assert.deepEqual(await listWebhooks(database, form), []);
  assert.deepEqual(await readLog(database, { workspaceId: form.workspaceId, webhookId }), []);
  await rejects(deleteWebhook({ database }, { workspaceId: form.workspaceId, webhookId }), 'not_found');
});

test('the log lists the newest first and belongs to one workspace', async () => {
  const form = await makeForm(database);
  const webhookId = await makeWebhook(database, form, { url });
  for (let count = 0; count < 5; count += 1) await happen(database, form);
  const { workspaceId } = form;
  const all = await readLog(database, { workspaceId, webhookId });
  assert.equal(all.length, 5);
  assert.deepEqual(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .sort()
      .toReversed(),
  );
  assert.deepEqual(await readLog(database, { workspaceId: place.workspaceId, webhookId }), []);
});

test('only a failed delivery of the same workspace can be retried', async () => {
  const form = await makeForm(database);
  const webhookId = await makeWebhook(database, form, { url });
  await happen(database, form);
  const { workspaceId } = form;
  const [delivery] = await readLog(database, { workspaceId, webhookId });
  const become = (status: string): Promise<unknown> =>
    database.query('update deliveries set status = $1 where id = $2', [status, delivery!.id]);
  const retry = (workspace = workspaceId): Promise<void> =>
    retryDelivery({ database }, { workspaceId: workspace, deliveryId: delivery!.id });
  await rejects(retry(), 'conflict');
  await become('Success');
  await rejects(retry(), 'conflict');
  await become('Failed');
  await database.query('delete from jobs where id = $1', [delivery!.id]);
  await rejects(retry(place.workspaceId), 'not_found');
  await retry();
  const [waiting] = await readLog(database, { workspaceId, webhookId });
  assert.equal(waiting!.status, 'Retrying');
  const { rows } = await database.query('select payload from jobs where id = $1', [delivery!.id]);
  assert.deepEqual(rows, [{ payload: { trigger: 'manual' } }]);
});
