import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { openLog } from '../log.ts';
import { type Failures, getNextPause, processInBatches, runPeriodically, throwFailures } from './periodic.ts';

test('a failure is logged when it is new, or when other parts fail than in the previous run', async () => {
  const lines = new PassThrough({ encoding: 'utf8' });
  const runs: Failures[] = ['a', 'a', 'b', '', 'b', 'b'].map(
    (part) => new Map(part === '' ? [] : [[part, new Error('broken')]]),
  );
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const periodic = runPeriodically('working', {
    pauseMs: 1,
    log: openLog('warn', lines),
    async work() {
      const failures = runs.shift();
      if (!failures) resolve();
      else throwFailures(failures);
    },
  });
  await over;
  await periodic.stop();
  const logged = (lines.read() as string).trim().split('\n');
  assert.deepEqual(
    logged.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message.slice(0, 11)),
    ['1 failed: a', '1 failed: b', '1 failed: b'],
  );
});

test('a single database outage is not logged; a persistent one is logged as one line without a stack', async () => {
  const lines = new PassThrough({ encoding: 'utf8' });
  const away = (): Error => Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  const runs = [
    away(),
    undefined,
    new AggregateError([away()], '1 failed: a'),
    undefined,
    away(),
    away(),
    away(),
  ];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const periodic = runPeriodically('working', {
    pauseMs: 1,
    log: openLog('warn', lines),
    async work() {
      if (runs.length === 0) return resolve();
      const error = runs.shift();
      if (error) throw error;
    },
  });
  await over;
  await periodic.stop();
  const logged = (lines.read() as string)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  assert.equal(logged.length, 1);
  assert.deepEqual(
    { ...logged[0], time: '' },
    {
      level: 'warn',
      time: '',
      reason: 'the database system is starting up',
      msg: 'working failed; retrying',
    },
  );
});

test('long work is notified through its signal when it must end', async () => {
  const begun = Promise.withResolvers<void>();
  const periodic = runPeriodically('working', {
    pauseMs: 1,
    log: openLog('silent'),
    async work(signal) {
      begun.resolve();
      await once(signal, 'abort');
    },
  });
  await begun.promise;
  await periodic.stop();
});

test('work with a pause of a minute does not run at the start of the process, and can stop before its first run', async () => {
  const seen: string[] = [];
  const often = Promise.withResolvers<void>();
  const [rare, frequent] = [60_000, 1].map((pauseMs) =>
    runPeriodically('working', {
      pauseMs,
      log: openLog('silent'),
      async work() {
        if (seen.push(`${pauseMs}`) === 3) often.resolve();
      },
    }),
  );
  await often.promise;
  await Promise.all([rare!.stop(), frequent!.stop()]);
  assert.deepEqual(new Set(seen), new Set(['1']));
});

test('the pause grows each time work finds nothing to do, and resets when it finds some', () => {
  const pauses = { pauseMs: 500, longestMs: 5_000 };
  let pause = pauses.pauseMs;
  const after = (found: unknown): number => (pause = getNextPause(pause, found, pauses));
  assert.deepEqual(
    [0, 0, 0, 0, 0, 3, 0, undefined].map(after),
    [1_000, 2_000, 4_000, 5_000, 5_000, 500, 1_000, 500],
  );
});

test('a failing part is excluded from the run, and all other parts are processed', async () => {
  const left = new Set(['a1', 'a2', 'b1', 'c1', 'c2']);
  const failures: Failures = new Map();
  await processInBatches(failures, {
    batch: 2,
    find: async ({ limit, without }) => [...left].filter((row) => !without.includes(row[0]!)).slice(0, limit),
    partOf: (row) => row[0]!,
    async work(rows) {
      if (rows[0]![0] === 'a') throw new Error('a is broken');
      for (const row of rows) left.delete(row);
    },
  });
  assert.deepEqual([[...left], [...failures.keys()]], [['a1', 'a2'], ['a']]);
});
