import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';
import { isOfDatabaseAway, loggedError } from './logged-error.ts';

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
