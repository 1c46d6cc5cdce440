import type { ClientBase } from 'pg';
import { type Database, transaction } from '#kit/database.ts';
import { until } from './service.ts';

/**
 * Starts work while rows are locked. Releases them once this many of its statements wait for a lock, so that
 * all continue at the same time.
 * @param rows a statement that locks rows.
 * @param meanwhile runs in the locking transaction while they wait.
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
    // The caller that awaits the result gets its failure.
    running.catch(() => {});
    await untilWaiting(database, waiting);
    await meanwhile(client);
  });
  return running!;
}

/** Runs work while a whole table is locked. Writers to it wait until the work has returned. */
export const whileTableHeld = (
  database: Database,
  table: string,
  work: (client: ClientBase) => Promise<unknown>,
): Promise<void> =>
  transaction(database, async (client) => {
    await client.query(`lock table ${table} in share row exclusive mode`);
    await work(client);
  });

/**
 * Finds a statement that waits for a lock.
 * @param part a text in its first 1,024 bytes that no other waiting statement contains.
 * @returns the process that runs it.
 */
export async function findWaiting(database: Database, part: string): Promise<number | undefined> {
  const { rows } = await database.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid() and strpos(query, $1) > 0`,
    [part],
  );
  return rows[0]?.pid;
}

/**
 * Waits until a statement waits for a lock.
 * @param nudge runs before each look.
 */
export const untilOneWaits = (
  database: Database,
  part: string,
  nudge: () => Promise<unknown> = async () => {},
): Promise<number> =>
  until(`one to wait that has "${part}"`, async () => {
    await nudge();
    return findWaiting(database, part);
  });

/** Waits until this many statements wait for a lock. */
export const untilWaiting = (database: Database, count: number): Promise<boolean> =>
  until('the statements to wait', async () => {
    const locks = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return (await database.query(locks)).rowCount! >= count;
  });
