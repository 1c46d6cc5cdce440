import { join } from 'node:path';
import { findAccount } from './account.ts';
import { locateBinaries, provideBinaries } from './binaries.ts';
import { checkVersion, findCluster } from './cluster.ts';
import { createCluster, database, user } from './create-cluster.ts';
import { removeDeadDrafts } from './drafts.ts';
import { type Hold, holdServer } from './hold.ts';
import { keepHolding, leave } from './keep-holding.ts';
import { checkReachable, chooseSocketDirectory, makeDataDirectory, sharedDirectory } from './placement.ts';
import type { Server } from './postmaster.ts';
import { port } from './settings.ts';

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
