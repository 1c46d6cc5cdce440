import { Client } from 'pg';
import { nearOf, onEveryNode, openNear } from '#kit/cells/citus/queries.ts';
import { pathOf } from '#kit/cells/queries.ts';

/** The schema that all tables of a test database on Citus lie in. */
export const cell = 'cell';
/** The path of a service's sessions there, which look past Citus first, as at the node that has a cell. */
export const pathAtNode = pathOf(nearOf(cell), cell, 'public');

/**
 * The address of a cluster, as tests use it: what they name is looked for in the distributed schema first. Functions and triggers ask
 * tables of their own schema, and writers of one table do not wait for each other: there is one copy of it.
 */
export function distributedUrl(clusterUrl: string): string {
  const url = new URL(clusterUrl);
  url.searchParams.set(
    'options',
    `-csearch_path=${cell},public -ccitus.allow_nested_distributed_execution=on -ccitus.all_modifications_commutative=on`,
  );
  return url.href;
}

async function run(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const each of statements) await client.query(each);
  } finally {
    await client.end();
  }
}

/** Makes an empty database one of a cluster of one node, which holds what is distributed itself. */
export async function prepareCluster(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const node = `'${hostname}', ${port || 5432}`;
  await run(
    url,
    'create extension citus',
    `select citus_set_coordinator_host(${node})`,
    `select citus_set_node_property(${node}, 'shouldhaveshards', true)`,
    `create schema ${cell}`,
  );
}

/** Distributes the migrated schema, and leaves its database alone, so that it can be copied. */
export async function distributeTemplate(serverUrl: string, url: string, name: string): Promise<void> {
  // Triggers write to tables of the same schema, which are at the same node.
  await run(url, 'set citus.enable_unsafe_triggers to on', `select citus_schema_distribute('${cell}')`);
  await run(url, onEveryNode(openNear(cell)));
  await run(
    serverUrl,
    `alter database ${name} with allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}
