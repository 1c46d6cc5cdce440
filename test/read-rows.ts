import { escapeLiteral } from 'pg';
import type { Queryable } from '#kit/statement.ts';

/**
 * Returns how many rows of a table a connection has read by any means. Rows measure the cost of a statement,
 * while times depend on the machine's load.
 */
export async function readRows(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ read: number }>(
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relid = ${escapeLiteral(table)}::regclass`,
  );
  return rows[0]?.read ?? 0;
}
