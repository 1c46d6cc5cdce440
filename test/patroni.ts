import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { findPostgresAccount } from '#kit/embedded-postgres/machine.ts';
import { getSpawnOptions } from '#kit/embedded-postgres/program.ts';
import { childrenOf } from './process.ts';
import { freePort, until } from './service.ts';

/** One machine of a replicated database: its PostgreSQL and the Patroni that manages it. */
export type DatabaseNode = {
  name: string;
  /** The direct address of its PostgreSQL. */
  address: string;
  /** Runs one statement on the service's database. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  isPrimary(): Promise<boolean>;
  /** Sends SIGKILL to Patroni and the postmaster, which ends all sessions. */
  kill(): Promise<void>;
  /** Freezes all its processes. Their connections stay open. */
  freeze(): Promise<void>;
  /** Resumes its PostgreSQL, which still acts as the primary, and `ms` later its Patroni. */
  thaw(ms: number): Promise<void>;
  /** Starts its Patroni if it was killed. */
  start(): void;
};

/**
 * A PostgreSQL on two machines as in deploy/failover/: PostgreSQL 15, Patroni, etcd and HAProxy, all from
 * Debian.
 */
export type ReplicatedDatabase = {
  nodes: readonly DatabaseNode[];
  /** DATABASE_URL with both hosts. */
  url: string;
  /** DATABASE_URL through HAProxy. */
  proxiedUrl: string;
  /** Resolves once the other machine is the synchronous standby of the primary. */
  settled(): Promise<{ primary: DatabaseNode; standby: DatabaseNode }>;
};

const postgresPrograms = '/usr/lib/postgresql/15/bin';
const examples = fileURLToPath(new URL('../deploy/failover/', import.meta.url));

/** Returns a sentence about missing programs, or undefined if everything is installed. */
export async function missingForPatroni(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const isThere = async (name: string): Promise<boolean> =>
    (
      await Promise.allSettled([...folders, postgresPrograms].map((folder) => access(join(folder, name))))
    ).some(({ status }) => status === 'fulfilled');
  const packages = {
    patroni: 'patroni',
    etcd: 'etcd-server',
    haproxy: 'haproxy',
    pg_rewind: 'postgresql-15',
  };
  const missing: string[] = [];
  for (const [program, name] of Object.entries(packages)) if (!(await isThere(program))) missing.push(name);
  return missing.length === 0 ? undefined : `This machine lacks ${missing.join(', ')} (apt-get install).`;
}

const password = 'formloom';
const roles = { SUPERUSER: 'postgres', REPLICATION: 'replicator', REWIND: 'rewinder' };

/**
 * Creates a replicated database with an empty database for the calling test file, and removes it after the
 * file.
 */
export async function openReplicatedDatabase(): Promise<ReplicatedDatabase> {
  const account = await findPostgresAccount();
  // Not in TMPDIR: the path of a socket must be short, and another user must be able to reach it.
  const directory = await mkdtemp('/tmp/formloom-failover-');
  if (account) await chown(directory, account.uid, account.gid);
  const children = new Set<ChildProcess>();
  const run = (program: string, parameters: string[], environment: Record<string, string> = {}) => {
    const child = spawn(program, parameters, {
      ...getSpawnOptions(account),
      env: { PATH: process.env['PATH'], LC_ALL: 'C', HOME: directory, ...environment },
      stdio: 'ignore',
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const [etcd, etcdPeers, proxy] = await Promise.all([freePort(), freePort(), freePort()]);
  const etcdPeer = `http://127.0.0.1:${etcdPeers}`;
  const etcdClients = `http://127.0.0.1:${etcd}`;
  const etcdSettings = {
    'data-dir': join(directory, 'etcd'),
    'listen-peer-urls': etcdPeer,
    'initial-advertise-peer-urls': etcdPeer,
    'initial-cluster': `default=${etcdPeer}`,
    'listen-client-urls': etcdClients,
    'advertise-client-urls': etcdClients,
  };
  run(
    'etcd',
    Object.entries(etcdSettings).map(([name, value]) => `--${name}=${value}`),
  );
  const open = async (name: string) => {
    const [postgres, rest] = await Promise.all([freePort(), freePort()]);
    const data = join(directory, name);
    const logins = Object.entries(roles).flatMap(([role, user]) => [
      [`PATRONI_${role}_USERNAME`, user],
      [`PATRONI_${role}_PASSWORD`, password],
    ]);
    const start = (): ChildProcess =>
      run('patroni', [join(examples, 'patroni.yml')], {
        ...Object.fromEntries(logins),
        PATRONI_NAME: name,
        PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcd}`,
        PATRONI_RESTAPI_LISTEN: `127.0.0.1:${rest}`,
        PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${rest}`,
        PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${postgres}`,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${postgres}`,
        PATRONI_POSTGRESQL_DATA_DIR: data,
        PATRONI_POSTGRESQL_BIN_DIR: postgresPrograms,
        PATRONI_POSTGRESQL_PGPASS: join(directory, `pgpass-${name}`),
      });
    return { node: nodeOf(name, postgres, data, start), postgres, rest, data };
  };
  const [one, other] = await Promise.all([open('one'), open('other')]);
  const nodes = [one.node, other.node];
  after(() => close(directory, [one.data, other.data], children));
  one.node.start();
  await until('the first primary', () => one.node.isPrimary(), 60);
  other.node.start();
  run('haproxy', ['-db', '-f', join(examples, 'haproxy.cfg')], {
    DATABASE_LISTEN: `127.0.0.1:${proxy}`,
    DATABASE_ONE: `127.0.0.1:${one.postgres}`,
    DATABASE_ONE_PATRONI: String(one.rest),
    DATABASE_OTHER: `127.0.0.1:${other.postgres}`,
    DATABASE_OTHER_PATRONI: String(other.rest),
  });
  await query(one.node.address, `create role formloom login password '${password}'`);
  await query(one.node.address, `create database formloom owner formloom encoding 'UTF8' template template0`);
  const urlOf = (hosts: string): string => `postgres://formloom:${password}@${hosts}/formloom`;
  return {
    nodes,
    url: urlOf(`127.0.0.1:${one.postgres},127.0.0.1:${other.postgres}`),
    proxiedUrl: urlOf(`127.0.0.1:${proxy}`),
    settled: () =>
      until(
        'a primary with a synchronous standby',
        async () => {
          const arePrimaries = await Promise.all(nodes.map((node) => node.isPrimary()));
          const [primary, standby] = arePrimaries[0] ? nodes : nodes.toReversed();
          // A replaced primary that has not noticed yet also counts as one.
          const isOne = arePrimaries[0] !== arePrimaries[1] && (await hasStandby(primary!.address));
          return isOne && { primary: primary!, standby: standby! };
        },
        120,
      ),
  };
}

function nodeOf(name: string, port: number, data: string, startPatroni: () => ChildProcess): DatabaseNode {
  const address = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let patroni: ChildProcess | undefined;
  let frozen: number[] = [];
  return {
    name,
    address,
    query: (sql) => query(address.replace(/postgres$/, 'formloom'), sql),
    isPrimary: async () =>
      (await query<{ it: boolean }>(address, 'select not pg_is_in_recovery() as it').catch(() => []))[0]
        ?.it ?? false,
    async kill() {
      const postmaster = await postmasterOf(data);
      patroni!.kill('SIGKILL');
      process.kill(postmaster!, 'SIGKILL');
    },
    async freeze() {
      const postmaster = (await postmasterOf(data))!;
      frozen = [patroni!.pid!, postmaster, ...(await childrenOf(postmaster))];
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    async thaw(ms) {
      const [manager, ...processes] = frozen.splice(0);
      for (const pid of processes) process.kill(pid, 'SIGCONT');
      await pause(ms);
      process.kill(manager!, 'SIGCONT');
    },
    start() {
      patroni = startPatroni();
    },
  };
}

const postmasterOf = async (data: string): Promise<number | undefined> => {
  const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return pid ? Number(pid) : undefined;
};

const hasStandby = async (address: string): Promise<boolean> => {
  const streaming = "select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'";
  // A primary that has just returned ends its sessions when it becomes a standby.
  return (await query(address, streaming).catch(() => [])).length === 1;
};

async function query<Row extends object = object>(address: string, sql: string): Promise<Row[]> {
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: 1_000,
    query_timeout: 5_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    void client.end().catch(() => {});
  }
}

/** Ends Patroni first, because it would restart a PostgreSQL that ends. */
async function close(
  directory: string,
  datas: readonly string[],
  children: Set<ChildProcess>,
): Promise<void> {
  const ended = [...children].map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  for (const data of datas) {
    const postmaster = await postmasterOf(data);
    const isOurs =
      postmaster !== undefined &&
      (await readFile(`/proc/${postmaster}/cmdline`, 'utf8').catch(() => '')).includes(data);
    if (!isOurs) continue;
    process.kill(postmaster, 'SIGCONT');
    process.kill(postmaster, 'SIGQUIT');
    await until('a database to end', async () => (await postmasterOf(data)) !== postmaster);
  }
  await rm(directory, { recursive: true });
}
