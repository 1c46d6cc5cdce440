import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { type Hearing, hearJobs } from '#kit/queue/announcer.ts';
import { type Column, statement } from '#kit/statement.ts';

const bigints: Column<number[]> = { pg: 'bigint[]' };

/** Of those who wait, whom an event awaits: the places of their workspace and position in the arrays, from 1. */
const selectNews = statement(
  'webhooks.select_news',
  ['workspace_ids', { afters: bigints }],
  'place:bigint',
  `select waiting.place
     from unnest($workspace_ids, $afters) with ordinality as waiting (workspace_id, after, place)
    where exists (select from events
                   where events.workspace_id = waiting.workspace_id and position is null and not is_test)
       or exists (select from events
                   where events.workspace_id = waiting.workspace_id and position > waiting.after)`,
);

/** Wakes whoever waits for the next event of a feed. */
export type FeedBell = {
  /**
   * Resolves to true when an event after this position may be there; to false after `ms`, or when the process stops.
   * It never rejects, and holds no connection.
   */
  wait(workspaceId: string, after: number, ms: number): Promise<boolean>;
  /** Everybody who waits goes on at once, and nobody waits any more. */
  close(): void;
};

type Waiting = { workspaceId: string; after: number; wake: (isNews: boolean) => void };

/** Announcements are gathered for this long, so that a burst of commits is one look. */
const gatherMs = 25;
/** Also without an announcement it looks this often: one may get lost with its connection. */
const lookMs = 1_000;

/**
 * Listens to what the queue's processes announce after their commits (kit/queue.ts), from when the first one waits. Which of them an announcement is for, one statement finds out.
 */
export function openFeedBell({ database, log }: { database: Database; log: Log }): FeedBell {
  const waiting = new Set<Waiting>();
  let hearing: Hearing | undefined;
  let isClosed = false;
  let planned: NodeJS.Timeout | undefined;
  let plannedFor = Number.POSITIVE_INFINITY;

  /** Never puts off a look that is planned: where there is always something to hear, there would be none. */
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
      const news = await selectNews(database, {
        workspace_ids: all.map(({ workspaceId }) => workspaceId),
        afters: all.map(({ after }) => after),
      });
      for (const { place } of news) all[place - 1]!.wake(true);
    } catch (error) {
      log.debug({ err: error }, 'the feeds could not be looked at, and will be again');
    }
    plan(lookMs);
  };
  const begin = (): void => {
    // Something may have happened since the reader looked.
    plan(gatherMs);
    hearing ??= hearJobs(database, { log, hear: () => plan(gatherMs) });
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
