import type { Database } from '../database.ts';
import { ApiError } from '../errors.ts';
import { type Cell, cellsOf, firstCell, askCell } from './cells.ts';
import { isAway } from './servers/server.ts';
import { only } from '../statement.ts';
import { describeCells, measureCell } from './queries.ts';

/**
 * Where a new workspace goes: to the cell that is named, or to the one with the fewest bytes. A cell takes some when it is 15 s
 * old: by then every process has heard of it, also one that had to connect again. Where there is one cell nobody is asked.
 * @throws ApiError not_found, conflict for a named one that there is not, or not yet.
 */
export async function cellForNew(database: Database, named?: string): Promise<Database> {
  const cells = cellsOf(database);
  if (cells.length === 1 && (named === undefined || named === firstCell)) return database;
  const described = await describeCells(cells[0]!.database, {});
  const open = described
    .filter(({ name, is_settled }) => is_settled || name === firstCell)
    .flatMap(({ name }) => cells.find((cell) => cell.name === name) ?? []);
  const chosen = named === undefined ? await findEmptiest(open) : open.find(({ name }) => name === named);
  if (!chosen) {
    if (!described.some(({ name }) => name === named))
      throw new ApiError('not_found', `There is no cell ${named}: \`cell list\` says which there are.`);
    throw new ApiError(
      'conflict',
      `The cell ${named} was just made. It takes workspaces when it is 15 seconds old.`,
    );
  }
  return chosen.database;
}

/** The cell with the fewest bytes of those that answer. @throws the error of the first one, where that does not either. */
async function findEmptiest(cells: readonly Cell[]): Promise<Cell> {
  const measured = await Promise.all(
    cells.map(async (cell) => {
      const bytes = await measure(cell).catch((error: unknown) => {
        if (cell.name === firstCell || !isAway(error)) throw error;
      });
      return { cell, bytes: bytes ?? Number.POSITIVE_INFINITY };
    }),
  );
  return measured.reduce((least, each) => (each.bytes < least.bytes ? each : least)).cell;
}

/** What a cell takes. @throws where it is away. */
export const measure = async (cell: Cell): Promise<number> =>
  only(await askCell(cell, (there) => measureCell(there, {})))!.bytes;
