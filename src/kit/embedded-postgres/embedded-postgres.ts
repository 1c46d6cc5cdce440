import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acquireServer, releaseServer, type ServerLock } from './acquire-server.ts';
import { locateBinaries, provideBinaries } from './binaries.ts';
import {
  chooseSocketDirectory,
  createCluster,
  databaseName,
  databaseUser,
  findCluster,
  makeDataDirectory,
  requireReachableCluster,
  requireSameMajorVersion,
  sharedDirectory,
} from './create-cluster.ts';
import { removeDeadDrafts } from './drafts.ts';
import { findPostgresAccount, postgresSocketPort } from './machine.ts';
import { isClusterDirectoryRemoved, type PostgresServer, stopPostmaster } from './postmaster.ts';

/** Pauses between attempts to restore a lost database, in milliseconds: at most one attempt per second. */
const shortestPause = 1_000;
const longestPause = 30_000;

/**
 * Remains a user of the database until `stopping` is aborted. If the connection is lost, it connects again
 * and starts the server if necessary. Every user does this, and PostgreSQL lets one succeed. Resolves to the
 * last hold, or undefined if the database is down at that time. Never rejects.
 */
async function holdUntilStopped(
  server: PostgresServer,
  first: ServerLock,
  stopping: AbortSignal,
): Promise<ServerLock | undefined> {
  const stop = new Promise<undefined>((resolve) => {
    if (stopping.aborted) resolve(undefined);
    else stopping.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let hold = first;
  let attempted = Number.NEGATIVE_INFINITY;
  for (;;) {
    const reason = await Promise.race([hold.lost, stop]);
    if (reason === undefined) return hold;
    server.log(`The connection to the database in ${server.directory} was lost (${reason}).`);
    await pause(attempted + shortestPause - performance.now(), stopping);
    attempted = performance.now();
    const next = await retryHold(server, stopping);
    if (!next) return undefined;
    hold = next;
    server.log(`The database in ${server.directory} is available again (${hold.how}).`);
  }
}

/**
 * Retries until it succeeds or `stopping` is aborted. The pauses grow, because a full disk stays full for a
 * while.
 */
async function retryHold(server: PostgresServer, stopping: AbortSignal): Promise<ServerLock | undefined> {
  for (let wait = shortestPause; !stopping.aborted; wait = Math.min(wait * 2, longestPause)) {
    try {
      return await acquireServer(server, stopping);
    } catch (error) {
      if (stopping.aborted && error === stopping.reason) return undefined;
      server.log(
        `The database is still unavailable. ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    await pause(wait, stopping);
  }
  return undefined;
}

/** Waits until the time has passed or `stopping` is aborted. It does not keep the process alive. */
async function pause(milliseconds: number, stopping: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return;
  try {
    await sleep(milliseconds, undefined, { signal: stopping, ref: false });
  } catch (error) {
    if (!stopping.aborted) throw error;
  }
}

/** Disconnects from the database and stops it if no other user is left. */
async function leave(server: PostgresServer, hold: ServerLock): Promise<void> {
  let isLast: boolean;
  try {
    isLast = await releaseServer(hold);
  } catch (error) {
    if (await isClusterDirectoryRemoved(server.directory)) return stopRemoved(server, hold);
    server.log(
      `The connection to the database in ${server.directory} was lost during shutdown (${String(error)}).`,
    );
    return;
  }
  if (await isClusterDirectoryRemoved(server.directory)) return stopRemoved(server, hold);
  if (isLast) await stopPostmaster(server.directory, server.log);
  await hold.client.end();
  server.log(
    `The database in ${server.directory} ${isLast ? 'has stopped' : 'keeps running for its other users'}.`,
  );
}

/** Stops a server whose directory was removed. It can store nothing, so no process can use it. */
async function stopRemoved(server: PostgresServer, hold: ServerLock): Promise<void> {
  await stopPostmaster(server.directory, server.log, hold.pid);
  await hold.client.end();
  server.log(`The database in ${server.directory} was removed while it was in use. Its server has stopped.`);
}

/** A running embedded database that this process uses. */
export type EmbeddedPostgres = {
  /** connection settings for `pg`; `host` is the directory of the Unix socket */
  connection: { host: string; port: number; user: string; database: string };
  directory: string;
  /** `started` by this call; `adopted` if the server was already running */
  how: 'started' | 'adopted';
  /** Disconnects from the database. The last user stops it; it never stops while others use it. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  dataDir: string;
  /** receives whole sentences for as long as the database is used */
  log: (message: string) => void;
  /** `false` turns fsync off, for tests only. Default: `true` */
  durable?: boolean;
  /** additional PostgreSQL settings, which override ours; ignored if the server is already running */
  settings?: Record<string, string>;
};

/**
 * Runs Formloom's own PostgreSQL in `<dataDir>/postgres`. It creates the cluster if there is none, connects
 * to a running server or starts it, and restarts it if it dies before `stop()`. Any number of processes may
 * use one data directory. Throws EmbeddedPostgresError (machine.ts). Takes 0.8 s the first time, 0.05 s
 * later, and 0.01 s if the server is running (two cores, idle).
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const stopping = new AbortController();
  const started = start(options, stopping.signal);
  const leaveStarted = async (): Promise<void> => {
    const { server, last } = await started;
    const hold = await last;
    if (hold) await leave(server, hold);
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping.abort();
    stopped ??= leaveStarted().finally(() => used.delete(stop));
    return stopped;
  };
  used.add(stop);
  try {
    const { server, first } = await started;
    const connection = {
      host: server.socketDirectory,
      port: postgresSocketPort,
      user: databaseUser,
      database: databaseName,
    };
    return { connection, directory: server.directory, how: first.how, stop };
  } catch (error) {
    used.delete(stop);
    throw error;
  }
}

/** The stop functions of all embedded databases that this process uses or is starting. */
const used = new Set<() => Promise<void>>();

/** Disconnects from all embedded databases before the process exits, even if in use. Never rejects. */
export async function releaseEmbeddedPostgres(): Promise<void> {
  await Promise.allSettled([...used].map((stop) => stop()));
}

type Started = { server: PostgresServer; first: ServerLock; last: Promise<ServerLock | undefined> };

async function start(options: EmbeddedPostgresOptions, stopping: AbortSignal): Promise<Started> {
  const server = await prepareServer(options);
  const first = await acquireServer(server, stopping);
  return { server, first, last: holdUntilStopped(server, first, stopping) };
}

/** Prepares what is needed to find or start a postmaster. */
async function prepareServer(options: EmbeddedPostgresOptions): Promise<PostgresServer> {
  const { log, durable = true, settings = {} } = options;
  const dataDir = await makeDataDirectory(options.dataDir);
  const installed = await locateBinaries();
  const found = await findCluster(dataDir);
  if (found) requireSameMajorVersion(found, installed);
  // A killed attempt may remain from when another process created the database.
  if (found) await removeDeadDrafts(join(dataDir, 'postgres'), log);
  const account = await findPostgresAccount(found);
  if (found && account) await requireReachableCluster(found.directory, account);
  const spare = account ? sharedDirectory : dataDir;
  const binaries = await provideBinaries(installed, { account, spare, log });
  const cluster = found ?? (await createCluster({ dataDir, account, binaries, durable, log }));
  const socketDirectory = chooseSocketDirectory(cluster.directory);
  return { binaries, account, directory: cluster.directory, socketDirectory, durable, settings, log };
}
