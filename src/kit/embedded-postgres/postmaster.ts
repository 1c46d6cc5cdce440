import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { makeSocketDirectory } from './create-cluster.ts';
import {
  buildPostgresArguments,
  EmbeddedPostgresError,
  fileError,
  hasErrorCode,
  otherDatabaseHint,
  postgresSocketPort,
  type SystemAccount,
} from './machine.ts';
import { getSpawnOptions, programEnvironment, spawnError } from './program.ts';

/** The paths and settings that are needed to find or start a postmaster. */
export type PostgresServer = {
  binaries: Binaries;
  account: SystemAccount | undefined;
  directory: string;
  socketDirectory: string;
  durable: boolean;
  settings: Record<string, string>;
  log: (message: string) => void;
};

/** PostgreSQL's record of the process that uses a cluster. */
export type Postmaster = { pid: number; status: 'starting' | 'ready' | 'stopping' };

/** Parses `postmaster.pid`: line 1 is the process id, and line 8, which is written last, the status. */
export function parsePostmasterFile(text: string): Postmaster | undefined {
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  const status = lines[7]?.trim();
  if (!(pid > 1)) return undefined; // still being written, or a stand-alone backend (negative)
  return { pid, status: status === 'ready' || status === 'stopping' ? status : 'starting' };
}

async function readPostmasterFile(directory: string): Promise<Postmaster | undefined> {
  try {
    return parsePostmasterFile(await readFile(join(directory, 'postmaster.pid'), 'utf8'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw fileError(`read ${join(directory, 'postmaster.pid')}`, error);
  }
}

/** Returns the running postmaster of a cluster, ignoring records of dead ones whose pid was reused. */
export async function findPostmaster(directory: string): Promise<Postmaster | undefined> {
  const recorded = await readPostmasterFile(directory);
  return recorded && (await isPostgres(recorded.pid)) ? recorded : undefined;
}

/** Returns whether we can signal a process and, on Linux, whether it runs `postgres`. */
async function isPostgres(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    // Not /proc/<pid>/exe: root in a container may not read it for a process of another user.
    return isLivePostgres(await readFile(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // EPERM: the process of another user, and the cluster is ours. ESRCH, ENOENT: it has just ended.
    if (hasErrorCode(error, 'EPERM', 'ESRCH', 'ENOENT')) return false;
    throw error;
  }
}

/**
 * Reads `/proc/<pid>/stat`: `<pid> (<program>) <state> …`. A zombie (state Z) counts as dead: if the first
 * process of a container never reaps, zombies stay forever.
 */
export function isLivePostgres(stat: string): boolean {
  return /^\d+ \(postgres\) [^ZX] /.test(stat);
}

/** An attempt to start a postmaster. `failure` is its output after it has ended. */
export type PostmasterLaunch = { pid: number; failure: string | undefined };

/**
 * Starts a postmaster in its own session, so that Ctrl-C in a terminal stops Formloom before the database. It
 * outlives this process and does not keep it alive. PostgreSQL ensures that only one runs.
 */
export async function launchPostmaster(server: PostgresServer): Promise<PostmasterLaunch> {
  const { directory, socketDirectory, account, binaries } = server;
  if (socketDirectory !== directory) await makeSocketDirectory(socketDirectory, account);
  for (const path of [
    join(directory, 'postmaster.pid'),
    join(socketDirectory, `.s.PGSQL.${postgresSocketPort}.lock`),
  ])
    await removeUnreadableRecord(path, server.log);
  const recorded = await readPostmasterFile(directory);
  const logFile = await openLog(directory, account);
  try {
    const { size } = await logFile.stat();
    const child = spawn(binaries.postgres, buildPostgresArguments(server), {
      ...getSpawnOptions(account),
      env: { ...programEnvironment(), PG_GRANDPARENT_PID: String(await findHarmlessPid(recorded)) },
      stdio: ['ignore', logFile.fd, logFile.fd],
      detached: true,
    });
    const launch: PostmasterLaunch = { pid: child.pid ?? 0, failure: undefined };
    child.once('exit', (_code, signal) => {
      const end = signal ? `\n(ended by ${signal})` : '';
      void readLogFrom(directory, size).then((output) => (launch.failure = output + end));
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(spawnError(binaries.postgres, error)));
    });
    child.unref();
    return launch;
  } finally {
    await logFile.close();
  }
}

/** PostgreSQL writes its record immediately. One without a pid after this time is left from a crash. */
const writingMs = 2_000;

/**
 * Removes a PostgreSQL record without a process id, which a power failure or a full disk can leave.
 * PostgreSQL would not start until it is removed. If a server with a broken record is still running, its
 * shared memory prevents a second one.
 */
async function removeUnreadableRecord(path: string, log: PostgresServer['log']): Promise<void> {
  try {
    const [text, { mtimeMs }] = [await readFile(path, 'utf8'), await stat(path)];
    // A stand-alone backend (negative) also counts as a process.
    if (Number.parseInt(text, 10)) return;
    const left = mtimeMs + writingMs - Date.now();
    if (left > 0) await sleep(Math.min(left, writingMs));
    if ((await readFile(path, 'utf8')) !== text) return;
    await rm(path);
    log(`${path} contained no process id, probably after a crash, and was removed.`);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw fileError(`replace ${path}`, error);
  }
}

/**
 * Returns the process id for PG_GRANDPARENT_PID. PostgreSQL does not start if any process of its user has the
 * recorded id. This is likely after a crash in a container, where ids start over. It makes an exception for
 * the process in PG_GRANDPARENT_PID, so we name a process that we know is not PostgreSQL. PostgreSQL itself
 * then replaces the record.
 */
async function findHarmlessPid(recorded: Postmaster | undefined): Promise<number> {
  return recorded && !(await isPostgres(recorded.pid)) ? recorded.pid : process.ppid;
}

const logName = 'postgres.log';
const longestLog = 10 * 1024 * 1024;
const longestTail = 16 * 1024;

/** Opens the server's log for appending. A log over 10 MB is emptied first. */
async function openLog(directory: string, account: SystemAccount | undefined): Promise<FileHandle> {
  const path = join(directory, logName);
  try {
    // O_NOFOLLOW: root must not follow a link that the database's user could have created.
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = await open(path, flags, 0o600);
    if (account) await file.chown(account.uid, account.gid);
    if ((await file.stat()).size > longestLog) await file.truncate();
    return file;
  } catch (error) {
    throw fileError(`open the database log ${path}`, error);
  }
}

/** Returns what was logged after `offset` bytes, limited to the last 16 KB. */
async function readLogFrom(directory: string, offset: number): Promise<string> {
  try {
    const log = await open(join(directory, logName));
    try {
      const { size } = await log.stat();
      const position = Math.max(offset, size - longestTail);
      const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(longestTail), position });
      return buffer.subarray(0, bytesRead).toString();
    } finally {
      await log.close();
    }
  } catch (error) {
    return `(its log cannot be read: ${String(error)})`;
  }
}

/** How long a postmaster may take for an orderly stop, and then for an immediate one, in milliseconds. */
const stopSteps = [
  ['SIGINT', 10_000], // "fast": ends sessions and writes a checkpoint
  ['SIGQUIT', 5_000], // "immediate": the next start recovers from WAL, as after a crash
] as const;

/** Returns whether the directory of a running server was removed, with its record. */
export async function isClusterDirectoryRemoved(directory: string): Promise<boolean> {
  try {
    await stat(join(directory, 'PG_VERSION'));
    return false;
  } catch (error) {
    return hasErrorCode(error, 'ENOENT', 'ENOTDIR');
  }
}

/**
 * Stops the postmaster of a cluster and resolves when its process has ended.
 * @param known its process id, if its record was removed with the directory. It then stops without a
 * checkpoint.
 */
export async function stopPostmaster(
  directory: string,
  log: (message: string) => void,
  known?: number,
): Promise<void> {
  const pid = known ?? (await findPostmaster(directory))?.pid;
  if (pid === undefined || !(await isPostgres(pid))) return;
  for (const [signal, patience] of known === undefined ? stopSteps : stopSteps.slice(1)) {
    sendSignal(pid, signal);
    if (await isGoneWithin(pid, patience)) return;
    log(`The database (process ${pid}) is still running ${patience / 1000} s after ${signal}.`);
  }
  throw new EmbeddedPostgresError(
    `The database in ${directory} does not stop. End its process ${pid} (not with SIGKILL), ${otherDatabaseHint}.`,
  );
}

/** Sends a signal to a process that may have ended in the meantime. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasErrorCode(error, 'ESRCH')) throw error;
  }
}

async function isGoneWithin(pid: number, patience: number): Promise<boolean> {
  const deadline = performance.now() + patience;
  while (await isPostgres(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(5);
  }
  return true;
}
