import type { ClientBase, Pool } from 'pg';
import { type Database, databaseOf, isDiskFull } from './database.ts';

/** Databases whose disk was full when something was last written there. */
const full = new WeakSet<Database>();

/** Notes why a statement failed. */
export const noteFullDisk = (db: Pool | ClientBase, error: unknown): void => {
  if (isDiskFull(error)) full.add(databaseOf(db));
};

/** Whether the disk of a database is full. It is asked for only when a statement found it so, until there is room again. */
export async function hasFullDisk(database: Database): Promise<boolean> {
  if (!full.has(database)) return false;
  if (await takesMore(database)) full.delete(database);
  return full.has(database);
}

/** Whether a database has room for 1 MB: tried with a table that is gone with its connection. */
export async function takesMore(database: Database): Promise<boolean> {
  try {
    const client = await database.connect();
    try {
      await client.query(
        "create temporary table room as select repeat('x', 1000) from generate_series(1, 1000)",
      );
    } finally {
      client.release(true);
    }
    return true;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}
