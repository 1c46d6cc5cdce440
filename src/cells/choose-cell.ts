import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { sessionSchemaSql } from '#kit/migrate.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import { isCellUnavailable } from './across-cells.ts';
import { type Cell, cellsOf, firstCellName } from './cells.ts';

/** Lists the cells for the operator. `is_settled` means that every process has opened the cell. */
const describeCells = statement('', 'name schema_name created_at? is_settled:boolean')`
  select name, schema_name, created_at, created_at < now() - interval '15 seconds' as is_settled from cells
  union all
  select 'default', current_schema()::text, null, null where not exists (select from cells)
   order by created_at, name`;

/** Measures the bytes of a cell's tables and indexes, and counts its workspaces. Runs in each cell. */
const measureCell = statement('', 'bytes workspaces:bigint')`
  /* operator: across workspaces */
  select (select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
           where relnamespace = ${sessionSchemaSql} and relkind = 'r') as bytes,
         (select count(*) from workspaces) as workspaces`;

type Size = Awaited<ReturnType<typeof measureCell>>[number];

/** Measures a cell. Undefined if its node is unavailable. */
async function measure(cell: Cell): Promise<Size | undefined> {
  try {
    return onlyRow(await measureCell(cell.database, {}))!;
  } catch (error) {
    if (!cell.place || !isCellUnavailable(error)) throw error;
    return undefined;
  }
}

/**
 * Returns the cell for a new workspace: the named one, or the one with the fewest bytes. A new cell accepts
 * workspaces after 15 s, when every process has opened it, including one that had to reconnect. An instance
 * with one cell runs no query.
 * @throws ApiError not_found if the cell does not exist, conflict if it is too new.
 */
export async function chooseCellForWorkspace(database: Database, named?: string): Promise<Database> {
  const cells = cellsOf(database);
  if (cells.length === 1 && (named === undefined || named === firstCellName)) return database;
  const described = await describeCells(cells[0]!.database, {});
  const open = cells.filter(({ name }) =>
    described.some((each) => each.name === name && (each.is_settled || name === firstCellName)),
  );
  const chosen = named === undefined ? await findSmallest(open) : open.find(({ name }) => name === named);
  if (chosen) return chosen.database;
  if (!described.some(({ name }) => name === named))
    throw new ApiError('not_found', `No cell named ${named}. Run \`cell list\` to see all cells.`);
  throw new ApiError('conflict', `The cell ${named} was just created. Try again in 15 seconds.`);
}

async function findSmallest(cells: readonly Cell[]): Promise<Cell> {
  const measured = await Promise.all(
    cells.map(async (cell) => ({ cell, bytes: (await measure(cell))?.bytes ?? Number.POSITIVE_INFINITY })),
  );
  return measured.reduce((least, each) => (each.bytes < least.bytes ? each : least)).cell;
}

type CellLine = {
  name: string;
  schema: string;
  /** Null, like the size, if its node does not answer. */
  workspaces: number | null;
  bytes: number | null;
  created_at: Date | null;
  node?: string;
};

/** Lists the cells of an instance for the operator, the first one first, with their nodes in a cluster. */
export async function listCells(database: Database): Promise<CellLine[]> {
  const described = new Map((await describeCells(database, {})).map((cell) => [cell.name, cell]));
  return Promise.all(
    cellsOf(database).map(async (cell) => {
      const { schema_name: schema, created_at } = described.get(cell.name)!;
      const { workspaces = null, bytes = null } = (await measure(cell)) ?? {};
      const { name, place } = cell;
      return { name, schema, workspaces, bytes, created_at, ...(place && { node: place.node }) };
    }),
  );
}
