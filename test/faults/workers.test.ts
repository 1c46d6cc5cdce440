import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openReceiver, type Receiver } from '#test/receiver.ts';
import { until } from '#test/service.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { isSlice } from '../cases.ts';
import { eventsPerFault, happenOften, openStage, type Scene } from './stage.ts';
import type { WorkerOptions } from './worker-process.ts';

// F2, F4, F5, F22: workers that die, stop or freeze. Each is a separate process.

const stage = await openStage();
const { rows } = await stage.database.query('select current_database() as name');
const databaseUrl = process.env['TEST_DATABASE_URL']!.replace(
  /^(postgres(?:ql)?:\/\/[^/]*)\/[^?]*/,
  `$1/${rows[0].name}`,
);

async function startProcess(leaseSeconds = 2, more: Partial<WorkerOptions> = {}): Promise<ChildProcess> {
  const options: WorkerOptions = { databaseUrl, leaseSeconds, ...more };
  const child = fork(
    fileURLToPath(new URL('worker-process.ts', import.meta.url)),
    [JSON.stringify(options)],
    {
      // The options of setup.mjs.
      execArgv: ['--disable-warning=ExperimentalWarning', '--preserve-symlinks'],
    },
  );
  after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const closed = once(child, 'exit');
  child.kill(signal);
  await closed;
}

/**
 * Ends the lease of a dead worker now. A short lease could also expire while a worker on a busy machine is
 * alive.
 */
async function endLease({ workspaceId }: Scene): Promise<void> {
  await stage.database.query('update jobs set run_at = now() where workspace_id = $1', [workspaceId]);
}

const fire = (scene: Scene, count: number): Promise<void> => happenOften(stage.database, scene, count);

const deliveriesOf = (receiver: Receiver): Map<unknown, Receiver['requests']> =>
  Map.groupBy(receiver.requests, ({ headers }) => headers['x-service-delivery-id']);

test('F22: three processes send every event exactly once', async () => {
  const receiver = await openReceiver();
  const scene = await stage.setScene(receiver.url);
  const workers = await Promise.all([startProcess(25), startProcess(25), startProcess(25)]);
  const count = eventsPerFault * 10;
  await fire(scene, count);
  const lines = await stage.settled(scene, 60 + count / 10);
  assert.ok(lines.every(({ status, attempts }) => status === 'Success' && attempts === 1));
  assert.equal(receiver.requests.length, count);
  assert.equal(deliveriesOf(receiver).size, count);
  await Promise.all(workers.map((worker) => end(worker, 'SIGTERM')));
});

test('F2: if a worker is killed during a request, another one sends it again after the lease', async () => {
  const receiver = await openReceiver();
  receiver.replyWith('hang', 200);
  const scene = await stage.setScene(receiver.url);
  const first = await startProcess();
  await fire(scene, 1);
  await receiver.waitFor(1);
  await end(first, 'SIGKILL');
  const killed = performance.now();
  const second = await startProcess();
  const [line] = await stage.settled(scene);
  // The server's lease of 25 s makes this happen within 30 s (G3).
  assert.ok(performance.now() - killed < 30_000);
  assert.deepEqual([line!.status, line!.attempts], ['Success', 1]);
  assert.equal(receiver.requests.length, 2);
  assert.equal(deliveriesOf(receiver).size, 1);
  assert.deepEqual(receiver.requests[0]!.body, receiver.requests[1]!.body);
  await end(second, 'SIGKILL');
});

test('F2: during a request longer than a lease, others send it only after its worker dies', {
  skip: isSlice,
}, async () => {
  const receiver = await openReceiver();
  receiver.replyWith('hang', 200);
  const scene = await stage.setScene(receiver.url);
  // A busy machine may stall for two thirds of the lease.
  const first = await startProcess(2.5, { timeoutSeconds: 60 });
  await fire(scene, 1);
  await receiver.waitFor(1);
  const second = await startProcess(2.5, { timeoutSeconds: 60 });
  const leaseEnd = 'select run_at from jobs where workspace_id = $1';
  const { rows } = await stage.database.query(leaseEnd, [scene.workspaceId]);
  const isLater = `select from (${leaseEnd}) as job where run_at > $2::timestamptz + interval '3 seconds'`;
  await until(
    'the lease to be renewed again and again',
    async () => (await stage.database.query(isLater, [scene.workspaceId, rows[0].run_at])).rowCount === 1,
  );
  assert.equal(receiver.requests.length, 1);
  await end(first, 'SIGKILL');
  await receiver.waitFor(2);
  const [line] = await stage.settled(scene);
  assert.deepEqual([line!.status, line!.attempts], ['Success', 1]);
  await end(second, 'SIGKILL');
});

test('F2: two kills at any moment lose nothing, and repeat only deliveries in progress', {
  skip: isSlice,
}, async () => {
  const receiver = await openReceiver();
  const scene = await stage.setScene(receiver.url);
  await fire(scene, eventsPerFault * 5);
  let kills = 0;
  // A delivery that is in progress at a third kill is parked.
  for (; kills < 2; kills += 1) {
    const worker = await startProcess(25);
    const before = receiver.requests.length;
    await until('some requests', async () => receiver.requests.length > before + kills * 3);
    await end(worker, 'SIGKILL');
    await endLease(scene);
  }
  const last = await startProcess(25);
  const lines = await stage.settled(scene);
  assert.ok(lines.every(({ status }) => status === 'Success'));
  assert.equal(deliveriesOf(receiver).size, lines.length);
  // At most the capacity of a process for each kill.
  assert.ok(receiver.requests.length - lines.length <= kills * 256);
  await end(last, 'SIGKILL');
});

test('F2: a delivery during which three workers died fails with the reason, and a retry sends it; others are sent', {
  skip: isSlice,
}, async () => {
  const [deadly, good] = [await openReceiver(), await openReceiver()];
  deadly.replyWith('hang', 'hang', 'hang', 200);
  const [scene, others] = [await stage.setScene(deadly.url), await stage.setScene(good.url)];
  await fire(scene, 1);
  for (let kills = 0; kills < 3; kills += 1) {
    const worker = await startProcess(25);
    await deadly.waitFor(kills + 1);
    await fire(others, 1);
    await end(worker, 'SIGKILL');
    await endLease(scene);
    await endLease(others);
  }
  const last = await startProcess(25);
  const [line] = await stage.settled(scene);
  assert.deepEqual([line!.status, line!.attempts], ['Failed', 1]);
  assert.match(line!.reasons[0]!, /stopped three times/);
  const sent = await stage.settled(others);
  assert.deepEqual(
    sent.map(({ status }) => status),
    ['Success', 'Success', 'Success'],
  );
  assert.equal(deadly.requests.length, 3);
  const { workspaceId } = scene;
  await retryDelivery({ database: stage.database }, { workspaceId, deliveryId: line!.id });
  assert.equal((await stage.settled(scene))[0]!.status, 'Success');
  await end(last, 'SIGTERM');
});

test('F4: a stopping worker hands over unfinished work immediately', async () => {
  const receiver = await openReceiver();
  receiver.replyWith('hang', 200);
  const scene = await stage.setScene(receiver.url);
  const first = await startProcess(60);
  await fire(scene, 1);
  await receiver.waitFor(1);
  const second = await startProcess(60);
  await end(first, 'SIGTERM');
  const stopped = performance.now();
  // The lease itself would last a minute.
  await receiver.waitFor(2);
  assert.ok(performance.now() - stopped < 30_000, `took ${Math.round(performance.now() - stopped)} ms`);
  const [line] = await stage.settled(scene);
  assert.deepEqual([line!.status, line!.attempts], ['Success', 1]);
  await end(second, 'SIGTERM');
});

test('F5: a frozen worker that wakes up changes nothing that its successor wrote', {
  skip: isSlice,
}, async () => {
  const receiver = await openReceiver();
  receiver.replyWith('hang', { status: 200, body: 'of the successor' });
  const scene = await stage.setScene(receiver.url);
  const frozen = await startProcess();
  await fire(scene, 1);
  await receiver.waitFor(1);
  frozen.kill('SIGSTOP');
  const second = await startProcess();
  await receiver.waitFor(2);
  const [line] = await stage.settled(scene);
  frozen.kill('SIGCONT');
  // Its lost lease forbids its write. A new job shows that it is awake.
  await end(second, 'SIGTERM');
  await fire(scene, 1);
  await until('the one that woke up to work', async () => receiver.requests.length >= 3);
  await stage.settled(scene);
  const settledLater = (await stage.ledger(scene)).find(({ id }) => id === line!.id);
  assert.deepEqual(settledLater, line);
  const { rows: bodies } = await stage.database.query(
    'select response_body from attempts where delivery_id = $1',
    [line!.id],
  );
  assert.deepEqual(bodies, [{ response_body: 'of the successor' }]);
  await end(frozen, 'SIGKILL');
});
