import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { EmbeddedClient } from '../embedded-client.ts';
import { readDiskSpace } from '../storage.ts';
import { databaseUser } from './create-cluster.ts';
import {
  EmbeddedPostgresError,
  hasErrorCode,
  otherDatabaseHint,
  postgresSocketPort,
  suggestRemedy,
  suggestRemedyForError,
} from './machine.ts';
import {
  findPostmaster,
  launchPostmaster,
  type PostgresServer,
  type Postmaster,
  type PostmasterLaunch,
} from './postmaster.ts';
import { lastLines } from './program.ts';

/** The longest time that a postmaster may stay in one state, in milliseconds. */
const stateLimits = {
  absent: 15_000,
  starting: 5 * 60_000, // replaying 1 GB of WAL (max_wal_size) on a slow disk
  ready: 15_000, // ready, but not answering
  stopping: 15_000, // the last user waits 10 s for an orderly stop
};
/** The longest time in any state while this process is stopping, in milliseconds. */
const stoppingLimitMs = 5_000;
const progressEveryMs = 10_000;

/**
 * Tracks how long the postmaster stays in one state without accepting a connection. Call the returned
 * function with the current state. It logs every 10 s, and throws {@link EmbeddedPostgresError} after the
 * limit.
 */
function createPatience(
  server: Pick<PostgresServer, 'directory' | 'log'>,
  stopping: AbortSignal,
): (postmaster: Postmaster | undefined, obstacle: string) => void {
  let state: keyof typeof stateLimits = 'absent';
  let since = performance.now();
  let nextNews = progressEveryMs;
  return (postmaster, obstacle) => {
    const current = postmaster?.status ?? 'absent';
    if (current !== state) since = performance.now();
    state = current;
    const waited = performance.now() - since;
    const seconds = Math.round(waited / 1000);
    const message = `The database in ${server.directory} has been ${state} for ${seconds} s without responding`;
    if (waited > (stopping.aborted ? stoppingLimitMs : stateLimits[state]))
      throw new EmbeddedPostgresError(
        `${message}${obstacle && ` (${obstacle})`}. Read postgres.log in that directory; then ${postmaster ? `stop its process ${postmaster.pid} (SIGINT)` : 'start again'}, ${otherDatabaseHint}.`,
      );
    if (waited < nextNews) return;
    nextNews += progressEveryMs;
    server.log(`${message}; after a crash, recovery takes some time.`);
  };
}

/**
 * A connection that marks this process as a user of the database. It has a shared advisory lock, which ends
 * with the connection, so a killed user leaves no lock behind.
 */
export type ServerLock = {
  client: UserClient;
  /** whether this call started the postmaster */
  how: 'started' | 'adopted';
  pid: number;
  /** resolves with the reason when the connection ends */
  lost: Promise<string>;
};

/** @types/pg does not declare that a client can stop keeping the process alive. */
type UserClient = Client & { ref(): void; unref(): void };

/** The key of the users' lock, in the database `postgres`: the letters "formloom" as a 64-bit number. */
export const serverLockKey = '7381244128579776365';

/** The polling interval, in milliseconds. */
const pollEvery = 15;
const relaunchAfter = 500;
/**
 * The number of attempts to start. For 0.3 s after a crash, the children of the dead postmaster still use its
 * shared memory.
 */
const mayRelaunch = 10;

/**
 * Finds or starts the postmaster of the cluster and becomes one of its users. Resolves when the database
 * answers. If other processes start, stop or kill it in the meantime, it tries again, and throws {@link
 * EmbeddedPostgresError} after the limit. After `signal` is aborted, it starts nothing. A postmaster that it
 * started gets 5 s to become ready, so that it can stop gracefully.
 */
export async function acquireServer(server: PostgresServer, signal: AbortSignal): Promise<ServerLock> {
  const checkPatience = createPatience(server, signal);
  let launch: PostmasterLaunch | undefined;
  let failures = 0;
  let obstacle = '';
  for (;;) {
    const postmaster = await findPostmaster(server.directory);
    if (postmaster?.status === 'ready') {
      const answer = await tryConnect(server);
      if (typeof answer !== 'string') {
        if (await isStillReady(server, postmaster))
          return {
            ...answer,
            pid: postmaster.pid,
            how: launch?.pid === postmaster.pid ? 'started' : 'adopted',
          };
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
 * Returns whether a postmaster that accepted us is not stopping. When the last user disconnects, a waiting
 * session can get its lock before it is ended. PostgreSQL records that it is stopping before it ends any
 * session, so the status is read after the lock.
 */
async function isStillReady(server: PostgresServer, seen: Postmaster): Promise<boolean> {
  const now = await findPostmaster(server.directory);
  return now?.pid === seen.pid && now.status === 'ready';
}

/** Connects as a user. Returns the reason if a retry can help. */
async function tryConnect(server: PostgresServer): Promise<Omit<ServerLock, 'how' | 'pid'> | string> {
  const client = new EmbeddedClient({
    host: server.socketDirectory,
    port: postgresSocketPort,
    user: databaseUser,
    database: 'postgres', // not `formloom`: this connection would prevent using it as a template or restoring it
    ssl: false,
    application_name: `formloom user ${process.pid}`,
    connectionTimeoutMillis: 5_000,
    query_timeout: 20_000, // the lock waits while the last user stops the server, which ends this connection
  }) as UserClient;
  let reason = 'the connection ended';
  client.on('error', (error) => (reason = error.message));
  const lost = new Promise<string>((resolve) => client.once('end', () => resolve(reason)));
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    checkIsOurs(server, rows[0]?.data_directory);
    await client.query('select pg_advisory_lock_shared($1)', [serverLockKey]);
    client.unref();
    return { client, lost };
  } catch (error) {
    await client.end();
    if (error instanceof EmbeddedPostgresError) throw error;
    const message = String(error);
    if (isPassing(error)) return message;
    throw new EmbeddedPostgresError(
      `The database in ${server.directory} rejects the connection (${message}). ${suggestRemedyForError(error)}`,
      { cause: error },
    );
  }
}

/**
 * Returns whether a connection failed because the server is starting or stopping. The driver says "not
 * queryable" if the server closed the connection between two statements.
 */
function isPassing(error: unknown): boolean {
  const isDown = hasErrorCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE');
  const isBetween = hasErrorCode(error, '57P01', '57P02', '57P03', '53300');
  return (
    isDown || isBetween || (error instanceof Error && /terminated|timeout|not queryable/i.test(error.message))
  );
}

function checkIsOurs(server: PostgresServer, directory: string | undefined): void {
  if (directory === server.directory) return;
  throw new EmbeddedPostgresError(
    `The socket in ${server.socketDirectory} belongs to a PostgreSQL server that runs in ${directory}, not in ${server.directory}. Stop that server, even if its directory was renamed while it was running, ${otherDatabaseHint}.`,
  );
}

/**
 * Stops being a user of the database. Returns true if no user is left; new users then wait while we stop the
 * server.
 */
export async function releaseServer({ client }: ServerLock): Promise<boolean> {
  client.ref();
  // Unlock first, then check: two users that leave together would each see the other one's lock.
  await client.query('select pg_advisory_unlock_shared($1)', [serverLockKey]);
  const tried = 'select pg_try_advisory_lock($1) as alone';
  const { rows } = await client.query<{ alone: boolean }>(tried, [serverLockKey]);
  return rows[0]?.alone === true;
}

/** Failures for which a retry can help: another postmaster, remains of a dead one, or a shutdown request. */
const passingEnd = /already exists|still in use|lock file .* is empty|shutdown request|ended by SIG/;

const littleRoom = 16 * 1024 * 1024;

/** Returns the output, or the reason for missing output: a full disk, which also prevents logging. */
async function explainSilence(directory: string, output: string): Promise<string> {
  const { free } = await readDiskSpace(directory);
  return output.trim() === '' && free < littleRoom ? 'No space left on device' : output;
}

function checkMayRelaunch(server: PostgresServer, output: string, failures: number): void {
  if (failures < mayRelaunch && passingEnd.test(output)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start in ${server.directory}. Its output:\n${lastLines(output)}\n${suggestRemedy(output)}`,
  );
}
