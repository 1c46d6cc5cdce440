import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { locateBinaries, provideBinaries } from './binaries.ts';
import { checkVersion, findCluster } from './cluster.ts';
import {
  checkReachable,
  chooseSocketDirectory,
  createCluster,
  database,
  makeDataDirectory,
  sharedDirectory,
  user,
} from './create-cluster.ts';
import { removeDeadDrafts } from './drafts.ts';
import { type Hold, holdServer, releaseHold } from './hold.ts';
import { findAccount, port } from './machine.ts';
import { isRemoved, type Server, stopPostmaster } from './postmaster.ts';

/** Pauses between attempts to get a lost database back, in milliseconds: at most one attempt a second. */
const shortestPause = 1_000;
const longestPause = 30_000;

/**
 * Stays a user until `stopping`: when the connection is lost, because the postmaster or its sessions died or somebody
 * stopped it, it holds the server again, starting it if need be. Every user does so; PostgreSQL lets one succeed.
 * Resolves to the hold at the end, or undefined when the database was down just then. Never rejects.
 */
async function keepHolding(server: Server, first: Hold, stopping: AbortSignal): Promise<Hold | undefined> {
  const stop = new Promise<undefined>((resolve) => {
    if (stopping.aborted) resolve(undefined);
    else stopping.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let hold = first;
  let attempted = Number.NEGATIVE_INFINITY;
  for (;;) {
    const reason = await Promise.race([hold.lost, stop]);
    if (reason === undefined) return hold;
    server.log(`The database in ${server.directory} went away (${reason}).`);
    await pause(attempted + shortestPause - performance.now(), stopping);
    attempted = performance.now();
    const next = await holdAgain(server, stopping);
    if (!next) return undefined;
    hold = next;
    server.log(`The database in ${server.directory} is back (${hold.how}).`);
  }
}

/** Tries until it succeeds or `stopping`; with growing pauses, because a full disk stays full for a while. */
async function holdAgain(server: Server, stopping: AbortSignal): Promise<Hold | undefined> {
  for (let wait = shortestPause; !stopping.aborted; wait = Math.min(wait * 2, longestPause)) {
    try {
      return await holdServer(server, stopping);
    } catch (error) {
      if (stopping.aborted && error === stopping.reason) return undefined;
      server.log(`The database is not back. ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(wait, stopping);
  }
  return undefined;
}

/** Waits, shorter when `stopping`. Does not keep the process alive. */
async function pause(milliseconds: number, stopping: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return;
  try {
    await sleep(milliseconds, undefined, { signal: stopping, ref: false });
  } catch (error) {
    if (!stopping.aborted) throw error;
  }
}

/** Leaves the users of the database, and stops it when that was the last one. */
async function leave(server: Server, hold: Hold): Promise<void> {
  let isLast: boolean;
  try {
    isLast = await releaseHold(hold);
  } catch (error) {
    if (await isRemoved(server.directory)) return stopRemoved(server, hold);
    server.log(`The database in ${server.directory} went away before it could be left (${String(error)}).`);
    return;
  }
  if (await isRemoved(server.directory)) return stopRemoved(server, hold);
  if (isLast) await stopPostmaster(server.directory, server.log);
  await hold.client.end();
  server.log(
    `The database in ${server.directory} ${isLast ? 'is stopped' : 'stays up for its other users'}.`,
  );
}

/** Stops a server whose directory is gone: nothing can be kept there, so it serves no other process either. */
async function stopRemoved(server: Server, hold: Hold): Promise<void> {
  await stopPostmaster(server.directory, server.log, hold.pid);
  await hold.client.end();
  server.log(`The database in ${server.directory} was removed while it was used. Its server is stopped.`);
}

/** A running database of ours, and our place among its users. */
export type EmbeddedPostgres = {
  /** connection settings for `pg`; `host` is the directory of the Unix socket */
  connection: { host: string; port: number; user: string; database: string };
  /** where the cluster lies */
  directory: string;
  /** `started` by this call; `adopted` from a killed parent, or shared with another Formloom process */
  how: 'started' | 'adopted';
  /** Leaves the database; the last user to leave stops it. Never stops it under another one. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  dataDir: string;
  /** gets whole sentences, now and for as long as the database is used */
  log: (message: string) => void;
  /** `false` turns fsync off: for tests only. Default `true` */
  durable?: boolean;
  /** PostgreSQL settings beside or instead of ours; without effect on a server that already runs */
  settings?: Record<string, string>;
};

/**
 * Gives Formloom its own PostgreSQL in `<dataDir>/postgres`: makes the cluster when there is none, joins the server
 * when one runs, starts it when none does, and starts it again should it die before `stop()`.
 * Any number of processes may use one data directory. Throws EmbeddedPostgresError (error.ts).
 * Takes 0.8 s the first time, 0.05 s later, 0.01 s when the server runs (two cores, quiet).
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
    const connection = { host: server.socketDirectory, port, user, database };
    return { connection, directory: server.directory, how: first.how, stop };
  } catch (error) {
    used.delete(stop);
    throw error;
  }
}

/** What leaves each database of ours that this process uses, or is about to. */
const used = new Set<() => Promise<void>>();

/** Leaves them all, for a process that is to end whatever it does; who still works on one loses it. Never rejects. */
export async function leaveEmbeddedPostgres(): Promise<void> {
  await Promise.allSettled([...used].map((stop) => stop()));
}

type Started = { server: Server; first: Hold; last: Promise<Hold | undefined> };

async function start(options: EmbeddedPostgresOptions, stopping: AbortSignal): Promise<Started> {
  const server = await prepareServer(options);
  const first = await holdServer(server, stopping);
  return { server, first, last: keepHolding(server, first, stopping) };
}

/** Everything that has to be there before a postmaster can be looked for or started. */
async function prepareServer(options: EmbeddedPostgresOptions): Promise<Server> {
  const { log, durable = true, settings = {} } = options;
  const dataDir = await makeDataDirectory(options.dataDir);
  const installed = await locateBinaries();
  const found = await findCluster(dataDir);
  if (found) checkVersion(found, installed);
  // An attempt that was killed when another one had made the database already.
  if (found) await removeDeadDrafts(join(dataDir, 'postgres'), log);
  const account = await findAccount(found);
  if (found && account) await checkReachable(found.directory, account);
  const spare = account ? sharedDirectory : dataDir;
  const binaries = await provideBinaries(installed, { account, spare, log });
  const cluster = found ?? (await createCluster({ dataDir, account, binaries, durable, log }));
  const socketDirectory = chooseSocketDirectory(cluster.directory);
  return { binaries, account, directory: cluster.directory, socketDirectory, durable, settings, log };
}
