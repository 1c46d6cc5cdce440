import { callbackify } from 'node:util';
import { Client, type PoolConfig } from 'pg';

/** How long a host has to take a connection, and then to say whether it takes writes. */
const connectMs = 1_200;
const sayMs = 600;
/** That no host takes writes stays true for so long: whoever asks meanwhile asks none of them. */
const pauseMs = 200;

/** SQLSTATE of a write where none is taken: a standby, or a primary that became one. */
const readOnly = '25006';
/** Connections cannot be made. */
const unreachable = '08001';

/** The addresses of a database that several servers keep, `postgres://user@one:5432,other:5432/name`: one for each of them. */
export function addressesOf(url: string): string[] {
  const [, before = '', hosts = url, behind = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(url) ?? [];
  return hosts.split(',').map((host) => `${before}${host}${behind}`);
}

/** Where an address leads, for a person: the hosts and the name of the database, and nothing of who goes there. */
export function placeOf(url: string): string {
  const urls = addressesOf(url).map((address) => URL.parse(address));
  return `${urls.map((each) => each?.host || each?.searchParams.get('host')).join(',')}${urls[0]?.pathname}`;
}

/** Whether an error says that its session takes no writes: another one may. */
export const isReadOnly = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === readOnly;

/**
 * What the pool makes its connections of where several hosts keep the database: each goes to the host that takes writes at
 * that moment. It is a class, since the pool wants one. All hosts are asked at once, for all connections that are made at
 * once: a dead host holds nobody up. A primary that was replaced and does not know it yet is passed over, since a
 * later timeline of the database was seen.
 * @param addresses as addressesOf has them.
 */
export function clientOfHosts(addresses: readonly string[]): typeof Client {
  let asked: Promise<Host> | undefined;
  let latest = '';
  const find = async (): Promise<Host> => {
    const { timeline, ...host } = await findWritable(addresses, latest);
    if (timeline > latest) latest = timeline;
    return host;
  };
  const findOnce = (): Promise<Host> =>
    (asked ??= find().then(
      (host) => {
        asked = undefined;
        return host;
      },
      (error: unknown) => {
        setTimeout(() => (asked = undefined), pauseMs).unref();
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

/** A server that is somewhere else from time to time. */
export type Whereabouts = {
  /** Undefined: where the address of the database leads. It is the same object until it changes. */
  now: () => Host | undefined;
  /** It took no connection, or no write: another one may by now. */
  lost: () => void;
};

/** Of connections whose server may move, whether it has. */
const checks = new WeakMap<object, () => boolean>();

/** Whether the server of a connection is not where a new one would go. */
export const isAstray = (client: object): boolean => checks.get(client)?.() ?? false;

/** What the pool makes its connections of where the server moves; while that is where the address leads, of `Base`. */
export function clientAt({ now, lost }: Whereabouts, Base: PoolConfig['Client'] = Client): typeof Client {
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

/** Of one server. */
export type Host = Pick<Client, 'host' | 'port'>;

/** A server that takes writes, and its timeline: eight hexadecimal digits, which are more after each promotion. */
type Primary = Host & { timeline: string };

/**
 * @param latest the timeline that a primary is at least on.
 * @throws what a host that is there refused us for, else why each of them is of no use now.
 */
async function findWritable(addresses: readonly string[], latest: string): Promise<Primary> {
  try {
    return await Promise.any(addresses.map((address) => askForWrites(address, latest)));
  } catch (error) {
    const reasons = (error as AggregateError).errors as (Error & { code?: string })[];
    const refusal = reasons.find(({ code }) => /^(28|3D)/.test(code ?? ''));
    if (refusal) throw refusal;
    const each = reasons.map(({ message }, index) => `${URL.parse(addresses[index]!)?.host}: ${message}`);
    const message = `None of its hosts takes writes (${each.join('; ')}).`;
    throw Object.assign(new Error(message, { cause: error }), { code: unreachable });
  }
}

/** The name of a file of WAL begins with the timeline; who takes no writes has none. */
const question = `
  select case when not current_setting('transaction_read_only')::boolean
              then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

async function askForWrites(address: string, latest: string): Promise<Primary> {
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: connectMs,
    query_timeout: sayMs,
    application_name: 'formloom probe',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { timeline } = (await client.query<{ timeline: string | null }>(question)).rows[0]!;
    if (timeline === null) throw new Error('it takes no writes');
    if (timeline < latest) throw new Error('another one has replaced it');
    return { host: client.host, port: client.port, timeline };
  } finally {
    void client.end().catch(() => {});
  }
}
