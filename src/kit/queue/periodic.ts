import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount } from '#ast/basics/format-number.ts';
import { now } from '../clock.ts';
import { type Database, sharedDatabaseOf } from '../database.ts';
import { isDatabaseUnavailable, toLoggedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { onlyRow, statement } from '../statement.ts';

/** Periodic work. `stop` waits for the current run. */
export type PeriodicWork = { stop(): Promise<void> };

/** Work with this pause or a longer one starts a moment after the process. */
const rareMs = 60_000;
const firstMs = 5_000;

/**
 * Runs `work` repeatedly, `pauseMs` after the previous run, until stopped, which aborts its signal. A failure
 * is logged if it is new or other parts fail, and the work continues. Use it for work that may be lost with
 * the process, and a job of the queue for all other work. Work that runs once a minute or less starts after a
 * delay: a starting process is busy, and each new connection must plan every statement.
 * @param options.longestMs the longest pause while the work finds nothing to do (getNextPause). Default:
 * `pauseMs`.
 */
export function runPeriodically(
  name: string,
  options: { pauseMs: number; longestMs?: number; log: Log; work: (signal: AbortSignal) => Promise<unknown> },
): PeriodicWork {
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
        pause = getNextPause(pause, await options.work(signal), { pauseMs, longestMs });
        failing = undefined;
        wasAway = false;
      } catch (error) {
        const which = error instanceof AggregateError ? error.message : '';
        // First connections can be slow on a busy machine, so only a second failure in a row is a warning.
        if (isDatabaseUnavailable(error) && !wasAway) {
          wasAway = true;
          options.log.debug(toLoggedError(error), `${name}: the database is unavailable`);
        } else {
          if (which !== failing) options.log.warn(toLoggedError(error), `${name} failed; retrying`);
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

/** Returns the next pause, which doubles after work that found nothing (0). */
export const getNextPause = (
  pause: number,
  found: unknown,
  { pauseMs, longestMs }: { pauseMs: number; longestMs: number },
): number => (found === 0 ? Math.min(pause * 2, longestMs) : pauseMs);

/** The failed parts of a run, by id. The other parts continued. */
export type Failures = Map<string, unknown>;

/**
 * Processes rows in batches, each part separately. A failed part is skipped for the rest of the run, so that
 * it neither stops the others nor fills the next batches.
 * @param find returns the next rows, without those of failed parts.
 */
export async function processInBatches<Row>(
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
    for (const [part, rowsOfPart] of Map.groupBy(rows, partOf))
      try {
        await work(rowsOfPart);
      } catch (error) {
        failures.set(part, error);
      }
  } while (count === batch);
}

const mostNamed = 20;

/** @throws AggregateError with the ids of failed parts, if any, for runPeriodically to log. */
export function throwFailures(failures: Failures): void {
  if (failures.size === 0) return;
  const named = [...failures.keys()].toSorted().slice(0, mostNamed).join(', ');
  throw new AggregateError([...failures.values()].slice(0, mostNamed), `${failures.size} failed: ${named}`);
}

/** Sets the time of the last sweep to the current time of the database. */
export const recordSweepTime = statement('', 'swept_at')`
  update instance set swept_at = now() returning swept_at`;

/** Returns the time of the database and of the last sweep; null before the first start. */
const readClocks = statement('', 'database_seconds:double swept_at?')`
  select extract(epoch from clock_timestamp())::double precision as database_seconds,
         (select swept_at from instance) as swept_at`;

const recordSweep = statement('at before', '')`
  update instance set swept_at = $at where swept_at < $before`;

/** Why data must not be deleted by its age, and the remedy. */
type ClockDoubt = { what: string; remedy: string };

const dayMs = 86_400_000;
/** The largest clock difference. With more, data could be deleted early: the shortest retention is a day. */
const mostMs = dayMs;
/** The minimum interval between stored sweep times. */
const noteMs = 60_000;

const daysBetween = (ms: number): string => formatCount(Math.round(Math.abs(ms) / dayMs), 'day');

/**
 * Compares the clock of this machine with the database's clock and the last sweep. An embedded database
 * shares the clock of this process, and months without a run look like a clock that is months ahead. Only the
 * operator can tell, with `sweeps confirm`.
 * @returns undefined if the clock can be trusted.
 */
export async function findClockDoubt(database: Database, at = now()): Promise<ClockDoubt | undefined> {
  const { database_seconds: seconds, swept_at: sweptAt } = onlyRow(
    await readClocks(sharedDatabaseOf(database), {}),
  )!;
  const here = at.toISOString();
  const apart = at.getTime() - seconds * 1_000;
  if (Math.abs(apart) > mostMs)
    return {
      what: `This machine's clock shows ${here}, which differs from the database's clock by ${daysBetween(apart)}. Until this is corrected, no data is deleted by age.`,
      remedy: 'Synchronize the clocks of both machines with NTP. Sweeps then continue automatically.',
    };
  const since = sweptAt === null ? 0 : at.getTime() - sweptAt.getTime();
  if (Math.abs(since) <= mostMs) return undefined;
  const direction = since > 0 ? 'after' : 'before';
  return {
    what: `This machine's clock shows ${here}, which is ${daysBetween(since)} ${direction} the last sweep. No data is deleted by age until you confirm the clock.`,
    remedy:
      'If the clock is wrong, correct it. If it is right, because the service was stopped or a backup was restored, run `npm run -s formloom -- sweeps confirm`.',
  };
}

/**
 * Runs `work`, which deletes data by its age, if the clock can be trusted. Every sweep uses this: with a
 * clock 400 days ahead, the trash and all data with a retention limit were deleted within 20 seconds.
 * @returns undefined if nothing ran.
 */
export async function sweepWithTrustedClock<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const at = now();
  if (await findClockDoubt(database, at)) return undefined;
  await recordSweep(sharedDatabaseOf(database), { at, before: new Date(at.getTime() - noteMs) });
  return work();
}
