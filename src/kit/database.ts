import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  Client,
  type ClientBase,
  type CustomTypesConfig,
  types as defaults,
  Pool,
  type PoolClient,
  type PoolConfig,
} from 'pg';
import { EmbeddedClient } from './embedded-client.ts';
import {
  createMovableServerClient,
  createMultiHostClient,
  type Host,
  hasServerMoved,
  isReadOnlyError,
  type ServerLocation,
  splitDatabaseUrl,
} from './find-host.ts';
import type { Log } from './log.ts';

export type Database = Pool;

/** How long a request waits for a connection before it returns 503 (docs/rules.md C18: nothing hangs). */
const poolWaitMs = 2_000;
/** PostgreSQL ends a statement after this time, and the request returns 503. */
const statementLimitMs = 10_000;
const silenceLimitMs = statementLimitMs + 2_000;
/**
 * Connections are replaced after this time. PostgreSQL caches each prepared statement with its plan and never
 * evicts one. The service's 600 statements use 50 MB in each connection (measured).
 */
const longestLifetimeSeconds = 600;
/** Probes a connection that is silent for this long. */
const doubtMs = 1_000;
const probeMs = 1_500;

/**
 * Settings of every session, set after connecting: poolers such as PgBouncer reject them as start-up options.
 *
 * Each statement is planned once per connection for all parameters, which rarely change the best plan here.
 * Otherwise PostgreSQL replans many of them (measured: half the time of a list, 1 of 1.5 ms of a search).
 */
const sessionSettings = { plan_cache_mode: 'force_generic_plan' } as const;
const sessionLimits = {
  statement_timeout: `${statementLimitMs}ms`,
  idle_in_transaction_session_timeout: '30s',
} as const;

const int8 = 20;
const timestamptz = 1184;
const readAnyTimestamp = defaults.getTypeParser(timestamptz);

/**
 * Parses UTC timestamps such as `2026-11-21 19:30:00.123+00`. `Date` is four times as fast as the driver's
 * parser, which lists would call 60 times. The driver still parses other formats (other zones, BC, infinity).
 */
const readTimestamp = (text: string): unknown =>
  text.endsWith('+00') && text[4] === '-'
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : readAnyTimestamp(text);

/** Parses bigint as a number, because counts and sizes here stay below 2^53. */
const readers = new Map<number, (text: string) => unknown>([
  [int8, Number],
  [timestamptz, readTimestamp],
]);

/** Uses the driver's parsers for all other types. */
const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format) => readers.get(oid) ?? defaults.getTypeParser(oid, format),
};

/** How to reach a database: a URL, which may name several hosts, or the socket of the embedded server. */
export type ConnectionTarget =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string };

/**
 * Opens a pool with bounded waits. It connects on demand. If the database is unavailable, queries fail fast
 * (see isUnavailableError) and the process keeps running.
 */
export function openDatabase(
  connection: ConnectionTarget,
  options: {
    pool: number;
    log: Log;
    limits?: boolean;
    silenceMs?: number;
    waitMs?: number;
    lifetimeSeconds?: number;
    name?: string;
    /** The search path of its sessions, if it is not the default. */
    path?: string;
    /** Tracks the server to connect to, if that can change. */
    at?: ServerLocation;
    /** The part of the instance that the pool serves. */
    part?: DatabasePart;
  },
): Database {
  const { limits = true, silenceMs = silenceLimitMs, waitMs = poolWaitMs, name = 'formloom' } = options;
  const { lifetimeSeconds = longestLifetimeSeconds } = options;
  const reach = hostsOf(connection);
  const isAnswering = openProbe(reach);
  const number = openNumbers();
  const pool = new Pool({
    ...reach,
    ...(options.at && { Client: createMovableServerClient(options.at, reach.Client) }),
    max: options.pool,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: lifetimeSeconds,
    keepAlive: true,
    application_name: name,
    ...onConnect(async (client) => {
      if (limits) endWhenSilent(client, silenceMs, isAnswering);
      await setSession(client, {
        // Overrides a name in the URL: new processes find a running server's sessions by this name.
        application_name: name,
        ...sessionSettings,
        ...(limits && sessionLimits),
        ...(options.path !== undefined && { search_path: options.path }),
        [connectionNumberSetting]: String(number(client)),
      });
      if (options.part?.home) await requireSchema(client);
    }),
    types,
  });
  // Without a listener, a database restart ends the process (measured).
  pool.on('error', (error) => {
    // Ending the pool does not wait for its connections, so stopping the server causes errors on them.
    if (!pool.ending) options.log.warn({ reason: error.message }, 'an idle database connection was lost');
  });
  // A connection in use also needs a listener; its next statement reports the loss.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    pools.set(client, pool);
  });
  pool.on('release', (reason, client) => {
    if (isReadOnlyError(reason)) options.at?.lost();
    // Closes a connection that should not be used again.
    if (hasServerMoved(client)) void client.end().catch(() => {});
  });
  rejectWaitingAtEnd(pool);
  patients.set(pool, (most) => openDatabase(connection, { ...options, pool: most, silenceMs: Infinity }));
  if (options.part) parts.set(pool, options.part);
  return pool;
}

/** The session setting with a number that is unique in the pool. Each process has a random first number. */
export const connectionNumberSetting = 'formloom.connection';
const firstNumber = randomInt(2 ** 15);

/** Assigns each connection the lowest free number, so that a quiet pool uses few numbers. */
function openNumbers(): (client: ClientBase) => number {
  const taken = new Set<number>();
  return (client) => {
    let number = firstNumber;
    while (taken.has(number)) number += 1;
    taken.add(number);
    client.once('end', () => taken.delete(number));
    return number;
  };
}

/** Maps connections to the pool that opened them. */
const pools = new WeakMap<object, Pool>();

/** Returns the pool of a connection, or the pool itself. */
export const databaseOf = (db: Pool | ClientBase): Database => pools.get(db) ?? (db as Pool);

const patients = new WeakMap<Pool, (most: number) => Pool>();

/**
 * Opens a second pool to the database for long statements, with at most `most` connections. A silent
 * connection stays open for as long as the database answers on other connections.
 */
export const openLongQueryPool = (database: Database, most: number): Database =>
  patients.get(database)!(most);

/** Describes a pool that serves one of several parts of an instance, such as a cell. */
export type DatabasePart = {
  /** The name under which its jobs are announced. */
  name: string;
  /** The pool over which processes of this part announce jobs. Default: the pool of the part. */
  notifier?: Database;
  /** The pool for tables that all parts share; undefined if the part's own sessions can see them. */
  home?: Database;
};

const parts = new WeakMap<Pool, DatabasePart>();
/** The name of the first, and usually only, part of an instance. */
export const firstPartName = 'default';
export const partNameOf = (database: Database): string => parts.get(database)?.name ?? firstPartName;
/** Returns the pool over which the processes of a part announce jobs. */
export const notifierOf = (database: Database): Database => parts.get(database)?.notifier ?? database;
/** Returns where to query tables that all parts share: `db`, unless its sessions cannot see them. */
export const sharedDatabaseOf = <Db extends Pool | ClientBase>(db: Db): Db | Database =>
  parts.get(databaseOf(db))?.home ?? db;

/** Returns the driver's settings. The driver supports only one host, so several hosts need our own client. */
function hostsOf(connection: ConnectionTarget): PoolConfig {
  if (!('connectionString' in connection)) return { ...connection, Client: EmbeddedClient };
  const addresses = splitDatabaseUrl(connection.connectionString);
  return addresses.length < 2
    ? connection
    : { connectionString: addresses[0]!, Client: createMultiHostClient(addresses) };
}

/** Drops connections to a server that has moved, those in use when they are released. Never rejects. */
export const renewConnections = async (pool: Database): Promise<void> => {
  const idle = Array.from({ length: pool.idleCount }, () => pool.connect());
  for (const each of await Promise.allSettled(idle)) if (each.status === 'fulfilled') each.value.release();
};

/** Creates a client outside the pool, with the settings of the pool. It is not connected yet. */
export const openClient = ({ options }: Database): Client =>
  new ((options.Client ?? Client) as typeof Client)(options)
    // Without a listener, a loss between two statements ends the process. The next statement reports it.
    .on('error', () => {});

/** @types/pg does not declare the queue of callers that wait for a connection. */
type Line = { _pendingQueue: { callback: (error: Error) => void }[] };

/**
 * Rejects callers that wait for a connection when the pool ends. The pool itself drops them without an error,
 * and the process could then exit in the middle of their work.
 */
function rejectWaitingAtEnd(pool: Pool): void {
  const { _pendingQueue: line } = pool as Pool & Line;
  const end = pool.end.bind<() => Promise<void>>(pool);
  pool.end = () => {
    const ended = end();
    for (const { callback } of line.splice(0)) callback(new Error('The database is closed here.'));
    return ended;
  };
}

/** The pool waits for `onConnect`, which its types omit. If it fails, the connection is discarded. */
const onConnect = (setUp: (client: ClientBase) => Promise<void>) => ({ onConnect: setUp });

async function setSession(client: ClientBase, settings: Readonly<Record<string, string>>): Promise<void> {
  await client.query(
    'select set_config(name, setting, false) from unnest($1::text[], $2::text[]) as given (name, setting)',
    [Object.keys(settings), Object.values(settings)],
  );
}

/** @throws an error that `isUnavailableError` accepts if the schema of the session does not exist yet. */
async function requireSchema(client: ClientBase): Promise<void> {
  const { rowCount } = await client.query('select where current_schema() is null');
  if (rowCount === 1)
    throw Object.assign(new Error('The tables are not available on this node yet.'), {
      code: cannotConnectNow,
    });
}

/** @types/pg does not declare the socket of a client or whether it is ready for a query. */
type ClientInternals = { connection: { stream: Socket }; readyForQuery: boolean };

/**
 * Closes a connection that waits for a response if it stays silent too long or the database does not answer a
 * probe. It uses one timer per connection. The driver's `query_timeout` uses one per statement, which keeps
 * rows in memory through two more garbage collections. With it, lists reach 64 % of the throughput of a bare
 * server instead of 92 % (measured).
 */
function endWhenSilent(
  client: ClientBase,
  silenceMs: number,
  isAnswering: (host: Host) => Promise<boolean>,
): void {
  const inside = client as Client & ClientInternals;
  const { stream } = inside.connection;
  const step = Math.min(doubtMs, silenceMs);
  const traffic = (): number => stream.bytesRead + stream.bytesWritten;
  let seen = 0;
  let silentMs = 0;
  const doubt = async (): Promise<void> => {
    if (inside.readyForQuery) return;
    silentMs = traffic() === seen ? silentMs + step : step;
    seen = traffic();
    const mayGoOn = silentMs < silenceMs && (await isAnswering(inside));
    if (stream.destroyed || traffic() !== seen) return;
    if (mayGoOn) stream.setTimeout(step);
    else stream.destroy(new Error('Connection terminated: the database does not respond'));
  };
  stream.setTimeout(step);
  stream.on('timeout', () => void doubt());
}

/** Checks whether a host accepts connections. Concurrent checks share one probe. Never rejects. */
function openProbe(reach: PoolConfig): (host: Host) => Promise<boolean> {
  const probes = new Map<string, Promise<boolean>>();
  const keyOf = ({ host, port }: Host): string => `${host} ${port}`;
  const ask = async ({ host, port }: Host): Promise<boolean> => {
    const probe = new ('connectionString' in reach ? Client : EmbeddedClient)({
      ...reach,
      connectionTimeoutMillis: probeMs,
      application_name: 'formloom probe',
    });
    probe.on('error', () => {});
    try {
      await Object.assign(probe, { host, port }).connect();
      return true;
    } catch (error) {
      // A server that rejects a connection is running.
      return error instanceof Error && 'severity' in error;
    } finally {
      probes.delete(keyOf({ host, port }));
      void probe.end().catch(() => {});
    }
  };
  return (host) => {
    const key = keyOf(host);
    const answer = probes.get(key) ?? ask(host);
    probes.set(key, answer);
    return answer;
  };
}

/** Runs `work` in a transaction: commits when it returns, and rolls back when it throws. */
export async function transaction<T>(
  database: Database,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    if (isReadOnlyError(error)) broken ??= error;
    throw error;
  } finally {
    // Discards a connection that could not roll back or no longer accepts writes.
    client.release(broken);
  }
}

/** Runs part of a transaction in a savepoint. If it throws, only its own writes are undone. */
export async function withSavepoint<T>(
  client: Pick<PoolClient, 'query'>,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('savepoint attempt');
  try {
    const result = await work();
    await client.query('release savepoint attempt');
    return result;
  } catch (error) {
    await client.query('rollback to savepoint attempt');
    throw error;
  }
}

const cannotConnectNow = '57P03';
// Connection (08), no resources (53), shutdown (57P), timeout (57014), read-only (25006), deadlock (40),
// views of a moving cell (42P01).
const unavailableStates = /^(08|53|57P|57014|25006|40|42P01)/;
const unavailableErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const unavailableMessages =
  /timeout exceeded when trying to connect|Connection terminated|postmaster was shut down|unexpected postmaster exit|connection marked as essential|Cannot use a pool after calling end|The database is closed here|Client has encountered a connection error|not queryable/;

/** Returns whether the disk of PostgreSQL is full. Waiting does not help until the operator frees space. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '53100';

/** Messages of timeouts, from this file and from the driver's pool. */
const silentMessages =
  /database does not respond|due to connection timeout|timeout exceeded when trying to connect|None of its hosts/;

/** Returns whether waiting for the database timed out. An immediate retry would wait as long again. */
export const isDatabaseTimeout = (error: unknown): boolean =>
  error instanceof Error && silentMessages.test(error.message);

/** Returns whether the database cannot answer now. The request then returns 503, and a retry can help. */
export function isUnavailableError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isSqlState = 'severity' in error || /^[0-9A-Z]{5}$/.test(code);
  if (isSqlState && unavailableStates.test(code)) return true;
  // Only for a missing socket of the database, not for any missing file.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  return unavailableErrors.has(code) || unavailableMessages.test(error.message);
}
