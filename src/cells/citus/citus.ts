import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Host } from '#kit/find-host.ts';
import { pathOf } from '#kit/search-path/queries.ts';
import { only, type Queryable } from '#kit/statement.ts';
import {
  bindFunction,
  copyPeople,
  copyPeopleAgain,
  distributeSchema,
  dropViews,
  findCluster,
  hasPeople,
  makeViews,
  onEveryNode,
  peopleSchema,
  selectConnections,
  selectFunctionsOf,
  selectNodes,
  selectPlaces,
  selectWrongSettings,
  viewsLock,
  viewsOf,
} from './queries.ts';

export { viewsOf };

/*
 * On a Citus cluster a cell is a distributed schema, which Citus places and moves as a whole. It is queried at the node that has it, past
 * Citus' planner: a schema there has a view of each table's shard, and is the search path of the cell's sessions (docs/operating/cells.md).
 */

/** Whether a database is one of a Citus cluster. */
export const isCluster = async (db: Queryable): Promise<boolean> =>
  only(await findCluster(db, {}))!.is_cluster;

/** The settings that every node of a cluster needs (docs/operating/cells.md). */
const nodeSettings: Readonly<Record<string, string>> = {
  // A change of a person at all nodes fires triggers there, which write to the cells.
  'citus.allow_nested_distributed_execution': 'on',
  'citus.enable_unsafe_triggers': 'on',
  // There is one copy of each table: its writers do not wait for each other.
  'citus.all_modifications_commutative': 'on',
  // A cell is moved while it is written to.
  wal_level: 'logical',
};

/** @throws ApiError conflict if no node takes cells, or one has other settings than they need. */
export async function requireNodes(client: PoolClient): Promise<void> {
  const { rows: nodes } = await client.query(selectNodes);
  if (nodes.length === 0)
    throw new ApiError(
      'conflict',
      "The cluster has no node that takes cells. Add one: select citus_add_node('<host>', 5432).",
    );
  type Wrong = { node: string; setting: string; value: string; found: string };
  const { rows: wrong } = await client.query<Wrong>(selectWrongSettings(nodeSettings));
  if (wrong.length > 0)
    throw new ApiError(
      'conflict',
      `Every node of the cluster needs these settings (docs/operating/cells.md): ${wrong
        .map(({ node, setting, value, found }) => `${setting} = ${value} at ${node}, which has ${found}`)
        .join('; ')}.`,
    );
}

/** The node of a cluster that has a cell: as an operator names it, and what its pool connects to if that is not the coordinator. */
export type Place = { readonly node: string; readonly host: Host | undefined };

/** Finds where the cells of a cluster lie, by their schemas. */
export async function findPlaces(database: Queryable): Promise<ReadonlyMap<string, Place>> {
  type Row = { schema_name: string; host: string; port: number; node: string; is_coordinator: boolean };
  const { rows } = await database.query<Row>(selectPlaces);
  return new Map(
    rows.map(({ schema_name, host, port, node, is_coordinator }) => [
      schema_name,
      { node, host: is_coordinator ? undefined : { host, port } },
    ]),
  );
}

type Allowed = { node: string; connections: number };

/** Finds the node that allows the fewest connections, and the nodes that do not answer. */
export async function findLeastRoom(db: Queryable): Promise<{ least: Allowed | undefined; away: string[] }> {
  const { rows } = await db.query<{ node: string; connections: number | null }>(selectConnections);
  return {
    least: rows.find((row): row is Allowed => row.connections !== null),
    away: rows.flatMap(({ node, connections }) => (connections === null ? [node] : [])),
  };
}

/**
 * Places a migrated schema, whose keys lead to nothing outside, on the node that has the fewest cells. Citus takes the nodes by turns, of
 * which other tables take some too, and goes on with the next node after a turn is rolled back.
 */
export async function distributeCell(client: PoolClient, schema: string, home: string): Promise<void> {
  await bindFunctions(client, schema);
  const nodes = (await client.query<{ node: string }>(selectNodes)).rows.map(({ node }) => node);
  const countCells = async (): Promise<Map<string, string[]>> => {
    const places = await findPlaces(client);
    return Map.groupBy([...places.keys()], (each) => places.get(each)!.node);
  };
  const before = await countCells();
  const countAt = (node: string): number => before.get(node)?.length ?? 0;
  const fewest = Math.min(...nodes.map(countAt));
  for (let turns = nodes.length; turns > 0; turns -= 1) {
    await client.query('savepoint turn');
    await client.query(distributeSchema(schema));
    const { node } = (await findPlaces(client)).get(schema)!;
    if (turns === 1 || countAt(node) === fewest) break;
    await client.query('rollback to savepoint turn');
  }
  if (!(await knowsPeople(client))) for (const text of copyPeople(home)) await client.query(text);
}

const knowsPeople = async (client: Queryable): Promise<boolean> =>
  (await client.query<{ is_there: boolean }>(hasPeople)).rows[0]!.is_there;

/** The search path on which a cell of a cluster is migrated, and its keys to people are added. */
export const pathOfDistributed = (schema: string, home: string): string => pathOf(schema, peopleSchema, home);

/** Copies people to all nodes anew, if cells there know any. */
export async function refreshPeople(client: PoolClient): Promise<void> {
  if (await knowsPeople(client)) for (const text of copyPeopleAgain) await client.query(text);
}

/** Has the functions of a cell find its tables at its node, whichever session they run in. */
export async function bindFunctions(client: PoolClient, schema: string): Promise<void> {
  for (const each of await selectFunctionsOf(client, { schema_name: schema }))
    await client.query(bindFunction(schema, each, pathOf(viewsOf(schema), schema)));
}

/** After a lock was waited for in vain it is tried again so much later. */
const againMs = 100;

/** Runs a text at every node, again at those where a lock was held. A node that is away is left out. */
async function atEveryNode(db: Queryable, text: string): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ success: boolean; result: string }>(onEveryNode(text));
    const failures = rows.flatMap(({ success, result }) => (success ? [] : [result]));
    const failure = failures.find((result) => !/lock timeout|failed to connect|remote node/.test(result));
    if (failure !== undefined) throw new Error(failure);
    if (!failures.some((result) => result.includes('lock timeout'))) return;
    await sleep(againMs);
  }
}

/** Makes the views of these cells where each lies, and drops those at nodes that a cell has left. */
export const openViews = (database: Database, schemas: readonly string[]): Promise<void> =>
  transaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [viewsLock]);
    for (const schema of schemas) await atEveryNode(client, makeViews(schema));
  });

/** Drops the views of a cell at every node, before its tables are changed. */
export const closeViews = (db: Queryable, schema: string): Promise<void> =>
  atEveryNode(db, dropViews(schema));
