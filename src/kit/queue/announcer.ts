import type { Database } from '../database.ts';
import type { Log } from '../log.ts';
import { announceJobs } from '../queue.ts';

/** Tells the queues of other processes that there are new jobs. */
type Announcer = {
  /** Call it after the commit. They hear of it within 20 ms. */
  announce(): void;
  /** Announces what is left. Never rejects. */
  stop(): Promise<void>;
};

/** What could not be said is said so much later. */
const againMs = 1_000;
/** Announcements are gathered for this long, so a burst of commits costs one. */
const announceMs = 20;

/** @param sender lets the one who announces recognise it. */
export function openAnnouncer(
  { database, log }: { database: Database; log: Log },
  sender: string,
): Announcer {
  let planned: NodeJS.Timeout | undefined;
  let hasStopped = false;
  const announce = async (): Promise<void> => {
    planned = undefined;
    await announceJobs(database, { sender }).catch((error: unknown) => {
      log.debug({ err: error }, 'new jobs could not be announced');
      plan(againMs);
    });
  };
  const plan = (ms: number): void => {
    if (!hasStopped) planned ??= setTimeout(() => void announce(), ms);
  };
  return {
    announce: () => plan(announceMs),
    async stop() {
      hasStopped = true;
      clearTimeout(planned);
      await announce();
    },
  };
}
