import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '#kit/log.ts';
import { type Queue, startQueue } from '#kit/queue/worker.ts';
import type { Job } from '#kit/queue.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { openReceiver, type Receiver, type Reply } from '#test/receiver.ts';
import { happen, makeForm, makeWebhook, type Place, readLog } from '#test/webhooks/make-webhook.ts';
import { deliverJobKind } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import { retryDelivery } from '../retry-delivery.ts';
import { verifySignature } from '../signature.ts';
import { deleteWebhook } from '../webhooks.ts';
import { createDeliveryHandler, type DeliveryServices, webhookConcurrency } from './deliver.ts';
import { createDeliveryFinder } from './prepare.ts';

const { database } = await testDatabase();
const vault = openVault('00'.repeat(32));
const log = openLog('silent');
const delays = [0.02, 0.04, 0.03, 0.02, 0.02];

const context: DeliveryServices = {
  database,
  vault,
  publicUrl: 'https://forms.test',
  signLink: ({ workspaceId, id }, at) => `https://files.test/${workspaceId}/${id}?signed=${at.getTime()}`,
  retryDelays: delays,
  // Longer than a busy machine needs. Tests of the deadline set their own timeout.
  timeoutSeconds: 30,
  allowNetworks: ['127.0.0.0/8'],
};

let queue: Queue;
const startDelivering = (more: Partial<DeliveryServices> = {}, leaseSeconds = 25): void => {
  const handlers = {
    [deliverJobKind]: { run: createDeliveryHandler({ ...context, ...more }), ...webhookConcurrency },
  };
  queue = startQueue({ database, log, handlers, leaseSeconds });
};
startDelivering();
after(() => queue.stop({ graceMs: 0 }));

type Scene = Place & { receiver: Receiver; webhookId: string };

/** Creates a form with a webhook and a receiver that sends these replies. */
async function setScene({
  replies = [200],
  ...webhook
}: {
  replies?: Reply[];
  events?: EventKind[];
  secret?: Buffer;
  url?: string;
} = {}): Promise<Scene> {
  const place = await makeForm(database);
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const webhookId = await makeWebhook(database, place, { url: receiver.url, ...webhook });
  return { ...place, receiver, webhookId };
}

async function fire(scene: Place, options: Parameters<typeof happen>[2] = {}): Promise<void> {
  assert.equal(await happen(database, scene, options), 1);
  queue.wake();
}

const logOf = (scene: Scene) => readLog(database, scene);

/** Waits until the webhook's only delivery has this status. */
async function settled(scene: Scene, status: 'Success' | 'Failed' | 'Retrying', attempts?: number) {
  for (const end = performance.now() + 30_000; ; await sleep(5)) {
    const [delivery] = await logOf(scene);
    if (delivery?.status === status && (attempts ?? delivery.attempts) === delivery.attempts) return delivery;
    assert.ok(
      performance.now() < end,
      `waited in vain for ${status}; the delivery is ${JSON.stringify(delivery)}`,
    );
  }
}

const attemptsOf = async ({ workspaceId }: Place): Promise<Record<string, unknown>[]> =>
  (await database.query('select * from attempts where workspace_id = $1 order by attempt', [workspaceId]))
    .rows;

const countJobs = async ({ workspaceId }: Place): Promise<number> =>
  (await database.query('select count(*) from jobs where workspace_id = $1', [workspaceId])).rows[0].count;

test('an event is sent once, as specified, and logged as Success', async () => {
  const scene = await setScene({ replies: [{ status: 202, body: 'thank you' }] });
  await fire(scene);
  const delivery = await settled(scene, 'Success');
  const { requests } = scene.receiver;
  assert.equal(requests.length, 1);
  const [request] = requests;
  const { headers } = request!;
  assert.equal(request!.method, 'POST');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-service-event'], 'submission.created');
  assert.equal(headers['x-service-delivery-id'], delivery.id);
  assert.match(headers['user-agent']!, /^Formloom-Webhooks\/\d+\.\d+\.\d+$/);
  assert.equal('x-service-signature' in headers, false);
  const body = JSON.parse(request!.body.toString());
  assert.deepEqual(Object.keys(body), ['event', 'timestamp', 'delivery_id', 'form', 'submission']);
  assert.equal(body.event, 'submission.created');
  assert.equal(body.timestamp, '2026-01-02T03:04:05.678Z');
  assert.equal(body.delivery_id, delivery.id);
  assert.deepEqual(body.form, { id: scene.formId, name: 'Contact', workspace_id: scene.workspaceId });
  assert.deepEqual(body.submission.responses, { name: 'Ada' });
  assert.deepEqual(
    { ...delivery, id: '', form_id: '', submission_id: '', created_at: '', response_ms: 0 },
    {
      id: '',
      event: 'submission.created',
      is_test: false,
      form_id: '',
      submission_id: '',
      reason: null,
      status: 'Success',
      created_at: '',
      attempts: 1,
      response_status: 202,
      response_ms: 0,
      next_attempt_at: null,
    },
  );
  const [attempt] = await attemptsOf(scene);
  assert.equal(attempt!['trigger'], 'schedule');
  assert.equal(attempt!['response_body'], 'thank you');
  assert.equal(attempt!['reason'], null);
  assert.equal(await countJobs(scene), 0);
});

const text = 'a secret of some length';
const bodies: Record<string, string> = { 'an emoji and U+2028': '👋🏽\u2028', '64 KB': 'ä'.repeat(32_768) };
for (const [what, name] of Object.entries(bodies)) {
  test(`with a secret, the signature matches the raw body: ${what}`, async () => {
    const scene = await setScene({ secret: vault.seal('webhook secrets', text) });
    await fire(scene, { answers: { name } });
    const [request] = await scene.receiver.waitFor(1);
    const header = request!.headers['x-service-signature'] as string;
    assert.ok(verifySignature(text, request!.body, header));
    assert.equal(JSON.parse(request!.body.toString()).submission.responses.name, name);
  });
}

test('a failure is retried after each delay, then marked Failed and not sent again', async () => {
  const scene = await setScene({ replies: [500] });
  await fire(scene);
  const delivery = await settled(scene, 'Failed');
  assert.equal(delivery.attempts, 6);
  assert.equal(delivery.response_status, 500);
  assert.equal(delivery.next_attempt_at, null);
  assert.equal(await countJobs(scene), 0);
  const { requests } = scene.receiver;
  assert.equal(requests.length, 6);
  const waits = requests.slice(1).map((request, index) => (request.at - requests[index]!.at) / 1_000);
  for (const [index, wait] of waits.entries()) assert.ok(wait >= delays[index]!, `waited ${wait} s`);
  const reasons = (await attemptsOf(scene)).map((attempt) => attempt['reason']);
  assert.equal(reasons[0], 'The receiver returned 500. The next attempt is in 0.02 seconds.');
  assert.equal(reasons[5], 'The receiver returned 500. No automatic retries are left.');
});

test('every retry sends the same delivery ID and the same bytes until one succeeds', async () => {
  await queue.stop();
  startDelivering({ timeoutSeconds: 2 });
  const scene = await setScene({ replies: [503, 'reset', 429, 'hang', 204] });
  await fire(scene);
  const delivery = await settled(scene, 'Success');
  assert.equal(delivery.attempts, 5);
  const { requests } = scene.receiver;
  assert.equal(requests.length, 5);
  assert.deepEqual(
    [...new Set(requests.map((request) => request.headers['x-service-delivery-id']))],
    [delivery.id],
  );
  assert.equal(new Set(requests.map((request) => request.body.toString())).size, 1);
  const statuses = (await attemptsOf(scene)).map((attempt) => attempt['response_status']);
  assert.deepEqual(statuses, [503, null, 429, null, 204]);
  await queue.stop();
  startDelivering();
});

test('between retries the log shows the time of the next attempt', async () => {
  await queue.stop();
  startDelivering({ retryDelays: [60] });
  const scene = await setScene({ replies: [500] });
  await fire(scene);
  const delivery = await settled(scene, 'Retrying', 1);
  const { rows } = await database.query('select run_at from jobs where workspace_id = $1', [
    scene.workspaceId,
  ]);
  assert.equal(new Date(delivery.next_attempt_at!).toISOString(), rows[0].run_at.toISOString());
  const wait = rows[0].run_at.getTime() - new Date(delivery.created_at).getTime();
  assert.ok(wait >= 60_000 && wait < 75_000, `waits ${wait} ms`);
  await queue.stop();
  startDelivering();
});

for (const status of [301, 307, 400, 404, 410, 422]) {
  test(`a response of ${status} is Failed after one request`, async () => {
    const canary = await openReceiver();
    const scene = await setScene({ replies: [{ status, headers: { Location: canary.url } }] });
    await fire(scene);
    const delivery = await settled(scene, 'Failed');
    assert.equal(delivery.attempts, 1);
    assert.equal(await countJobs(scene), 0);
    assert.equal(scene.receiver.requests.length, 1);
    assert.equal(canary.requests.length, 0);
  });
}

test('the server never connects to an address that the guard refuses, and the delivery is Failed', async () => {
  const scene = await setScene({ url: 'https://10.0.0.1/' });
  await fire(scene);
  await settled(scene, 'Failed', 1);
  const [attempt] = await attemptsOf(scene);
  assert.match(attempt!['reason'] as string, /This URL is not allowed/);
});

test('a failed delivery is resent immediately, and only once if two people retry it at the same time', async () => {
  const scene = await setScene({ replies: [404, 200] });
  await fire(scene);
  const { id } = await settled(scene, 'Failed');
  const results = await Promise.allSettled(
    [1, 2].map(() => retryDelivery({ database }, { workspaceId: scene.workspaceId, deliveryId: id })),
  );
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const delivery = await settled(scene, 'Success');
  assert.equal(delivery.attempts, 2);
  const { requests } = scene.receiver;
  assert.equal(requests.length, 2);
  assert.equal(requests[1]!.headers['x-service-delivery-id'], id);
  assert.deepEqual(requests[1]!.body, requests[0]!.body);
  assert.equal((await attemptsOf(scene))[1]!['trigger'], 'manual');
});

test('a failed manual retry does not restart the schedule', async () => {
  const scene = await setScene({ replies: [404, 500] });
  await fire(scene);
  const { id } = await settled(scene, 'Failed');
  await retryDelivery({ database }, { workspaceId: scene.workspaceId, deliveryId: id });
  await settled(scene, 'Failed', 2);
  assert.equal(await countJobs(scene), 0);
  assert.equal(scene.receiver.requests.length, 2);
});

test('a paused webhook receives nothing, and its waiting deliveries become Failed', async () => {
  await queue.stop();
  const scene = await setScene();
  await fire(scene);
  await database.query('update webhooks set active = false where id = $1', [scene.webhookId]);
  startDelivering();
  await settled(scene, 'Failed', 1);
  assert.equal(scene.receiver.requests.length, 0);
  assert.match((await attemptsOf(scene))[0]!['reason'] as string, /paused/);
  const { rows } = await database.query('select failing_since from webhooks where id = $1', [
    scene.webhookId,
  ]);
  assert.deepEqual(rows, [{ failing_since: null }]);
});

test('a webhook fails since its first failed delivery, which is included in the failures since then', async () => {
  const scene = await setScene({ replies: [200, 500] });
  const other = await makeWebhook(database, scene, {
    url: scene.receiver.url,
    events: ['submission.deleted'],
  });
  await fire(scene);
  await settled(scene, 'Success');
  await fire(scene);
  await scene.receiver.waitFor(2);
  const isFailing = async () =>
    (await database.query('select failing_since from webhooks where id = $1', [scene.webhookId])).rows[0]
      .failing_since as Date | null;
  for (const end = performance.now() + 30_000; (await isFailing()) === null; await sleep(5)) {
    assert.ok(performance.now() < end, 'it does not fail');
  }
  const { rows } = await database.query('select failing_since from webhooks where id = $1', [other]);
  assert.equal(rows[0].failing_since, null, 'and no other does');
  const [failed, delivered] = await logOf(scene);
  const since = (await isFailing())!;
  assert.ok(since <= new Date(failed!.created_at), 'the one that failed was made before');
  assert.ok(since > new Date(delivered!.created_at));
});

test('a deleted webhook receives nothing, and its jobs end', async () => {
  await queue.stop();
  const scene = await setScene();
  await fire(scene);
  await deleteWebhook({ database }, scene);
  startDelivering();
  for (const end = performance.now() + 30_000; (await countJobs(scene)) > 0; await sleep(5)) {
    assert.ok(performance.now() < end, 'the job is still there');
  }
  assert.equal(scene.receiver.requests.length, 0);
});

test('a webhook that is deleted during a request leaves nothing behind', async () => {
  await queue.stop();
  startDelivering({ timeoutSeconds: 2 });
  const scene = await setScene({ replies: ['hang'] });
  await fire(scene);
  await scene.receiver.waitFor(1);
  await deleteWebhook({ database }, scene);
  for (const end = performance.now() + 30_000; (await countJobs(scene)) > 0; await sleep(5)) {
    assert.ok(performance.now() < end, 'the job is still there');
    await database.query('update jobs set run_at = now() where workspace_id = $1 and lease_token is null', [
      scene.workspaceId,
    ]);
    queue.wake();
  }
  assert.deepEqual(await attemptsOf(scene), []);
  assert.equal(scene.receiver.requests.length, 1);
  await queue.stop();
  startDelivering();
});

for (const sealed of ['secret', 'headers'] as const) {
  test(`a ${sealed === 'secret' ? 'secret' : 'header'} that this server cannot decrypt fails the delivery, and nothing is sent without it`, async () => {
    const scene = await setScene();
    const foreign = openVault('11'.repeat(32)).seal(
      `webhook ${sealed === 'secret' ? 'secrets' : sealed}`,
      '{}',
    );
    await database.query(`update webhooks set ${sealed} = $2 where id = $1`, [scene.webhookId, foreign]);
    await fire(scene);
    await settled(scene, 'Failed', 1);
    assert.equal(scene.receiver.requests.length, 0);
  });
}

test('a stop during a request is not an attempt, and the request is sent again', async () => {
  await queue.stop();
  startDelivering({ timeoutSeconds: 10 });
  const scene = await setScene({ replies: ['hang', 200] });
  await fire(scene);
  await scene.receiver.waitFor(1);
  await queue.stop({ graceMs: 0 });
  assert.deepEqual(await attemptsOf(scene), []);
  startDelivering();
  const delivery = await settled(scene, 'Success');
  assert.equal(delivery.attempts, 1);
  const [first, second] = scene.receiver.requests;
  assert.deepEqual(second!.body, first!.body);
});

for (const [how, retryDelays] of [
  ['the last one', []],
  ['one to be retried', [60]],
] as const) {
  test(`if another worker claims the job during a request, the first worker records no attempt: ${how}`, async () => {
    await queue.stop();
    startDelivering({ timeoutSeconds: 2, retryDelays });
    const scene = await setScene({ replies: ['hang'] });
    await fire(scene);
    await scene.receiver.waitFor(1);
    await database.query(
      `update jobs set lease_token = gen_random_uuid(), run_at = now() + interval '1 hour' where workspace_id = $1`,
      [scene.workspaceId],
    );
    // The stop waits for the request to end and for anything it would write.
    await queue.stop();
    assert.deepEqual(await attemptsOf(scene), []);
    assert.equal(await countJobs(scene), 1);
    startDelivering();
  });
}

test('a request that takes longer than a lease is sent once, and its attempt is recorded', async () => {
  await queue.stop();
  // A busy machine may stall for two thirds of the lease.
  startDelivering({ timeoutSeconds: 2.5 }, 2);
  const scene = await setScene({ replies: ['hang', 200] });
  await fire(scene);
  await settled(scene, 'Success', 2);
  assert.equal(scene.receiver.requests.length, 2);
  assert.match(String((await attemptsOf(scene))[0]!['reason']), /within 2.5 seconds/);
  await queue.stop();
  startDelivering();
});

test('an event that is too large to read ahead is read when its delivery starts', async () => {
  const scene = await setScene();
  const name = randomBytes(200_000).toString('base64');
  await fire(scene, { answers: { name } });
  const [request] = await scene.receiver.waitFor(1);
  assert.equal(JSON.parse(request!.body.toString()).submission.responses.name, name);
});

test('an event that was read too long ahead is read again, because its webhook may have changed', async () => {
  const scene = await setScene();
  await fire(scene);
  const { id } = await settled(scene, 'Success');
  const job = { workspaceId: scene.workspaceId, id } as Job;
  const moved = 'https://moved.test/hook';
  const found = await createDeliveryFinder(database)(job, {
    async enter() {
      await database.query('update webhooks set url = $2 where id = $1', [scene.webhookId, moved]);
      // Slightly longer than data that was read ahead stays fresh.
      await sleep(1_050);
    },
    leave() {},
  });
  assert.equal(found!.url, moved);
});

test('a delivery sends the data of the time of the event', async () => {
  await queue.stop();
  const scene = await setScene();
  await fire(scene);
  await database.query("update forms set name = 'Another name' where id = $1", [scene.formId]);
  startDelivering();
  const [request] = await scene.receiver.waitFor(1);
  assert.equal(JSON.parse(request!.body.toString()).form.name, 'Contact');
});
