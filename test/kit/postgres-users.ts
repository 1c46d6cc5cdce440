/** Helpers for the tests of this folder: directories, processes and queries. */
import assert from 'node:assert/strict';
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '#kit/embedded-postgres/embedded-postgres.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { copyCluster } from '../cluster.ts';

export const isRoot = process.getuid?.() === 0;
/** The ids of an ordinary user: a fixed one if the tests run as root, else the current user. */
export const ordinary = isRoot
  ? { uid: 65534, gid: 65534 }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

type Connection = EmbeddedPostgres['connection'];
type Report = Partial<Pick<EmbeddedPostgres, 'how' | 'directory' | 'connection'>> & {
  error?: string;
  message?: string;
};

/** Polls until there is a result. */
export async function poll<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  limit = 30_000,
): Promise<T> {
  for (const deadline = Date.now() + limit; Date.now() < deadline; await sleep(10)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`timed out after ${limit} ms waiting for ${what}`);
}

/** Creates a directory that every user may enter. After the test, it is removed and its database stopped. */
export async function makeDirectory(t: TestContext, mode = 0o755): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'formloom-pg-')));
  await chmod(directory, mode);
  t.after(() => removeDirectory(directory));
  return directory;
}

/** Creates a directory with a stopped database, for tests that are not about creating one. */
export async function makeUsedDirectory(t: TestContext): Promise<string> {
  const directory = await makeDirectory(t);
  await copyCluster(directory);
  return directory;
}

const running: EmbeddedPostgres[] = [];

/** Starts a database in this process. Removing the directory stops it if the test does not. */
export async function start(
  options: Partial<EmbeddedPostgresOptions> & { dataDir: string },
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ log: () => undefined, durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function removeDirectory(directory: string): Promise<void> {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.name !== 'postgres') continue;
    const cluster = await realpath(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (cluster === undefined) continue;
    const left = await findPostmaster(cluster);
    if (left) process.kill(left.pid, 'SIGQUIT');
    await poll('the database to end', async () => !(await findPostmaster(cluster)));
    if (!cluster.startsWith(directory)) await rm(cluster, { recursive: true });
  }
  await rm(directory, { recursive: true, force: true });
}

/** Returns the first column of the first row. */
export async function query(connection: Connection, sql: string): Promise<unknown> {
  const client = new Client(connection);
  client.on('error', () => undefined); // tests kill servers, which makes the query fail
  try {
    await client.connect();
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** All processes that tests start. They end with the test file. */
export const children = new Set<ChildProcess>();
after(() => children.forEach((child) => child.kill('SIGKILL')));

/** Starts another process that uses a data directory. Resolves when it has started or failed. */
export async function startProcess(
  dataDir: string,
  user?: { uid: number; gid: number },
): Promise<{ report: Report; child: ChildProcess; end: () => Promise<void>; kill: () => Promise<void> }> {
  const child = spawnUser(dataDir, user);
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const endWith = async (act: () => void): Promise<void> => {
    act();
    await exited;
    children.delete(child);
  };
  return {
    report: JSON.parse(line) as Report,
    child,
    end: () => endWith(() => child.stdin.end()),
    kill: () => endWith(() => child.kill('SIGKILL')),
  };
}

/** Starts another process on a data directory, without waiting for it. */
export function spawnUser(
  dataDir: string,
  user?: { uid: number; gid: number },
): ChildProcessByStdio<Writable, Readable, null> {
  const script = fileURLToPath(new URL('postgres-user-process.ts', import.meta.url));
  const args = [script, dataDir, ...(user && isRoot ? [String(user.uid), String(user.gid)] : [])];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  children.add(child);
  return child;
}

export async function postmasterPid(directory: string): Promise<number> {
  const postmaster = await findPostmaster(directory);
  assert.ok(postmaster, `a postmaster in ${directory}`);
  return postmaster.pid;
}
