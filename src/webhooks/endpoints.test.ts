import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import type { Permission } from '#rules/permissions.ts';
import { element, structure } from '#test/ast/forms.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { openReceiver, type Reply } from '#test/receiver.ts';
import { callApi, openService, until } from '#test/service.ts';
import { createKey } from '#workspaces/keys.ts';
import type {
  DeliveryDetail,
  DeliveryLine,
  DeliveryList,
  SentWebhookTest,
  WebhookDetail,
  WebhookList,
  WebhookWithSecret,
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
const of = (form: string): string => `/forms/${form}/webhooks`;
const at = (webhook: string, more = ''): string => `/webhooks/${webhook}${more}`;

type Scene = { form: string; webhook: string; receiver: Awaited<ReturnType<typeof openReceiver>> };
async function setScene(...replies: Reply[]): Promise<Scene> {
  const form = await makeForm();
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'], secret: 'generate' };
  const { body } = await editor.api<WebhookWithSecret>('POST', of(form), sent);
  return { form, webhook: body.id, receiver };
}
const submit = async (form: string, subject: string): Promise<void> => {
  const body = JSON.stringify({ answers: { subject } });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  assert.equal((await fetch(`${service.url}/f/${form}`, { method: 'POST', headers, body })).status, 201);
};
const log = async ({ webhook }: Scene, query = ''): Promise<DeliveryList> =>
  (await viewer.api<DeliveryList>('GET', at(webhook, `/deliveries${query}`))).body;
const detail = async (delivery: string): Promise<DeliveryDetail> =>
  (await viewer.api<DeliveryDetail>('GET', `/deliveries/${delivery}`)).body;
const health = async ({ webhook }: Scene) =>
  (await viewer.api<WebhookDetail>('GET', at(webhook))).body.webhook;
/** Waits until the newest delivery has ended. */
const settled = (scene: Scene, count = 1): Promise<DeliveryLine> =>
  until('the delivery to settle', async () => {
    const { data } = await log(scene);
    return data.length === count && data[0]!.status !== 'Retrying' && data[0];
  });

test('create, list and read show the secret once, and reading shows the health of the webhook', async () => {
  const form = await makeForm();
  const empty = await viewer.api<WebhookList>('GET', of(form));
  assert.deepEqual(empty.body, {
    data: [],
    secrets_allowed: true,
    most_attempts: 3,
    pause_days: 5,
    most_webhooks: 20,
  });
  const sent = { url, events: ['submission.created'], secret: 'generate' };
  const created = await editor.api<WebhookWithSecret>('POST', of(form), sent);
  assert.equal(created.status, 201);
  assert.match(created.body.secret!, /^whsec_/);
  const { body } = await viewer.api<WebhookList>('GET', of(form));
  const { created_at, updated_at, ...webhook } = body.data[0]!;
  assert.equal(created_at, updated_at);
  assert.deepEqual(webhook, {
    id: created.body.id,
    form_id: form,
    form_name: 'Contact',
    url,
    events: ['submission.created'],
    active: true,
    has_secret: true,
    previous_secret_until: null,
    header_names: [],
    filter: null,
    format: 'standard',
    template: null,
    pauses_on_failure: true,
    failing_since: null,
    paused_at: null,
    paused_by: null,
    last_delivery: null,
    day: { success: 0, failed: 0, retrying: 0 },
  });
  const one = await viewer.api<WebhookDetail>('GET', at(created.body.id));
  assert.deepEqual(one.body.webhook, body.data[0]);
});

test('a webhook can be changed, paused and deleted', async () => {
  const { webhook } = await setScene(200);
  const path = at(webhook);
  const changed = await editor.api('PATCH', path, { url, active: false, secret: null });
  assert.equal(changed.status, 200);
  const { body } = await viewer.api<WebhookDetail>('GET', path);
  assert.deepEqual([body.webhook.url, body.webhook.active, body.webhook.has_secret], [url, false, false]);
  assert.deepEqual(changed.body, { ...body.webhook, secret: null });
  assert.equal((await editor.api('DELETE', path)).status, 204);
  assert.equal((await viewer.api('GET', path)).status, 404);
});

test('422 lists every problem of a webhook by field', async () => {
  const form = await makeForm();
  const sent = { url: 'http://93.184.215.14/', events: [], secret: 'short' };
  const { status, body } = await editor.api('POST', of(form), sent);
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field }) => field),
    ['url', 'events', 'secret'],
  );
});

test('on the free plan the list says that secrets are unavailable, and a secret is refused with the reason', async () => {
  const free = await service.makeTenant({ plan: 'free' });
  const person = await signIn(service, { role: 'editor', workspaceId: free.workspaceId });
  const form = await makeForm(free);
  const path = of(form);
  assert.equal((await person.api<WebhookList>('GET', path)).body.secrets_allowed, false);
  const sent = { url, events: ['submission.created'], secret: 'generate' };
  const { status, body } = await person.api('POST', path, sent);
  assert.equal(status, 422);
  assert.match(body.errors[0]!.message, /Pro, Business or Enterprise/);
});

test('the details of a failed delivery show each request, its response and why it was retried or not', async () => {
  const scene = await setScene({ status: 500, body: '<b>no</b>' }, 'reset', 404);
  await submit(scene.form, '<script>alert(1)</script>');
  const line = await settled(scene);
  assert.deepEqual(
    [line.status, line.event, line.attempts, line.is_test],
    ['Failed', 'submission.created', 3, false],
  );
  assert.deepEqual([line.response_status, line.next_attempt_at], [404, null]);
  assert.equal(line.reason, 'The receiver returned 404. The delivery will not be retried automatically.');
  const found = await detail(line.id);
  const { requests } = scene.receiver;
  assert.equal(found.request_body, requests[0]!.body.toString());
  const { history, request_body: _, webhook_id, ...same } = found;
  assert.equal(webhook_id, scene.webhook);
  assert.deepEqual(same, line);
  assert.deepEqual(
    history.map(({ attempt }) => attempt),
    [1, 2, 3],
  );
  const attempts = history.map(({ trigger, response_status, response_body }) => [
    trigger,
    response_status,
    response_body,
  ]);
  assert.deepEqual(attempts, [
    ['schedule', 500, '<b>no</b>'],
    ['schedule', null, null],
    ['schedule', 404, ''],
  ]);
  assert.match(history[0]!.reason!, /^The receiver returned 500\. The next attempt is in 0\.05 seconds\.$/);
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

test('the signature uses the bytes of the secret as sent, without normalizing its characters', async () => {
  const form = await makeForm();
  const receiver = await openReceiver();
  const secret = 'Zoe\u0308 and a long secret';
  const created = await editor.api<WebhookWithSecret>('POST', of(form), {
    url: receiver.url,
    events: ['submission.created'],
    secret,
  });
  assert.deepEqual([created.status, created.body.secret], [201, secret]);
  await submit(form, 'signed');
  const { body, headers } = await until('the delivery', () => Promise.resolve(receiver.requests[0]));
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  assert.equal(headers['x-service-signature'], `sha256=${expected}`);
});

test('a retry returns 202 and sends one more request; a second one returns 409 and sends none', async () => {
  const scene = await setScene(404, 200);
  await submit(scene.form, 'again');
  const { id } = await settled(scene);
  const path = `/deliveries/${id}/retry`;
  const answers = await Promise.all([editor.api('POST', path), editor.api('POST', path)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409]);
  const line = await until('the retry', async () => {
    const [found] = (await log(scene)).data;
    return found!.status === 'Success' && found;
  });
  assert.equal(line.attempts, 2);
  assert.equal(scene.receiver.requests.length, 2);
  const { history } = await detail(id);
  assert.equal(history[1]!.trigger, 'manual');
  assert.equal((await editor.api('POST', path)).status, 409);
});

test('the log marks a test and shows it like any delivery, and the test counts toward nothing', async () => {
  const scene = await setScene({ status: 410, body: 'gone' });
  const sent = await editor.api<SentWebhookTest>('POST', at(scene.webhook, '/test'), {
    event: 'submission.deleted',
  });
  assert.equal(sent.status, 202);
  const line = await settled(scene);
  assert.deepEqual([line.id, line.is_test, line.event], [sent.body.id, true, 'submission.deleted']);
  const found = await detail(line.id);
  assert.equal(found.history[0]!.response_body, 'gone');
  const links = /\?expires=\d+&signature=[^"]+/g;
  assert.equal(
    found.request_body.replaceAll('?expires=(hidden)&signature=(hidden)', ''),
    scene.receiver.requests[0]!.body.toString().replaceAll(links, ''),
  );
  assert.match(found.request_body, /sample\.pdf/);
  const { last_delivery, day } = await health(scene);
  assert.deepEqual([last_delivery, day], [null, { success: 0, failed: 0, retrying: 0 }]);
  assert.equal((await editor.api('POST', `/deliveries/${line.id}/retry`)).status, 409);
  assert.equal((await tenant.call('GET', `/forms/${scene.form}`)).body.submission_count, 0);
});

test('health shows the last delivery and the results of the last day', async () => {
  const scene = await setScene(404, 200, 200);
  for (const count of [1, 2, 3]) {
    await submit(scene.form, `number ${count}`);
    await settled(scene, count);
  }
  const { last_delivery, day } = await health(scene);
  assert.equal(last_delivery!.status, 'Success');
  assert.deepEqual(day, { success: 2, failed: 1, retrying: 0 });
});

test('the log can be filtered by status, event and time, and has pages', async () => {
  const scene = await setScene(404, 200, 200);
  for (const count of [1, 2]) {
    await submit(scene.form, `number ${count}`);
    await settled(scene, count);
  }
  await editor.api('POST', at(scene.webhook, '/test'), { event: 'submission.updated' });
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
    const { status } = await viewer.api('GET', at(scene.webhook, `/deliveries${wrong}`));
    assert.equal(status, 400, wrong);
  }
});

test('a change returns 403 to viewers, 404 to strangers and 401 without a session', async () => {
  const scene = await setScene(404);
  await submit(scene.form, 'one');
  const { id } = await settled(scene);
  const one = at(scene.webhook);
  const reads = [of(scene.form), one, `${one}/deliveries`, `/deliveries/${id}`];
  const changes: [method: string, path: string, body: object][] = [
    ['POST', of(scene.form), { url, events: ['submission.created'] }],
    ['PATCH', one, { active: false }],
    ['DELETE', one, {}],
    ['POST', `${one}/test`, { event: 'submission.created' }],
    ['POST', `/deliveries/${id}/retry`, {}],
  ];
  const signedOut: Pick<ConsolePerson, 'api'> = {
    api: (...given) => stranger.api(given[0], given[1], given[2], { Cookie: '' }),
  };
  for (const path of reads) {
    assert.equal((await viewer.api('GET', path)).status, 200, path);
    assert.equal((await stranger.api('GET', path)).status, 404, path);
    assert.equal((await signedOut.api('GET', path)).status, 401, path);
  }
  for (const [method, path, body] of changes) {
    assert.equal((await viewer.api(method, path, body)).status, 403, path);
    assert.equal((await stranger.api(method, path, body)).status, 404, path);
    assert.equal((await signedOut.api(method, path, body)).status, 401, path);
  }
  assert.equal((await health(scene)).active, true);
  assert.equal(scene.receiver.requests.length, 1);
});

test('a webhook of another workspace returns the same 404 as an unknown one', async () => {
  const scene = await setScene(200);
  const other = await service.makeTenant();
  const owner = await signIn(service, { role: 'owner', workspaceId: other.workspaceId });
  const absent = await editor.api('GET', at(newId()));
  const foreign = await owner.api('GET', at(scene.webhook));
  assert.deepEqual([foreign.status, foreign.body], [404, absent.body]);
  assert.equal((await editor.api('GET', of(newId()))).status, 404);
  assert.equal((await editor.api('GET', of('x'))).status, 400);
});

test('a key manages webhooks only with that permission, and only those of its forms', async () => {
  const scene = await setScene(200);
  const keyOf = (permissions: Permission[] | undefined, formIds?: string[]) =>
    createKey(service.services.database, { workspaceId, name: 'Test', permissions, formIds });
  const ask = async (key: { key: string }, method: string, path: string, body?: object) =>
    (await callApi(service.url, key.key, method, path, body)).status;
  const plain = await keyOf(undefined);
  assert.equal(await ask(plain, 'GET', at(scene.webhook)), 403);
  const named = await keyOf(['webhooks:read', 'webhooks:write']);
  assert.equal(await ask(named, 'PATCH', at(scene.webhook), { active: false }), 200);
  const elsewhere = await keyOf(['webhooks:read'], [await makeForm()]);
  assert.equal(await ask(elsewhere, 'GET', at(scene.webhook)), 404);
});

test('the second of two editors who change a webhook at the same time gets 412', async () => {
  const { webhook } = await setScene(200);
  const tag = (await editor.api('GET', at(webhook))).headers.get('etag')!;
  const change = () => editor.api('PATCH', at(webhook), { active: false }, { 'If-Match': tag });
  const statuses = await Promise.all([change(), change()]);
  assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 412]);
  assert.equal((await editor.api('DELETE', at(webhook), {}, { 'If-Match': tag })).status, 412);
});

test('a new secret is shown once, and the previous one stays valid for a while unless `overlap` is false', async () => {
  const { webhook } = await setScene(200);
  const { status, body } = await editor.api<WebhookWithSecret>('POST', at(webhook, '/secret'));
  assert.equal(status, 200);
  assert.match(body.secret!, /^whsec_/);
  assert.notEqual(body.previous_secret_until, null);
  const own = { secret: 'a secret of my own', overlap: false };
  const second = await editor.api<WebhookWithSecret>('POST', at(webhook, '/secret'), own);
  assert.deepEqual([second.body.secret, second.body.previous_secret_until], [own.secret, null]);
});
