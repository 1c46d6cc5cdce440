import { escapeLiteral } from 'pg';
import type { Queryable } from '#kit/statement.ts';

/** How many rows of a table a connection has read, by whatever way: what a statement costs, and no time that a busy machine makes longer. */
export async function readRows(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ read: number }>(
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relid = ${escapeLiteral(table)}::regclass`,
  );
  return rows[0]?.read ?? 0;
}
