import type { Database } from '../database.ts';
import { ApiError } from '../errors.ts';
import { cellsOf, firstCell } from './cells.ts';
import { measureCells } from './queries.ts';

/**
 * Where a new workspace goes: to the cell that is named, or to the one with the fewest bytes. A cell takes some when it is 15 s
 * old: by then every process has heard of it, also one that had to connect again. Where there is one cell nobody is asked.
 * @throws ApiError not_found, conflict for a named one that there is not, or not yet.
 */
export async function cellForNew(database: Database, named?: string): Promise<Database> {
  const cells = cellsOf(database);
  if (cells.length === 1 && (named === undefined || named === firstCell)) return database;
  const measured = await measureCells(cells[0]!.database, {});
  const open = measured
    .filter(({ name, is_settled }) => is_settled || name === firstCell)
    .filter(({ name }) => cells.some((cell) => cell.name === name))
    .sort((one, other) => one.bytes - other.bytes);
  const chosen = named === undefined ? open[0] : open.find(({ name }) => name === named);
  if (!chosen) {
    if (!measured.some(({ name }) => name === named))
      throw new ApiError('not_found', `There is no cell ${named}: \`cell list\` says which there are.`);
    throw new ApiError(
      'conflict',
      `The cell ${named} was just made. It takes workspaces when it is 15 seconds old.`,
    );
  }
  return cells.find((cell) => cell.name === chosen.name)!.database;
}
