import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { closedPort, until } from '#test/service.ts';
import { newId } from '../clock.ts';
import { openDatabase } from '../database.ts';
import { openLog } from '../log.ts';
import { completeJob, enqueueJob, type Job, rescheduleJob } from '../queue.ts';
import { claimDueJobs, type JobClaimOptions, openClaimWindow } from './claim.ts';
import { openLanes } from './lanes.ts';
import { startQueue } from './worker.ts';

const { database } = await testDatabase();
const log = openLog('silent');
const workspaceId = newId();
await database.query(
  `insert into workspaces (id, name, plan, created_at) values ('${workspaceId}', 'Test', 'pro', now())`,
);
test.afterEach(() => database.query('delete from jobs'));

async function enqueue(lane: string): Promise<string> {
  const id = newId();
  await enqueueJob(database, { workspace_id: workspaceId, id, kind: 'work', lane, payload: {}, delay: 0 });
  return id;
}

/** Returns the state of a process that has just started and already holds these jobs. */
const startClaims = (claimed: readonly Job[] = []): JobClaimOptions => ({
  database,
  lanes: openLanes({ places: 10, onOpen: () => {} }),
  lookBack: openClaimWindow(),
  kinds: ['work'],
  caps: [8],
  leaseSeconds: 25,
  hasSuspect: () => claimed.some(({ lostClaims }) => lostClaims >= 2),
  outage: { seenAt: Number.NEGATIVE_INFINITY },
});

const claimAll = (claimed: readonly Job[] = []): Promise<Job[]> => claimDueJobs(startClaims(claimed), 10);

/** Expires the leases of a dead process, in the order of their jobs. */
const expireLeases = () =>
  database.query('update jobs set run_at = created_at where lease_token is not null');

const namesOf = (jobs: readonly Job[]): string[] => jobs.map(({ lane }) => lane).toSorted();

/** Claims everything that is due several times in a row, and expires the leases without a result. */
async function loseClaims(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    assert.ok((await claimAll()).length > 0);
    await expireLeases();
  }
}

test('jobs whose claims were lost twice run one at a time, beside jobs without lost claims', async () => {
  for (const lane of ['a', 'b', 'c']) await enqueue(lane);
  await loseClaims(2);
  await enqueue('new');
  const first = await claimAll();
  assert.deepEqual(namesOf(first), ['a', 'new']);
  assert.deepEqual(await claimAll(first), [], 'one of them runs');
  await completeJob(database, first.find(({ lane }) => lane === 'a')!);
  assert.deepEqual(namesOf(await claimAll()), ['b']);
});

test('leases that end during a database outage do not count as lost claims', async () => {
  const away = openDatabase(
    { connectionString: `postgres://nobody@127.0.0.1:${closedPort}/nowhere` },
    { pool: 1, log },
  );
  after(() => away.end());
  await enqueue('long');
  const running = startClaims();
  for (let outage = 0; outage < 4; outage += 1) {
    const [job] = await claimDueJobs(running, 10);
    assert.deepEqual([job?.lane, job?.lostClaims], ['long', 0]);
    await expireLeases();
    await assert.rejects(claimDueJobs({ ...running, database: away }, 10));
  }
  const [next] = await claimAll();
  assert.equal(next?.lostClaims, 1, 'a process that has seen no outage counts the lost claim');
});

test('a job is parked after three claims without a result, and the jobs claimed with it continue', async () => {
  const poison = await enqueue('poison');
  await enqueue('innocent');
  await loseClaims(3);
  const ran: string[] = [];
  const parked: [string, string][] = [];
  const queue = startQueue({
    database,
    log,
    handlers: {
      work: {
        perLane: 8,
        async run(job) {
          await completeJob(database, job);
          ran.push(job.lane);
        },
        onParked: (_, job, reason) => Promise.resolve(void parked.push([job.id, reason])),
      },
    },
  });
  after(() => queue.stop());
  await until('the job to be parked and the other to run', () =>
    Promise.resolve(ran.length === 1 && parked.length === 1),
  );
  assert.deepEqual(ran, ['innocent']);
  assert.equal(parked[0]![0], poison);
  assert.match(parked[0]![1], /three times/);
  const { rows } = await database.query('select id, parked_at is not null as is_parked from jobs');
  assert.deepEqual(rows, [{ id: poison, is_parked: true }]);

  assert.deepEqual(await claimAll(), [], 'it is never due');
  await enqueueJob(database, {
    workspace_id: workspaceId,
    id: poison,
    kind: 'work',
    lane: 'poison',
    payload: {},
    delay: 0,
  });
  queue.wake();
  await until('it to run again', () => Promise.resolve(ran.length === 2));
});

test('a job that could not be marked as failed is not run again, but parked at the next attempt', async () => {
  await enqueue('poison');
  await loseClaims(3);
  let runs = 0;
  let tries = 0;
  const queue = startQueue({
    database,
    log,
    handlers: {
      work: {
        perLane: 1,
        run: () => Promise.resolve(void (runs += 1)),
        onParked: async () => {
          tries += 1;
          if (tries === 1) throw new Error('not now');
        },
      },
    },
  });
  after(() => queue.stop());
  await until('it to be parked', async () => {
    const { rowCount } = await database.query('select from jobs where parked_at is not null');
    return rowCount === 1;
  });
  assert.deepEqual([runs, tries], [0, 2]);
});

for (const [what, end] of [
  ['a step that ends', (job: Job) => rescheduleJob(database, job, { delay: 0 })],
  ['a retry after an error', (job: Job) => rescheduleJob(database, job, { delay: 0, failures: 1 })],
] as const)
  test(`${what} resets the count of lost claims`, async () => {
    await enqueue('long');
    for (let round = 0; round < 3; round += 1) {
      await loseClaims(2);
      const [job] = await claimAll();
      assert.equal(job!.lostClaims, 2);
      await end(job!);
    }
    assert.equal((await claimAll())[0]!.lostClaims, 0);
  });

test('a stopping process returns its leases, and they do not count as lost claims', async () => {
  await enqueue('slow');
  await loseClaims(1);
  for (let round = 0; round < 3; round += 1) {
    const claimed: Job[] = [];
    const queue = startQueue({
      database,
      log,
      handlers: {
        work: {
          perLane: 1,
          run: (job, signal) =>
            new Promise((_, reject) => {
              claimed.push(job);
              signal.addEventListener('abort', () => reject(signal.reason));
            }),
        },
      },
    });
    await until('it is held', () => Promise.resolve(claimed.length === 1));
    assert.equal(claimed[0]!.lostClaims, 1);
    await queue.stop({ graceMs: 0 });
  }
});
