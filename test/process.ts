import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { chooseSocketDirectory } from '#kit/embedded-postgres/create-cluster.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { copyCluster } from './cluster.ts';
import { type Ended, runHere } from './command-line.ts';
import { endWithSignals } from './end-run.ts';
import { keepLog, noteSecretsOf, noteSecretsOfText } from './secrets.ts';
import { freePort, until } from './service.ts';

/** An installation of Formloom as an operator has it: a data directory, an environment and commands. */
export type Instance = {
  /** `http://127.0.0.1:<port>`, the same after each start. */
  url: string;
  dataDir: string;
  /** The environment of its processes. */
  environment: Environment;
  /** The direct URL of its database. */
  databaseUrl: string;
  /** Starts a server and waits until it is ready. Several may run, each on another port. */
  start(environment?: Environment): Promise<ServerProcess>;
  /** Starts a server that is expected to fail, and returns how it ended and its output. */
  failToStart(
    environment?: Environment,
    user?: { uid: number; gid: number },
  ): Promise<{ code: number | null; output: string }>;
  /** Runs a CLI command, `words` first, and returns its JSON document. */
  cli<Document>(words: string, ...rest: string[]): Promise<Document>;
  /** Starts a CLI command in a separate process, which can be killed while it works. */
  begin(args: readonly string[], environment?: Environment): Command;
  /** Runs one statement on its database. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /** Returns the process id of the embedded database, or undefined if it is not running. */
  databasePid(): Promise<number | undefined>;
  /** Kills the embedded database and its sessions, as a crash does. */
  killDatabase(): Promise<void>;
  /** Ends all processes and removes all files, even after a failed start. */
  close(): Promise<void>;
};

export type ServerProcess = {
  url: string;
  pid: number;
  /** Returns the output so far, of both streams. */
  output: () => string;
  /** Sends SIGTERM, as a service manager does. Returns the exit code and the time in ms. */
  terminate(): Promise<{ code: number | null; ms: number }>;
  /** Sends SIGKILL to this process only. */
  kill(): Promise<void>;
};

export type Command = {
  /** How it ended. The code of a killed process is that of a shell. */
  ended: Promise<Ended>;
  /** Sends SIGKILL unless it has ended. */
  kill(): Promise<Ended>;
};

export type Environment = Readonly<Record<string, string>>;

const home = fileURLToPath(new URL('..', import.meta.url));
const node = (script: 'main' | 'cli', { FORMLOOM_HOME = home, BY_SETUP }: Environment): string[] => {
  const source = `src/app/${script}.ts`;
  const bundle = join(FORMLOOM_HOME, 'dist', 'service', `${script}.js`);
  return BY_SETUP
    ? [join(home, 'setup.mjs'), source]
    : [
        '--disable-warning=ExperimentalWarning',
        // The same flag as in setup.mjs.
        '--preserve-symlinks',
        // Most of what a start allocates is kept. With a small initial space it would be copied repeatedly,
        // for a tenth of its CPU.
        '--min-semi-space-size=16',
        // Versions before decision 113 have no bundle.
        existsSync(bundle) ? bundle : join(FORMLOOM_HOME, source),
      ];
};

/**
 * Creates an instance for the calling test file and removes it after the file. Its embedded database exists
 * already. A new instance starts with an empty data directory, and its first start takes 2 s longer.
 */
export async function makeInstance(
  environment?: Environment,
  options: { isNew?: boolean } = {},
): Promise<Instance> {
  const instance = await openInstance(environment);
  after(() => instance.close());
  if (!options.isNew && instance.environment['DATABASE_URL'] === undefined)
    await copyCluster(instance.dataDir);
  return instance;
}

/** The compile cache of setup.mjs, because a start compiles some hundred files. */
const compileCache: Environment = process.env['NODE_COMPILE_CACHE']
  ? { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  : {};

/**
 * Creates an instance, on the embedded database unless the environment has a DATABASE_URL. The caller closes
 * it.
 * @param environment FORMLOOM_HOME is the folder of another version's code. BY_SETUP starts it with
 * setup.mjs, as `npm start` does.
 */
export async function openInstance(environment: Environment = {}): Promise<Instance> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'formloom-instance-')));
  // If root runs the tests, the database runs as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  endWithSignals(() => removeFiles(dataDir));
  const port = await freePort();
  const settings: Environment = {
    PATH: process.env['PATH'] ?? '',
    ...compileCache,
    PORT: String(port),
    // All load comes from one address. Tests of limits set their own.
    SUBMITS_PER_ADDRESS: '1000000000',
    SUBMITS_PER_FORM: '1000000000',
    SUBMITS_PER_WORKSPACE: '1000000000',
    CONSOLE_PER_MINUTE: '1000000000',
    UPLOAD_FREE_MB: '16',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    NODE_EXTRA_CA_CERTS: join(home, 'test', 'certs', 'ca.pem'),
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    ...environment,
  };
  const cluster = join(dataDir, 'postgres');
  const databaseUrl = settings['DATABASE_URL'] ?? embeddedUrl(cluster);
  const children: Children = new Set();
  return {
    url: settings['PUBLIC_URL']!,
    dataDir,
    environment: settings,
    databaseUrl,
    start: (more = {}) => startServer(children, { ...settings, ...more }),
    failToStart: (more = {}, user) => failToStart(children, { ...settings, ...more }, user),
    cli: (words, ...rest) => runCli(children, settings, [...words.split(' '), ...rest, '--json']),
    begin: (args, more = {}) => beginCli(children, { ...settings, ...more }, args),
    query: (sql) => queryOnce(databaseUrl, sql),
    databasePid: async () => (await findPostmaster(cluster))?.pid,
    killDatabase: () => killPostmaster(cluster, 'SIGKILL'),
    async close() {
      // A child leaves the set when it closes, so each of these has yet to close.
      const closed = [...children].map((child) => once(child, 'close'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(closed);
      await removeData(dataDir);
    },
  };
}

/** The processes of an instance that have not ended. */
type Children = Set<ChildProcess>;

async function removeData(dataDir: string): Promise<void> {
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined);
  if (cluster !== undefined) {
    await killPostmaster(cluster, 'SIGQUIT');
    // The cluster is outside the data directory if the database's user cannot reach that.
    if (!cluster.startsWith(dataDir)) await rm(cluster, { recursive: true });
  }
  await rm(dataDir, { recursive: true, force: true });
}

/** Removes an unused data directory, including a database outside it. */
function removeFiles(dataDir: string): void {
  try {
    rmSync(realpathSync(join(dataDir, 'postgres')), { recursive: true });
  } catch (error) {
    // The data directory has no database.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  rmSync(dataDir, { recursive: true, force: true });
}

// Servers -------------------------------------------------------------------------------------------------

type Running = { child: ChildProcess; output: () => string; exit: Promise<number | null> };

function spawnServer(
  children: Children,
  environment: Environment,
  user?: { uid: number; gid: number },
): Running {
  const child = spawn(process.execPath, node('main', environment), {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
    });
    // Standard output has the summary with the operator's setup link. Standard error is the log.
    stream.on('data', stream === child.stderr ? keepLog : noteSecretsOfText);
  }
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => {
      // The process never started, so there is no exit to wait for.
      children.delete(child);
      reject(error);
    });
    child.once('close', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return { child, exit, output: () => output };
}

async function startServer(children: Children, environment: Environment): Promise<ServerProcess> {
  const { child, exit, output } = spawnServer(children, environment);
  const url = `http://127.0.0.1:${environment['PORT']}`;
  let isOver = false;
  void exit.finally(() => {
    isOver = true;
  });
  await until(
    `the server at ${url}`,
    async () => {
      if (isOver) throw new Error(`the server ended before it was ready:\n${output()}`);
      const response = await fetch(`${url}/readyz`).catch(() => undefined);
      // The summary is printed last, so the output is complete after it.
      return response?.status === 200 && output().includes('Stop with Ctrl-C.');
    },
    90,
  );
  return {
    url,
    pid: child.pid!,
    output,
    async terminate() {
      const since = performance.now();
      child.kill('SIGTERM');
      const code = await exit;
      return { code, ms: performance.now() - since };
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function failToStart(
  children: Children,
  environment: Environment,
  user?: { uid: number; gid: number },
): Promise<{ code: number | null; output: string }> {
  const { exit, output } = spawnServer(children, environment, user);
  return { code: await exit, output: output() };
}

// Commands ------------------------------------------------------------------------------------------------

/**
 * Runs a command in this process, which has all modules loaded. src/app/cli/cli.test.ts runs commands as
 * processes. A command of another version runs as a process.
 */
async function runCli<Document>(
  children: Children,
  environment: Environment,
  args: readonly string[],
): Promise<Document> {
  const { printed, complaint, code } = await (environment['FORMLOOM_HOME'] === undefined
    ? runHere(environment, args)
    : beginCli(children, environment, args).ended);
  keepLog(complaint);
  if (code !== 0) throw new Error(`formloom ${args.join(' ')}: ${complaint}`);
  const answer = JSON.parse(printed) as Document;
  noteSecretsOf(answer);
  return answer;
}

const killedCode = 137;

function beginCli(children: Children, environment: Environment, args: readonly string[]): Command {
  const ended = Promise.withResolvers<Ended>();
  const child = execFile(
    process.execPath,
    [...node('cli', environment), ...args],
    { env: environment },
    (_error, printed, complaint) => {
      children.delete(child);
      ended.resolve({ printed, complaint, code: child.exitCode ?? killedCode });
    },
  );
  children.add(child);
  return {
    ended: ended.promise,
    kill() {
      child.kill('SIGKILL');
      return ended.promise;
    },
  };
}

// The database --------------------------------------------------------------------------------------------

const embeddedUrl = (cluster: string): string =>
  `postgres://formloom@localhost/formloom?host=${encodeURIComponent(chooseSocketDirectory(cluster))}`;

/** Runs one statement on a new connection. */
export async function queryOnce<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Ends the postmaster of a cluster. SIGKILL also ends its sessions, which would outlive it for a moment. */
export async function killPostmaster(cluster: string, signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
  const found = await findPostmaster(cluster);
  if (!found) return;
  const sessions = signal === 'SIGKILL' ? await childrenOf(found.pid) : [];
  for (const pid of [found.pid, ...sessions]) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A session may have ended by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
  await until('the database to end', async () => (await findPostmaster(cluster))?.pid !== found.pid);
}

/** Returns the children of a process, on systems that list them (Linux). */
export async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list.split(' ').filter(Boolean).map(Number);
}
