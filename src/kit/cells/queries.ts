import { escapeIdentifier, escapeLiteral } from 'pg';
import {
  bigint,
  boolean,
  bytes,
  byteStrings,
  integer,
  nullable,
  ofInstance,
  statement,
  text,
  texts,
  timestamp,
  uuid,
} from '../statement.ts';

/** The advisory lock that lets one process migrate, or move a cell, at a time; any constant of our own. */
export const migrationLock = 7_246_001;
/**
 * Who reads all tables for long, as a backup does, shares this one: what changes or moves them takes it first, and waits here, not at the tables
 * with everybody behind it.
 */
export const readingLock = 7_246_006;
/** What a change of tables takes, in this order: two that took them the other way round would wait for each other. */
export const changingLocks = [readingLock, migrationLock] as const;

/**
 * The cells of an instance, the first one first; none while it has one alone. `server` is sealed, and null for a cell in this database. What
 * a cell of before has no id for is the moment at which it was made. It is also asked of a database that has no such columns yet.
 */
export const selectCells = ofInstance(
  'cells.select',
  {},
  { id: uuid, name: text, schema_name: text, server: nullable(bytes) },
  `select coalesce((to_jsonb(cells) ->> 'id')::uuid, md5(name || extract(epoch from created_at))::uuid) as id, name, schema_name,
          (to_jsonb(cells) ->> 'server')::bytea as server
     from cells order by created_at, name`,
);

/** Where an instance keeps what is of no cell; whether it has the table of cells yet. */
export const findHome = statement(
  'cells.find_home',
  {},
  { schema_name: text, path: text, knows_cells: boolean },
  `select current_schema()::text as schema_name, current_setting('search_path') as path,
          to_regclass('cells') is not null as knows_cells`,
);

export const findInDirectory = ofInstance(
  'cells.find_in_directory',
  { id: bytes },
  { cell: text },
  `select cell from directory where id = $id`,
);

export const findAllInDirectory = ofInstance(
  'cells.find_all_in_directory',
  { ids: byteStrings },
  { id: bytes, cell: text },
  `select id, cell from directory where id = any ($ids)`,
);

/** In which schema the rest of a transaction works. */
export const setPath = statement(
  'cells.set_path',
  { path: text },
  { path: text },
  `select set_config('search_path', $path, true) as path`,
);

/** The cells as an operator sees them, or the one that is alone. */
export const describeCells = ofInstance(
  'cells.describe',
  {},
  { name: text, schema_name: text, created_at: nullable(timestamp), is_settled: boolean },
  `select name, schema_name, created_at, created_at < now() - interval '15 seconds' as is_settled from cells
   union all
   select 'default', current_schema()::text, null, null where not exists (select from cells)
    order by created_at, name`,
);

/** The schema of the tables of a cell: at a node of a cluster another one is first on the path (citus/near.ts). */
export const ownSchema = `(select relnamespace from pg_class where oid = 'migrations'::regclass)`;

/** What the tables of a cell take, with their indexes. Asked in each cell: another node cannot tell. */
export const measureCell = statement(
  'cells.measure',
  {},
  { bytes: bigint },
  `select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as bytes from pg_class
    where relnamespace = ${ownSchema} and relkind = 'r'`,
);

const contents = { workspaces: bigint, forms: bigint };

/** Asked in each cell. */
export const countContents = statement(
  'cells.count_contents',
  {},
  contents,
  `/* operator: across workspaces */
   select (select count(*) from workspaces) as workspaces, (select count(*) from forms where deleted_at is null) as forms`,
);

export const updateContents = ofInstance(
  'cells.update_contents',
  { name: text, ...contents },
  {},
  `update cells set workspaces = $workspaces, forms = $forms, seen_at = now() where name = $name`,
);

/** What a cell had when it was last seen. */
export const selectContents = ofInstance(
  'cells.select_contents',
  { name: text },
  { workspaces: nullable(bigint), forms: nullable(bigint), seen_at: nullable(timestamp) },
  `select workspaces, forms, seen_at from cells where name = $name`,
);

/** @param server its sealed address; null: it is in this database. */
export const insertCell = ofInstance(
  'cells.insert',
  { id: uuid, name: text, schema_name: text, server: nullable(bytes) },
  {},
  `insert into cells (id, name, schema_name, server) values ($id, $name, $schema_name, $server)`,
);

/** Takes a cell out of the books, and all that was to be done there. */
export const deleteCell = ofInstance(
  'cells.delete',
  { name: text },
  {},
  `with listed as (delete from directory where cell = $name)
   delete from cells where name = $name`,
);

/** Has every process look which cells there are. */
export const tellOfCells = (channel: string): string => `select pg_notify(${escapeLiteral(channel)}, '')`;

export const nameHome = ofInstance(
  'cells.name_home',
  {},
  {},
  `update cells set schema_name = current_schema()::text where name = 'default'`,
);

/**
 * Which server this is, how many connections it allows, and how many processes of all machines there are: each listens for keys over one connection,
 * and asks for something every few seconds (kit/queue/listen.ts). One of a machine that is gone may stay for hours.
 */
export const readRoom = statement(
  'cells.read_room',
  { channel: text },
  { server: text, connections: integer, processes: integer },
  `select concat(pg_postmaster_start_time(), ' ', current_setting('port')) as server, current_setting('max_connections')::integer as connections,
          (select count(*)::integer from pg_stat_activity
            where datname = current_database() and starts_with(query, 'listen ' || $channel)
              and state_change > now() - interval '10 seconds') as processes`,
);

/** The keys of a schema that lead to some of its tables from others. */
export const selectKeysTo = statement(
  'cells.select_keys_to',
  { schema_name: text, tables: texts },
  { table_name: text, name: text, definition: text },
  `select t.relname::text as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class other on other.oid = c.confrelid
    where c.contype = 'f' and t.relnamespace = to_regnamespace(quote_ident($schema_name))
      and other.relname = any ($tables) and not t.relname = any ($tables)
    order by 1, 2`,
);

/** The tables of a schema with their columns. */
export const selectTablesOf = statement(
  'cells.select_tables_of',
  { schema_name: text },
  { name: text, columns: texts },
  `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = to_regnamespace(quote_ident($schema_name)) and c.relkind = 'r'
      and c.relname <> 'migrations'
    group by c.relname
    order by c.relname`,
);

// What names schemas and tables, which are no parameters of a statement.

const name = escapeIdentifier;
type Key = { readonly table_name: string; readonly name: string };

export const pathOf = (...schemas: readonly string[]): string => schemas.map(name).join(', ');
export const createSchema = (schema: string): string => `create schema ${name(schema)}`;
export const dropSchema = (schema: string): string => `drop schema if exists ${name(schema)} cascade`;
export const lockWorkspaces = (schema: string): string =>
  `lock table ${name(schema)}.workspaces in share row exclusive mode`;
export const dropTables = (tables: readonly string[]): string => `drop table ${tables.map(name).join(', ')}`;
export const dropKey = (key: Key): string =>
  `alter table ${name(key.table_name)} drop constraint ${name(key.name)}`;
export const addKey = (key: Key & { readonly definition: string }): string =>
  `alter table ${name(key.table_name)} add constraint ${name(key.name)} ${key.definition}`;

export const dropColumns = (table: string, columns: readonly string[]): string =>
  `alter table ${name(table)} ${columns.map((each) => `drop column ${name(each)} cascade`).join(', ')}`;

/** What the directory has of a table, by the column that says which thing a row is. */
export const listedTables = { workspaces: 'uuid_send(id)', forms: 'uuid_send(id)', api_key_lookup: 'hash' };

export const noteInDirectory = (table: string, cell: string): string =>
  `create trigger note_in_directory after insert or delete on ${name(table)}
     for each row execute function note_in_directory(${escapeLiteral(cell)})`;
export const fillDirectory = (table: keyof typeof listedTables, cell: string): string =>
  `insert into directory (id, cell) select ${listedTables[table]}, ${escapeLiteral(cell)} from ${name(table)}`;

/** A table as it is in all cells together, to be read. */
export const viewOverCells = (
  view: string,
  table: { readonly name: string; readonly columns: readonly string[] },
  schemas: readonly string[],
): string =>
  `create view ${name(view)}.${name(table.name)} as ${schemas
    .map((each) => `select ${table.columns.map(name).join(', ')} from ${name(each)}.${name(table.name)}`)
    .join(' union all ')}`;
