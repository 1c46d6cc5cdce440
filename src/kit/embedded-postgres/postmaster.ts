import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { makeSocketDirectory } from './create-cluster.ts';
import {
  type Account,
  EmbeddedPostgresError,
  elsewhere,
  fileError,
  hasCode,
  port,
  serverArguments,
} from './machine.ts';
import { programEnvironment, runAs, spawnError } from './program.ts';

/** Everything that is decided before a postmaster is looked for or started. */
export type Server = {
  binaries: Binaries;
  account: Account | undefined;
  directory: string;
  socketDirectory: string;
  durable: boolean;
  settings: Record<string, string>;
  log: (message: string) => void;
};

/** PostgreSQL's own record of the process that works in a cluster. */
export type Postmaster = { pid: number; status: 'starting' | 'ready' | 'stopping' };

/** Reads `postmaster.pid`: the process id in line 1, the status in line 8, which comes last. */
export function parsePostmasterFile(text: string): Postmaster | undefined {
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  const status = lines[7]?.trim();
  if (!(pid > 1)) return undefined; // just being written, or a stand-alone backend (negative)
  return { pid, status: status === 'ready' || status === 'stopping' ? status : 'starting' };
}

async function readPostmasterFile(directory: string): Promise<Postmaster | undefined> {
  try {
    return parsePostmasterFile(await readFile(join(directory, 'postmaster.pid'), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw fileError(`read ${join(directory, 'postmaster.pid')}`, error);
  }
}

/** The living postmaster of a cluster. A record that a dead one left is not one, nor is a process that got its id. */
export async function findPostmaster(directory: string): Promise<Postmaster | undefined> {
  const recorded = await readPostmasterFile(directory);
  return recorded && (await isPostgres(recorded.pid)) ? recorded : undefined;
}

/** Whether a process is alive and ours to signal and, where Linux tells, runs a program named `postgres`. */
async function isPostgres(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    // Not /proc/<pid>/exe, which root in a container may not read of another user's process.
    return isLivePostgres(await readFile(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // EPERM: another user's, and the cluster is ours. The others: it has just ended.
    if (hasCode(error, 'EPERM', 'ESRCH', 'ENOENT')) return false;
    throw error;
  }
}

/**
 * Reads `/proc/<pid>/stat`: `<pid> (<program>) <state> …`. A zombie (state Z) is dead for our purposes: a container
 * whose first process reaps nothing keeps it forever.
 */
export function isLivePostgres(stat: string): boolean {
  return /^\d+ \(postgres\) [^ZX] /.test(stat);
}

/** One attempt to run a postmaster. `failure` is what it said when it has ended. */
export type Launch = { pid: number; failure: string | undefined };

/**
 * Starts a postmaster in a session of its own, so that Ctrl-C in a terminal stops Formloom first and the database
 * after it; it outlives us and does not keep us alive. PostgreSQL itself sees to it that there is only one.
 */
export async function launchPostmaster(server: Server): Promise<Launch> {
  const { directory, socketDirectory, account, binaries } = server;
  if (socketDirectory !== directory) await makeSocketDirectory(socketDirectory, account);
  for (const path of [join(directory, 'postmaster.pid'), join(socketDirectory, `.s.PGSQL.${port}.lock`)])
    await removeUnreadableRecord(path, server.log);
  const recorded = await readPostmasterFile(directory);
  const logFile = await openLog(directory, account);
  try {
    const { size } = await logFile.stat();
    const child = spawn(binaries.postgres, serverArguments(server), {
      ...runAs(account),
      env: { ...programEnvironment(), PG_GRANDPARENT_PID: String(await findHarmlessPid(recorded)) },
      stdio: ['ignore', logFile.fd, logFile.fd],
      detached: true,
    });
    const launch: Launch = { pid: child.pid ?? 0, failure: undefined };
    child.once('exit', (_code, signal) => {
      const end = signal ? `\n(ended by ${signal})` : '';
      void readLogFrom(directory, size).then((said) => (launch.failure = said + end));
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

/** PostgreSQL writes its record at once when it starts; one that names no process for so long was cut off by a crash. */
const writingMs = 2_000;

/**
 * Removes a record of PostgreSQL's that names no process, empty or with something else in it: what a loss of power, or of
 * space on the disk, leaves of it. PostgreSQL would refuse to start for as long as it is there. A server that works in the
 * directory although its record is broken still keeps a second one out, by its shared memory.
 */
async function removeUnreadableRecord(path: string, log: Server['log']): Promise<void> {
  try {
    const [text, { mtimeMs }] = [await readFile(path, 'utf8'), await stat(path)];
    // A stand-alone backend (negative) is a process too.
    if (Number.parseInt(text, 10)) return;
    const left = mtimeMs + writingMs - Date.now();
    if (left > 0) await sleep(Math.min(left, writingMs));
    if ((await readFile(path, 'utf8')) !== text) return;
    await rm(path);
    log(`${path} named no process, as a crash leaves it, and was removed.`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw fileError(`replace ${path}`, error);
  }
}

/**
 * PostgreSQL takes a recorded process id for a living postmaster when any process of its user has that id, and refuses
 * to start: after a crash in a container, where ids begin anew, that is likely. It makes one exception, the process
 * named in PG_GRANDPARENT_PID (pg_ctl's way to say "this is only my parent"), and we name the one that we know to be
 * something else. The file stays PostgreSQL's to judge and to replace.
 */
async function findHarmlessPid(recorded: Postmaster | undefined): Promise<number> {
  return recorded && !(await isPostgres(recorded.pid)) ? recorded.pid : process.ppid;
}

const logName = 'postgres.log';
const longestLog = 10 * 1024 * 1024;
const longestTail = 16 * 1024;

/** Opens the server's log at its end, emptied first when it has grown beyond 10 MB. */
async function openLog(directory: string, account: Account | undefined): Promise<FileHandle> {
  const path = join(directory, logName);
  try {
    // O_NOFOLLOW: root must not be led by a link that the database's user could have put there.
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = await open(path, flags, 0o600);
    if (account) await file.chown(account.uid, account.gid);
    if ((await file.stat()).size > longestLog) await file.truncate();
    return file;
  } catch (error) {
    throw fileError(`open the database log ${path}`, error);
  }
}

/** What the server has logged since its log was `offset` bytes long; of much, the end. */
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

/** How long a postmaster gets to stop in order, and then at once: milliseconds. */
const stopSteps = [
  ['SIGINT', 10_000], // "fast": ends the sessions, writes a checkpoint
  ['SIGQUIT', 5_000], // "immediate": the next start recovers from the log, as after a crash
] as const;

/** Whether the directory of a running server was removed, and its record with it. */
export async function isRemoved(directory: string): Promise<boolean> {
  try {
    await stat(join(directory, 'PG_VERSION'));
    return false;
  } catch (error) {
    return hasCode(error, 'ENOENT', 'ENOTDIR');
  }
}

/**
 * Stops the postmaster of a cluster and resolves when its process is gone.
 * @param known its process, where its record was removed with the directory. Then there is nothing to write on the way down.
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
    log(`The database (process ${pid}) has not ended ${patience / 1000} s after ${signal}.`);
  }
  throw new EmbeddedPostgresError(
    `The database in ${directory} does not stop. End its process ${pid} (not with SIGKILL), ${elsewhere}.`,
  );
}

/** Sends a signal to a process that may have ended in the meantime. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
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
