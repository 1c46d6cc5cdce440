import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, notifierOf, openClient, partNameOf } from '../database.ts';
import { loggedError } from '../errors.ts';
import { isAstray } from '../find-host.ts';
import type { Log } from '../log.ts';
import { announcementOf, jobsChannel, sayAnnouncements } from '../queue.ts';

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

/** How long after a lost connection the next one is tried. Who listens must look by itself meanwhile. */
const reconnectMs = 1_000;
/** It is asked so often whether it is there, and has as long to answer: a machine that is lost says nothing. */
const usualAskMs = 3_000;

/**
 * Listens on a channel until `signal` aborts, over a connection of its own that is made anew after every loss.
 * @param hear is called with each payload, and with '' once per connection for what may have been missed before.
 * @param options.lost is called when the connection was lost, or could not be made.
 * @returns when it has stopped. Never rejects.
 */
export async function listen(
  database: Database,
  channel: string,
  hear: (payload: string) => void,
  {
    log,
    signal,
    askMs = usualAskMs,
    lost,
  }: { log: Log; signal: AbortSignal; askMs?: number; lost?: () => void },
): Promise<void> {
  const stopped = once(signal, 'abort');
  let losses = 0;
  while (!signal.aborted) {
    try {
      await listenOnce(database, channel, { stopped, askMs }, (payload) => {
        losses = 0;
        hear(payload);
      });
    } catch (error) {
      losses += 1;
      if (losses === 2)
        log.warn({ ...loggedError(error), channel }, 'the connection that listens was lost and is made anew');
      lost?.();
      await sleep(reconnectMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Returns when `stopped` resolves. @throws when the connection cannot be made, or is lost. */
async function listenOnce(
  database: Database,
  channel: string,
  { stopped, askMs }: { stopped: Promise<unknown>; askMs: number },
  hear: (payload: string) => void,
): Promise<void> {
  const client = openClient(database);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  client.on('error', reject);
  client.on('end', () => reject(new Error('the connection ended')));
  // The race below may not have begun when it is lost, or may be over.
  lost.catch(() => {});
  let asking: NodeJS.Timeout | undefined;
  client.on('notification', ({ payload }) => hear(payload ?? ''));
  try {
    await client.connect();
    // Asked again and again: it is no more than a question when it listens already, and says in pg_stat_activity who this is.
    const question = { text: `listen ${channel}`, query_timeout: askMs };
    await client.query(question.text);
    hear('');
    asking = setInterval(() => {
      if (isAstray(client)) reject(new Error('what is said now is said at another server'));
      client.query(question).catch(reject);
    }, askMs);
    await Promise.race([lost, stopped]);
  } finally {
    clearInterval(asking);
    await client.end().catch(() => {});
  }
}

/** Hears of the jobs of a cell. */
export type Hearing = {
  /** False while the connection is lost: then who hears looks by itself. */
  isListening(): boolean;
  stop(): Promise<void>;
};

/** The connection over which the queues and feeds of this process hear of the jobs of all cells of a database. */
type Ear = {
  hearers: Set<(said: string) => void>;
  isListening: boolean;
  ending: AbortController;
  ended: Promise<void>;
};

const ears = new WeakMap<Database, Ear>();

/**
 * Hears that there are new jobs in the cell of a pool.
 * @param hear is called with who says so, and with '' when something may have been missed, or may be from now on.
 */
export function hearJobs(
  database: Database,
  { log, hear }: { log: Log; hear: (sender: string) => void },
): Hearing {
  const place = notifierOf(database);
  const cell = partNameOf(database);
  const ear = ears.get(place) ?? openEar(place, log);
  const hearer = (said: string): void => {
    // An empty message is for every cell.
    const [sender = '', of] = said.split(' ');
    if (of === undefined || of === cell) hear(sender);
  };
  ear.hearers.add(hearer);
  return {
    isListening: () => ear.isListening,
    async stop() {
      ear.hearers.delete(hearer);
      if (ear.hearers.size > 0) return;
      if (ears.get(place) === ear) ears.delete(place);
      ear.ending.abort();
      await ear.ended;
    },
  };
}

function openEar(place: Database, log: Log): Ear {
  const ending = new AbortController();
  const ear: Ear = { hearers: new Set(), isListening: false, ending, ended: Promise.resolve() };
  const tell = (said: string, isListening: boolean): void => {
    ear.isListening = isListening;
    for (const hear of ear.hearers) hear(said);
  };
  ear.ended = listen(place, jobsChannel, (said) => tell(said, true), {
    log,
    signal: ending.signal,
    lost: () => tell('', false),
  });
  ears.set(place, ear);
  return ear;
}
