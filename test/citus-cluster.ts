import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPostgresAccount } from '#kit/embedded-postgres/machine.ts';
import { getSpawnOptions, runProgram } from '#kit/embedded-postgres/program.ts';
import { childrenOf, queryOnce } from './process.ts';
import { freePort, until } from './service.ts';

export type ClusterNode = {
  /** The name of the node in `cell list`. */
  node: string;
  /** The process ID of its postmaster. */
  pid(): number;
  /** The URL of the service's database at this node. */
  url: string;
  /** Whether the service's own server has sessions here, without those of commands and of other nodes. */
  isServed(): Promise<boolean>;
  /** Queries the service's database at this node. */
  query<Row extends object>(text: string): Promise<Row[]>;
  /** Sends SIGKILL to the postmaster, which ends its sessions too. */
  kill(): Promise<void>;
  /** Starts the server unless it runs. */
  start(): Promise<void>;
  /** Sends SIGSTOP to all its processes: it accepts connections but does not respond. */
  freeze(): Promise<void>;
  /** Resumes the server if it is frozen. */
  thaw(): void;
};

/** A Citus cluster on this machine, set up as in docs/operating/cells.md. */
export type CitusCluster = {
  coordinator: ClusterNode;
  workers: readonly ClusterNode[];
  /** Starts a server of the same PostgreSQL without Citus. */
  openPlain(): Promise<ClusterNode>;
  close(): Promise<void>;
};

export const handbook = fileURLToPath(new URL('../docs/operating/cells.md', import.meta.url));

/** Returns the code blocks of a language from the cluster section of the handbook. */
export async function readHandbook(language: 'ini' | 'sql' | ''): Promise<string[]> {
  const [, section = ''] = (await readFile(handbook, 'utf8')).split('## On a Citus cluster');
  return [...section.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , body]) => body!.replaceAll(/^ +/gm, '').trim());
}

/**
 * Creates a coordinator and two workers with an empty database. The caller must close the cluster.
 * @param serverUrl a server on this machine with Citus; only its programs are used.
 */
export async function openCitusCluster(serverUrl: string): Promise<CitusCluster> {
  const [found] = await queryOnce<{ setting: string }>(
    serverUrl,
    "select setting from pg_config where name = 'BINDIR'",
  );
  const programs = found!.setting;
  const account = await findPostgresAccount();
  const directory = await mkdtemp('/tmp/formloom-citus-');
  if (account) await chown(directory, account.uid, account.gid);
  const settings = (await readHandbook('ini'))[0]!.split('\n');
  const [inEach, atCoordinator] = await readHandbook('sql');
  const children = new Set<ChildProcess>();

  const makeNode = async (name: string, isPlain = false): Promise<ClusterNode> => {
    const data = join(directory, name);
    const port = await freePort();
    const initdb = [
      '--username=formloom',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ];
    await runProgram(join(programs, 'initdb'), ['-D', data, ...initdb], {
      account,
      purpose: 'make a node of a cluster',
    });
    const given = [
      ...(isPlain ? [] : ['citus.node_conninfo=sslmode=prefer', ...settings]).map((line) =>
        line.replaceAll(' = ', '=').replaceAll("'", ''),
      ),
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${directory}`,
      'fsync=off',
      // Every node has a different limit, and the last worker has the lowest.
      `max_connections=${200 - children.size}`,
      'max_worker_processes=32',
    ];
    let child: ChildProcess | undefined;
    let frozen: number[] = [];
    const urlOf = (database: string): string => `postgres://formloom@127.0.0.1:${port}/${database}`;
    const start = async (): Promise<void> => {
      if (child) return;
      child = spawn(join(programs, 'postgres'), ['-D', data, ...given.flatMap((each) => ['-c', each])], {
        ...getSpawnOptions(account),
        stdio: 'ignore',
      });
      children.add(child);
      await until(`${name} to answer`, () =>
        queryOnce(urlOf('postgres'), 'select').then(
          () => true,
          () => false,
        ),
      );
    };
    const kill = async (): Promise<void> => {
      const ended = child!;
      child = undefined;
      const exited = once(ended, 'exit');
      ended.kill('SIGKILL');
      await exited;
      children.delete(ended);
    };
    // Freezes the postmaster first, because it starts the others.
    const freeze = async (): Promise<void> => {
      frozen = [child!.pid!];
      process.kill(child!.pid!, 'SIGSTOP');
      frozen.push(...(await childrenOf(child!.pid!)));
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    };
    const thaw = (): void => {
      for (const pid of frozen.splice(0)) process.kill(pid, 'SIGCONT');
    };
    await start();
    await queryOnce(urlOf('postgres'), 'create database formloom');
    if (!isPlain) await queryOnce(urlOf('formloom'), inEach!);
    const isServed = async (): Promise<boolean> => {
      const sessions = "select from pg_stat_activity where application_name ~ '^formloom node '";
      return (await queryOnce(urlOf('formloom'), sessions)).length > 0;
    };
    return {
      node: `127.0.0.1:${port}`,
      url: urlOf('formloom'),
      pid: () => child!.pid!,
      isServed,
      query: (text) => queryOnce(urlOf('formloom'), text),
      kill,
      start,
      freeze,
      thaw,
    };
  };

  const close = async (): Promise<void> => {
    for (const child of children) {
      const exited = once(child, 'exit');
      // A frozen process would not receive SIGQUIT.
      child.kill('SIGCONT');
      child.kill('SIGQUIT');
      await exited;
    }
    await rm(directory, { recursive: true });
  };
  try {
    const coordinator = await makeNode('coordinator');
    const workers = [await makeNode('worker-1'), await makeNode('worker-2')];
    const names = { coordinator, 'worker-1': workers[0]!, 'worker-2': workers[1]! };
    for (const line of atCoordinator!.split('\n'))
      await queryOnce(
        coordinator.url,
        line.replace(/'([\w-]+)', 5432/, (_, name: keyof typeof names) => {
          const [host, port] = names[name].node.split(':');
          return `'${host}', ${port}`;
        }),
      );
    return { coordinator, workers, openPlain: () => makeNode('plain', true), close };
  } catch (error) {
    await close();
    throw error;
  }
}
