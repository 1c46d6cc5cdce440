import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { EmbeddedClient } from '../embedded-client.ts';
import { readDisk } from '../storage.ts';
import { user } from './create-cluster.ts';
import {
  EmbeddedPostgresError,
  elsewhere,
  hasCode,
  port,
  suggestRemedy,
  suggestRemedyOf,
} from './machine.ts';
import { findPostmaster, type Launch, launchPostmaster, type Postmaster, type Server } from './postmaster.ts';
import { lastLines } from './program.ts';

/** How long a postmaster may be in one state before something must be wrong: milliseconds. */
const mayTake = {
  absent: 15_000,
  starting: 5 * 60_000, // replaying 1 GB of log (max_wal_size) on a slow disk
  ready: 15_000, // and yet not answering
  stopping: 15_000, // the last user gives it 10 s to stop in order
};
/** The same in any state when we are stopping ourselves. */
const mayTakeAtEnd = 5_000;
const newsEvery = 10_000;

/**
 * Watches how long the postmaster stays in one state without letting us in. The function that it gives back is called
 * with what was just seen; it logs every 10 s, and throws {@link EmbeddedPostgresError} when it takes too long.
 */
function createPatience(
  server: Pick<Server, 'directory' | 'log'>,
  stopping: AbortSignal,
): (postmaster: Postmaster | undefined, obstacle: string) => void {
  let state: keyof typeof mayTake = 'absent';
  let since = performance.now();
  let nextNews = newsEvery;
  return (postmaster, obstacle) => {
    const current = postmaster?.status ?? 'absent';
    if (current !== state) since = performance.now();
    state = current;
    const waited = performance.now() - since;
    const seconds = Math.round(waited / 1000);
    const told = `The database in ${server.directory} has been ${state} for ${seconds} s without answering`;
    if (waited > (stopping.aborted ? mayTakeAtEnd : mayTake[state])) {
      throw new EmbeddedPostgresError(
        `${told}${obstacle && ` (${obstacle})`}. Read its log, postgres.log in that directory; ` +
          `${postmaster ? `stop its process ${postmaster.pid} (SIGINT)` : 'start again'}, ${elsewhere}.`,
      );
    }
    if (waited < nextNews) return;
    nextNews += newsEvery;
    server.log(`${told}; after a crash it has to recover.`);
  };
}

/**
 * A connection that says "this process uses the database": it has the users' lock in common with all other users.
 * The lock goes with the connection, so a killed user never leaves one behind.
 */
export type Hold = {
  client: UserClient;
  /** whether the postmaster is one that this call started */
  how: 'started' | 'adopted';
  /** the process of the postmaster */
  pid: number;
  /** resolves with the reason when the connection has ended */
  lost: Promise<string>;
};

/** @types/pg leaves out that a client can stop keeping the process alive. */
type UserClient = Client & { ref(): void; unref(): void };

/** The key of the users' lock, in the database `postgres`: the letters "formloom" read as one 64-bit number. */
export const usersLock = '7381244128579776365';

/** Milliseconds. */
const pollEvery = 15;
const relaunchAfter = 500;
/** Times: for 0.3 s after a crash the dead postmaster's children still hold its memory. */
const mayRelaunch = 10;

/**
 * Finds the running postmaster of the cluster, or starts one, and joins its users. Resolves when the database answers.
 * Whoever else starts, stops or kills it meanwhile: it looks again, until it has waited so long that something must be
 * wrong, and then throws {@link EmbeddedPostgresError}. Once `signal` is aborted it starts nothing more, and gives a
 * postmaster that it has started already 5 s to become ready, so that it can be left in order.
 */
export async function holdServer(server: Server, signal: AbortSignal): Promise<Hold> {
  const checkPatience = createPatience(server, signal);
  let launch: Launch | undefined;
  let failures = 0;
  let obstacle = '';
  for (;;) {
    const postmaster = await findPostmaster(server.directory);
    if (postmaster?.status === 'ready') {
      const answer = await knock(server);
      if (typeof answer !== 'string') {
        if (await isStillReady(server, postmaster)) {
          return {
            ...answer,
            pid: postmaster.pid,
            how: launch?.pid === postmaster.pid ? 'started' : 'adopted',
          };
        }
        await answer.client.end();
      }
      obstacle = typeof answer === 'string' ? answer : 'it was being stopped';
    } else if (!postmaster && !launch) {
      signal.throwIfAborted();
      launch = await launchPostmaster(server);
    } else if (!postmaster && launch?.failure !== undefined) {
      checkMayRelaunch(server, await explainSilence(server.directory, launch.failure), ++failures);
      launch = undefined;
      await sleep(relaunchAfter);
    }
    checkPatience(postmaster, obstacle);
    await sleep(pollEvery);
  }
}

/**
 * Whether a postmaster that let us in is not being stopped. The end of the last user's own connection gives the lock to
 * whoever waits for it, and at times before the session that waits is ended too; PostgreSQL notes that it stops before
 * it ends any session, so what was noted after we got the lock tells.
 */
async function isStillReady(server: Server, seen: Postmaster): Promise<boolean> {
  const now = await findPostmaster(server.directory);
  return now?.pid === seen.pid && now.status === 'ready';
}

/** Connects as a user; gives back why not when it is worth trying again. */
async function knock(server: Server): Promise<Omit<Hold, 'how' | 'pid'> | string> {
  const client = new EmbeddedClient({
    host: server.socketDirectory,
    port,
    user,
    database: 'postgres', // not our own: nobody could use that as a template, or restore it, beside this connection
    ssl: false,
    application_name: `formloom user ${process.pid}`,
    connectionTimeoutMillis: 5_000,
    query_timeout: 20_000, // the lock is waited for while the last user stops the server, which ends this connection
  }) as UserClient;
  let reason = 'the connection ended';
  client.on('error', (error) => (reason = error.message));
  const lost = new Promise<string>((resolve) => client.once('end', () => resolve(reason)));
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    checkIsOurs(server, rows[0]?.data_directory);
    await client.query('select pg_advisory_lock_shared($1)', [usersLock]);
    client.unref();
    return { client, lost };
  } catch (error) {
    await client.end();
    if (error instanceof EmbeddedPostgresError) throw error;
    const message = String(error);
    if (isPassing(error)) return message;
    throw new EmbeddedPostgresError(
      `The database in ${server.directory} refuses Formloom (${message}). ${suggestRemedyOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * Whether a failure to connect is that of a server on its way up or down. The driver says "not queryable" when the
 * server ended the connection between two of our statements.
 */
function isPassing(error: unknown): boolean {
  const isDown = hasCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE');
  const isBetween = hasCode(error, '57P01', '57P02', '57P03', '53300');
  return (
    isDown || isBetween || (error instanceof Error && /terminated|timeout|not queryable/i.test(error.message))
  );
}

function checkIsOurs(server: Server, directory: string | undefined): void {
  if (directory === server.directory) return;
  throw new EmbeddedPostgresError(
    `On the socket in ${server.socketDirectory} answers a PostgreSQL that works in ${directory}, not in ` +
      `${server.directory}. Stop it (a directory that was renamed under a running server needs that too), ${elsewhere}.`,
  );
}

/** Leaves the users. True when nobody else is among them: then the server is ours to stop, and newcomers wait. */
export async function releaseHold({ client }: Hold): Promise<boolean> {
  client.ref();
  // First let go, then ask: two that leave at once while both hold on would each think the other stays.
  await client.query('select pg_advisory_unlock_shared($1)', [usersLock]);
  const tried = 'select pg_try_advisory_lock($1) as alone';
  const { rows } = await client.query<{ alone: boolean }>(tried, [usersLock]);
  return rows[0]?.alone === true;
}

/** An end that the next attempt need not meet: another postmaster, the rest of a dead one, or somebody who stopped it. */
const passingEnd = /already exists|still in use|lock file .* is empty|shutdown request|ended by SIG/;

const littleRoom = 16 * 1024 * 1024;

/** What it said; or why it could say nothing: its log lies on the disk that is full. */
async function explainSilence(directory: string, said: string): Promise<string> {
  const { free } = await readDisk(directory);
  return said.trim() === '' && free < littleRoom ? 'No space left on device' : said;
}

function checkMayRelaunch(server: Server, said: string, failures: number): void {
  if (failures < mayRelaunch && passingEnd.test(said)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start in ${server.directory}. It said:\n${lastLines(said)}\n${suggestRemedy(said)}`,
  );
}
