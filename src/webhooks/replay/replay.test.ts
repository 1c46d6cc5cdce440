import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { type Queue, startQueue } from '#kit/queue/worker.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { openReceiver, type Receiver, type Reply } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { happen, makeForm, makeWebhook, type Place, readLog } from '#test/webhooks/make-webhook.ts';
import { deliverJobKind } from '../delivery-job.ts';
import type { EventKind } from '../event.ts';
import type { ReplayFilter } from '../replay-filter.ts';
import { retryDelivery } from '../retry-delivery.ts';
import { createDeliveryHandler } from '../sending/deliver.ts';
import {
  cancelReplay,
  countReplayDeliveries,
  listReplays,
  readReplay,
  replayJobKind,
  runReplayBatch,
  startReplay,
} from './replay.ts';

const { database } = await testDatabase();
const log = openLog('silent');
const handlers = {
  [deliverJobKind]: {
    perLane: 8,
    run: createDeliveryHandler({
      database,
      vault: openVault('00'.repeat(32)),
      publicUrl: 'https://forms.test',
      signLink: () => 'https://files.test/',
      retryDelays: [],
      // Longer than a busy machine needs: without retries, one timeout fails a delivery.
      timeoutSeconds: 30,
      allowNetworks: ['127.0.0.0/8'],
    }),
  },
  [replayJobKind]: {
    perLane: 1,
    run: (job: Parameters<typeof runReplayBatch>[1]) =>
      runReplayBatch({ database, wakeQueue: () => queue.wake() }, job),
  },
};
let queue: Queue = startQueue({ database, log, handlers });
after(() => queue.stop({ graceMs: 0 }));

const all: ReplayFilter = { status: null, event: null, since: null, until: null };
const by = { kind: 'operator', id: '' } as const;
const failed: ReplayFilter = { ...all, status: 'Failed' };
const isConflict = (error: unknown): boolean => error instanceof ApiError && error.code === 'conflict';

type Scene = Place & { webhookId: string; receiver: Receiver };
async function setScene(...replies: Reply[]): Promise<Scene> {
  const place = await makeForm(database);
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  return { ...place, receiver, webhookId: await makeWebhook(database, place, { url: receiver.url }) };
}
const linesOf = (scene: Scene) => readLog(database, scene);
/**
 * Creates ended deliveries that were never sent: events of a webhook that was paused automatically are
 * recorded this way.
 */
async function makeOver(
  { workspaceId, formId, webhookId }: Scene,
  count: number,
  status: 'Failed' | 'Success' = 'Failed',
  kind: EventKind = 'submission.created',
): Promise<void> {
  const setActive = (active: boolean) =>
    database.query(`update webhooks set active = $2, paused_by = $3 where id = $1`, [
      webhookId,
      active,
      active ? null : 'failure',
    ]);
  await setActive(false);
  for (let made = 0; made < count; made += 1) await happen(database, { workspaceId, formId }, { kind });
  await setActive(true);
  if (status === 'Failed') return;
  await database.query(
    `update deliveries set status = 'Success' where id in
       (select id from deliveries where workspace_id = $1 and kind = $2 limit $3)`,
    [workspaceId, kind, count],
  );
}
const start = (scene: Scene, filter = failed) => startReplay({ database }, scene, { filter, by });
const ended = ({ workspaceId }: Scene, replayId: string) =>
  until('the replay to end', async () => {
    const replay = await readReplay(database, { workspaceId, replayId });
    return replay.state !== 'running' && replay;
  });
const settled = (scene: Scene) =>
  until('all to settle', async () => (await linesOf(scene)).every(({ status }) => status !== 'Retrying'));

test('a replay sends each failed delivery once more under its ID and reports its progress', async () => {
  const scene = await setScene(200);
  await makeOver(scene, 150);
  await makeOver(scene, 3, 'Success');
  const ids = (await linesOf(scene)).filter(({ status }) => status === 'Failed').map(({ id }) => id);
  const begun = await start(scene);
  assert.deepEqual([begun.state, begun.total, begun.done], ['running', 150, 0]);
  const replay = await ended(scene, begun.id);
  assert.deepEqual([replay.state, replay.done], ['finished', 150]);
  await settled(scene);
  const sent = scene.receiver.requests.map(({ headers }) => headers['x-service-delivery-id'] as string);
  assert.deepEqual(sent.toSorted(), ids.toSorted());
  assert.ok((await linesOf(scene)).every(({ status }) => status === 'Success'));
  const { rows } = await database.query(`select distinct trigger from attempts where workspace_id = $1`, [
    scene.workspaceId,
  ]);
  assert.deepEqual(rows, [{ trigger: 'replay' }]);
  assert.deepEqual(await listReplays(database, scene), [replay]);
});

test('a replay filters by status, event and time, and leaves out tests and deliveries in progress', async () => {
  const scene = await setScene('hang');
  await makeOver(scene, 2);
  await makeOver(scene, 1, 'Success', 'submission.updated');
  await makeOver(scene, 1, 'Failed', 'submission.deleted');
  await database.query(
    `update deliveries set created_at = '2026-02-01T00:00:00Z' where workspace_id = $1 and kind = 'submission.deleted'`,
    [scene.workspaceId],
  );
  await makeOver(scene, 1);
  await database.query(
    `update deliveries set is_test = true where (workspace_id, id) in
       (select workspace_id, id from deliveries where workspace_id = $1 and kind = 'submission.created' limit 1)`,
    [scene.workspaceId],
  );
  await happen(database, scene);
  const counts: [filter: Partial<ReplayFilter>, count: number][] = [
    [{}, 4],
    [{ status: 'Failed' }, 3],
    [{ status: 'Success' }, 1],
    [{ event: 'submission.deleted' }, 1],
    [{ until: '2026-02-01T00:00:00Z' }, 0],
    [{ since: '2026-02-01T00:00:00Z', until: '2026-02-01T00:00:01Z' }, 1],
    [{ since: '2026-02-01T00:00:01Z', status: 'Failed' }, 2],
  ];
  for (const [filter, count] of counts)
    assert.equal(
      await countReplayDeliveries(database, scene, { ...all, ...filter }),
      count,
      JSON.stringify(filter),
    );
});

test('a replay without deliveries finishes immediately', async () => {
  const scene = await setScene(200);
  const replay = await start(scene);
  assert.deepEqual([replay.state, replay.total], ['finished', 0]);
});

test('a paused webhook cannot be replayed, and pausing it stops a replay', async () => {
  const scene = await setScene('hang');
  await makeOver(scene, 100);
  const setActive = (active: boolean) =>
    database.query('update webhooks set active = $2 where id = $1', [scene.webhookId, active]);
  await setActive(false);
  await assert.rejects(start(scene), isConflict);
  await setActive(true);
  const { id } = await start(scene);
  await scene.receiver.waitFor(1);
  await setActive(false);
  const replay = await ended(scene, id);
  assert.equal(replay.state, 'cancelled');
  assert.ok(replay.done <= 64);
});

test('a canceled replay sends nothing more, and only its workspace can cancel it, once', async () => {
  const scene = await setScene('hang');
  await makeOver(scene, 200);
  const { id } = await start(scene);
  await assert.rejects(start(scene), isConflict, 'one at a time');
  await scene.receiver.waitFor(1);
  const place = { workspaceId: scene.workspaceId, replayId: id };
  const stranger = { workspaceId: newId(), replayId: id };
  await assert.rejects(cancelReplay({ database }, stranger), ApiError);
  const { state, done } = await cancelReplay({ database }, place);
  assert.equal(state, 'cancelled');
  assert.ok(done > 0 && done <= 64, `${done} were on their way`);
  await assert.rejects(cancelReplay({ database }, place), isConflict);
  await until('its job to end', async () => {
    const { rows } = await database.query('select from jobs where workspace_id = $1 and kind = $2', [
      scene.workspaceId,
      replayJobKind,
    ]);
    return rows.length === 0;
  });
  const waiting = (await linesOf(scene)).filter(({ status }) => status === 'Retrying');
  assert.ok(waiting.length <= done);
});

test('new events wait behind at most one batch of a replay', async () => {
  const scene = await setScene('hang');
  await makeOver(scene, 500);
  await start(scene);
  await scene.receiver.waitFor(8);
  const { rows } = await database.query(
    `select count(*)::integer as due from jobs where workspace_id = $1 and kind = $2`,
    [scene.workspaceId, deliverJobKind],
  );
  assert.ok(rows[0].due <= 64, `${rows[0].due} are due`);
  // Each request would hang until its time limit.
  await database.query('delete from webhooks where workspace_id = $1', [scene.workspaceId]);
});

test('a delivery that is retried manually during a replay is sent once', async () => {
  const scene = await setScene(200);
  await makeOver(scene, 20);
  const lines = await linesOf(scene);
  const byHand = lines.map(({ id: deliveryId }) =>
    retryDelivery({ database }, { workspaceId: scene.workspaceId, deliveryId }).catch((error: unknown) =>
      assert.ok(isConflict(error)),
    ),
  );
  const [{ id }] = await Promise.all([start(scene), ...byHand]);
  await ended(scene, id);
  await settled(scene);
  const sent = scene.receiver.requests.map(({ headers }) => headers['x-service-delivery-id'] as string);
  assert.deepEqual(sent.toSorted(), lines.map(({ id: delivery }) => delivery).toSorted());
});

test('another process completes a stopped replay and sends each delivery once', async () => {
  const scene = await setScene(200);
  await makeOver(scene, 300);
  const { id } = await start(scene);
  await scene.receiver.waitFor(30);
  await queue.stop({ graceMs: 0 });
  queue = startQueue({ database, log, handlers });
  const replay = await ended(scene, id);
  await settled(scene);
  assert.deepEqual([replay.state, replay.done], ['finished', 300]);
  const sent = new Set(scene.receiver.requests.map(({ headers }) => headers['x-service-delivery-id']));
  assert.equal(sent.size, 300);
});

test('a replay whose job was parked fails with its reason and does not block the next one', async () => {
  await queue.stop();
  const scene = await setScene(200);
  await makeOver(scene, 1);
  const replay = await startReplay({ database }, scene, { filter: failed, by });
  await database.query("update jobs set run_at = 'infinity', parked_at = now() where kind = $1", [
    replayJobKind,
  ]);
  const [found] = await listReplays(database, scene);
  assert.deepEqual([found!.id, found!.state, found!.ended_at], [replay.id, 'failed', null]);
  assert.match(found!.failed_reason!, /three times/);
  assert.equal((await startReplay({ database }, scene, { filter: failed, by })).state, 'running');
});
