import { escapeIdentifier, escapeLiteral } from 'pg';
import { boolean, statement, text } from '../../statement.ts';

/** Whether the database is one of a Citus cluster. */
export const findCluster = statement(
  'citus.find',
  {},
  { is_cluster: boolean },
  `select exists (select from pg_extension where extname = 'citus') as is_cluster`,
);

/** The constraints on values that a table of parts has with its parts. */
export const selectChecksOfParts = statement(
  'citus.select_checks_of_parts',
  {},
  { table_name: text, name: text, definition: text },
  `select t.relname::text as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'c' and t.relkind = 'p' and t.relnamespace = current_schema()::regnamespace
    order by 1, 2`,
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
   where c.relnamespace = ${escapeLiteral(name(home))}::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
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
export const moveSchema = (schema: string, { host, port }: { host: string; port: number }): string =>
  `select citus_schema_move(${escapeLiteral(name(schema))}, ${escapeLiteral(host)}, ${port}, 'force_logical')`;

/** Another node runs a function for who named no schema. */
export const bindFunction = (schema: string, of: { name: string; types: string }, path: string): string =>
  `alter function ${name(schema)}.${name(of.name)}(${of.types}) set search_path to ${path}`;
