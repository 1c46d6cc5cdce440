import type { Queryable } from '../statement.ts';
import { everyCell, firstCell } from './cells.ts';
import { createSchema, dropSchema, selectCells, selectTablesOf, viewOverCells } from './queries.ts';

/**
 * Makes the schema in which the tables of all cells are read together: whatever names none is asked there as it is asked in one.
 * @param home the schema of the instance.
 */
export async function viewEveryCell(db: Queryable, home: string): Promise<void> {
  const cells = await selectCells(db, {});
  const ofCell = cells.find(({ name }) => name !== firstCell);
  await db.query(dropSchema(everyCell));
  if (!ofCell) return;
  await db.query(createSchema(everyCell));
  const schemas = [
    home,
    ...cells.flatMap(({ name, schema_name }) => (name === firstCell ? [] : [schema_name])),
  ];
  for (const table of await selectTablesOf(db, { schema_name: ofCell.schema_name }))
    await db.query(viewOverCells(everyCell, table, schemas));
}
