import type { PoolClient } from 'pg';
import type { Database } from './database.ts';

/**
 * Tells how long whoever found the pool empty waited for a connection, in seconds, also in vain. Whoever found one free
 * waited for nothing and is not told of. The driver does not say it, and all of its ways in lead through `connect`.
 */
export function watchPoolWaits(database: Database, onWaited: (seconds: number) => void): void {
  type Lend = (...given: Parameters<Parameters<Database['connect']>[0]>) => void;
  const connect = database.connect.bind(database) as {
    (): Promise<PoolClient>;
    (lend: Lend): void;
  };
  // What was asked for in this turn has not been taken yet.
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

/** Why a database cannot be used through the pooler that stands before it, with the remedy. */
export class PoolingError extends Error {}

/**
 * Makes sure that a connection keeps its session: prepared statements, listening and limits of time belong to one. A
 * pooler in transaction mode takes them along when it gives the session to the next, and requests would fail at random.
 * It lends a session again that is free, the same one to two connections or another one to the same: so either is seen.
 * @param database may have two connections at once.
 * @throws PoolingError
 */
export async function refuseTransactionPooling(database: Database): Promise<void> {
  const [[one, oneLater], [other, otherLater]] = await withConnection(database, async (first) => {
    const ofFirst = await sessionsOf(first);
    return [ofFirst, await withConnection(database, sessionsOf)];
  });
  if (one === oneLater && other === otherLater && one !== other) return;
  throw new PoolingError(
    'DATABASE_URL leads to a pooler that shares sessions between transactions, such as PgBouncer with ' +
      'pool_mode=transaction. Formloom needs sessions of its own: let DATABASE_URL lead to PostgreSQL itself, or to a ' +
      'pool with pool_mode=session.',
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

/** In which session a statement runs, and the next one. */
async function sessionsOf(client: PoolClient): Promise<[number, number]> {
  const ask = async (): Promise<number> =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  return [await ask(), await ask()];
}
