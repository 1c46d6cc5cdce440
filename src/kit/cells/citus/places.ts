import type { Host } from '../../find-host.ts';
import type { Database } from '../../database.ts';
import { isCluster } from './distribute-cell.ts';
import { selectPlaces } from './queries.ts';

/** The node of a cluster that has a cell: as an operator names it, and what its pool connects to, where that is not the coordinator. */
export type Place = { readonly node: string; readonly host: Host | undefined };

type Row = { schema_name: string; host: string; port: number; node: string; is_coordinator: boolean };

/** Where the cells of a cluster lie, by their schemas; nothing is distributed elsewhere. */
export async function findPlaces(database: Database): Promise<ReadonlyMap<string, Place>> {
  if (!(await isCluster(database))) return new Map();
  const { rows } = await database.query<Row>(selectPlaces);
  return new Map(
    rows.map(({ schema_name, host, port, node, is_coordinator }) => [
      schema_name,
      { node, host: is_coordinator ? undefined : { host, port } },
    ]),
  );
}
