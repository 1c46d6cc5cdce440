import { escapeIdentifier } from 'pg';
import {
  bigint,
  boolean,
  integer,
  nullable,
  ofInstance,
  statement,
  text,
  texts,
  timestamp,
} from '#kit/statement.ts';

// Of the catalog: what there is is asked of PostgreSQL, so that a new table is in the next backup without a line here.

// Those of other cells (src/kit/cells) are called `schema.table`, in what a backup has of them too.

/** How something is called, by its schema and its name as PostgreSQL has them. */
const nameOf = (schema: string, name: string): string =>
  `case when ${schema} = current_schema() then '' else ${schema} || '.' end || ${name}::text`;
const inOurs = (schema: string): string => `(${schema} = current_schema() or ${schema}::text = any ($cells))`;

const isTold = `c.relkind = 'r' and c.relname <> 'migrations'`;

/** Every table but that of migrations, with the columns that are stored and not worked out; `cells`: the schemas of other cells. */
export const selectTables = statement(
  'backup.select_tables',
  { cells: texts },
  { name: text, columns: texts },
  `select ${nameOf('n.nspname', 'c.relname')} as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where ${inOurs('n.nspname')} and ${isTold}
    group by n.nspname, c.relname
    order by 1`,
);

/** Where each sequence stands; null: it was never asked. */
export const selectSequences = statement(
  'backup.select_sequences',
  { cells: texts },
  { name: text, last_value: nullable(bigint) },
  `select ${nameOf('schemaname', 'sequencename')} as name, last_value
     from pg_sequences where ${inOurs('schemaname')} order by 1`,
);

export const setSequence = statement(
  'backup.set_sequence',
  { name: text, last_value: bigint },
  { set: bigint },
  `select setval($name::regclass, $last_value) as set`,
);

export const selectMigrations = statement(
  'backup.select_migrations',
  {},
  { number: integer, checksum: text },
  `select number, checksum from migrations order by number`,
);

/** What ties tables together. It is taken away while they are filled, and holds again before that is committed. */
export const selectForeignKeys = statement(
  'backup.select_foreign_keys',
  { cells: texts },
  { table_name: text, name: text, definition: text },
  `select ${nameOf('n.nspname', 't.relname')} as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    where c.contype = 'f' and ${inOurs('n.nspname')}
    order by 1, 2`,
);

/** Whether a service is on this database; what restores names its sessions otherwise. */
export const findService = statement(
  'backup.find_service',
  {},
  { is_running: boolean },
  `select exists (
     select from pg_stat_activity where datname = current_database() and (application_name = 'formloom' or application_name like 'formloom node %')) as is_running`,
);

/** Whether somebody has begun to use this instance. */
export const findUse = statement(
  'backup.find_use',
  {},
  { is_used: boolean },
  `select exists (select from workspaces) or exists (select from users) as is_used`,
);

export const findTable = statement(
  'backup.find_table',
  { name: text },
  { is_there: boolean },
  `select to_regclass(format('%I', $name)) is not null as is_there`,
);

// What names tables, which are no parameters of a statement.

export type Table = { readonly name: string; readonly columns: readonly string[] };

const identifier = (name: string): string => name.split('.').map(escapeIdentifier).join('.');

export const hasWorkspaces = (schema: string): string =>
  `select exists (select from ${identifier(`${schema}.workspaces`)}) as has`;

const listed = ({ columns }: Table): string => columns.map((column) => escapeIdentifier(column)).join(', ');

export const copyOut = (table: Table): string =>
  `copy ${identifier(table.name)} (${listed(table)}) to stdout`;
export const copyIn = (table: Table): string =>
  `copy ${identifier(table.name)} (${listed(table)}) from stdin`;

export const emptyTables = (names: readonly string[]): string =>
  `truncate ${names.map(identifier).join(', ')}`;

/** Triggers count what comes; what is restored was counted. */
export const setTriggers = (name: string, state: 'enable' | 'disable'): string =>
  `alter table ${identifier(name)} ${state} trigger user`;

type ForeignKey = { table_name: string; name: string; definition: string };
export const dropForeignKey = ({ table_name, name }: ForeignKey): string =>
  `alter table ${identifier(table_name)} drop constraint ${escapeIdentifier(name)}`;
export const addForeignKey = ({ table_name, name, definition }: ForeignKey): string =>
  `alter table ${identifier(table_name)} add constraint ${escapeIdentifier(name)} ${definition}`;

/** Where this database was moved to; null: it was not. Also of a database of an earlier version, which has no such columns. */
export const findMove = ofInstance(
  'backup.find_move',
  {},
  { key_fingerprint: text, moved_to: nullable(text), moved_at: nullable(timestamp) },
  `select key_fingerprint, to_jsonb(i) ->> 'moved_to' as moved_to,
          (to_jsonb(i) ->> 'moved_at')::timestamptz as moved_at
     from instance i`,
);

/** Says where this database was moved to, or, with nulls, that it stays after all. */
export const markMove = ofInstance(
  'backup.mark_move',
  { moved_to: nullable(text), moved_at: nullable(timestamp) },
  { key_fingerprint: text },
  `update instance set moved_to = $moved_to, moved_at = $moved_at returning key_fingerprint`,
);

/** Who would start on this database waits for the end of the transaction, and looks then whether it was moved. */
export const lockInstance = 'lock table instance in access exclusive mode';
