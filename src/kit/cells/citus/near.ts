import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, transaction } from '../../database.ts';
import type { Queryable } from '../../statement.ts';
import { otherCells } from '../other-cells.ts';
import { migrationLock } from '../queries.ts';
import { isCluster } from './distribute-cell.ts';
import { onEveryNode, openLock, openNear, shutNear } from './queries.ts';

/*
 * At the node that has it a cell is asked past Citus: a schema there, first on the path of the sessions of the cell, has for each table
 * a view of the shard that it is, so that a statement is planned as on plain PostgreSQL. While a cell is moved or migrated there is none,
 * and what is asked goes through Citus (docs/decisions/0092-cells-on-citus.md).
 */

/** Who was held up by somebody's lock tries again so much later. */
const againMs = 100;

/** Does something at every node, and again where somebody held it up. A node that is away is left out. */
async function atEveryNode(db: Queryable, text: string): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ success: boolean; result: string }>(onEveryNode(text));
    const failures = rows.flatMap(({ success, result }) => (success ? [] : [result]));
    const failure = failures.find((result) => !/lock timeout|failed to connect|remote node/.test(result));
    if (failure !== undefined) throw new Error(failure);
    if (!failures.some((result) => result.includes('lock timeout'))) return;
    await sleep(againMs);
  }
}

/** Sees that every cell of a cluster is asked past Citus, unless one is being moved or migrated. */
export async function openNearTables(database: Database): Promise<void> {
  if (!(await isCluster(database))) return;
  await transaction(database, async (client) => {
    const others = await otherCells(client);
    const { rows } = await client.query<{ is_free: boolean }>(
      `select pg_try_advisory_xact_lock_shared(${migrationLock}) as is_free`,
    );
    if (!rows[0]!.is_free) return;
    await client.query('select pg_advisory_xact_lock($1)', [openLock]);
    for (const { schema_name } of others) await atEveryNode(client, openNear(schema_name));
  });
}

/**
 * Has all that is asked of a cell go through Citus, until `openNearTables`. Whoever calls it holds the lock of migrations.
 * @param isGone whether its tables are changed next, which views of them would hold on to.
 */
export const shutNearTables = (db: Queryable, schema: string, isGone = false): Promise<void> =>
  atEveryNode(db, shutNear(schema, isGone));
