import type { Database } from '../database.ts';
import { only } from '../statement.ts';
import { cellsOf } from './cells.ts';
import { countWorkspaces, describeCells, measureCell } from './queries.ts';

type CellLine = {
  name: string;
  schema: string;
  workspaces: number;
  bytes: number;
  created_at: Date | null;
  node?: string;
};

/** The cells of an instance, the first one first, for the operator; on a cluster with the node that has each that is distributed. */
export async function listCells(database: Database): Promise<CellLine[]> {
  const described = new Map((await describeCells(database, {})).map((cell) => [cell.name, cell]));
  return Promise.all(
    cellsOf(database).map(async ({ name, database: own, place }) => {
      const { schema_name: schema, created_at } = described.get(name)!;
      const { bytes } = only(await measureCell(own, {}))!;
      const { count: workspaces } = only(await countWorkspaces(own, {}))!;
      return { name, schema, workspaces, bytes, created_at, ...(place && { node: place.node }) };
    }),
  );
}
