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
  addressesOf,
  clientAt,
  clientOfHosts,
  type Host,
  isAstray,
  isReadOnly,
  type Whereabouts,
} from './find-host.ts';
import type { Log } from './log.ts';

export type Database = Pool;

/** A request waits this long for a connection of the pool, then answers 503 (docs/rules.md C18: nothing hangs). */
const poolWaitMs = 2_000;
/** PostgreSQL ends a statement after this long; the request answers 503. */
const statementLimitMs = 10_000;
/** Ends a connection that went dead without a word, a little after PostgreSQL would have ended its statement. */
const silenceLimitMs = statementLimitMs + 2_000;
/**
 * A connection is replaced after this long. PostgreSQL keeps each statement that it was ever asked with its plan, and never
 * less: all 600 of the service come to 50 MB, in each connection (measured), and one that is used now and then would stay for days.
 */
const longestLifetimeSeconds = 600;
/**
 * A connection that has owed an answer for so long is doubted: its statement may be slow, or the database takes in what
 * it is sent and answers nobody. Another connection asks it, and has so long for an answer.
 */
const doubtMs = 1_000;
const probeMs = 1_500;

/**
 * What every session is set to once it is connected, and not by start-up options: poolers such as PgBouncer refuse those.
 *
 * A statement is planned once for each connection, whatever its parameters: they hardly change which plan is best here,
 * and PostgreSQL otherwise plans many anew each time (measured: half the time of a list, 1 of 1.5 ms of a search).
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
 * A moment in UTC, as PostgreSQL writes it: `2026-11-21 19:30:00.123+00`. JavaScript's own parser reads that four times
 * as fast as the driver's, which lists call 60 times; it still reads all others (other zones, BC, infinity).
 */
const readTimestamp = (text: string): unknown =>
  text.endsWith('+00') && text[4] === '-'
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : readAnyTimestamp(text);

/** bigint arrives as a number: counts and sizes here stay below 2^53. */
const readers = new Map<number, (text: string) => unknown>([
  [int8, Number],
  [timestamptz, readTimestamp],
]);

/** Everything else arrives as the driver has it. */
const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format) => readers.get(oid) ?? defaults.getTypeParser(oid, format),
};

/** How to reach a database: an address, which may name several hosts, or the parts of one (the embedded server's socket). */
export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string };

/**
 * Opens a pool with bounded waits. Connections are made on demand; a database that is away makes queries fail
 * fast (see isUnavailable), never the process.
 */
export function openDatabase(
  connection: Connection,
  options: {
    pool: number;
    log: Log;
    limits?: boolean;
    silenceMs?: number;
    waitMs?: number;
    lifetimeSeconds?: number;
    name?: string;
    /** Where its sessions look for tables, and make them, where that is not as the database has it. */
    path?: string;
    /** Which server its connections go to, where that may move. */
    at?: Whereabouts;
    /** Of a pool that serves a part of an instance. */
    part?: Part;
  },
): Database {
  const { limits = true, silenceMs = silenceLimitMs, waitMs = poolWaitMs, name = 'formloom' } = options;
  const { lifetimeSeconds = longestLifetimeSeconds } = options;
  const reach = hostsOf(connection);
  const isAnswering = openProbe(reach);
  const number = openNumbers();
  const pool = new Pool({
    ...reach,
    ...(options.at && { Client: clientAt(options.at, reach.Client) }),
    max: options.pool,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: lifetimeSeconds,
    keepAlive: true,
    application_name: name,
    ...onConnect(async (client) => {
      if (limits) endWhenSilent(client, silenceMs, isAnswering);
      await setSession(client, {
        // Also where an address names them otherwise: those that start beside a server look for its sessions by it.
        application_name: name,
        ...sessionSettings,
        ...(limits && sessionLimits),
        ...(options.path !== undefined && { search_path: options.path }),
        [connectionNumber]: String(number(client)),
      });
      if (options.part?.home) await requireSchema(client);
    }),
    types,
  });
  // Without a listener, a database restart ends the process (measured).
  pool.on('error', (error) => {
    // The pool's end does not wait for its connections: a server that is stopped next says so to those that are still there.
    if (!pool.ending) options.log.warn({ reason: error.message }, 'an idle database connection was lost');
  });
  // The same for one that is lent, while it waits for its next statement, which then says that it was lost.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    pools.set(client, pool);
  });
  pool.on('release', (reason, client) => {
    if (isReadOnly(reason)) options.at?.lost();
    // What has begun to end goes to nobody else.
    if (isAstray(client)) void client.end().catch(() => {});
  });
  refuseAtEnd(pool);
  patients.set(pool, (most) => openDatabase(connection, { ...options, pool: most, silenceMs: Infinity }));
  if (options.part) parts.set(pool, options.part);
  return pool;
}

/** A setting of each session: a number that no other connection of its pool has, from a beginning that each process draws. */
export const connectionNumber = 'formloom.connection';
const firstNumber = randomInt(2 ** 15);

/** Numbers connections, the least that is free, so that a pool that has little to do has few of them. */
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

/** The pools of the connections that they made. */
const pools = new WeakMap<object, Pool>();

/** The pool that a connection is of; of a pool itself. */
export const databaseOf = (db: Pool | ClientBase): Database => pools.get(db) ?? (db as Pool);

const patients = new WeakMap<Pool, (most: number) => Pool>();

/**
 * A pool of its own to where a database is, of so many connections at most, for what takes as long as it takes: a silence ends none of
 * them, for as long as the database answers others.
 */
export const openPatient = (database: Database, most: number): Database => patients.get(database)!(most);

/** Describes a pool that serves one of several parts of an instance, such as a cell. */
export type Part = {
  /** Its name, by which its jobs are announced. */
  name: string;
  /** The pool over which the processes of this part tell each other of jobs; its own unless named. */
  notifier?: Database;
  /** The pool for the tables that all parts share; undefined where its own sessions find them. */
  home?: Database;
};

const parts = new WeakMap<Pool, Part>();
/** The name of the only part of an instance, and of the first. */
export const firstPart = 'default';
/** Returns the name of the part that a pool serves. */
export const partNameOf = (database: Database): string => parts.get(database)?.name ?? firstPart;
/** Returns the pool over which the processes of a part tell each other of jobs. */
export const notifierOf = (database: Database): Database => parts.get(database)?.notifier ?? database;
/** Returns what to ask for the tables that all parts share: the given pool or client, unless its sessions cannot see them. */
export const homeOf = <Db extends Pool | ClientBase>(db: Db): Db | Database =>
  parts.get(databaseOf(db))?.home ?? db;

/** What the driver, which knows of one host alone, is to be told where there are several. */
function hostsOf(connection: Connection): PoolConfig {
  if (!('connectionString' in connection)) return { ...connection, Client: EmbeddedClient };
  const addresses = addressesOf(connection.connectionString);
  return addresses.length < 2
    ? connection
    : { connectionString: addresses[0]!, Client: clientOfHosts(addresses) };
}

/** Has a pool leave a server that has moved: connections that are lent end when they come back. Never rejects. */
export const renew = async (pool: Database): Promise<void> => {
  const idle = Array.from({ length: pool.idleCount }, () => pool.connect());
  for (const each of await Promise.allSettled(idle)) if (each.status === 'fulfilled') each.value.release();
};

/** A connection beside the pool, as the pool makes its own. It is not connected yet. */
export const openClient = ({ options }: Database): Client =>
  new ((options.Client ?? Client) as typeof Client)(options)
    // One that is lost between two statements would end the process; the next one says that it was lost.
    .on('error', () => {});

/** @types/pg leaves out who waits in line for a connection. */
type Line = { _pendingQueue: { callback: (error: Error) => void }[] };

/**
 * Who still waits in line for a connection when the pool ends is told so, as who comes later is: the pool itself forgets them, and
 * where nothing else keeps the process, it ends in the middle of their work.
 */
function refuseAtEnd(pool: Pool): void {
  const { _pendingQueue: line } = pool as Pool & Line;
  const end = pool.end.bind<() => Promise<void>>(pool);
  pool.end = () => {
    const ended = end();
    for (const { callback } of line.splice(0)) callback(new Error('The database is closed here.'));
    return ended;
  };
}

/** The pool waits for it, which its types leave out; a connection for which it fails is given to nobody. */
const onConnect = (setUp: (client: ClientBase) => Promise<void>) => ({ onConnect: setUp });

async function setSession(client: ClientBase, settings: Readonly<Record<string, string>>): Promise<void> {
  await client.query(
    'select set_config(name, setting, false) from unnest($1::text[], $2::text[]) as given (name, setting)',
    [Object.keys(settings), Object.values(settings)],
  );
}

/** @throws an error that `isUnavailable` accepts if the schema of the session does not exist (yet). */
async function requireSchema(client: ClientBase): Promise<void> {
  const { rowCount } = await client.query('select where current_schema() is null');
  if (rowCount === 1)
    throw Object.assign(new Error('The tables are not open at this node yet.'), { code: cannotConnectNow });
}

/** @types/pg leaves out where a client is connected, and whether it owes no answer. */
type Inside = { connection: { stream: Socket }; readyForQuery: boolean };

/**
 * Ends a connection that owes an answer and has been silent for so long, or while the database answers nobody. It is one
 * timer for a connection and not the driver's `query_timeout`, one for a statement: garbage collection keeps those, and
 * the rows of their statements with them, through two collections more (measured: lists at 64 % of the bare limit
 * instead of 92 %).
 */
function endWhenSilent(
  client: ClientBase,
  silenceMs: number,
  isAnswering: (host: Host) => Promise<boolean>,
): void {
  const inside = client as Client & Inside;
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
    else stream.destroy(new Error('Connection terminated: the database does not answer'));
  };
  stream.setTimeout(step);
  stream.on('timeout', () => void doubt());
}

/** Whether a host answers a new connection: asked once for all who doubt it at the same time. Never rejects. */
function openProbe(reach: PoolConfig): (host: Host) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
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
      // What refuses a connection is there.
      return error instanceof Error && 'severity' in error;
    } finally {
      asked.delete(keyOf({ host, port }));
      void probe.end().catch(() => {});
    }
  };
  return (host) => {
    const key = keyOf(host);
    const answer = asked.get(key) ?? ask(host);
    asked.set(key, answer);
    return answer;
  };
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
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
    if (isReadOnly(error)) broken ??= error;
    throw error;
  } finally {
    // A connection that could not even roll back, or takes no writes any more, is not given to the next request.
    client.release(broken);
  }
}

/** Does a part of a transaction. What it wrote is taken back where it throws, and the transaction can go on. */
export async function attempt<T>(client: Pick<PoolClient, 'query'>, work: () => Promise<T>): Promise<T> {
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
/** Connection (08), resources used up (53), shut down (57P), limit (57014), read-only (25006), deadlock (40), views of a moving cell (42P01). */
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

/** Whether PostgreSQL says that its disk is full: then waiting helps nobody until somebody makes room. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '53100';

/** Of what is thrown here and by the driver's pool: somebody was waited for until the limit. */
const silentMessages =
  /the database does not answer|due to connection timeout|timeout exceeded when trying to connect|None of its hosts/;

/** Whether an error says that the database was waited for in vain: whoever asks again at once waits as long again. */
export const isSilent = (error: unknown): boolean =>
  error instanceof Error && silentMessages.test(error.message);

/** Whether an error says that the database cannot answer now: the request ends in 503, and trying again helps. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if ('severity' in error || /^[0-9A-Z]{5}$/.test(code)) {
    if (unavailableStates.test(code)) return true;
  }
  // A socket of the database that is gone, and not a file of somebody else.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  return unavailableErrors.has(code) || unavailableMessages.test(error.message);
}
