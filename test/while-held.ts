import type { ClientBase } from 'pg';
import { type Database, transaction } from '#kit/database.ts';
import { until } from './service.ts';

/**
 * Starts work while rows are held, and lets go of them when so many of its statements wait for a lock: they then go on at the
 * same moment.
 * @param rows a statement that locks rows. @param meanwhile what is asked of the transaction that holds them while they wait.
 */
export async function whileHeld<Result>(
  database: Database,
  rows: { text: string; values: unknown[] },
  waiting: number,
  work: () => Promise<Result>,
  meanwhile: (client: ClientBase) => Promise<unknown> = async () => {},
): Promise<Result> {
  let running: Promise<Result> | undefined;
  await transaction(database, async (client) => {
    await client.query(rows);
    running = work();
    // Whoever asks for the result is told of its failure.
    running.catch(() => {});
    await untilWaiting(database, waiting);
    await meanwhile(client);
  });
  return running!;
}

/** Waits until so many statements wait for a lock. */
export const untilWaiting = (database: Database, count: number): Promise<boolean> =>
  until('the statements to wait', async () => {
    const locks = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return (await database.query(locks)).rowCount! >= count;
  });
