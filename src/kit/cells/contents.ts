import type { Database } from '../database.ts';
import { only } from '../statement.ts';
import { askCell, type Cell, cellsOf } from './cells.ts';
import { countContents, updateContents } from './queries.ts';

type Contents = Awaited<ReturnType<typeof countContents>>[number];

/** What a cell has. @throws where it is away. */
export const countIn = async (cell: Cell): Promise<Contents> =>
  only(await askCell(cell, (there) => countContents(there, {})))!;

/** Notes with the instance what a cell has: where its server is lost, nobody else can tell what is lost with it. */
export async function noteContents(database: Database): Promise<void> {
  const cell = cellsOf(database).find((each) => each.database === database);
  if (cell) await updateContents(database, { name: cell.name, ...(await countIn(cell)) });
}
