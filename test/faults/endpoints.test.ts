import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { openVault } from '#kit/vault.ts';
import { openReceiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { changeWebhook } from '#webhooks/change-webhook.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { verifySignature } from '#webhooks/signature.ts';
import { happen } from '../webhooks/make-webhook.ts';
import { happenOften, openStage, type Scene } from './stage.ts';

// F23, F25 to F27: endpoints that change, fail and recover.

const stage = await openStage();
const config = { webhookAllowNetworks: ['127.0.0.0/8'], publicUrl: 'https://forms.test' };
const context = { database: stage.database, vault: openVault('00'.repeat(32)), config };
const change = (scene: Scene, what: object) =>
  changeWebhook(context, { workspaceId: scene.workspaceId, webhookId: scene.webhookId, ...what });
const old = 'the secret of before';

test('F27: for a day after a rotation, deliveries have both signatures and the custom headers', async () => {
  const receiver = await openReceiver();
  const scene = await stage.setScene(receiver.url, old);
  const { secret } = await change(scene, {
    secret: 'generate',
    headers: [{ name: 'Authorization', value: 'Bearer 1' }],
  });
  const queue = stage.startWorker();
  await stage.fire(scene, queue, 1);
  const [request] = await receiver.waitFor(1);
  const { headers, body } = request!;
  assert.equal(headers['authorization'], 'Bearer 1');
  assert.ok(verifySignature(secret!, body, headers['x-service-signature'] as string));
  assert.ok(verifySignature(old, body, headers['x-service-signature-previous'] as string));
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
  const keys = [Buffer.from(secret!.replace('whsec_', ''), 'base64'), Buffer.from(old)];
  assert.equal(
    headers['webhook-signature'],
    keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' '),
  );
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000) < 30);
  await stage.settled(scene);
  const { rows } = await stage.database.query(
    "select request_headers::text || coalesce(response_headers::text, '') as text from attempts where workspace_id = $1",
    [scene.workspaceId],
  );
  for (const hidden of ['Bearer 1', secret!, String(headers['x-service-signature']).slice(7)])
    assert.ok(!rows[0].text.includes(hidden));
  await stage.database.query("update webhooks set previous_secret_until = now() - interval '1 second'");
  await stage.fire(scene, queue, 1);
  const second = (await receiver.waitFor(2))[1]!;
  assert.equal(second.headers['x-service-signature-previous'], undefined);
  assert.equal((second.headers['webhook-signature'] as string).split(' ').length, 1);
  await queue.stop();
});

test('F27: a URL that changes between retries is checked again and receives the waiting deliveries', async () => {
  const [first, second] = [await openReceiver(), await openReceiver()];
  first.replyWith(500);
  const scene = await stage.setScene(first.url);
  const queue = stage.startWorker({ retryDelays: [3_600] });
  await stage.fire(scene, queue, 1);
  await first.waitFor(1);
  await assert.rejects(change(scene, { url: 'https://10.0.0.1/' }), { code: 'validation_error' });
  await change(scene, { url: second.url });
  await until('the first attempt to be written down', async () => {
    const { rowCount } = await stage.database.query(
      'update jobs set run_at = now() where workspace_id = $1 and lease_token is null',
      [scene.workspaceId],
    );
    return rowCount === 1;
  });
  queue.wake();
  await second.waitFor(1);
  assert.equal((await stage.settled(scene))[0]!.status, 'Success');
  await queue.stop();
});

test('F26: a Failed delivery stays Failed after the receiver recovers, and two simultaneous retries send it once', async () => {
  const receiver = await openReceiver();
  receiver.replyWith(500);
  const scene = await stage.setScene(receiver.url);
  const queue = stage.startWorker();
  await stage.fire(scene, queue, 1);
  const [line] = await stage.settled(scene);
  assert.deepEqual([line!.status, line!.attempts], ['Failed', 6]);
  receiver.replyWith(200);
  const asked = { workspaceId: scene.workspaceId, deliveryId: line!.id };
  const both = await Promise.allSettled([retryDelivery(context, asked), retryDelivery(context, asked)]);
  assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal((await stage.settled(scene))[0]!.status, 'Success');
  assert.equal(receiver.requests.length, 7);
  await queue.stop();
});

test('F25: a damaged delivery fails alone, and the others are sent', async () => {
  const receiver = await openReceiver();
  const scene = await stage.setScene(receiver.url);
  for (let made = 0; made < 6; made += 1) await happen(stage.database, scene);
  await stage.database.query(
    "update events set snapshot = '{}' where id = (select id from events where form_id = $1 order by id limit 1)",
    [scene.formId],
  );
  const queue = stage.startWorker();
  const lines = await stage.settled(scene);
  assert.deepEqual(lines.map(({ status }) => status).sort(), ['Failed', ...Array<string>(5).fill('Success')]);
  assert.equal(receiver.requests.length, 5);
  const failed = lines.find(({ status }) => status === 'Failed')!;
  assert.match(failed.reasons[0]!, /The event is damaged/);
  await queue.stop();
});

test('an endpoint that fails for days is paused, missed events are recorded, and a success clears its failures', async () => {
  const receiver = await openReceiver();
  receiver.replyWith(404);
  const scene = await stage.setScene(receiver.url);
  const queue = stage.startWorker({ pauseDays: 5 });
  const state = async () =>
    (
      await stage.database.query(
        'select active, paused_by, failing_since is not null as fails from webhooks where id = $1',
        [scene.webhookId],
      )
    ).rows[0];
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  assert.deepEqual(await state(), { active: true, paused_by: null, fails: true });
  receiver.replyWith(200);
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  assert.deepEqual(await state(), { active: true, paused_by: null, fails: false });
  receiver.replyWith(404);
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  await stage.database.query("update webhooks set failing_since = now() - interval '6 days'");
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  assert.deepEqual(await state(), { active: false, paused_by: 'failure', fails: true });
  assert.equal(await happen(stage.database, scene), 0);
  const missed = (await stage.ledger(scene)).at(-1)!;
  assert.deepEqual([missed.status, missed.attempts], ['Failed', 0]);
  await change(scene, { active: true });
  assert.deepEqual(await state(), { active: true, paused_by: null, fails: false });
  await queue.stop();
});

test('an endpoint without automatic pausing keeps failing, and its events are still sent', async () => {
  const receiver = await openReceiver();
  receiver.replyWith(404);
  const scene = await stage.setScene(receiver.url);
  await change(scene, { pausesOnFailure: false });
  const queue = stage.startWorker({ pauseDays: 5 });
  const state = async () =>
    (
      await stage.database.query(
        'select active, paused_by, failing_since < now() - make_interval(days => 5) as fails, xmin from webhooks where id = $1',
        [scene.webhookId],
      )
    ).rows[0];
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  await stage.database.query(
    "update webhooks set failing_since = now() - interval '6 days' where workspace_id = $1",
    [scene.workspaceId],
  );
  const before = await state();
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  const after = await state();
  assert.deepEqual([after.active, after.paused_by, after.fails], [true, null, true]);
  assert.equal(after.xmin, before.xmin, 'its row is not written at each failure');
  receiver.replyWith(200);
  await stage.fire(scene, queue, 1);
  await stage.settled(scene);
  assert.equal((await state()).fails, null);
  await queue.stop();
});

test('webhooks are served in turn: one with many waiting deliveries does not go before others with few', async () => {
  const busy = await openReceiver();
  const few = await openReceiver();
  const many = 600;
  await happenOften(stage.database, await stage.setScene(busy.url), many);
  const others = await Promise.all(Array.from({ length: 10 }, () => stage.setScene(few.url)));
  for (const scene of others) await happenOften(stage.database, scene, 2);
  const queue = stage.startWorker();
  const last = (await few.waitFor(20)).at(-1)!.at;
  await busy.waitFor(many, 60_000);
  const before = busy.requests.filter(({ at }) => at < last).length;
  assert.ok(before < many / 2, `${before} of ${many} came before them`);
  await queue.stop();
});

test('F23: many deliveries to a dead receiver do not delay others, use up no attempts and hold few connections', async () => {
  const dead = await openReceiver();
  dead.replyWith('hang');
  const healthy = await openReceiver();
  const deadScene = await stage.setScene(dead.url);
  const scene = await stage.setScene(healthy.url);
  // Longer than the rest of the test needs on a busy machine.
  const queue = stage.startWorker({ timeoutSeconds: 60 });
  await stage.fire(deadScene, queue, 300);
  await dead.waitFor(8);
  const waits: number[] = [];
  for (let count = 1; count <= 20; count += 1) {
    const began = performance.now();
    await stage.fire(scene, queue, 1);
    await healthy.waitFor(count);
    waits.push(performance.now() - began);
  }
  assert.ok(Math.max(...waits) < 30_000, `the slowest took ${Math.round(Math.max(...waits))} ms`);
  assert.equal(dead.requests.length, 8);
  const spent = (await stage.ledger(deadScene)).reduce((sum, { attempts }) => sum + attempts, 0);
  assert.ok(spent <= 8);
  await queue.stop({ graceMs: 0 });
});
