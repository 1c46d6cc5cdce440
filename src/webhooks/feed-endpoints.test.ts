import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { openReceiver } from '#test/receiver.ts';
import { callApi, shareService, type Tenant } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { createKey } from '#workspaces/keys.ts';
import { createWebhook } from './webhooks.ts';

const service = await shareService();
const visitor = openVisitor(service);

type Feed = {
  data: { delivery_id: string; event: string; submission: { id: string } }[];
  next: string;
  has_more: boolean;
};
const read = async (tenant: Tenant, query = ''): Promise<Feed> => {
  const { status, body } = await tenant.call('GET', `/events${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Feed;
};
const makeForm = async (tenant: Tenant): Promise<string> =>
  (await tenant.call('POST', '/forms', { structure: structure(element('text', 'subject')), publish: true }))
    .body.id;

test('a pulled event has the same ID and body as the pushed one', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant);
  const receiver = await openReceiver();
  const { services } = service;
  const webhook = {
    workspaceId: tenant.workspaceId,
    formId: form,
    url: receiver.url,
    events: ['submission.created'],
  };
  await createWebhook(services, webhook);
  await visitor.submit(form, { subject: 'both ways' });
  const [pushed] = await receiver.waitFor(1);
  const response = await fetch(`${service.url}/api/v1/events`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  const text = await response.text();
  assert.ok(text.startsWith(`{"data":[${pushed!.body.toString()}],"next":"`), text);
});

test('`now` is after every event so far, read or unread: the next pull returns only later events', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant);
  await read(tenant);
  await visitor.submit(form, { subject: 'before' });
  const { data, next } = await read(tenant, '?after=now');
  assert.deepEqual(data, []);
  const { id } = (await visitor.submit(form, { subject: 'after' })).body;
  assert.deepEqual(
    (await read(tenant, `?after=${next}`)).data.map(({ submission }) => submission.id),
    [id],
  );
});

test('a submission is an event even without a webhook, and filters leave out the others', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant);
  const { next } = await read(tenant);
  const { id } = (await visitor.submit(form, { subject: 'x' })).body;
  const page = await read(tenant, `?after=${next}`);
  assert.deepEqual(
    page.data.map(({ event, submission }) => [event, submission.id]),
    [['submission.created', id]],
  );
  assert.deepEqual((await read(tenant, `?after=${next}&event=submission.deleted`)).data, []);
  assert.equal((await read(tenant, `?form_id=${form}`)).data.length, 1);
});

test('a waiting poll returns when an event occurs, or empty after its time limit', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant);
  const { next } = await read(tenant);
  const began = performance.now();
  const nothing = await read(tenant, `?after=${next}&wait=1`);
  assert.deepEqual([nothing.data, nothing.next], [[], next]);
  assert.ok(performance.now() - began >= 900);
  const polls = Array.from({ length: 15 }, () => read(tenant, `?after=${next}&wait=30`));
  // More polls wait than the pool has connections, and other requests are still answered.
  assert.equal((await tenant.call('GET', '/forms')).status, 200);
  const submitted = performance.now();
  const { id } = (await visitor.submit(form, { subject: 'now' })).body;
  for (const { data } of await Promise.all(polls))
    assert.deepEqual(
      data.map(({ submission }) => submission.id),
      [id],
    );
  assert.ok(performance.now() - submitted < 15_000);
});

test('a key that is limited to some forms pulls only their events', async () => {
  const tenant = await service.makeTenant();
  const [mine, other] = [await makeForm(tenant), await makeForm(tenant)];
  await read(tenant);
  for (const form of [mine, other]) await visitor.submit(form, { subject: 'x' });
  const { key } = await createKey(service.services.database, {
    workspaceId: tenant.workspaceId,
    name: 'One form',
    formIds: [mine],
  });
  const ask = (query: string) => callApi(service.url, key, 'GET', `/events${query}`);
  const all = (await ask('')).body as unknown as { data: { form: { id: string } }[] };
  assert.deepEqual(
    all.data.map(({ form }) => form.id),
    [mine],
  );
  assert.equal((await ask(`?form_id=${other}`)).status, 404);
  assert.equal((await ask(`?form_id=${mine}`)).status, 200);
  assert.equal((await ask(`?webhook_id=${newId()}`)).status, 404);
});

test('another workspace has other events, and IDs from there are not found', async () => {
  const [one, two] = [await service.makeTenant(), await service.makeTenant()];
  await Promise.all([read(one), read(two)]);
  const form = await makeForm(one);
  await visitor.submit(form, { subject: 'x' });
  assert.equal((await read(one)).data.length, 1);
  assert.equal((await read(two)).data.length, 0);
  assert.equal((await two.call('GET', `/events?form_id=${form}`)).status, 404);
});
