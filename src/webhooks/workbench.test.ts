import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openReceiver, type Reply } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import type {
  DeliveryList,
  ExampleReceiver,
  PayloadDescription,
  Replay,
  SentWebhookTest,
  WebhookWithSecret,
} from './shapes.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '' });
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId });
const viewer = await signIn(service, { role: 'viewer', workspaceId });

async function setScene(...replies: Reply[]) {
  const form = structure(element('text', 'subject', { required: true }), element('number', 'age'));
  const { id } = (await tenant.call('POST', '/forms', { structure: form, publish: true })).body;
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'], secret: 'generate' };
  const { body } = await editor.api<WebhookWithSecret>('POST', `/forms/${id}/webhooks`, sent);
  const path = `/webhooks/${body.id}`;
  const settle = (count: number) =>
    until('the deliveries to settle', async () => {
      const { data } = (await viewer.api<DeliveryList>('GET', `${path}/deliveries`)).body;
      return data.length === count && data.every(({ status }) => status !== 'Retrying') && data;
    });
  return { form: id, path, receiver, settle };
}

test('failed deliveries are counted and replayed, and the replay shows its progress', async () => {
  const { form, path, receiver, settle } = await setScene(404, 404, 200);
  for (const subject of ['one', 'two']) await visitor.submit(form, { subject });
  await settle(2);
  const count = async (query: string): Promise<number> =>
    (await viewer.api<{ total: number }>('GET', `${path}/replays/count${query}`)).body.total;
  assert.deepEqual([await count(''), await count('?status=Success'), await count('?status=any')], [2, 0, 2]);
  assert.equal(await count(`?until=2026-01-01T00:00:00Z`), 0);
  const begun = await editor.api<Replay>('POST', `${path}/replays`, { event: 'submission.created' });
  assert.deepEqual([begun.status, begun.body.state, begun.body.total], [202, 'running', 2]);
  const replay = await until('the replay', async () => {
    const { data } = (await viewer.api<{ data: Replay[] }>('GET', `${path}/replays`)).body;
    return data[0]!.state === 'finished' && data[0];
  });
  assert.deepEqual(
    [replay.done, replay.filter.status, replay.filter.event],
    [2, 'Failed', 'submission.created'],
  );
  assert.ok((await settle(2)).every(({ status }) => status === 'Success'));
  const ids = receiver.requests.map(({ headers }) => headers['x-service-delivery-id']);
  assert.deepEqual([ids.length, new Set(ids).size], [4, 2]);
  const cancel = await editor.api('POST', `/replays/${replay.id}/cancel`);
  assert.equal(cancel.status, 409, 'it is over');
  assert.equal((await editor.api('POST', `/replays/${newId()}/cancel`)).status, 404);
  const stranger = await signIn(service);
  assert.equal((await stranger.api('POST', `/replays/${replay.id}/cancel`)).status, 404);
  const inDays = { status: 'any', created_from: '2020-01-01', created_to: '2020-02-01T00:00:00Z' };
  const empty = await editor.api<Replay>('POST', `${path}/replays`, inDays);
  assert.deepEqual([empty.status, empty.body.total], [202, 0], 'a day is a moment in a body too');
  for (const wrong of [{ status: 'Retrying' }, { since: 'yesterday' }, { form: 'x' }])
    assert.equal((await editor.api('POST', `${path}/replays`, wrong)).status, 422);
});

test('the last real submissions are sent to another address as tests and count toward nothing', async () => {
  const [{ form, path, receiver, settle }, elsewhere] = [await setScene(200), await openReceiver()];
  const none = await editor.api('POST', `${path}/test`, { event: 'submission.created', submissions: 3 });
  assert.equal(none.status, 409);
  for (const subject of ['one', 'two', 'three']) await visitor.submit(form, { subject });
  await settle(3);
  const request = { event: 'submission.updated', url: elsewhere.url, submissions: 2 };
  const { status, body } = await editor.api<SentWebhookTest>('POST', `${path}/test`, request);
  assert.deepEqual([status, body.ids.length, body.id], [202, 2, body.ids[1]]);
  const requests = await elsewhere.waitFor(2);
  const bodies = requests.map((each) => JSON.parse(each.body.toString()));
  assert.deepEqual(bodies.map(({ submission }) => submission.responses.subject).toSorted(), ['three', 'two']);
  assert.ok(requests.every(({ headers }) => headers['x-service-test'] === 'true'));
  assert.equal(receiver.requests.length, 3);
  assert.deepEqual(
    (await settle(5))
      .filter(({ is_test }) => is_test)
      .map(({ id }) => id)
      .toSorted(),
    body.ids.toSorted(),
  );
  const blocked = await editor.api('POST', `${path}/test`, { ...request, url: 'https://10.1.2.3/' });
  assert.deepEqual([blocked.status, blocked.body.errors[0]!.field], [422, 'url']);
  assert.equal((await editor.api('POST', `${path}/test`, { ...request, submissions: 11 })).status, 422);
});

test('the payload of a form has a sample of each event, the schema that the API returns and the TypeScript type', async () => {
  const { form } = await setScene(200);
  const { body } = await viewer.api<PayloadDescription>('GET', `/forms/${form}/payload`);
  const events = body.samples.map((sample) => JSON.parse(sample.body).event);
  assert.deepEqual(events, ['submission.created', 'submission.updated', 'submission.deleted']);
  const { status, body: schema } = await tenant.call('GET', `/forms/${form}/schema.json`);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(body.schema), schema);
  assert.ok(body.schema_url.endsWith(`/api/v1/forms/${form}/schema.json`));
  assert.match(body.type_script, /"?subject"?: string;[^]*age\?: number;/);
  assert.equal((await viewer.api('GET', `/forms/${newId()}/payload`)).status, 404);
});

test('the receiver examples contain the URL of the webhook and its events', async () => {
  const { path, receiver } = await setScene(200);
  const { data } = (await viewer.api<{ data: ExampleReceiver[] }>('GET', `${path}/receivers`)).body;
  assert.deepEqual(
    data.map(({ id }) => id),
    ['node', 'python', 'php', 'go'],
  );
  for (const { code } of data) {
    assert.ok(code.includes(receiver.url));
    assert.ok(!code.includes('submission.deleted'));
  }
});
