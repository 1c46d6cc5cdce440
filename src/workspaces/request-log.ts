import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { runPeriodically, sweepWithTrustedClock } from '#kit/queue/periodic.ts';
import { type StatementColumn, statement } from '#kit/statement.ts';
import { requestCountDays } from './keys.ts';

const bigints: StatementColumn<number[]> = { pg: 'bigint[]' };

/** Inserts requests of keys that still exist. */
export const insertRequests = statement(
  'workspace_ids key_ids ids methods paths statuses durations:integers times',
  '',
)`
  /* sweep: across workspaces */
  insert into api_requests (workspace_id, api_key_id, id, method, path, status, ms, requested_at)
  select given.workspace_id, given.key_id, given.id, given.method, given.path, given.status, given.ms, given.at
  from unnest($workspace_ids, $key_ids, $ids, $methods, $paths, $statuses, $durations, $times)
    as given (workspace_id, key_id, id, method, path, status, ms, at)
  join api_keys k on k.workspace_id = given.workspace_id and k.id = given.key_id
  on conflict do nothing`;

/**
 * Counts requests of keys by day, and records when and from where each key was last used. Locks keys in one
 * order, to avoid deadlocks.
 */
const countRequests = statement(['workspace_ids key_ids days times addresses', { requests: bigints }], '')`
  /* sweep: across workspaces */
  with locked as (
    select workspace_id, id from api_keys where workspace_id = any ($workspace_ids) and id = any ($key_ids)
    order by workspace_id, id for update),
  given as (
    select given.* from unnest($workspace_ids, $key_ids, $days, $requests, $times, $addresses)
      as given (workspace_id, key_id, day, requests, at, address)
    join locked on locked.workspace_id = given.workspace_id and locked.id = given.key_id),
  used as (
    update api_keys k set last_used_at = greatest(k.last_used_at, given.at), last_used_address = given.address
    from given where k.workspace_id = given.workspace_id and k.id = given.key_id),
  counted as (
    insert into api_key_days as d (workspace_id, api_key_id, day, requests)
    select workspace_id, key_id, day, requests from given order by workspace_id, key_id, day
    on conflict (workspace_id, api_key_id, day) do update set requests = d.requests + excluded.requests)
  select`;

/**
 * Deletes old requests and day counts of keys. Finds the last request to delete once for each key; otherwise
 * PostgreSQL would do it for each request.
 */
export const trimRequests = statement('workspace_ids key_ids kept:integer before:text', '')`
  /* sweep: across workspaces */
  with given as (select * from unnest($workspace_ids, $key_ids) as given (workspace_id, key_id)),
  days as (
    delete from api_key_days d using given
    where d.workspace_id = given.workspace_id and d.api_key_id = given.key_id and d.day < $before::date),
  old as materialized (
    select given.workspace_id, given.key_id, (
      select l.id from api_requests l where l.workspace_id = given.workspace_id and l.api_key_id = given.key_id
      order by l.id desc offset $kept limit 1) as last
    from given)
  delete from api_requests r using old
  where r.workspace_id = old.workspace_id and r.api_key_id = old.key_id and r.id <= old.last`;

export type CompletedKeyRequest = {
  workspaceId: string;
  keyId: string;
  id: string;
  method: string;
  /** The route pattern, filled in with the ids of the request. */
  path: string;
  status: number;
  ms: number;
  at: Date;
  /** The IP address of the caller. */
  address: string;
};

/** The recent requests of API keys. */
export type RequestLog = {
  /** Records a request without delaying it: it is written later in a batch. */
  note(request: CompletedKeyRequest): void;
  /** Writes the remaining requests. */
  stop(): Promise<void>;
};

export const keptRequests = 100;
/** How long a request may wait to be written, and so how long until it appears in the console. */
const pauseMs = 1_000;
/**
 * The maximum number of keys with waiting requests; requests of further keys are dropped. Only an unavailable
 * database causes this many: about 30 MB.
 */
const mostKeys = 1_000;
const dayMs = 86_400_000;

type Waiting = { requests: CompletedKeyRequest[]; days: Map<string, number>; last: CompletedKeyRequest };

/**
 * Opens the log of the latest requests of each key and their number by day. It writes a batch at most once a
 * second, whatever the load. The log is not exact: a killed process loses its last second, and during an
 * outage of the database some requests are dropped.
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
      // Retried with the requests that arrive in the meantime.
      for (const [key, item] of batch) {
        const newer = waiting.get(key);
        if (newer) waiting.set(key, join(item, newer));
        else if (waiting.size < mostKeys) waiting.set(key, item);
      }
      throw error;
    }
  };
  const writing = runPeriodically('recording the requests of API keys', { pauseMs, log, work: write });
  return {
    note(request) {
      const known = waiting.get(request.keyId);
      if (known) add(known, request);
      else if (waiting.size < mostKeys)
        waiting.set(request.keyId, add({ requests: [], days: new Map(), last: request }, request));
    },
    async stop() {
      await writing.stop();
      await write().catch((error: unknown) => log.warn({ err: error }, 'could not record the last requests'));
    },
  };
}

function add(waiting: Waiting, request: CompletedKeyRequest): Waiting {
  waiting.requests.push(request);
  if (waiting.requests.length > keptRequests) waiting.requests.shift();
  const day = request.at.toISOString().slice(0, 10);
  waiting.days.set(day, (waiting.days.get(day) ?? 0) + 1);
  waiting.last = request;
  return waiting;
}

/** Merges older and newer waiting requests of one key. */
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
  // Prevents counting twice if a later statement fails. The other data is only for display.
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
  await sweepWithTrustedClock(database, () =>
    trimRequests(database, {
      workspace_ids: keys.map(({ last }) => last.workspaceId),
      key_ids: keys.map(({ last }) => last.keyId),
      kept: keptRequests,
      before: new Date(now().getTime() - (requestCountDays - 1) * dayMs).toISOString().slice(0, 10),
    }),
  );
}
