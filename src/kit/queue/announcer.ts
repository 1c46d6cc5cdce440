import { type Database, notifierOf } from '../database.ts';
import type { Log } from '../log.ts';
import { announcementOf, sayAnnouncements } from '../queue.ts';

/** Tells the queues of other processes that there are new jobs. */
type Announcer = {
  /** Call it after the commit. They hear of it within 20 ms. */
  announce(): void;
  /** Announces what is left, and what was given back. Never rejects. */
  stop(): Promise<void>;
};

/** What could not be said is said so much later. */
const againMs = 1_000;
/** Announcements are gathered for this long, so a burst of commits costs one. */
const announceMs = 20;

/** What this process announces over one pool: a hundred busy cells in one database cost as much as one. */
type Mouth = { announcers: Set<Announcer>; payloads: Set<string>; planned: NodeJS.Timeout | undefined };

const mouths = new WeakMap<Database, Mouth>();

/** @param sender lets the one who announces recognise it. */
export function openAnnouncer(
  { database, log }: { database: Database; log: Log },
  sender: string,
): Announcer {
  const place = notifierOf(database);
  const mouth = mouths.get(place) ?? { announcers: new Set(), payloads: new Set(), planned: undefined };
  mouths.set(place, mouth);
  const payload = announcementOf(database, sender);
  const say = async (): Promise<void> => {
    clearTimeout(mouth.planned);
    mouth.planned = undefined;
    const payloads = [...mouth.payloads];
    mouth.payloads.clear();
    await sayAnnouncements(place, payloads).catch((error: unknown) => {
      log.debug({ err: error }, 'new jobs could not be announced');
      if (mouth.announcers.size === 0) return;
      for (const each of payloads) mouth.payloads.add(each);
      plan(againMs);
    });
  };
  const plan = (ms: number): void => {
    // It keeps no process: who ends says what is left.
    mouth.planned ??= setTimeout(() => void say(), ms).unref();
  };
  const announcer: Announcer = {
    announce() {
      mouth.payloads.add(payload);
      plan(announceMs);
    },
    async stop() {
      mouth.announcers.delete(announcer);
      mouth.payloads.add(payload);
      await say();
    },
  };
  mouth.announcers.add(announcer);
  return announcer;
}
