import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { openReceiver, type Reply } from '#test/receiver.ts';
import { closedPort, until } from '#test/service.ts';
import { makeForm, makeWebhook, readLog } from '#test/webhooks/make-webhook.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { deliverJobKind } from './delivery-job.ts';
import { eventKinds } from './event.ts';
import { retryDelivery } from './retry-delivery.ts';
import { sampleSnapshot, sendSampleTest, sendSubmissionTests } from './samples.ts';
import { createDeliveryHandler } from './sending/deliver.ts';
import { verifySignature } from './signature.ts';

const { database } = await testDatabase();
const vault = openVault('00'.repeat(32));
const log = openLog('silent');
const deliver = createDeliveryHandler({
  database,
  vault,
  publicUrl: 'https://forms.test',
  signLink: () => 'https://files.test/',
  retryDelays: [60, 60],
  timeoutSeconds: 10,
  allowNetworks: ['127.0.0.0/8'],
});
const queue = startQueue({
  database,
  log,
  handlers: { [deliverJobKind]: { run: deliver, perLane: 8 } },
  leaseSeconds: 25,
});
after(() => queue.stop({ graceMs: 0 }));
const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log });
const config = { webhookAllowNetworks: ['127.0.0.0/8'], publicUrl: 'https://forms.test' };
const context = { database, config, requestCounter, wakeQueue: () => queue.wake() };
const secret = 'a secret of some length';

async function setScene({ reply = 200, url }: { reply?: Reply; url?: string } = {}) {
  const place = await makeForm(database);
  const receiver = await openReceiver();
  receiver.replyWith(reply);
  const sealed = vault.seal('webhook secrets', secret);
  const webhookId = await makeWebhook(database, place, { url: url ?? receiver.url, secret: sealed });
  return { ...place, receiver, webhookId };
}
type Scene = Awaited<ReturnType<typeof setScene>>;

/** Sends a test and waits for its entry in the log. */
async function sendAndSettle(scene: Scene, kind = eventKinds[0] as (typeof eventKinds)[number]) {
  const { deliveryId } = await sendSampleTest(context, { ...scene, kind });
  return until('the test in the log', async () => {
    const lines = await readLog(database, scene);
    return lines.find(({ id, status }) => id === deliveryId && status !== 'Retrying');
  });
}
const attemptsOf = async (id: string) =>
  (await database.query('select * from attempts where delivery_id = $1', [id])).rows;

for (const kind of eventKinds) {
  test(`a test of ${kind} is sent like any delivery, with headers, signature and a sample of the form`, async () => {
    const scene = await setScene();
    const line = await sendAndSettle(scene, kind);
    assert.deepEqual([line.status, line.event, line.attempts], ['Success', kind, 1]);
    const [request] = scene.receiver.requests;
    const { headers } = request!;
    assert.equal(headers['x-service-event'], kind);
    assert.equal(headers['x-service-delivery-id'], line.id);
    assert.ok(verifySignature(secret, request!.body, headers['x-service-signature'] as string));
    const body = JSON.parse(request!.body.toString());
    assert.deepEqual(Object.keys(body), ['event', 'timestamp', 'delivery_id', 'form', 'submission']);
    assert.deepEqual(body.form, { id: scene.formId, name: 'Contact', workspace_id: scene.workspaceId });
    assert.deepEqual(body.submission.responses, { name: 'Ada Lovelace' });
    assert.deepEqual(body.submission.reference_data, { test: 'true' });
  });
}

test('the log keeps the headers of a test as sent, without the signature', async () => {
  const scene = await setScene();
  const { id } = await sendAndSettle(scene);
  const [attempt] = await attemptsOf(id);
  const [request] = scene.receiver.requests;
  assert.equal(attempt.trigger, 'test');
  assert.equal(attempt.url, scene.receiver.url);
  for (const [name, value] of Object.entries(attempt.request_headers as Record<string, string>)) {
    if (name === 'X-Service-Signature') assert.equal(value, 'sha256=(hidden)');
    else if (name === 'webhook-signature') assert.equal(value, 'v1,(hidden)');
    else assert.equal(value, request!.headers[name.toLowerCase()], name);
  }
  assert.ok('X-Service-Signature' in attempt.request_headers);
});

test('a failed test is one request, gives the reason and is not retried', async () => {
  const scene = await setScene({ reply: 500 });
  const line = await sendAndSettle(scene);
  assert.deepEqual([line.status, line.attempts, line.next_attempt_at], ['Failed', 1, null]);
  assert.equal((await attemptsOf(line.id))[0].reason, 'The receiver returned 500. Tests are not retried.');
  assert.equal(scene.receiver.requests.length, 1);
  const { rows } = await database.query('select count(*) from jobs where workspace_id = $1', [
    scene.workspaceId,
  ]);
  assert.equal(rows[0].count, 0);
});

test('a failed test cannot be retried manually, because it would be sent as a real event', async () => {
  const scene = await setScene({ reply: 500 });
  const { id } = await sendAndSettle(scene);
  await assert.rejects(retryDelivery({ database }, { workspaceId: scene.workspaceId, deliveryId: id }), {
    code: 'conflict',
    message: 'Tests cannot be retried. Send another test instead.',
  });
  assert.equal((await attemptsOf(id)).length, 1);
});

test('a test can be repeated, each with its own ID, and creates no submission', async () => {
  const scene = await setScene();
  const lines = [await sendAndSettle(scene), await sendAndSettle(scene)];
  assert.notEqual(lines[0]!.id, lines[1]!.id);
  assert.equal(scene.receiver.requests.length, 2);
  const { rows } = await database.query('select count(*) from submissions where form_id = $1', [
    scene.formId,
  ]);
  assert.equal(rows[0].count, 0);
});

test('a paused webhook can be tested', async () => {
  const scene = await setScene();
  await database.query('update webhooks set active = false where id = $1', [scene.webhookId]);
  assert.equal((await sendAndSettle(scene)).status, 'Success');
});

test('a test cannot scan ports: all blocked addresses give the same result within 50 ms (T10)', async () => {
  const targets = [
    'https://10.0.0.1:22/',
    'https://10.0.0.1:65000/',
    'https://169.254.169.254/',
    'https://[fd00::1]/',
  ];
  const reasons = new Set<string>();
  for (const url of targets) {
    const scene = await setScene({ url });
    // The fastest of five rounds, because a busy machine may delay any of them.
    let quickest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5 && quickest > 50; round += 1) {
      const line = await sendAndSettle(scene);
      quickest = Math.min(quickest, line.response_ms!);
      const [attempt] = await attemptsOf(line.id);
      assert.deepEqual([attempt.url, attempt.request_headers, attempt.response_status], [null, null, null]);
      reasons.add(`${line.status}: ${attempt.reason}`);
    }
    assert.ok(quickest <= 50, `${url} took ${quickest} ms`);
  }
  assert.equal(reasons.size, 1);
});

test('a test hides why a connection failed: a closed port and an invalid certificate give one reason (T10)', async () => {
  const selfSigned = await openReceiver({ certificate: 'selfsigned' });
  const reasons = new Set<string>();
  for (const url of [`https://127.0.0.1:${closedPort}/`, selfSigned.url]) {
    const line = await sendAndSettle(await setScene({ url }));
    const [{ reason, dns_ms, connect_ms, tls_ms, first_byte_ms }] = await attemptsOf(line.id);
    assert.deepEqual([dns_ms, connect_ms, tls_ms, first_byte_ms], [null, null, null, null]);
    reasons.add(`${line.status}: ${reason}`);
  }
  assert.deepEqual(
    [...reasons],
    ['Failed: Could not make a secure connection to the receiver. Tests are not retried.'],
  );
});

test('a workspace can send 30 tests a minute, and the next one returns 429', async () => {
  const scene = await setScene();
  for (let sent = 0; sent < 30; sent += 1)
    await sendSampleTest(context, { ...scene, kind: 'submission.created' });
  await assert.rejects(
    sendSampleTest(context, { ...scene, kind: 'submission.created' }),
    (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.code, 'rate_limit_exceeded');
      assert.ok(error.retryAfter! >= 1 && error.retryAfter! <= 60);
      return true;
    },
  );
});

test('a webhook of another workspace is not found', async () => {
  const [scene, other] = [await setScene(), await setScene()];
  await assert.rejects(
    sendSampleTest(context, {
      workspaceId: other.workspaceId,
      formId: other.formId,
      webhookId: scene.webhookId,
      kind: 'submission.created',
    }),
    (error: unknown) => error instanceof ApiError && error.code === 'not_found',
  );
});

test('real submissions are sent to another address as tests: signed, marked and without the headers of the webhook', async () => {
  const [scene, elsewhere] = [await setScene(), await openReceiver()];
  const custom = vault.seal('webhook headers', JSON.stringify({ Authorization: 'a password' }));
  await database.query(`update webhooks set headers = $2, header_names = '{Authorization}' where id = $1`, [
    scene.webhookId,
    custom,
  ]);
  const place = { id: scene.formId, name: 'Contact', workspaceId: scene.workspaceId };
  const form = { type: 'form', attrs: { name: 'Contact' }, children: [] } as const;
  const snapshots = [1, 2, 3].map(() => sampleSnapshot(place, form));
  const test = { ...scene, kind: 'submission.created', url: elsewhere.url } as const;
  const ids = await sendSubmissionTests(context, test, snapshots);
  const requests = await elsewhere.waitFor(3);
  assert.deepEqual(
    requests.map(({ headers }) => headers['x-service-delivery-id']).toSorted(),
    ids.toSorted(),
  );
  for (const { headers, body } of requests) {
    assert.equal(headers['x-service-test'], 'true');
    assert.equal(headers['authorization'], undefined);
    assert.ok(verifySignature(secret, body, headers['x-service-signature'] as string));
    const { submission } = JSON.parse(body.toString()) as { submission: { id: string } };
    assert.ok(snapshots.some((snapshot) => snapshot.submission.id === submission.id));
  }
  assert.equal(scene.receiver.requests.length, 0);
});

test('another address must follow the same rules as the URL of a webhook', async () => {
  const scene = await setScene();
  for (const url of [
    'http://93.184.215.14/',
    'https://10.0.0.1/',
    'https://localhost/',
    'https://forms.test/x',
  ])
    await assert.rejects(
      sendSampleTest(context, { ...scene, kind: 'submission.created', url }),
      (error: unknown) => error instanceof ApiError && error.code === 'validation_error',
      url,
    );
});
