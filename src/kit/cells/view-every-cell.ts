import type { Queryable } from '../statement.ts';
import { everyCell } from './cells.ts';
import { otherCells } from './other-cells.ts';
import { isCluster } from './citus/distribute-cell.ts';
import { keepLocal } from './citus/queries.ts';
import { createSchema, dropSchema, selectTablesOf, viewOverCells } from './queries.ts';

/**
 * Makes the schema in which the tables of all cells are read together: whatever names none is asked there as it is asked in one.
 * @param home the schema of the instance.
 */
export async function viewEveryCell(db: Queryable, home: string): Promise<void> {
  const others = (await otherCells(db)).map(({ schema_name }) => schema_name);
  // They are asked at the coordinator alone.
  if (await isCluster(db)) await db.query(keepLocal);
  await db.query(dropSchema(everyCell));
  if (others.length === 0) return;
  await db.query(createSchema(everyCell));
  for (const table of await selectTablesOf(db, { schema_name: others[0]! }))
    await db.query(viewOverCells(everyCell, table, [home, ...others]));
}
