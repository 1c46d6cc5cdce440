import { EmbeddedPostgresError, elsewhere } from './error.ts';
import type { Postmaster, Server } from './postmaster.ts';

/** How long a postmaster may be in one state before something must be wrong: milliseconds. */
const mayTake = {
  absent: 15_000,
  starting: 5 * 60_000, // replaying 1 GB of log (max_wal_size) on a slow disk
  ready: 15_000, // and yet not answering
  stopping: 15_000, // the last user gives it 10 s to stop in order
};
/** The same in any state when we are stopping ourselves. */
const mayTakeAtEnd = 5_000;
const newsEvery = 10_000;

/**
 * Watches how long the postmaster stays in one state without letting us in. The function that it gives back is called
 * with what was just seen; it logs every 10 s, and throws {@link EmbeddedPostgresError} when it takes too long.
 */
export function createPatience(
  server: Pick<Server, 'directory' | 'log'>,
  stopping: AbortSignal,
): (postmaster: Postmaster | undefined, obstacle: string) => void {
  let state: keyof typeof mayTake = 'absent';
  let since = performance.now();
  let nextNews = newsEvery;
  return (postmaster, obstacle) => {
    const current = postmaster?.status ?? 'absent';
    if (current !== state) since = performance.now();
    state = current;
    const waited = performance.now() - since;
    const seconds = Math.round(waited / 1000);
    const told = `The database in ${server.directory} has been ${state} for ${seconds} s without answering`;
    if (waited > (stopping.aborted ? mayTakeAtEnd : mayTake[state])) {
      throw new EmbeddedPostgresError(
        `${told}${obstacle && ` (${obstacle})`}. Read its log, postgres.log in that directory; ` +
          `${postmaster ? `stop its process ${postmaster.pid} (SIGINT)` : 'start again'}, ${elsewhere}.`,
      );
    }
    if (waited < nextNews) return;
    nextNews += newsEvery;
    server.log(`${told}; after a crash it has to recover.`);
  };
}
