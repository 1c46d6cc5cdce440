import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Host } from '#kit/find-host.ts';
import { formatSearchPath, setSearchPath } from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';

const findCluster = statement('', 'is_cluster:boolean')`
  select exists (select from pg_extension where extname = 'citus') as is_cluster`;

/** Lists the functions of a schema, with parameter types for overloads. */
const selectFunctionsOf = statement('schema_name', 'name types:text')`
  select proname::text as name, pg_get_function_identity_arguments(oid) as types from pg_proc
   where pronamespace = to_regnamespace(quote_ident($schema_name))`;

/** Lists the foreign keys from a schema to another. */
const selectKeysOut = statement('schema_name', 'table_name name definition')`
  select t.relname::text as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class other on other.oid = c.confrelid
   where c.contype = 'f' and t.relnamespace = to_regnamespace(quote_ident($schema_name))
     and other.relnamespace <> t.relnamespace
   order by 1, 2`;

// Statements with schema names, and queries that need Citus, are not declared.

export const quoteName = escapeIdentifier;

type Key = { readonly table_name: string; readonly name: string; readonly definition: string };

const dropKey = (key: Key): string =>
  `alter table ${quoteName(key.table_name)} drop constraint ${quoteName(key.name)}`;

const addKey = (key: Key): string =>
  `alter table ${quoteName(key.table_name)} add constraint ${quoteName(key.name)} ${key.definition}`;

/** Lists node settings that differ from what cells need: node, setting, required and current value. */
const selectWrongSettings = (settings: Readonly<Record<string, string>>): string => {
  const required = Object.entries(settings).map(
    ([setting, value]) => `(${escapeLiteral(setting)}, ${escapeLiteral(value)})`,
  );
  return `select setting, value, r.result as found, n.nodename || ':' || n.nodeport as node
            from (values ${required.join(', ')}) as required (setting, value)
           cross join lateral run_command_on_all_nodes(format('select current_setting(%L)', setting)) r
            join pg_dist_node n on n.nodeid = r.nodeid
           where r.result is distinct from value
           order by 4, 1`;
};

/** Lists the nodes that accept cells. `node` is the name for operators. */
export const activeNodesSql = `
  select nodename as host, nodeport as port, nodename || ':' || nodeport as node
    from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary' order by nodeid`;

/** Lists how many connections each node allows, the fewest first. Null if a node does not answer. */
const selectConnections = `
  select n.nodename || ':' || n.nodeport as node, case when r.success then r.result::integer end as connections
    from run_command_on_all_nodes('show max_connections') r join pg_dist_node n on n.nodeid = r.nodeid
   order by connections`;

/** Lists the node of each distributed schema. Group 0 is the coordinator with the instance. */
const selectCellNodes = `
  select s.schemaid::regnamespace::text as schema_name, n.nodename as host, n.nodeport as port,
         n.nodename || ':' || n.nodeport as node, n.groupid = 0 as is_coordinator
    from pg_dist_schema s
   cross join lateral (
         select groupid from pg_dist_partition p join pg_dist_shard h on h.logicalrelid = p.logicalrelid
           join pg_dist_placement l on l.shardid = h.shardid
          where p.colocationid = s.colocationid limit 1) l
    join pg_dist_node n on n.groupid = l.groupid and n.noderole = 'primary'`;

const distributeSchema = (schema: string): string =>
  `select citus_schema_distribute(${escapeLiteral(quoteName(schema))})`;

/** Binds a function to its cell, because triggers fire in sessions with any search path. */
const bindFunction = (schema: string, of: { name: string; types: string }, path: string): string =>
  `alter function ${quoteName(schema)}.${quoteName(of.name)}(${of.types}) set search_path to ${path}`;

/** Hides the shards from the rest of a transaction. Plain PostgreSQL ignores the setting. */
export const hideShardsSql = 'set local citus.override_table_visibility = on';

/** Runs SQL on every node, in separate transactions. */
const onEveryNode = (text: string): string =>
  `select success, result from run_command_on_all_nodes(${escapeLiteral(text)})`;

/** The advisory lock that lets one process at a time create views. */
const viewsLock = 7_246_005;

/** The schema on a cell's node with views of the shards, which contain the rows. */
const viewsOf = (schema: string): string => `near_${schema}`;

/** The schema of the reference table `users`, from which cells on nodes read people. */
const peopleSchema = 'people_of_cells';

/** The columns of people that cells read. */
export const personColumns: readonly string[] = ['id', 'name', 'email', 'second_factor', 'ends_at'];

const people = `${peopleSchema}.users`;

const columns = personColumns.join(', ');

const hasPeople = `select to_regclass('${people}') is not null as is_there`;

/**
 * Copies people, and every later change to them, to every node. A person cannot be changed while a node is
 * unavailable. The function builds its own plan, because Citus cannot plan without the parameters.
 */
const copyPeople = (home: string): readonly string[] => [
  `create schema ${peopleSchema}`,
  `create table ${people} (id text primary key, name text, email text, second_factor boolean, ends_at timestamptz)`,
  `select create_reference_table('${people}')`,
  `insert into ${people} (${columns}) select ${columns} from ${quoteName(home)}.users`,
  `create function ${peopleSchema}.copy_person() returns trigger language plpgsql set plan_cache_mode to force_custom_plan as $$
begin
  if tg_op = 'INSERT' then
    insert into ${people} (${columns}) values (${personColumns.map((each) => `new.${each}`).join(', ')});
  elsif tg_op = 'DELETE' then
    delete from ${people} where id = old.id;
  else
    update ${people} set ${personColumns
      .slice(1)
      .map((each) => `${each} = new.${each}`)
      .join(', ')} where id = new.id;
  end if;
  return null;
end $$`,
  `create trigger copy_person after insert or delete on ${quoteName(home)}.users for each row execute function ${peopleSchema}.copy_person()`,
  `create trigger copy_changed_person after update on ${quoteName(home)}.users for each row
     when ((${personColumns.map((each) => `old.${each}`).join(', ')}) is distinct from (${personColumns
       .map((each) => `new.${each}`)
       .join(', ')}))
     execute function ${peopleSchema}.copy_person()`,
];

/** Copies people again, after a restore filled their table without triggers. */
const copyPeopleAgain: readonly string[] = [
  `delete from ${people}`,
  `insert into ${people} (${columns}) select ${columns} from users`,
];

/** Applies only to this node, with visible shards. The lock timeout is short, so that others do not queue. */
const atThisNode = `
  perform set_config('lock_timeout', '100ms', true), set_config('check_function_bodies', 'off', true),
          set_config('citus.enable_ddl_propagation', 'off', true),
          set_config('citus.override_table_visibility', 'off', true);`;

/** Drops the views of a cell, which would block a migration of its tables. */
const dropViews = (schema: string): string => `
do $do$
begin ${atThisNode}
  execute format('drop schema if exists %I cascade', ${escapeLiteral(viewsOf(schema))});
end $do$`;

/**
 * Creates the views and functions of a cell on its node, under a temporary schema name until all exist, and
 * drops them on a node that it left. Once per transaction, a trigger of each table takes the lock that Citus
 * uses against moves and checks that the cell is still here. A write waits for a move to end and is then
 * rejected.
 */
const makeViews = (schema: string): string => `
do $do$
declare
  cell constant text := ${escapeLiteral(schema)};
  views constant text := ${escapeLiteral(viewsOf(schema))};
  made constant text := ${escapeLiteral(`${viewsOf(schema)}_made`)};
  anchor bigint; one record;
begin ${atThisNode}
  select h.shardid into anchor
    from pg_dist_schema s
    join pg_dist_partition p on p.colocationid = s.colocationid
    join pg_dist_shard h on h.logicalrelid = p.logicalrelid
    join pg_dist_placement l on l.shardid = h.shardid
    join pg_dist_local_group g on g.groupid = l.groupid
   where s.schemaid = to_regnamespace(cell) order by 1 limit 1;
  if anchor is null then execute format('drop schema if exists %I cascade', views); return; end if;
  if to_regnamespace(views) is not null then return; end if;
  execute format('create schema if not exists %I', made);
  execute format($f$
    create or replace function %1$I.stay() returns trigger language plpgsql as $b$
    begin
      perform lock_shard_metadata(5, array[%2$s]);
      if not exists (
        select from pg_dist_placement l join pg_dist_local_group g on g.groupid = l.groupid where l.shardid = %2$s) then
        raise exception 'The cell is now on another node.' using errcode = 'read_only_sql_transaction';
      end if;
      perform set_config('formloom.stays', pg_current_xact_id()::text, true);
      return null;
    end $b$ $f$, made, anchor);
  for one in
    select c.relname as name, c.relname || '_' || h.shardid as shard, n.nspname as schema, n.nspname = cell as is_own,
           (select array_agg(format('alter view %I.%I alter %I set default nextval(%L)', made, c.relname, a.attname,
                                    pg_get_serial_sequence(c.oid::regclass::text, a.attname)))
              from pg_attribute a where a.attrelid = c.oid and a.attidentity <> '') as counted
      from pg_dist_partition p
      join pg_class c on c.oid = p.logicalrelid
      join pg_namespace n on n.oid = c.relnamespace
      join pg_dist_shard h on h.logicalrelid = p.logicalrelid
     where (n.nspname = cell and c.relname <> 'migrations') or c.oid = to_regclass('${people}')
  loop
    commit; ${atThisNode}
    execute format('drop view if exists %I.%I', made, one.name);
    execute format('create view %I.%I as select *, ctid, xmax from %I.%I', made, one.name, one.schema, one.shard);
    -- Citus assigns identity values only in the distributed table, not in the shard with the rows.
    if one.counted is not null then execute array_to_string(one.counted, '; '); end if;
    if one.is_own then
      execute format($f$
        create or replace trigger stay before insert or update or delete on %I.%I for each statement
          when (current_setting('formloom.stays', true) is distinct from pg_current_xact_id()::text)
          execute function %I.stay()$f$, one.schema, one.shard, made);
    end if;
  end loop;
  -- Functions that statements call. Trigger functions stay in the schema of the cell.
  for one in
    select overlay(pg_get_functiondef(p.oid) placing made || '.'
             from position(quote_ident(cell) || '.' in pg_get_functiondef(p.oid)) for length(quote_ident(cell)) + 1) as text
      from pg_proc p where p.pronamespace = to_regnamespace(cell) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
  loop
    execute one.text;
  end loop;
  execute format('alter schema %I rename to %I', made, views);
end $do$`;

export { viewsOf };

/*
 * On a Citus cluster, a cell is a distributed schema, which Citus places and moves as a whole. Queries run on
 * the node of the cell without Citus' planner. A schema on that node has a view of each table's shard and is
 * the search path of the cell's sessions (docs/operating/cells.md).
 */

/** Returns whether a database belongs to a Citus cluster. */
export const isCluster = async (db: Queryable): Promise<boolean> =>
  onlyRow(await findCluster(db, {}))!.is_cluster;

/** The settings that every node of a cluster needs (docs/operating/cells.md). */
const nodeSettings: Readonly<Record<string, string>> = {
  // A change to a person on all nodes fires triggers there, which write to the cells.
  'citus.allow_nested_distributed_execution': 'on',
  'citus.enable_unsafe_triggers': 'on',
  // Each table has one copy, so its writers do not wait for each other.
  'citus.all_modifications_commutative': 'on',
  // Cells move while they are being written to.
  wal_level: 'logical',
};

/**
 * Checks that a node accepts cells and that all nodes have the required settings.
 * @throws ApiError conflict if not.
 */
export async function requireUsableNodes(client: PoolClient): Promise<void> {
  const { rows: nodes } = await client.query(activeNodesSql);
  if (nodes.length === 0)
    throw new ApiError(
      'conflict',
      "The cluster has no node for cells. Add one: select citus_add_node('<host>', 5432).",
    );
  type Wrong = { node: string; setting: string; value: string; found: string };
  const { rows: wrong } = await client.query<Wrong>(selectWrongSettings(nodeSettings));
  if (wrong.length > 0)
    throw new ApiError(
      'conflict',
      `Change these settings on the nodes of the cluster (docs/operating/cells.md): ${wrong
        .map(({ node, setting, value, found }) => `${setting} = ${value} on ${node} (now ${found})`)
        .join('; ')}.`,
    );
}

/** The node of a cell in a cluster: its name for operators, and its host unless it is the coordinator. */
export type CellNode = { readonly node: string; readonly host: Host | undefined };

/** Finds the nodes of the cells of a cluster, by schema. */
export async function findCellNodes(database: Queryable): Promise<ReadonlyMap<string, CellNode>> {
  type Row = { schema_name: string; host: string; port: number; node: string; is_coordinator: boolean };
  const { rows } = await database.query<Row>(selectCellNodes);
  return new Map(
    rows.map(({ schema_name, host, port, node, is_coordinator }) => [
      schema_name,
      { node, host: is_coordinator ? undefined : { host, port } },
    ]),
  );
}

type Allowed = { node: string; connections: number };

/** Finds the node that allows the fewest connections, and the nodes that do not answer. */
export async function findConnectionLimits(
  db: Queryable,
): Promise<{ least: Allowed | undefined; away: string[] }> {
  const { rows } = await db.query<{ node: string; connections: number | null }>(selectConnections);
  return {
    least: rows.find((row): row is Allowed => row.connections !== null),
    away: rows.flatMap(({ node, connections }) => (connections === null ? [node] : [])),
  };
}

/**
 * Places a migrated schema on the node with the fewest cells, and points its foreign keys to the copy of
 * `users` on each node. The schema is first in the search path. Citus assigns nodes in rotation, which other
 * tables also advance, and a rolled-back attempt moves on to the next node.
 */
export async function distributeCell(client: PoolClient, schema: string, home: string): Promise<void> {
  const keys = await selectKeysOut(client, { schema_name: schema });
  for (const key of keys) await client.query(dropKey(key));
  await bindFunctions(client, schema);
  const nodes = (await client.query<{ node: string }>(activeNodesSql)).rows.map(({ node }) => node);
  const countCells = async (): Promise<Map<string, string[]>> => {
    const places = await findCellNodes(client);
    return Map.groupBy([...places.keys()], (each) => places.get(each)!.node);
  };
  const before = await countCells();
  const countAt = (node: string): number => before.get(node)?.length ?? 0;
  const fewest = Math.min(...nodes.map(countAt));
  for (let turns = nodes.length; turns > 0; turns -= 1) {
    await client.query('savepoint turn');
    await client.query(distributeSchema(schema));
    const { node } = (await findCellNodes(client)).get(schema)!;
    if (turns === 1 || countAt(node) === fewest) break;
    await client.query('rollback to savepoint turn');
  }
  if (!(await knowsPeople(client))) for (const text of copyPeople(home)) await client.query(text);
  await setSearchPath(client, { path: distributedCellSearchPath(schema, home) });
  for (const key of keys) await client.query(addKey(key));
}

const knowsPeople = async (client: Queryable): Promise<boolean> =>
  (await client.query<{ is_there: boolean }>(hasPeople)).rows[0]!.is_there;

/** The search path for migrating a cell of a cluster and for adding its foreign keys to people. */
export const distributedCellSearchPath = (schema: string, home: string): string =>
  formatSearchPath(schema, peopleSchema, home);

/** Copies people to all nodes again, if cells there use any. */
export async function copyPeopleToNodes(client: PoolClient): Promise<void> {
  if (await knowsPeople(client)) for (const text of copyPeopleAgain) await client.query(text);
}

/** Binds the functions of a cell to its tables, for sessions with any search path. */
export async function bindFunctions(client: PoolClient, schema: string): Promise<void> {
  for (const each of await selectFunctionsOf(client, { schema_name: schema }))
    await client.query(bindFunction(schema, each, formatSearchPath(viewsOf(schema), schema)));
}

/** The delay before the next attempt after a lock timeout, in ms. */
const againMs = 100;

/** Runs SQL on every node, and retries on nodes with a lock timeout. Skips unavailable nodes. */
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

/** Creates the views of these cells on their nodes, and drops those on nodes that a cell left. */
export const createCellViews = (database: Database, schemas: readonly string[]): Promise<void> =>
  transaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [viewsLock]);
    for (const schema of schemas) await atEveryNode(client, makeViews(schema));
  });

/** Drops the views of a cell on every node, before its tables change. */
export const dropCellViews = (db: Queryable, schema: string): Promise<void> =>
  atEveryNode(db, dropViews(schema));
