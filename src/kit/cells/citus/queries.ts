import { escapeIdentifier, escapeLiteral } from 'pg';
import { boolean, statement, text } from '../../statement.ts';

/** Whether the database is one of a Citus cluster. */
export const findCluster = statement(
  'citus.find',
  {},
  { is_cluster: boolean },
  `select exists (select from pg_extension where extname = 'citus') as is_cluster`,
);

/** The functions of a schema, with the types that tell those of one name apart. */
export const selectFunctionsOf = statement(
  'citus.select_functions_of',
  { schema_name: text },
  { name: text, types: text },
  `select proname::text as name, pg_get_function_identity_arguments(oid) as types from pg_proc
    where pronamespace = to_regnamespace(quote_ident($schema_name))`,
);

// What names schemas, or asks what only Citus has, is no declared statement.

const name = escapeIdentifier;

/** What each node is set to, of what cells need: node, setting and value of those that are another. */
export const selectWrongSettings = (settings: Readonly<Record<string, string>>): string => {
  const wanted = Object.entries(settings).map(
    ([setting, value]) => `(${escapeLiteral(setting)}, ${escapeLiteral(value)})`,
  );
  return `select setting, value, r.result as found, n.nodename || ':' || n.nodeport as node
            from (values ${wanted.join(', ')}) as wanted (setting, value)
           cross join lateral run_command_on_all_nodes(format('select current_setting(%L)', setting)) r
            join pg_dist_node n on n.nodeid = r.nodeid
           where r.result is distinct from value
           order by 4, 1`;
};

/** The nodes that take cells: `node` is what an operator calls one. */
export const selectNodes = `
  select nodename as host, nodeport as port, nodename || ':' || nodeport as node
    from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary' order by nodeid`;

/** How many connections each node allows, the fewest first; null: it does not answer. */
export const selectConnections = `
  select n.nodename || ':' || n.nodeport as node, case when r.success then r.result::integer end as connections
    from run_command_on_all_nodes('show max_connections') r join pg_dist_node n on n.nodeid = r.nodeid
   order by connections`;

/** On which node each distributed schema lies; `group` 0 is the coordinator, where the instance is. */
export const selectPlaces = `
  select s.schemaid::regnamespace::text as schema_name, n.nodename as host, n.nodeport as port,
         n.nodename || ':' || n.nodeport as node, n.groupid = 0 as is_coordinator
    from pg_dist_schema s
   cross join lateral (
         select groupid from pg_dist_partition p join pg_dist_shard h on h.logicalrelid = p.logicalrelid
           join pg_dist_placement l on l.shardid = h.shardid
          where p.colocationid = s.colocationid limit 1) l
    join pg_dist_node n on n.groupid = l.groupid and n.noderole = 'primary'`;

/** The rest of the transaction makes things at this node alone. */
export const keepLocal = 'set local citus.enable_ddl_propagation to off';
/** What is of the instance and not in Citus' books yet. */
export const selectUnknownTables = (home: string, cell: string): string => `
  select c.relname::text as name from pg_class c
   where c.relnamespace = ${escapeLiteral(name(home))}::regnamespace and c.relkind = 'r'
     and to_regclass(format('%I.%I', ${escapeLiteral(cell)}, c.relname)) is null
     and not relation_is_a_known_shard(c.oid) and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
   order by 1`;
/** Every node has a copy of it, which tables of any schema may lead to. */
export const copyToEveryNode = (table: string): string =>
  `select create_reference_table(${escapeLiteral(name(table))})`;
/** It stays where it is, and every node can ask for it. */
export const showToEveryNode = (table: string): string =>
  `select citus_add_local_table_to_metadata(${escapeLiteral(name(table))}, true)`;
export const distributeSchema = (schema: string): string =>
  `select citus_schema_distribute(${escapeLiteral(name(schema))})`;
/** Has every process hear of it when it is done, also where whoever asks for it is gone by then. */
export const moveSchema = (
  schema: string,
  { host, port }: { host: string; port: number },
  channel: string,
): string =>
  `select citus_schema_move(${escapeLiteral(name(schema))}, ${escapeLiteral(host)}, ${port}, 'force_logical'),
          pg_notify(${escapeLiteral(channel)}, '')`;

/** Takes away what moves have left behind, as far as nobody uses it. In no transaction. */
export const tidyUp = 'call citus_cleanup_orphaned_resources()';
export const selectLeftBehind = 'select from pg_dist_cleanup limit 1';

const moveChannel = 'formloom_move';
export const listenForWakes = `listen ${moveChannel}`;
/** Only while it holds writers up, which is a class of advisory locks of Citus' own. */
export const wakeMove = `
  select pg_notify('${moveChannel}', '') from pg_locks
   where pid = $1 and locktype = 'advisory' and objsubid = 4 and mode = 'ExclusiveLock' and granted limit 1`;

/** Another node runs a function for who named no schema. */
export const bindFunction = (schema: string, of: { name: string; types: string }, path: string): string =>
  `alter function ${name(schema)}.${name(of.name)}(${of.types}) set search_path to ${path}`;

/** Has the rest of a transaction see tables alone, and not the shards which on a cluster stand beside them. */
export const hideShards = 'set local citus.override_table_visibility = on';

/** Only one makes near tables at a time: of two who did, one found them renamed in the middle. */
export const openLock = 7_246_005;

/** Runs a text at every node, each in transactions of its own, whatever the caller's becomes. */
export const onEveryNode = (text: string): string =>
  `select success, result from run_command_on_all_nodes(${escapeLiteral(text)})`;

/** The schema in which the node of a cell has its tables as they lie there (near.ts); and how it is called while nobody is to look there. */
export const nearOf = (schema: string): string => `${schema}_near`;
const shutOf = (schema: string): string => `${schema}_shut`;

/** At this node alone; what is seen there are the tables that have the rows. Who holds one is waited for no longer, as others wait behind. */
const atThisNode = `
  perform set_config('lock_timeout', '100ms', true), set_config('citus.enable_ddl_propagation', 'off', true),
          set_config('citus.override_table_visibility', 'off', true);`;

const block = (schema: string, declarations: string, work: string): string => `
do $do$
declare
  cell constant text := ${escapeLiteral(schema)};
  near constant text := ${escapeLiteral(nearOf(schema))};
  shut constant text := ${escapeLiteral(shutOf(schema))};
  ${declarations}
begin ${atThisNode}
  ${work}
end $do$`;

/**
 * Has nobody look at the near tables any more: another name of their schema has every session plan anew, and locks nothing. What has
 * begun before is waited for.
 * @param isGone whether the tables are to go too, which waits for their writers.
 */
export const shutNear = (schema: string, isGone: boolean): string =>
  block(
    schema,
    'since timestamptz;',
    `if to_regnamespace(near) is not null then
    execute format('drop schema if exists %I cascade', shut);
    execute format('alter schema %I rename to %I', near, shut);
    commit;
    since := clock_timestamp();
    while exists (
      select from pg_stat_activity
       where datname = current_database() and application_name ~ '^formloom' and xact_start < since and query !~ 'run_command_on_all_nodes')
    loop
      perform pg_sleep(0.01);
      commit;
    end loop; ${atThisNode}
  end if;
  ${isGone ? "execute format('drop schema if exists %I cascade', shut);" : ''}`,
  );

/**
 * Makes the near tables of a cell where this node has it, one after the other, and then has everybody look there. A trigger of each
 * holds Citus' own lock against a move until the end of the transaction, once in each, and looks that the cell is here: a move that
 * is not ours (a rebalancing) finds nobody writing past it.
 */
export const openNear = (schema: string): string =>
  block(
    schema,
    'anchor bigint; one record;',
    `select h.shardid into anchor
    from pg_dist_schema s
    join pg_dist_partition p on p.colocationid = s.colocationid
    join pg_dist_shard h on h.logicalrelid = p.logicalrelid
    join pg_dist_placement l on l.shardid = h.shardid
    join pg_dist_local_group g on g.groupid = l.groupid
   where s.schemaid = to_regnamespace(cell) order by 1 limit 1;
  if anchor is null or to_regnamespace(near) is not null then
    -- It went without us.
    if anchor is null then execute format('drop schema if exists %I cascade', near); end if;
    return;
  end if;
  execute format('create schema if not exists %I', shut);
  execute format($f$
    create or replace function %1$I.stay() returns trigger language plpgsql as $b$
    begin
      perform lock_shard_metadata(5, array[%2$s]);
      if not exists (
        select from pg_dist_placement l join pg_dist_local_group g on g.groupid = l.groupid where l.shardid = %2$s) then
        raise exception 'The cell is at another node now.' using errcode = 'read_only_sql_transaction';
      end if;
      perform set_config('formloom.stays', pg_current_xact_id()::text, true);
      return null;
    end $b$ $f$, shut, anchor);
  for one in
    select c.relname as name, c.relname || '_' || h.shardid as shard,
           (select array_agg(format('alter view %I.%I alter %I set default nextval(%L)', shut, c.relname, a.attname,
                                    pg_get_serial_sequence(c.oid::regclass::text, a.attname)))
              from pg_attribute a where a.attrelid = c.oid and a.attidentity <> '') as counted
      from pg_dist_partition p
      join pg_class c on c.oid = p.logicalrelid
      join pg_dist_shard h on h.logicalrelid = p.logicalrelid
     where c.relnamespace = to_regnamespace(cell) and c.relname <> 'migrations'
  loop
    commit; ${atThisNode}
    execute format('drop view if exists %I.%I', shut, one.name);
    execute format('create view %I.%I as select *, ctid, xmax from %I.%I', shut, one.name, cell, one.shard);
    -- What is counted up is given by Citus, and not where the rows lie.
    if one.counted is not null then execute one.counted[1]; end if;
    execute format($f$
      create or replace trigger stay before insert or update or delete on %I.%I for each statement
        when (current_setting('formloom.stays', true) is distinct from pg_current_xact_id()::text)
        execute function %I.stay()$f$, cell, one.shard, shut);
  end loop;
  execute format('alter schema %I rename to %I', shut, near);`,
  );
