import type { PoolClient } from 'pg';
import { ApiError } from '../../errors.ts';
import { only, type Queryable } from '../../statement.ts';
import { pathOf } from '../queries.ts';
import {
  bindFunction,
  copyToEveryNode,
  distributeSchema,
  findCluster,
  nearOf,
  selectFunctionsOf,
  selectNodes,
  selectPlaces,
  selectUnknownTables,
  selectWrongSettings,
  showToEveryNode,
} from './queries.ts';

/** What every node of a cluster is set to, for its own sessions and for those that other nodes have there (docs/operating/cells.md). */
export const nodeSettings: Readonly<Record<string, string>> = {
  // A trigger asks tables of its own schema, at its own node, and the directory.
  'citus.allow_nested_distributed_execution': 'on',
  'citus.enable_unsafe_triggers': 'on',
  // There is one copy of each table: its writers do not wait for each other.
  'citus.all_modifications_commutative': 'on',
  // A cell is moved while it is written to.
  wal_level: 'logical',
};

/** What tables of every cell lead to, and are joined with. */
const copied = 'users';

/**
 * Makes the instance one of a cluster with its first other cell, and what later migrations make of it: every node gets a copy of the
 * accounts, and the first cell, which stays at the coordinator with what is of the instance, can be asked from every node.
 * @param home the schema of the instance, whose shared tables are those that a cell has not.
 */
export async function openToCluster(client: PoolClient, home: string, cell: string): Promise<void> {
  const { rows: unknown } = await client.query<{ name: string }>(selectUnknownTables(home, cell));
  // First, for keys lead to them.
  if (unknown.some(({ name }) => name === copied)) await client.query(copyToEveryNode(copied));
  for (const { name } of unknown) if (name !== copied) await client.query(showToEveryNode(name));
}

/** @throws ApiError conflict where no node takes cells, or one is not set to what they need. */
export async function requireNodes(client: PoolClient): Promise<void> {
  const { rows: nodes } = await client.query(selectNodes);
  if (nodes.length === 0)
    throw new ApiError(
      'conflict',
      "The cluster has no node that takes cells: select citus_add_node('<host>', 5432) adds one.",
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

/**
 * Lays a migrated schema, whose keys lead to nothing outside, on the node of the cluster that has the fewest. Citus takes the nodes by
 * turns, of which tables of the instance take some too, and goes on with the next one where its turn is taken back.
 */
export async function distributeCell(client: PoolClient, schema: string, home: string): Promise<void> {
  await bindFunctions(client, schema, home);
  const nodes = (await client.query<{ node: string }>(selectNodes)).rows.map(({ node }) => node);
  const laid = async () => (await client.query<{ schema_name: string; node: string }>(selectPlaces)).rows;
  const counts = Map.groupBy(await laid(), ({ node }) => node);
  const countAt = (node: string | undefined): number => counts.get(node ?? '')?.length ?? 0;
  const fewest = Math.min(...nodes.map(countAt));
  for (let turns = nodes.length; turns > 0; turns -= 1) {
    await client.query('savepoint turn');
    await client.query(distributeSchema(schema));
    const own = (await laid()).find(({ schema_name }) => schema_name === schema);
    if (turns === 1 || countAt(own?.node) === fewest) return;
    await client.query('rollback to savepoint turn');
  }
}

/** Has the functions of a cell find its tables, whoever calls them from wherever. */
export async function bindFunctions(client: PoolClient, schema: string, home: string): Promise<void> {
  for (const each of await selectFunctionsOf(client, { schema_name: schema }))
    await client.query(bindFunction(schema, each, pathOf(nearOf(schema), schema, home)));
}

/** Whether a database is one of a Citus cluster. */
export const isCluster = async (db: Queryable): Promise<boolean> =>
  only(await findCluster(db, {}))!.is_cluster;
