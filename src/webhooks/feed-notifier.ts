import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { type JobListener, listenForJobs } from '#kit/queue/announcer.ts';
import { type StatementColumn, statement } from '#kit/statement.ts';

const bigints: StatementColumn<number[]> = { pg: 'bigint[]' };

/**
 * Finds the waiting readers for which there is an event. Returns the indexes of their workspace and position
 * in the arrays, counted from 1.
 */
const selectWokenReaders = statement(['workspace_ids', { afters: bigints }], 'place:bigint')`
  select waiting.place
    from unnest($workspace_ids, $afters) with ordinality as waiting (workspace_id, after, place)
   where exists (select from events
                  where events.workspace_id = waiting.workspace_id and position is null and not is_test)
      or exists (select from events
                  where events.workspace_id = waiting.workspace_id and position > waiting.after)`;

/** Wakes readers that wait for the next event of a feed. */
export type FeedNotifier = {
  /**
   * Resolves to true if there may be an event after this position, and to false after `ms` or when the
   * process stops. It never rejects, and uses no connection while it waits.
   */
  wait(workspaceId: string, after: number, ms: number): Promise<boolean>;
  /** Wakes all waiting readers. Later calls of `wait` resolve immediately. */
  close(): void;
};

type Waiting = { workspaceId: string; after: number; wake: (isNews: boolean) => void };

/** Announcements are collected for this long, so that a burst of commits causes one query. */
const batchMs = 25;
/** The interval of queries without an announcement, because one may be lost with its connection. */
const pollIntervalMs = 1_000;

/**
 * Listens to the announcements that processes make after their commits (kit/queue.ts), starting when the
 * first reader waits. One statement finds the readers for which there is an event.
 */
export function openFeedNotifier({ database, log }: { database: Database; log: Log }): FeedNotifier {
  const waiting = new Set<Waiting>();
  let hearing: JobListener | undefined;
  let isClosed = false;
  let planned: NodeJS.Timeout | undefined;
  let plannedFor = Number.POSITIVE_INFINITY;

  /** Never postpones a planned query, because with constant announcements it would never run. */
  const plan = (ms: number): void => {
    const at = performance.now() + ms;
    if (waiting.size === 0 || isClosed || at >= plannedFor) return;
    clearTimeout(planned);
    plannedFor = at;
    planned = setTimeout(() => void look(), ms);
  };
  const look = async (): Promise<void> => {
    plannedFor = Number.POSITIVE_INFINITY;
    const all = [...waiting];
    try {
      const news = await selectWokenReaders(database, {
        workspace_ids: all.map(({ workspaceId }) => workspaceId),
        afters: all.map(({ after }) => after),
      });
      for (const { place } of news) all[place - 1]!.wake(true);
    } catch (error) {
      log.debug({ err: error }, 'could not query the feeds; retrying');
    }
    plan(pollIntervalMs);
  };
  const begin = (): void => {
    // An event may have been committed since the reader's last query.
    plan(batchMs);
    hearing ??= listenForJobs(database, { log, notify: () => plan(batchMs) });
  };

  return {
    wait: (workspaceId, after, ms) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(false);
        const timer = setTimeout(() => one.wake(false), ms);
        const one: Waiting = {
          workspaceId,
          after,
          wake(isNews) {
            clearTimeout(timer);
            waiting.delete(one);
            resolve(isNews);
          },
        };
        waiting.add(one);
        begin();
      }),
    close() {
      isClosed = true;
      void hearing?.stop();
      clearTimeout(planned);
      for (const one of waiting) one.wake(false);
    },
  };
}
