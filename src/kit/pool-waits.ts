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
