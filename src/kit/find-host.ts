import { callbackify } from 'node:util';
import { Client, type PoolConfig } from 'pg';

/** How long a host may take to accept a connection, and then to answer whether it accepts writes. */
const connectMs = 1_200;
const answerLimitMs = 600;
/** A failed search for a writable host is reused for this long. */
const pauseMs = 200;

/** SQLSTATE of a write on a read-only server: a standby, or a primary that became one. */
const readOnly = '25006';
/** SQLSTATE: the connection cannot be established. */
const unreachable = '08001';

/** Splits the URL of several hosts, `postgres://user@one:5432,other:5432/name`, into one URL per host. */
export function splitDatabaseUrl(url: string): string[] {
  const [, before = '', hosts = url, behind = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(url) ?? [];
  return hosts.split(',').map((host) => `${before}${host}${behind}`);
}

/** Returns the hosts and the database name of a URL for display, without user and password. */
export function redactDatabaseUrl(url: string): string {
  const urls = splitDatabaseUrl(url).map((address) => URL.parse(address));
  return `${urls.map((each) => each?.host || each?.searchParams.get('host')).join(',')}${urls[0]?.pathname}`;
}

/** Returns whether the session of an error was read-only. Another session may accept writes. */
export const isReadOnlyError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === readOnly;

/**
 * Returns the client class for a database on several hosts. Each connection goes to the host that currently
 * accepts writes. All hosts are probed in parallel, once for concurrent connections, so a dead host delays
 * nothing. An old primary that has not noticed its replacement is skipped, because a later timeline is known.
 * @param addresses the URLs from splitDatabaseUrl.
 */
export function createMultiHostClient(addresses: readonly string[]): typeof Client {
  let pending: Promise<Host> | undefined;
  let latest = '';
  const find = async (): Promise<Host> => {
    const { timeline, ...host } = await findWritable(addresses, latest);
    if (timeline > latest) latest = timeline;
    return host;
  };
  const findOnce = (): Promise<Host> =>
    (pending ??= find().then(
      (host) => {
        pending = undefined;
        return host;
      },
      (error: unknown) => {
        setTimeout(() => (pending = undefined), pauseMs).unref();
        throw error;
      },
    ));
  return class extends Client {
    override connect(): Promise<Client>;
    override connect(callback: (error: Error | null, client?: Client) => void): void;
    override connect(callback?: (error: Error | null, client?: Client) => void): Promise<Client> | void {
      const connected = findOnce().then((host) => Object.assign(this, host) && super.connect());
      if (callback === undefined) return connected;
      callbackify(() => connected)(callback);
    }
  };
}

export type ServerLocation = {
  /** Undefined: the host in the database URL. The object stays identical until the host changes. */
  now: () => Host | undefined;
  /** Reports that the server accepted no connection or no write, so that another one may be found. */
  lost: () => void;
};

/** Checks whether a connection's server has moved, for servers that can move. */
const checks = new WeakMap<object, () => boolean>();

/** Returns whether new connections would go to another server than this one. */
export const hasServerMoved = (client: object): boolean => checks.get(client)?.() ?? false;

/** Returns the client class for a server that can move. `Base` connects to the host in the URL. */
export function createMovableServerClient(
  { now, lost }: ServerLocation,
  Base: PoolConfig['Client'] = Client,
): typeof Client {
  return class extends (Base as typeof Client) {
    override connect(): Promise<Client>;
    override connect(callback: (error: Error | null, client?: Client) => void): void;
    override connect(callback?: (error: Error | null, client?: Client) => void): Promise<Client> | void {
      const host = now();
      checks.set(this, () => now() !== host);
      const { prototype }: { prototype: { connect(): Promise<Client> } } = host ? Client : Base;
      const connected = prototype.connect.call(Object.assign(this, host)).catch((error: unknown) => {
        lost();
        throw error;
      });
      if (callback === undefined) return connected;
      callbackify(() => connected)(callback);
    }
  };
}

export type Host = Pick<Client, 'host' | 'port'>;

/** A writable server and its timeline: eight hexadecimal digits, which increase with each promotion. */
type Primary = Host & { timeline: string };

/**
 * @param latest the latest known timeline; a primary on an earlier one is rejected.
 * @throws the authentication or database error of a host, otherwise an error with the reason for each host.
 */
async function findWritable(addresses: readonly string[], latest: string): Promise<Primary> {
  try {
    return await Promise.any(addresses.map((address) => probeHost(address, latest)));
  } catch (error) {
    const reasons = (error as AggregateError).errors as (Error & { code?: string })[];
    const refusal = reasons.find(({ code }) => /^(28|3D)/.test(code ?? ''));
    if (refusal) throw refusal;
    const each = reasons.map(({ message }, index) => `${URL.parse(addresses[index]!)?.host}: ${message}`);
    const message = `None of its hosts accepts writes (${each.join('; ')}).`;
    throw Object.assign(new Error(message, { cause: error }), { code: unreachable });
  }
}

/** The name of a WAL file begins with the timeline. A read-only server returns none. */
const question = `
  select case when not current_setting('transaction_read_only')::boolean
              then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

async function probeHost(address: string, latest: string): Promise<Primary> {
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: connectMs,
    query_timeout: answerLimitMs,
    application_name: 'formloom probe',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { timeline } = (await client.query<{ timeline: string | null }>(question)).rows[0]!;
    if (timeline === null) throw new Error('it is read-only');
    if (timeline < latest) throw new Error('it was replaced by another host');
    return { host: client.host, port: client.port, timeline };
  } finally {
    void client.end().catch(() => {});
  }
}
