import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { cellsOf } from '#cells/cells.ts';
import { makeCells } from '#test/cells/make-cells.ts';
import { testDatabase } from '#test/database.ts';
import { newId } from './clock.ts';
import { openDatabase, transaction } from './database.ts';
import { openLog } from './log.ts';
import { listenForJobs, openAnnouncer } from './queue/announcer.ts';
import {
  claimDueJobs,
  findNextClaimDelay,
  listeningPollMs,
  openClaimWindow,
  pollMs,
  renewLeases,
} from './queue/claim.ts';
import { openLanes } from './queue/lanes.ts';
import { backoffSeconds, type Handlers, type Queue, startQueue } from './queue/worker.ts';
import {
  completeJob,
  enqueueJob,
  type Job,
  type JobHandler,
  LaneNarrowed,
  LeaseLost,
  rescheduleJob,
} from './queue.ts';

const { database, url } = await testDatabase();
// A second pool acts as a second process: queues share only the database.
const otherDatabase = openDatabase({ connectionString: url }, { pool: 4, log: openLog('silent') });
after(() => otherDatabase.end());

const workspaceId = newId();
await database.query(
  `insert into workspaces (id, name, plan, created_at) values ('${workspaceId}', 'Test', 'pro', now())`,
);

const openQueues: Queue[] = [];
test.afterEach(async () => {
  await Promise.all(openQueues.splice(0).map((queue) => queue.stop({ graceMs: 0 })));
  await database.query('delete from jobs');
});

function start(
  run: JobHandler,
  more: Partial<Parameters<typeof startQueue>[0]> & { perLane?: number } = {},
): Queue {
  const { perLane = 8, ...options } = more;
  const handlers: Handlers = { work: { run, perLane } };
  const queue = startQueue({ database, log: openLog('silent'), handlers, ...options });
  openQueues.push(queue);
  return queue;
}

async function enqueue(lane: string, { count = 1, delay = 0, kind = 'work' } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, newId);
  await transaction(database, async (client) => {
    for (const id of ids) {
      await enqueueJob(client, {
        workspace_id: workspaceId,
        id,
        kind,
        lane,
        payload: { lane },
        delay,
      });
    }
  });
  return ids;
}

async function until(what: string, isTrue: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await isTrue())) {
    assert.ok(performance.now() < end, `waited in vain until ${what}`);
    await sleep(5);
  }
}

const countJobs = async (): Promise<number> =>
  (await database.query<{ count: number }>('select count(*) from jobs')).rows[0]!.count;
const dueAt = async (id: string): Promise<Date | undefined> =>
  (await database.query<{ run_at: Date }>('select run_at from jobs where id = $1', [id])).rows[0]?.run_at;
const noJobsLeft = async (): Promise<boolean> => (await countJobs()) === 0;

/** Runs until its signal aborts. */
const hang = async (_: Job, signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
};

const outage = { seenAt: Number.NEGATIVE_INFINITY };

test('a job runs immediately with its payload, and is removed when it completes', async () => {
  const seen: Job[] = [];
  const queue = start(async (job) => {
    seen.push(job);
    await completeJob(database, job);
  });
  const [id] = await enqueue('a');
  queue.wake();
  await until('the job ran', noJobsLeft);
  assert.equal(seen.length, 1);
  assert.deepEqual(
    {
      id: seen[0]!.id,
      workspaceId: seen[0]!.workspaceId,
      payload: seen[0]!.payload,
      failures: seen[0]!.failures,
    },
    { id, workspaceId, payload: { lane: 'a' }, failures: 0 },
  );
});

test('a job of a transaction that rolls back never runs', async () => {
  const values = { workspace_id: workspaceId, kind: 'work', lane: 'a', payload: {}, delay: 0 };
  const refused = transaction(database, async (client) => {
    await enqueueJob(client, { ...values, id: newId() });
    throw new Error('refused');
  });
  await assert.rejects(refused, /refused/);
  assert.equal(await countJobs(), 0);
});

test('another process is notified of new jobs without waiting for its next poll', async () => {
  const ran: string[] = [];
  start(
    async (job) => {
      await completeJob(otherDatabase, job);
      ran.push(job.id);
    },
    { database: otherDatabase },
  );
  const enqueuer = startQueue({ database, log: openLog('silent'), handlers: {} });
  openQueues.push(enqueuer);
  const delays: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await enqueue('a');
    const woken = performance.now();
    enqueuer.wake();
    await until('it ran elsewhere', () => ran.length === round + 1);
    delays.push(performance.now() - woken);
  }
  // Polling alone would take a second each time: a round begins when the previous job has run.
  assert.ok(Math.min(...delays) < 500, `took ${delays.map(Math.round).join(', ')} ms`);
});

test('a delayed job runs when it is due by the database clock, not earlier and not much later', async () => {
  let ran = 0;
  start(async (job) => {
    ran = performance.now();
    await completeJob(database, job);
  });
  const enqueued = performance.now();
  await enqueue('a', { delay: 0.4 });
  await until('it ran', () => ran > 0);
  assert.ok(ran - enqueued >= 395, `ran after ${ran - enqueued} ms`);
  assert.ok(ran - enqueued < 5_000, `ran after ${ran - enqueued} ms`);
});

test('a rescheduled job runs again with the given number of failures', async () => {
  const failures: number[] = [];
  const queue = start(async (job) => {
    failures.push(job.failures);
    if (failures.length === 1) await rescheduleJob(database, job, { delay: 0.02, failures: 3 });
    else if (failures.length === 2) await rescheduleJob(database, job, { delay: 0.02 });
    else await completeJob(database, job);
  });
  await enqueue('a');
  queue.wake();
  await until('it ran three times', noJobsLeft);
  assert.deepEqual(failures, [0, 3, 0]);
});

/** Starts a queue that cannot reach the database from `cut` until `mend`, so its leases are not renewed. */
async function startCuttable(run: JobHandler): Promise<{ cut(): Promise<void>; mend(): void }> {
  const narrow = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent') });
  after(() => narrow.end());
  start(run, { database: narrow, leaseSeconds: 0.5 });
  let only: PoolClient | undefined;
  return {
    async cut() {
      only = await narrow.connect();
    },
    mend() {
      only?.release();
    },
  };
}

for (const [how, settle] of [
  ['done', completeJob],
  ['for later', (client: PoolClient, job: Job) => rescheduleJob(client, job, { delay: 3_600 })],
] as const) {
  test(`a disconnected worker's job is claimed by another when its lease ends; the worker is aborted and cannot settle it as ${how}`, async () => {
    const begun = Promise.withResolvers<void>();
    const mended = Promise.withResolvers<void>();
    const frozen = Promise.withResolvers<unknown>();
    const reasons: unknown[] = [];
    const lonely = await startCuttable(async (job, signal) => {
      begun.resolve();
      await hang(job, signal).catch((error: unknown) => reasons.push(error));
      await mended.promise;
      await transaction(database, async (client) => {
        await client.query(`update workspaces set name = 'written by the frozen one' where id = $1`, [
          workspaceId,
        ]);
        await settle(client, job);
      }).then(() => frozen.resolve('it has written'), frozen.resolve);
    });
    await enqueue('a');
    await begun.promise;
    await lonely.cut();
    let taken = 0;
    start(
      async (job) => {
        taken += 1;
        // The job still exists and belongs to the successor when the frozen worker resumes.
        await frozen.promise;
        await completeJob(otherDatabase, job);
      },
      { database: otherDatabase },
    );
    await until('it was taken over', () => taken === 1);
    assert.ok(reasons[0] instanceof LeaseLost);
    mended.resolve();
    lonely.mend();
    assert.ok((await frozen.promise) instanceof LeaseLost);
    await until('the successor is done', noJobsLeft);
    assert.equal(taken, 1);
    const { rows } = await database.query('select name from workspaces where id = $1', [workspaceId]);
    assert.equal(rows[0].name, 'Test');
  });
}

test('a job that takes longer than a lease keeps its lease while its process lives, and runs once', async () => {
  let runs = 0;
  // A busy machine may stall for two thirds of it.
  const leaseSeconds = 2;
  const run: JobHandler = async (job) => {
    runs += 1;
    const firstEnd = (await dueAt(job.id))!.getTime();
    await until(
      'its lease would be over',
      async () => (await dueAt(job.id))!.getTime() > firstEnd + 1_000 * leaseSeconds,
    );
    await completeJob(database, job);
  };
  const queue = start(run, { leaseSeconds });
  start(run, { leaseSeconds, database: otherDatabase });
  const [later] = await enqueue('b', { delay: 60, kind: 'of another' });
  const due = await dueAt(later!);
  await enqueue('a');
  queue.wake();
  await until('it is done', async () => (await countJobs()) === 1);
  assert.equal(runs, 1);
  assert.deepEqual(await dueAt(later!), due, 'what is not held stays as it is');
});

test('a lost lease is not renewed, and settling one job does not block the renewal of others', async () => {
  const claimed: Job[] = [];
  const queue = start(async (job, signal) => {
    claimed.push(job);
    await hang(job, signal);
  });
  await enqueue('a', { count: 3 });
  queue.wake();
  await until('all are held', () => claimed.length === 3);
  const [lost, settled, active] = claimed as [Job, Job, Job];
  await database.query('update jobs set lease_token = gen_random_uuid() where id = $1', [lost.id]);
  const due = await dueAt(lost.id);
  const renewed = await transaction(otherDatabase, async (client) => {
    await completeJob(client, settled);
    return renewLeases(database, {
      workspace_ids: claimed.map((job) => job.workspaceId),
      ids: claimed.map(({ id }) => id),
      lease_tokens: claimed.map(({ leaseToken }) => leaseToken),
      lease_seconds: 3_600,
    });
  });
  assert.deepEqual(renewed, [{ lease_token: active.leaseToken }]);
  assert.deepEqual(await dueAt(lost.id), due);
});

test('a queue with little capacity runs all jobs, lane after lane', async () => {
  const lanes: string[] = [];
  const queue = start(
    async (job) => {
      lanes.push(job.lane);
      await completeJob(database, job);
    },
    { concurrency: 2 },
  );
  await enqueue('many', { count: 18 });
  await enqueue('few', { count: 2 });
  queue.wake();
  await until('all ran', noJobsLeft);
  assert.equal(lanes.length, 20);
  assert.ok(lanes.indexOf('few') < 12, lanes.join(' '));
});

test('while no job can be claimed, the queue sleeps until its next poll', async () => {
  await enqueue('a', { kind: 'from a newer version' });
  await enqueue('closed');
  const lanes = openLanes({ places: 1, onOpen: () => {} });
  lanes.lineUp('closed', { perLane: 1 }, new AbortController().signal);
  const [lookBack, kinds] = [openClaimWindow(), ['work']];
  const claims = {
    database,
    lanes,
    lookBack,
    kinds,
    caps: [1],
    leaseSeconds: 25,
    hasSuspect: () => false,
    outage,
  };
  assert.equal(await findNextClaimDelay(claims, true), pollMs);
  await enqueue('seen', { delay: -60 });
  assert.ok(
    (await findNextClaimDelay(claims, true)) < pollMs,
    'somebody else has it locked: it is looked for soon',
  );
  lookBack.foundNothing(performance.now(), lookBack.seconds(false));
  assert.equal(await findNextClaimDelay(claims, true), pollMs);
});

test('a notified queue sleeps until the next job is due, and polls each second without notifications or after a possible miss', async () => {
  let clock = 5_000;
  const [lookBack, kinds] = [openClaimWindow(() => clock), ['work']];
  const lanes = openLanes({ places: 1, onOpen: () => {} });
  const claims = {
    database,
    lanes,
    lookBack,
    kinds,
    caps: [1],
    leaseSeconds: 25,
    hasSuspect: () => false,
    outage,
  };
  const look = (): void => lookBack.foundNothing(clock, lookBack.seconds(false));
  look();
  assert.equal(await findNextClaimDelay(claims, true), listeningPollMs);
  assert.equal(await findNextClaimDelay(claims, false), pollMs, 'nothing announces it');
  clock += 10;
  look();
  assert.equal(
    await findNextClaimDelay(claims, true),
    pollMs,
    'a transaction that took long may have ended since',
  );
  clock += 1_000;
  look();
  assert.equal(await findNextClaimDelay(claims, true), listeningPollMs);
  // The process with this lease may have died.
  const [leased] = await enqueue('a', { delay: 5 });
  await database.query('update jobs set lease_token = gen_random_uuid() where id = $1', [leased]);
  const ms = await findNextClaimDelay(claims, true);
  assert.ok(ms > pollMs && ms <= 5_000, `${ms} ms`);
  await enqueue('locked', { delay: -60 });
  assert.equal(await findNextClaimDelay(claims, true), pollMs, 'who has it locked may give it back');
  await database.query('delete from jobs');
  lanes.lineUp('a', { perLane: 1 }, new AbortController().signal);
  assert.equal(await findNextClaimDelay(claims, true), pollMs, 'what waits for a lane was not looked at');
});

/**
 * Returns the pool of a queue that has no work left and sleeps for long. Its listening connection is outside
 * the pool.
 */
async function resting(name: string): Promise<typeof database> {
  const own = openDatabase({ connectionString: url }, { pool: 2, log: openLog('silent'), name });
  after(() => own.end());
  start((job) => completeJob(own, job), { database: own });
  await until('it rests', async () => {
    const { rows } = await database.query<{ rests: boolean }>(
      `select bool_and(query like 'listen%' or query_start < now() - make_interval(secs => $2)) and count(*) > 1 as rests
         from pg_stat_activity where application_name = $1`,
      [name, (1.5 * pollMs) / 1_000],
    );
    return rows[0]!.rests;
  });
  return own;
}

test('a sleeping queue polls again when it loses its notifications', async () => {
  await resting('cut off');
  await enqueue('a');
  const lost = performance.now();
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut off' and query like 'listen%'`,
  );
  await until('the unannounced jobs to run', noJobsLeft);
  assert.ok(performance.now() - lost < listeningPollMs / 2);
});

test("a sleeping queue runs another process's job when the job is due", async () => {
  await resting('announced');
  const enqueuer = startQueue({ database, log: openLog('silent'), handlers: {} });
  openQueues.push(enqueuer);
  const began = performance.now();
  await enqueue('a', { delay: 3 });
  enqueuer.wake();
  await until('it ran', noJobsLeft);
  const ms = performance.now() - began;
  assert.ok(ms >= 2_900 && ms < listeningPollMs * 0.8, `${ms} ms`);
});

test('an announcement that failed is repeated when the database is available again', async () => {
  const narrow = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent'), waitMs: 500 });
  after(() => narrow.end());
  const senders: string[] = [];
  const listener = listenForJobs(database, {
    log: openLog('silent'),
    notify: (sender) => senders.push(sender),
  });
  await until('it listens', () => listener.isListening());
  let only: PoolClient | undefined;
  // On a busy machine the first attempt may time out.
  await until('it has its connection', async () => {
    only = await narrow.connect().catch(() => undefined);
    return only !== undefined;
  });
  let failures = 0;
  const log = openLog('silent');
  log.debug = () => (failures += 1);
  const announcer = openAnnouncer({ database: narrow, log }, 'late');
  announcer.announce();
  await until('it to fail', () => failures > 0);
  only!.release();
  await until('its announcement', () => senders.includes('late'));
  await announcer.stop();
  await listener.stop();
});

test('a job whose lane has narrowed is returned without counting a failure', async () => {
  const failures: number[] = [];
  const queue = start(async (job) => {
    failures.push(job.failures);
    if (failures.length === 1) throw new LaneNarrowed();
    await completeJob(database, job);
  });
  await enqueue('a');
  queue.wake();
  await until('it ran again', noJobsLeft);
  assert.deepEqual(failures, [0, 0]);
});

test('1,000 due jobs of a dead endpoint do not delay a healthy one, and use no more capacity than their cap', async () => {
  await enqueue('dead', { count: 1_000 });
  let dead = 0;
  const healthy: number[] = [];
  const queue = start(async (job, signal) => {
    if (job.lane === 'dead') {
      dead += 1;
      await hang(job, signal);
    }
    await completeJob(database, job);
    healthy.push(performance.now());
  });
  await until('the dead lane has begun', () => dead > 0);
  const delays: number[] = [];
  for (let round = 1; round <= 20; round += 1) {
    await enqueue('healthy');
    const woken = performance.now();
    queue.wake();
    await until('the healthy one ran', () => healthy.length === round);
    delays.push(healthy.at(-1)! - woken);
  }
  assert.equal(dead, 8);
  const { rows } = await database.query('select from jobs where lease_token is not null');
  assert.equal(rows.length, 8, 'and the others are left to other processes');
  // The minimum counts: a busy machine may delay most jobs, but dead jobs would delay all of them.
  assert.ok(Math.min(...delays) < 500, `took ${delays.map(Math.round).join(', ')} ms`);
});

test('a job of a long transaction is found despite another lane with a hanging endpoint', async () => {
  const hangs = Promise.withResolvers<void>();
  const done: string[] = [];
  await enqueue('dead', { count: 100 });
  const claimed: string[] = [];
  start(async (job) => {
    claimed.push(job.lane);
    if (job.lane === 'dead') await hangs.promise;
    await completeJob(database, job);
    done.push(job.lane);
  });
  await until('the lane to be full', () => claimed.length === 8);
  await transaction(database, async (client) => {
    const job = {
      workspace_id: workspaceId,
      id: newId(),
      kind: 'work',
      lane: 'late',
      payload: {},
      delay: -60,
    };
    await enqueueJob(client, job);
  });
  await until('the late job', () => done.includes('late'));
  assert.deepEqual(done, ['late']);
  hangs.resolve();
});

test('a lane never runs more jobs at the same time than its cap, and runs all of them in the end', async () => {
  let running = 0;
  let most = 0;
  const queue = start(
    async (job) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(2);
      running -= 1;
      await completeJob(database, job);
    },
    { perLane: 3 },
  );
  await enqueue('a', { count: 100 });
  queue.wake();
  await until('all ran', noJobsLeft);
  assert.equal(most, 3);
});

test('a job whose handler throws is retried later with its failure counted, and does not affect other jobs', async () => {
  const failures: number[] = [];
  let thrownAt = 0;
  let others = 0;
  const queue = start(async (job) => {
    if (job.lane === 'poison') {
      failures.push(job.failures);
      thrownAt = Date.now();
      throw new Error('cannot be done');
    }
    await completeJob(database, job);
    others += 1;
  });
  await enqueue('poison');
  await enqueue('a', { count: 20 });
  queue.wake();
  await until('the others ran', () => others === 20);
  let due: number | undefined;
  await until('it failed twice', async () => {
    const { rows } = await database.query<{ due: number }>(
      `select extract(epoch from run_at)::double precision as due from jobs
        where lease_token is null and failures = 2`,
    );
    due = rows[0]?.due;
    return due !== undefined;
  });
  assert.deepEqual(failures, [0, 1]);
  const seconds = due! - thrownAt / 1_000;
  assert.ok(seconds > 1 && seconds < 10, `waits ${seconds} s`);
});

test('a job that keeps failing is retried hourly in the end', () => {
  const waits = [0, 1, 2, 3, 12, 13, 1_000].map(backoffSeconds);
  assert.deepEqual(waits, [1, 1, 2, 4, 2_048, 3_600, 3_600]);
});

test('jobs of a kind that this process does not know are not touched', async () => {
  // More than one claim reads.
  await enqueue('a', { kind: 'from a newer version', count: 150, delay: -1 });
  const queue = start((job) => completeJob(database, job));
  await enqueue('a');
  queue.wake();
  await until('the known one ran', async () => (await countJobs()) === 150);
  const { rows } = await database.query('select distinct kind, lease_token from jobs');
  assert.deepEqual(rows, [{ kind: 'from a newer version', lease_token: null }]);
});

test('stop lets a running job finish', async () => {
  const begun = Promise.withResolvers<void>();
  const queue = start(async (job) => {
    begun.resolve();
    await sleep(100);
    await completeJob(database, job);
  });
  await enqueue('a');
  queue.wake();
  await begun.promise;
  await queue.stop();
  assert.equal(await countJobs(), 0);
});

test('stop returns unfinished jobs, and another process claims them immediately', async () => {
  const begun = Promise.withResolvers<void>();
  const stopping = start(async (job, signal) => {
    begun.resolve();
    await hang(job, signal);
  });
  await enqueue('a');
  stopping.wake();
  await begun.promise;
  const taken: Job[] = [];
  start(
    async (job) => {
      await completeJob(otherDatabase, job);
      taken.push(job);
    },
    { database: otherDatabase },
  );
  const stopped = performance.now();
  await stopping.stop({ graceMs: 50 });
  await until('it was taken over', () => taken.length === 1);
  // A lease lasts 25 s.
  assert.ok(performance.now() - stopped < 20_000);
  assert.equal(taken[0]!.failures, 0);
});

test('a claim in flight when the queue stops starts no jobs, and returns those it gets', async () => {
  const narrow = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent') });
  after(() => narrow.end());
  const only = await narrow.connect();
  let ran = 0;
  const queue = start(
    async () => {
      ran += 1;
    },
    { database: narrow },
  );
  const stopped = queue.stop({ graceMs: 0 });
  await enqueue('a');
  // Waits until the grace period has ended: before that the queue would correctly run the job.
  await sleep(5);
  only.release();
  await stopped;
  const { rows } = await database.query('select lease_token, run_at <= now() as is_due from jobs');
  assert.deepEqual(rows, [{ lease_token: null, is_due: true }]);
  assert.equal(ran, 0);
});

test('two processes run each of 2,000 jobs once', async () => {
  const runs = new Map<string, number>();
  const runIn =
    (pool: typeof database): JobHandler =>
    async (job) => {
      runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
      await completeJob(pool, job);
    };
  const lanes = await Promise.all(
    Array.from({ length: 8 }, (_, lane) => enqueue(`lane ${lane}`, { count: 250 })),
  );
  start(runIn(database));
  start(runIn(otherDatabase), { database: otherDatabase });
  await until('all ran', noJobsLeft);
  assert.deepEqual([...runs.keys()].sort(), lanes.flat().sort());
  assert.deepEqual([...new Set(runs.values())], [1]);
});

test('a queue survives the loss of all its connections', async () => {
  let ran = 0;
  const queue = start(async (job) => {
    await completeJob(database, job);
    ran += 1;
  });
  await enqueue('a');
  queue.wake();
  await until('the first ran', () => ran === 1);
  const admin = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent') });
  after(() => admin.end());
  // Waits for each termination: a connection that ended later would be lent to the next query.
  await admin.query(
    'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await until('the database answers again', () =>
    database.query('select').then(
      () => true,
      () => false,
    ),
  );
  await enqueue('a');
  queue.wake();
  await until('the second ran', () => ran === 2);
  await until('it listens again', async () => {
    const { rows } = await admin.query(
      "select from pg_stat_activity where datname = current_database() and query = 'listen formloom_jobs'",
    );
    return rows.length > 0;
  });
});

test('jobs claimed at the end of a round stay claimed when the next round begins', async () => {
  const claims = {
    database,
    lanes: openLanes({ places: 10, onOpen: () => {} }),
    lookBack: openClaimWindow(),
    kinds: ['work'],
    caps: [8],
    leaseSeconds: 30,
    hasSuspect: () => false,
    outage,
  };
  const lanesOf = (jobs: readonly Job[]): string[] => jobs.map(({ lane }) => lane);
  await enqueue('a', { count: 2 });
  assert.deepEqual(
    lanesOf(await claimDueJobs(claims, 2)),
    ['a', 'a'],
    'no more can be held: the lane was served',
  );
  await enqueue('b');
  assert.deepEqual(lanesOf(await claimDueJobs(claims, 2)), ['b']);
  await enqueue('a');
  assert.deepEqual(lanesOf(await claimDueJobs(claims, 2)), ['a'], 'nothing else is left: a new round');
  assert.deepEqual(await claimDueJobs(claims, 2), []);
});

test('each cell has its own capacity: hanging jobs of one cell use only its share and do not delay another cell', async () => {
  const several = await testDatabase();
  const cells = await makeCells(several.database, { connectionString: several.url }, 2);
  const put = async (own: typeof database, count: number): Promise<void> => {
    const workspace = newId();
    await own.query(
      `insert into workspaces (id, name, plan, created_at) values ('${workspace}', 'Test', 'pro', now())`,
    );
    for (let lane = 0; lane < count; lane += 1)
      await enqueueJob(own, {
        workspace_id: workspace,
        id: newId(),
        kind: 'work',
        lane: `lane ${lane}`,
        payload: {},
        delay: 0,
      });
  };
  const [busy, calm] = cellsOf(several.database).map((cell) => cell.database) as [
    typeof database,
    typeof database,
  ];
  let hanging = 0;
  const hangHere: JobHandler = (job, signal) => {
    hanging += 1;
    return hang(job, signal);
  };
  await put(busy, 12);
  const queues = [start(hangHere, { database: busy, concurrency: 2 })];
  await until('no more of them can be held', async () => {
    const { rowCount } = await busy.query('select from jobs where lease_token is not null');
    return rowCount === 4 && hanging >= 2;
  });
  assert.equal(hanging, 2);
  await put(calm, 3);
  queues.push(start((job) => completeJob(calm, job), { database: calm, concurrency: 2 }));
  await until('all of the other cell ran', async () => (await calm.query('select from jobs')).rowCount === 0);
  assert.equal(hanging, 2);
  assert.equal((await busy.query('select from jobs')).rowCount, 12);
  await Promise.all(queues.map((queue) => queue.stop({ graceMs: 0 })));
  await cells?.close();
});
