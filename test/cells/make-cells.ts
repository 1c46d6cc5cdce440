import { cellsOf, openCells, refreshCells } from '#kit/cells/cells.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { type Connection, type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

const service = { pool: 8, processes: 1, channel: keyChannel };

/** How many cells the databases of this run have: TEST_CELLS=3 (test/cells.ts). */
export const cellsOfRun = Number(process.env['TEST_CELLS']) || 1;

/** Makes so many cells of a database, those that are there among them; undefined: it is one alone, and nobody looks. */
export async function makeCells(
  database: Database,
  connection: Connection,
  count: number,
): Promise<{ close(): Promise<void> } | undefined> {
  if (count === 1) return undefined;
  const log = openLog('silent');
  const cells = await openCells(database, (path, pool, at) =>
    openDatabase(connection, { path, pool, log, waitMs: 60_000, ...(at && { at }) }),
  );
  for (let number = cellsOf(database).length + 1; number <= count; number += 1)
    await createCell(database, `c${number}`, { service });
  await refreshCells(database);
  return cells;
}
