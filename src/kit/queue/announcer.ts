import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, notifierOf, openClient, partNameOf } from '../database.ts';
import { toLoggedError } from '../errors.ts';
import { hasServerMoved } from '../find-host.ts';
import type { Log } from '../log.ts';
import { announcementOf, jobsChannel, sendAnnouncements } from '../queue.ts';

/** Announces new jobs to the queues of other processes. */
type Announcer = {
  /** Call it after the commit. Other processes know within 20 ms. */
  announce(): void;
  /** Sends pending announcements, also for returned jobs. Never rejects. */
  stop(): Promise<void>;
};

/** Failed announcements are repeated after this time. */
const retryMs = 1_000;
/** Announcements are batched for this long, so a burst of commits sends one. */
const announceMs = 20;

/** The announcements of this process over one pool. A hundred busy cells in it cost as much as one. */
type AnnouncementBatch = {
  announcers: Set<Announcer>;
  payloads: Set<string>;
  planned: NodeJS.Timeout | undefined;
};

const announcementBatches = new WeakMap<Database, AnnouncementBatch>();

/** @param sender lets the sender recognize its own announcements. */
export function openAnnouncer(
  { database, log }: { database: Database; log: Log },
  sender: string,
): Announcer {
  const place = notifierOf(database);
  const batch = announcementBatches.get(place) ?? {
    announcers: new Set(),
    payloads: new Set(),
    planned: undefined,
  };
  announcementBatches.set(place, batch);
  const payload = announcementOf(database, sender);
  const send = async (): Promise<void> => {
    clearTimeout(batch.planned);
    batch.planned = undefined;
    const payloads = [...batch.payloads];
    batch.payloads.clear();
    await sendAnnouncements(place, payloads).catch((error: unknown) => {
      log.debug({ err: error }, 'could not announce new jobs');
      if (batch.announcers.size === 0) return;
      for (const each of payloads) batch.payloads.add(each);
      plan(retryMs);
    });
  };
  const plan = (ms: number): void => {
    // The timer does not keep the process alive; `stop` sends what is left.
    batch.planned ??= setTimeout(() => void send(), ms).unref();
  };
  const announcer: Announcer = {
    announce() {
      batch.payloads.add(payload);
      plan(announceMs);
    },
    async stop() {
      batch.announcers.delete(announcer);
      batch.payloads.add(payload);
      await send();
    },
  };
  batch.announcers.add(announcer);
  return announcer;
}

/** The pause before reconnecting. Until then, callers must poll. */
const reconnectMs = 1_000;
/** The interval and the timeout of checks, because a lost machine closes no connection. */
const usualAskMs = 3_000;

/**
 * Listens on a channel until `signal` aborts. It uses its own connection and reconnects after every loss.
 * @param onPayload is called with each payload, and with '' after each new connection, because something may
 * have been missed.
 * @param options.lost is called if the connection is lost or cannot be established.
 * @returns when it has stopped. Never rejects.
 */
export async function listenOnChannel(
  database: Database,
  channel: string,
  onPayload: (payload: string) => void,
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
        onPayload(payload);
      });
    } catch (error) {
      losses += 1;
      if (losses === 2)
        log.warn({ ...toLoggedError(error), channel }, 'the listening connection was lost; reconnecting');
      lost?.();
      await sleep(reconnectMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Returns when `stopped` resolves. @throws if the connection fails or is lost. */
async function listenOnce(
  database: Database,
  channel: string,
  { stopped, askMs }: { stopped: Promise<unknown>; askMs: number },
  onPayload: (payload: string) => void,
): Promise<void> {
  const client = openClient(database);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  client.on('error', reject);
  client.on('end', () => reject(new Error('the connection ended')));
  // The connection may be lost before or after the race below.
  lost.catch(() => {});
  let asking: NodeJS.Timeout | undefined;
  client.on('notification', ({ payload }) => onPayload(payload ?? ''));
  try {
    await client.connect();
    // Repeated as a check: `listen` changes nothing if it already listens, and shows in pg_stat_activity.
    const question = { text: `listen ${channel}`, query_timeout: askMs };
    await client.query(question.text);
    onPayload('');
    asking = setInterval(() => {
      if (hasServerMoved(client)) reject(new Error('the announcements moved to another server'));
      client.query(question).catch(reject);
    }, askMs);
    await Promise.race([lost, stopped]);
  } finally {
    clearInterval(asking);
    await client.end().catch(() => {});
  }
}

/** Receives announcements of jobs in a cell. */
export type JobListener = {
  /** False while the connection is lost; the caller must poll. */
  isListening(): boolean;
  stop(): Promise<void>;
};

/** The connection over which this process receives job announcements of all cells of a database. */
type ChannelListener = {
  handlers: Set<(payload: string) => void>;
  isListening: boolean;
  ending: AbortController;
  ended: Promise<void>;
};

const channelListeners = new WeakMap<Database, ChannelListener>();

/**
 * Listens for new jobs in the cell of a pool.
 * @param options.notify is called with the sender, or with '' if announcements may be lost.
 */
export function listenForJobs(
  database: Database,
  { log, notify }: { log: Log; notify: (sender: string) => void },
): JobListener {
  const place = notifierOf(database);
  const cell = partNameOf(database);
  const link = channelListeners.get(place) ?? openChannelListener(place, log);
  const handler = (payload: string): void => {
    // An empty message is for every cell.
    const [sender = '', of] = payload.split(' ');
    if (of === undefined || of === cell) notify(sender);
  };
  link.handlers.add(handler);
  return {
    isListening: () => link.isListening,
    async stop() {
      link.handlers.delete(handler);
      if (link.handlers.size > 0) return;
      if (channelListeners.get(place) === link) channelListeners.delete(place);
      link.ending.abort();
      await link.ended;
    },
  };
}

function openChannelListener(place: Database, log: Log): ChannelListener {
  const ending = new AbortController();
  const link: ChannelListener = { handlers: new Set(), isListening: false, ending, ended: Promise.resolve() };
  const publish = (payload: string, isListening: boolean): void => {
    link.isListening = isListening;
    for (const notify of link.handlers) notify(payload);
  };
  link.ended = listenOnChannel(place, jobsChannel, (payload) => publish(payload, true), {
    log,
    signal: ending.signal,
    lost: () => publish('', false),
  });
  channelListeners.set(place, link);
  return link;
}
