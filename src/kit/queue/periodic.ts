import { setTimeout as sleep } from 'node:timers/promises';
import { sayCount } from '#ast/basics/say-count.ts';
import { now } from '../clock.ts';
import { type Database, homeOf } from '../database.ts';
import { isOfDatabaseAway, loggedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { only, statement } from '../statement.ts';

/** Work that goes on; it is stopped when its round has ended. */
export type Periodic = { stop(): Promise<void> };

/** Work of this pause and more does not begin with the process, but a moment later. */
const rareMs = 60_000;
const firstMs = 5_000;

/**
 * Runs `work` again and again, `pauseMs` after it ended, until stopped, which work that takes long hears by its signal. A failure is
 * logged when it is new, or other parts of the work fail than before (tellFailures), and the work goes on. For housekeeping that may be lost with the process; what must not be lost is a job of the queue.
 * What is done once a minute or less often begins after a moment: a start has enough to do, and each of its connections plans each
 * statement for the first time.
 * @param options.longestMs how long the pauses become while the work finds nothing to do (pauseAfter); `pauseMs` unless said.
 */
export function runPeriodically(
  name: string,
  options: { pauseMs: number; longestMs?: number; log: Log; work: (signal: AbortSignal) => Promise<unknown> },
): Periodic {
  const ending = new AbortController();
  const { signal } = ending;
  const { pauseMs, longestMs = pauseMs } = options;
  const loop = async (): Promise<void> => {
    let failing: string | undefined;
    let wasAway = false;
    let pause = pauseMs;
    const wait = (ms: number): Promise<void> =>
      sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    if (pauseMs >= rareMs) await wait(firstMs);
    while (!signal.aborted) {
      try {
        pause = pauseAfter(pause, await options.work(signal), { pauseMs, longestMs });
        failing = undefined;
        wasAway = false;
      } catch (error) {
        const which = error instanceof AggregateError ? error.message : '';
        // On a busy machine the first connections may come late: only a second failure in a row is worth a line.
        if (isOfDatabaseAway(error) && !wasAway) {
          wasAway = true;
          options.log.debug(loggedError(error), `${name} found the database away`);
        } else {
          if (which !== failing)
            options.log.warn(loggedError(error), `${name} failed, and will be tried again`);
          failing = which;
        }
      }
      await wait(pause);
    }
  };
  const done = loop();
  return {
    async stop() {
      ending.abort();
      await done;
    },
  };
}

/** The next pause: twice as long after work that found nothing to do, which it says by 0. */
export const pauseAfter = (
  pause: number,
  found: unknown,
  { pauseMs, longestMs }: { pauseMs: number; longestMs: number },
): number => (found === 0 ? Math.min(pause * 2, longestMs) : pauseMs);

/** What failed in a run whose other parts went on, by the id of the part. */
export type Failures = Map<string, unknown>;

/**
 * Works off what is found, batch by batch, each part on its own: one that fails is left out of the rest of the run, so that it
 * neither stops the others nor is found again in their place.
 * @param find the next rows, without those of the parts that have failed.
 */
export async function workOff<Row>(
  failures: Failures,
  options: {
    batch: number;
    find: (next: { limit: number; without: string[] }) => Promise<Row[]>;
    partOf: (row: Row) => string;
    work: (rows: Row[]) => Promise<void>;
  },
): Promise<void> {
  const { batch, find, partOf, work } = options;
  let count: number;
  do {
    const rows = await find({ limit: batch, without: [...failures.keys()] });
    count = rows.length;
    for (const [part, some] of Map.groupBy(rows, partOf)) {
      try {
        await work(some);
      } catch (error) {
        failures.set(part, error);
      }
    }
  } while (count === batch);
}

const mostNamed = 20;

/** @throws AggregateError with the ids of what failed, for runPeriodically to log; nothing where nothing did. */
export function tellFailures(failures: Failures): void {
  if (failures.size === 0) return;
  const named = [...failures.keys()].toSorted().slice(0, mostNamed).join(', ');
  throw new AggregateError([...failures.values()].slice(0, mostNamed), `${failures.size} failed: ${named}`);
}

/** Takes the clock of the database for that of the last sweep. */
export const confirmSweepClock = statement(
  'sweeps.confirm_clock',
  '',
  'swept_at',
  'update instance set swept_at = now() returning swept_at',
);

/** The clock of the database, and that of the last sweep; null before the first start. */
const readClocks = statement(
  'sweeps.read_clocks',
  '',
  'database_seconds:double swept_at?',
  `select extract(epoch from clock_timestamp())::double precision as database_seconds,
          (select swept_at from instance) as swept_at`,
);

/** Notes the clock of a sweep; not more often than the notes of one minute are worth. */
const noteSweep = statement(
  'sweeps.note_sweep',
  'at before',
  '',
  'update instance set swept_at = $at where swept_at < $before',
);

/** Why nothing may be deleted by its age, and what to do about it. */
type ClockDoubt = { what: string; remedy: string };

const dayMs = 86_400_000;
/** A clock that is off by more could delete what should be kept: the shortest retention is a day. */
const mostMs = dayMs;
/** The last sweep is noted this often at most. */
const noteMs = 60_000;

const daysBetween = (ms: number): string => sayCount(Math.round(Math.abs(ms) / dayMs), 'day');

/**
 * Compares the clock of this machine with the database's, and with the last sweep. An embedded database has the same
 * clock as this process, and after months without a run the last sweep is as old as it is under a clock that is months
 * ahead: only the operator can tell these apart, with \`sweeps confirm\`.
 * @returns undefined where the clock can be trusted.
 */
export async function findClockDoubt(database: Database, at = now()): Promise<ClockDoubt | undefined> {
  const { database_seconds: seconds, swept_at: sweptAt } = only(await readClocks(homeOf(database), {}))!;
  const here = at.toISOString();
  const apart = at.getTime() - seconds * 1_000;
  if (Math.abs(apart) > mostMs)
    return {
      what: `The clock of this machine says ${here}, ${daysBetween(apart)} from the clock of the database. Nothing is deleted by its age.`,
      remedy: 'Set the clocks of both machines, with NTP. Sweeps go on by themselves then.',
    };
  const since = sweptAt === null ? 0 : at.getTime() - sweptAt.getTime();
  if (Math.abs(since) <= mostMs) return undefined;
  const direction = since > 0 ? 'after' : 'before';
  return {
    what: `The clock of this machine says ${here}, ${daysBetween(since)} ${direction} the last sweep. Nothing is deleted by its age until this is confirmed.`,
    remedy:
      'If the clock is wrong, set it. If it is right, because the service did not run or a backup was restored, run `npm run -s formloom -- sweeps confirm`.',
  };
}

/**
 * Runs what deletes data by its age, if the clock can be trusted. Every sweep goes through here: under a clock that was
 * 400 days ahead the trash and everything with a retention limit were deleted within 20 seconds.
 * @returns undefined where nothing was run.
 */
export async function sweep<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const at = now();
  if (await findClockDoubt(database, at)) return undefined;
  await noteSweep(homeOf(database), { at, before: new Date(at.getTime() - noteMs) });
  return work();
}
