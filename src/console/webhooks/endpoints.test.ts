import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { newId } from '#kit/clock.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { openReceiver, type Reply } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import type {
  CreatedWebhook,
  DeliveryDetail,
  DeliveryLine,
  DeliveryList,
  SentTest,
  WebhookDetail,
  WebhookList,
} from './shapes.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '0.05,0.05' });
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const editor = await signIn(service, { role: 'editor', workspaceId });
const viewer = await signIn(service, { role: 'viewer', workspaceId });
const stranger = await signIn(service);
const url = 'https://93.184.215.14/hook';

async function makeForm(of = tenant): Promise<string> {
  const form = structure(element('text', 'subject'), element('file_upload', 'photo'));
  return (await of.call('POST', '/forms', { structure: form, publish: true })).body.id;
}
const at = (form: string, more = '', workspace = workspaceId): string =>
  `/workspaces/${workspace}/forms/${form}/webhooks${more}`;

type Scene = { form: string; webhook: string; receiver: Awaited<ReturnType<typeof openReceiver>> };
async function setScene(...replies: Reply[]): Promise<Scene> {
  const form = await makeForm();
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'], secret: 'generate' };
  const { body } = await editor.call<CreatedWebhook>('POST', at(form), sent);
  return { form, webhook: body.id, receiver };
}
const submit = async (form: string, subject: string): Promise<void> => {
  const body = JSON.stringify({ answers: { subject } });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  assert.equal((await fetch(`${service.url}/f/${form}`, { method: 'POST', headers, body })).status, 201);
};
const log = async ({ form, webhook }: Scene, query = ''): Promise<DeliveryList> =>
  (await viewer.call<DeliveryList>('GET', at(form, `/${webhook}/deliveries${query}`))).body;
const detail = async ({ form, webhook }: Scene, delivery: string): Promise<DeliveryDetail> =>
  (await viewer.call<DeliveryDetail>('GET', at(form, `/${webhook}/deliveries/${delivery}`))).body;
const health = async ({ form, webhook }: Scene) =>
  (await viewer.call<WebhookDetail>('GET', at(form, `/${webhook}`))).body.webhook;
/** Waits until the newest delivery is done. */
const settled = (scene: Scene, count = 1): Promise<DeliveryLine> =>
  until('the delivery to settle', async () => {
    const { data } = await log(scene);
    return data.length === count && data[0]!.status !== 'Retrying' && data[0];
  });

test('create, list, read: the secret is shown once, the health is at a glance', async () => {
  const form = await makeForm();
  const empty = await viewer.call<WebhookList>('GET', at(form));
  assert.deepEqual(empty.body, {
    data: [],
    secrets_allowed: true,
    most_attempts: 3,
    pause_days: 5,
    most_webhooks: 20,
  });
  const sent = { url, events: ['submission.created'], secret: 'generate' };
  const made = await editor.call<CreatedWebhook>('POST', at(form), sent);
  assert.equal(made.status, 201);
  assert.match(made.body.secret!, /^whsec_/);
  const { body } = await viewer.call<WebhookList>('GET', at(form));
  const { created_at, updated_at, ...webhook } = body.data[0]!;
  assert.equal(created_at, updated_at);
  assert.deepEqual(webhook, {
    id: made.body.id,
    url,
    events: ['submission.created'],
    active: true,
    has_secret: true,
    previous_secret_until: null,
    header_names: [],
    filter: null,
    pauses_on_failure: true,
    failing_since: null,
    paused_at: null,
    paused_by: null,
    last_delivery: null,
    day: { success: 0, failed: 0, retrying: 0 },
  });
  const one = await viewer.call<WebhookDetail>('GET', at(form, `/${made.body.id}`));
  assert.deepEqual(one.body.webhook, body.data[0]);
});

test('change, pause, delete', async () => {
  const { form, webhook } = await setScene(200);
  const path = at(form, `/${webhook}`);
  const changed = await editor.call('PATCH', path, { url, active: false, secret: null });
  assert.deepEqual([changed.status, changed.body], [200, { secret: null }]);
  const { body } = await viewer.call<WebhookDetail>('GET', path);
  assert.deepEqual([body.webhook.url, body.webhook.active, body.webhook.has_secret], [url, false, false]);
  assert.equal((await editor.call('DELETE', path)).status, 204);
  assert.equal((await viewer.call('GET', path)).status, 404);
});

test('every problem of a webhook comes by field: 422', async () => {
  const form = await makeForm();
  const sent = { url: 'http://93.184.215.14/', events: [], secret: 'short' };
  const { status, body } = await editor.call('POST', at(form), sent);
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field }) => field),
    ['url', 'events', 'secret'],
  );
});

test('on the free plan the list says that there are no secrets, and one is refused with the reason', async () => {
  const free = await service.makeTenant({ plan: 'free' });
  const person = await signIn(service, { role: 'editor', workspaceId: free.workspaceId });
  const form = await makeForm(free);
  const path = at(form, '', free.workspaceId);
  assert.equal((await person.call<WebhookList>('GET', path)).body.secrets_allowed, false);
  const sent = { url, events: ['submission.created'], secret: 'generate' };
  const { status, body } = await person.call('POST', path, sent);
  assert.equal(status, 422);
  assert.match(body.errors[0]!.message, /Pro, Business or Enterprise/);
});

test('a failed delivery: the detail tells every request, its answer and why it went on or not', async () => {
  const scene = await setScene({ status: 500, body: '<b>no</b>' }, 'reset', 404);
  await submit(scene.form, '<script>alert(1)</script>');
  const line = await settled(scene);
  assert.deepEqual(
    [line.status, line.event, line.attempts, line.is_test],
    ['Failed', 'submission.created', 3, false],
  );
  assert.deepEqual([line.response_status, line.next_attempt_at], [404, null]);
  assert.equal(line.reason, 'The receiver answered 404. This is not retried.');
  const found = await detail(scene, line.id);
  const { requests } = scene.receiver;
  assert.equal(found.request_body, requests[0]!.body.toString());
  const { history, request_body: _, ...same } = found;
  assert.deepEqual(same, line);
  assert.deepEqual(
    history.map(({ attempt }) => attempt),
    [1, 2, 3],
  );
  const told = history.map(({ trigger, response_status, response_body }) => [
    trigger,
    response_status,
    response_body,
  ]);
  assert.deepEqual(told, [
    ['schedule', 500, '<b>no</b>'],
    ['schedule', null, null],
    ['schedule', 404, ''],
  ]);
  assert.match(history[0]!.reason!, /^The receiver answered 500\. The next attempt is in 0\.05 seconds\.$/);
  for (const [index, { url: to, request_headers, ...attempt }] of history.entries()) {
    assert.equal(attempt.is_body_exact, true);
    assert.equal(attempt.body_sha256, createHash('sha256').update(requests[index]!.body).digest('hex'));
    assert.ok(attempt.response_status === null || attempt.first_byte_ms! <= attempt.response_ms + 1);
    assert.equal(to, scene.receiver.url);
    const { 'X-Service-Signature': signature, 'webhook-signature': standard, ...headers } = request_headers!;
    assert.equal(standard, 'v1,(hidden)');
    assert.equal(signature, 'sha256=(hidden)');
    assert.notEqual(requests[index]!.headers['x-service-signature'], signature);
    for (const [name, value] of Object.entries(headers)) {
      assert.equal(requests[index]!.headers[name.toLowerCase()], value);
    }
  }
});

test('retry: 202 and one more request; asked twice, 409 and no other', async () => {
  const scene = await setScene(404, 200);
  await submit(scene.form, 'again');
  const { id } = await settled(scene);
  const path = at(scene.form, `/${scene.webhook}/deliveries/${id}/retry`);
  const answers = await Promise.all([editor.call('POST', path), editor.call('POST', path)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409]);
  const line = await until('the retry', async () => {
    const [found] = (await log(scene)).data;
    return found!.status === 'Success' && found;
  });
  assert.equal(line.attempts, 2);
  assert.equal(scene.receiver.requests.length, 2);
  const { history } = await detail(scene, id);
  assert.equal(history[1]!.trigger, 'manual');
  assert.equal((await editor.call('POST', path)).status, 409);
});

test('a test stands in the log as one, shows what every delivery shows, and counts for nothing', async () => {
  const scene = await setScene({ status: 410, body: 'gone' });
  const path = at(scene.form, `/${scene.webhook}`);
  const sent = await editor.call<SentTest>('POST', `${path}/tests`, { event: 'submission.deleted' });
  assert.equal(sent.status, 202);
  const line = await settled(scene);
  assert.deepEqual([line.id, line.is_test, line.event], [sent.body.id, true, 'submission.deleted']);
  const found = await detail(scene, line.id);
  assert.equal(found.history[0]!.response_body, 'gone');
  const links = /\?expires=\d+&signature=[^"]+/g;
  assert.equal(
    found.request_body.replaceAll('?expires=(hidden)&signature=(hidden)', ''),
    scene.receiver.requests[0]!.body.toString().replaceAll(links, ''),
  );
  assert.match(found.request_body, /sample\.pdf/);
  const { last_delivery, day } = await health(scene);
  assert.deepEqual([last_delivery, day], [null, { success: 0, failed: 0, retrying: 0 }]);
  assert.equal((await editor.call('POST', `${path}/deliveries/${line.id}/retry`)).status, 409);
  assert.equal((await tenant.call('GET', `/forms/${scene.form}`)).body.submission_count, 0);
});

test('health: the last delivery, and what became of those of the last day', async () => {
  const scene = await setScene(404, 200, 200);
  for (const count of [1, 2, 3]) {
    await submit(scene.form, `number ${count}`);
    await settled(scene, count);
  }
  const { last_delivery, day } = await health(scene);
  assert.equal(last_delivery!.status, 'Success');
  assert.deepEqual(day, { success: 2, failed: 1, retrying: 0 });
});

test('the log is filtered by status, event and time, in pages', async () => {
  const scene = await setScene(404, 200, 200);
  for (const count of [1, 2]) {
    await submit(scene.form, `number ${count}`);
    await settled(scene, count);
  }
  await editor.call('POST', at(scene.form, `/${scene.webhook}/tests`), { event: 'submission.updated' });
  await settled(scene, 3);
  const all = (await log(scene)).data;
  const ids = async (query: string): Promise<string[]> => (await log(scene, query)).data.map(({ id }) => id);
  assert.deepEqual(await ids('?status=Failed'), [all[2]!.id]);
  assert.deepEqual(await ids('?event=submission.updated'), [all[0]!.id]);
  assert.deepEqual(await ids(`?from=${all[1]!.created_at}`), [all[0]!.id, all[1]!.id]);
  assert.deepEqual(await ids('?to=2026-01-01T00:00:00Z'), []);
  const second = await log(scene, '?page=2&per_page=2');
  assert.deepEqual(
    second.data.map(({ id }) => id),
    [all[2]!.id],
  );
  assert.deepEqual(second.pagination, { page: 2, per_page: 2, total_count: 3, total_pages: 2 });
  for (const wrong of ['?status=Lost', '?event=x', '?from=yesterday', '?per_page=101', '?sort=asc']) {
    const { status } = await viewer.call('GET', at(scene.form, `/${scene.webhook}/deliveries${wrong}`));
    assert.equal(status, 400, wrong);
  }
});

test('a viewer changes nothing: 403; a stranger finds nothing: 404; nobody: 401', async () => {
  const scene = await setScene(404);
  await submit(scene.form, 'one');
  const { id } = await settled(scene);
  const one = at(scene.form, `/${scene.webhook}`);
  const reads = [at(scene.form), one, `${one}/deliveries`, `${one}/deliveries/${id}`];
  const changes: [method: string, path: string, body: object][] = [
    ['POST', at(scene.form), { url, events: ['submission.created'] }],
    ['PATCH', one, { active: false }],
    ['DELETE', one, {}],
    ['POST', `${one}/tests`, { event: 'submission.created' }],
    ['POST', `${one}/deliveries/${id}/retry`, {}],
  ];
  const nobody: Pick<ConsolePerson, 'call'> = {
    call: (...given) => stranger.call(given[0], given[1], given[2], { Cookie: '' }),
  };
  for (const path of reads) {
    assert.equal((await viewer.call('GET', path)).status, 200, path);
    assert.equal((await stranger.call('GET', path)).status, 404, path);
    assert.equal((await nobody.call('GET', path)).status, 401, path);
  }
  for (const [method, path, body] of changes) {
    assert.equal((await viewer.call(method, path, body)).status, 403, path);
    assert.equal((await stranger.call(method, path, body)).status, 404, path);
    assert.equal((await nobody.call(method, path, body)).status, 401, path);
  }
  assert.equal((await health(scene)).active, true);
  assert.equal(scene.receiver.requests.length, 1);
});

test('a webhook under another form, of another workspace, or none: the same 404', async () => {
  const scene = await setScene(200);
  const [otherForm, other] = [await makeForm(), await service.makeTenant()];
  const owner = await signIn(service, { role: 'owner', workspaceId: other.workspaceId });
  const absent = await editor.call('GET', at(scene.form, `/${newId()}`));
  const foreign = await owner.call('GET', at(scene.form, `/${scene.webhook}`, other.workspaceId));
  const misplaced = await editor.call('GET', at(otherForm, `/${scene.webhook}`));
  for (const answer of [foreign, misplaced])
    assert.deepEqual([answer.status, answer.body], [404, absent.body]);
  assert.equal((await editor.call('DELETE', at(otherForm, `/${scene.webhook}`))).status, 404);
  assert.equal((await editor.call('GET', at(newId()))).status, 404);
  assert.equal((await editor.call('GET', at('x'))).status, 400);
});
