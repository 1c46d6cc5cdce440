import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { runPeriodically } from '#kit/periodic.ts';
import { sweep } from '#kit/sweeps/sweep-clock.ts';
import { requestDays } from '../keys.ts';
import { countRequests, insertRequests, trimRequests } from './queries.ts';

/** A request that a key made, once it was answered. */
export type KeyRequest = {
  workspaceId: string;
  keyId: string;
  /** X-Request-Id, a UUIDv7. */
  id: string;
  method: string;
  /** The pattern of its route with its ids. */
  path: string;
  status: number;
  ms: number;
  at: Date;
  /** Where it came from. */
  address: string;
};

/** What API keys did lately. */
export type RequestLog = {
  /** Notes a request. It costs the request nothing: it is written later, with others. */
  note(request: KeyRequest): void;
  /** Writes what is left. */
  stop(): Promise<void>;
};

/** Requests of each key that are kept. */
export const keptRequests = 100;
/** How long a request may wait to be written, and so how old the lists in the console are. */
const pauseMs = 1_000;
/** Keys that wait to be written; beyond it nothing is noted. Only a database that is away makes so many: about 30 MB. */
const mostKeys = 1_000;
const dayMs = 86_400_000;

type Waiting = { requests: KeyRequest[]; days: Map<string, number>; last: KeyRequest };

/**
 * Keeps the latest requests of each key and how many there were a day, in batches: two writes a second however many
 * requests there are. It is no ledger: a process that is killed loses its last second, and a database that is away
 * loses what does not fit.
 */
export function openRequestLog({ database, log }: { database: Database; log: Log }): RequestLog {
  let waiting = new Map<string, Waiting>();
  const write = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    try {
      await writeBatch(database, [...batch.values()]);
    } catch (error) {
      // Tried again, together with what came meanwhile.
      for (const [key, item] of batch) {
        const newer = waiting.get(key);
        if (newer) waiting.set(key, join(item, newer));
        else if (waiting.size < mostKeys) waiting.set(key, item);
      }
      throw error;
    }
  };
  const writing = runPeriodically('noting the requests of API keys', { pauseMs, log, work: write });
  return {
    note(request) {
      const known = waiting.get(request.keyId);
      if (known) add(known, request);
      else if (waiting.size < mostKeys)
        waiting.set(request.keyId, add({ requests: [], days: new Map(), last: request }, request));
    },
    async stop() {
      await writing.stop();
      await write().catch((error: unknown) => log.warn({ err: error }, 'the last requests were not noted'));
    },
  };
}

function add(waiting: Waiting, request: KeyRequest): Waiting {
  waiting.requests.push(request);
  if (waiting.requests.length > keptRequests) waiting.requests.shift();
  const day = request.at.toISOString().slice(0, 10);
  waiting.days.set(day, (waiting.days.get(day) ?? 0) + 1);
  waiting.last = request;
  return waiting;
}

/** What waited, and what came after it, of one key. */
function join(older: Waiting, newer: Waiting): Waiting {
  const days = new Map(older.days);
  for (const [day, requests] of newer.days) days.set(day, (days.get(day) ?? 0) + requests);
  return { requests: [...older.requests, ...newer.requests].slice(-keptRequests), days, last: newer.last };
}

async function writeBatch(database: Database, keys: readonly Waiting[]): Promise<void> {
  const days = keys.flatMap(({ days: counted, last }) =>
    [...counted].map(([day, requests]) => ({ day, requests, last })),
  );
  await countRequests(database, {
    workspace_ids: days.map(({ last }) => last.workspaceId),
    key_ids: days.map(({ last }) => last.keyId),
    days: days.map(({ day }) => day),
    requests: days.map(({ requests }) => requests),
    times: days.map(({ last }) => last.at),
    addresses: days.map(({ last }) => last.address),
  });
  // From here on nothing is counted twice when it fails: the lines are only for reading.
  for (const key of keys) key.days.clear();
  const requests = keys.flatMap((key) => key.requests);
  await insertRequests(database, {
    workspace_ids: requests.map((request) => request.workspaceId),
    key_ids: requests.map((request) => request.keyId),
    ids: requests.map((request) => request.id),
    methods: requests.map((request) => request.method),
    paths: requests.map((request) => request.path),
    statuses: requests.map((request) => request.status),
    durations: requests.map((request) => Math.round(request.ms)),
    times: requests.map((request) => request.at),
  });
  await sweep(database, () =>
    trimRequests(database, {
      workspace_ids: keys.map(({ last }) => last.workspaceId),
      key_ids: keys.map(({ last }) => last.keyId),
      kept: keptRequests,
      before: new Date(now().getTime() - (requestDays - 1) * dayMs).toISOString().slice(0, 10),
    }),
  );
}
