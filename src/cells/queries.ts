import { escapeIdentifier, escapeLiteral } from 'pg';
import { ownSchema } from '#kit/search-path/queries.ts';
import { statement } from '#kit/statement.ts';

/** The cells of an instance, the first one first; none while it has one alone. */
export const selectCells = statement(
  'cells.select',
  '',
  'name schema_name',
  `select name, schema_name from cells order by created_at, name`,
);

/** The cells as an operator sees them, or the only one. A cell takes workspaces once every process knows it. */
export const describeCells = statement(
  'cells.describe',
  '',
  'name schema_name created_at? is_settled:boolean',
  `select name, schema_name, created_at, created_at < now() - interval '15 seconds' as is_settled from cells
   union all
   select 'default', current_schema()::text, null, null where not exists (select from cells)
    order by created_at, name`,
);

/** Whether a cell has a workspace, a form (the 16 bytes of its id) or an API key (the 32 of its hash). */
export const findHere = statement(
  'cells.find_here',
  'id:bytes',
  'is_here:boolean',
  `/* lookup: across workspaces */
   with given as materialized (
     select case when length($id) = 16 then encode($id, 'hex')::uuid end as uuid)
   select exists (select from workspaces where id = (select uuid from given))
       or exists (select from form_lookup where form_id = (select uuid from given))
       or exists (select from api_key_lookup where hash = $id) as is_here`,
);

/** What the tables of a cell take, with their indexes, and how many workspaces they have. Asked in each cell. */
export const measureCell = statement(
  'cells.measure',
  '',
  'bytes workspaces:bigint',
  `/* operator: across workspaces */
   select (select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
            where relnamespace = ${ownSchema} and relkind = 'r') as bytes,
          (select count(*) from workspaces) as workspaces`,
);

export const insertCell = statement(
  'cells.insert',
  'name schema_name',
  '',
  `insert into cells (name, schema_name) values ($name, $schema_name)`,
);

/** Corrects the schema of the first cell in a database that was restored. */
export const nameHome = statement(
  'cells.name_home',
  '',
  '',
  `update cells set schema_name = current_schema()::text where name = 'default'`,
);

/**
 * How many connections the server allows, and how many processes of all machines there are: each listens for keys over one connection,
 * and asks for something every few seconds (kit/queue/listen.ts). One of a machine that is gone may stay for hours.
 */
export const readRoom = statement(
  'cells.read_room',
  'channel:text',
  'connections:integer processes:integer',
  `select current_setting('max_connections')::integer as connections,
          (select count(*)::integer from pg_stat_activity
            where datname = current_database() and starts_with(query, 'listen ' || $channel)
              and state_change > now() - interval '10 seconds') as processes`,
);

/** The foreign keys of a schema that lead to the given tables from others. */
export const selectKeysTo = statement(
  'cells.select_keys_to',
  'schema_name tables:texts',
  'table_name name definition',
  `select t.relname::text as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class other on other.oid = c.confrelid
    where c.contype = 'f' and c.conparentid = 0 and t.relnamespace = to_regnamespace(quote_ident($schema_name))
      and other.relname = any ($tables) and not t.relname = any ($tables)
    order by 1, 2`,
);

// What names schemas and tables, which are no parameters of a statement.

const name = escapeIdentifier;
type Key = { readonly table_name: string; readonly name: string; readonly definition: string };

/** Has every process look which cells there are. */
export const tellOfCells = (channel: string): string => `select pg_notify(${escapeLiteral(channel)}, '')`;
export const createSchema = (schema: string): string => `create schema ${name(schema)}`;
export const dropTables = (tables: readonly string[]): string => `drop table ${tables.map(name).join(', ')}`;
export const dropKey = (key: Pick<Key, 'table_name' | 'name'>): string =>
  `alter table ${name(key.table_name)} drop constraint ${name(key.name)}`;
export const addKey = (key: Key): string =>
  `alter table ${name(key.table_name)} add constraint ${name(key.name)} ${key.definition}`;
