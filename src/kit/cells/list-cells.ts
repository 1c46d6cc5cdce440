import type { Database } from '../database.ts';
import { only } from '../statement.ts';
import { cellsOf } from './cells.ts';
import { countWorkspaces, measureCells } from './queries.ts';

type CellLine = { name: string; schema: string; workspaces: number; bytes: number; created_at: Date | null };

/** The cells of an instance, the first one first, for the operator. */
export async function listCells(database: Database): Promise<CellLine[]> {
  const measured = new Map((await measureCells(database, {})).map((cell) => [cell.name, cell]));
  return Promise.all(
    cellsOf(database).map(async ({ name, database: own }) => {
      const { schema_name: schema, bytes, created_at } = measured.get(name)!;
      const { count: workspaces } = only(await countWorkspaces(own, {}))!;
      return { name, schema, workspaces, bytes, created_at };
    }),
  );
}
