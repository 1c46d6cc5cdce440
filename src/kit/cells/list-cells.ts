import type { Database } from '../database.ts';
import { measure } from './cell-for-new.ts';
import { cellsOf, isApart } from './cells.ts';
import { countIn } from './contents.ts';
import { findHalfMade } from './servers/half-made.ts';
import { isAway } from './servers/server.ts';
import { describeCells } from './queries.ts';

type CellLine = {
  name: string;
  schema: string;
  /** Null, as its size: its server, or the node that has it, does not answer. */
  workspaces: number | null;
  bytes: number | null;
  created_at: Date | null;
  node?: string;
  server?: string;
  /** Of one that a killed command has left, what ends that. */
  state?: string;
};

/** The cells of an instance, the first one first and half-made ones last, for the operator; on a cluster with the node that has each that is distributed, and with the server of each that is on another. */
export async function listCells(database: Database): Promise<CellLine[]> {
  const described = new Map((await describeCells(database, {})).map((cell) => [cell.name, cell]));
  const cells = await Promise.all(
    cellsOf(database).map(async (cell) => {
      const { name, place, server } = cell;
      const { schema_name: schema, created_at } = described.get(name)!;
      const [bytes = null, has] = await Promise.all([measure(cell), countIn(cell)]).catch(
        (error: unknown) => {
          if (!isApart(cell) || !isAway(error)) throw error;
          return [];
        },
      );
      return {
        name,
        schema,
        workspaces: has?.workspaces ?? null,
        bytes,
        created_at,
        ...(place && { node: place.node }),
        ...(server && { server: server.place }),
      };
    }),
  );
  const halfMade = (await findHalfMade(database)).map(({ name, place, remedy }) => ({
    name,
    schema: `cell_${name}`,
    workspaces: null,
    bytes: null,
    created_at: null,
    server: place,
    state: `half made: ${remedy}`,
  }));
  return [...cells, ...halfMade];
}
