import type { PoolClient } from 'pg';
import type { Database } from './database.ts';

/**
 * Reports how long callers waited for a connection when the pool had none, in seconds, even if they got none.
 * Calls that find a free connection are not reported. The driver does not report this, but all its methods
 * use `connect`.
 */
export function watchPoolWaits(database: Database, onWaited: (seconds: number) => void): void {
  type Lend = (...given: Parameters<Parameters<Database['connect']>[0]>) => void;
  const connect = database.connect.bind(database) as { (): Promise<PoolClient>; (lend: Lend): void };
  // Counts earlier requests of this turn, which have no connection yet.
  const isEmpty = (): boolean =>
    database.idleCount + database.options.max - database.totalCount <= database.waitingCount;
  database.connect = ((lend?: Lend) => {
    if (!isEmpty()) return lend ? connect(lend) : connect();
    const began = performance.now();
    const end = (): void => onWaited((performance.now() - began) / 1_000);
    if (!lend) return connect().finally(end);
    return connect((...given) => {
      end();
      lend(...given);
    });
  }) as Database['connect'];
}

/** Thrown with the remedy if the connection pooler of a database is not usable. */
export class PoolingError extends Error {}

/**
 * Checks that a connection keeps its session, which prepared statements, `listen` and timeouts need. A pooler
 * in transaction mode gives sessions to other connections, and requests would fail at random. It either gives
 * one session to two connections or two sessions to one, and this detects both.
 * @param database must allow two concurrent connections.
 * @throws PoolingError
 */
export async function refuseTransactionPooling(database: Database): Promise<void> {
  const [[one, oneLater], [other, otherLater]] = await withConnection(database, async (first) => {
    const ofFirst = await sessionsOf(first);
    return [ofFirst, await withConnection(database, sessionsOf)];
  });
  if (one === oneLater && other === otherLater && one !== other) return;
  throw new PoolingError(
    'DATABASE_URL points to a pooler that shares sessions between transactions, such as PgBouncer with pool_mode=transaction. Formloom needs dedicated sessions: point DATABASE_URL to PostgreSQL itself, or to a pool with pool_mode=session.',
  );
}

async function withConnection<T>(database: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await database.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

/** Returns the sessions of two consecutive statements. */
async function sessionsOf(client: PoolClient): Promise<[number, number]> {
  const ask = async (): Promise<number> =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  return [await ask(), await ask()];
}
