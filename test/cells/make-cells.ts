import { openCells, refreshCells } from '#kit/cells/cells.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

const room = { pool: 8, processes: 1, channel: keyChannel };

/** Makes so many cells of a database, the one that is there among them; undefined: it is one alone, and nobody looks. */
export async function makeCells(
  database: Database,
  url: string,
  count: number,
): Promise<{ close(): Promise<void> } | undefined> {
  if (count === 1) return undefined;
  const log = openLog('silent');
  const cells = await openCells(database, (path, pool) =>
    openDatabase({ connectionString: url }, { path, pool, log, waitMs: 60_000 }),
  );
  for (let number = 2; number <= count; number += 1) await createCell(database, `c${number}`, room);
  await refreshCells(database);
  return cells;
}
