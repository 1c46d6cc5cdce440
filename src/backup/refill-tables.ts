import { escapeIdentifier, type PoolClient } from 'pg';
import { hideShards, refreshPeople } from '#cells/citus/citus.ts';
import { BackupError } from './backup-error.ts';
import { statement } from '#kit/statement.ts';
import { identifier } from './cells.ts';
import type { Table } from './fill-table.ts';
import { nameHome } from '#cells/create-cell.ts';

// Of the catalog: what there is is asked of PostgreSQL, so that a new table is in the next backup without a line here.

// Those of other cells (src/cells) are called `schema.table`, in what a backup has of them too.

/** How something is called, by its schema and its name as PostgreSQL has them. */
export const nameOf = (schema: string, name: string): string =>
  `case when ${schema} = current_schema() then '' else ${schema} || '.' end || ${name}::text`;

export const inOurs = (schema: string): string =>
  `(${schema} = current_schema() or ${schema}::text = any ($cells))`;

/** ledger_parts described the partitions of a database, which backups never had. Migration 0009 removes it. */
const isTold = `c.relkind = 'r' and c.relname not in ('migrations', 'ledger_parts')`;

/** Every table but that of migrations, with the columns that are stored and not worked out; `cells`: the schemas of other cells. */
export const selectTables = statement(
  'backup.select_tables',
  'cells',
  'name columns',
  `select ${nameOf('n.nspname', 'c.relname')} as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where ${inOurs('n.nspname')} and ${isTold}
    group by n.nspname, c.relname
    order by 1`,
);

const setSequence = statement(
  'backup.set_sequence',
  'name last_value',
  'set:bigint',
  `select setval($name::regclass, $last_value) as set`,
);

/** What ties tables together. It is taken away while they are filled, and holds again before that is committed. */
const selectForeignKeys = statement(
  'backup.select_foreign_keys',
  'cells',
  'table_name name definition',
  `select ${nameOf('n.nspname', 't.relname')} as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    where c.contype = 'f' and c.conparentid = 0 and ${inOurs('n.nspname')}
    order by 1, 2`,
);

const emptyTables = (names: readonly string[]): string => `truncate ${names.map(identifier).join(', ')}`;

/** Triggers count what comes; what is restored was counted. */
const setTriggers = (name: string, state: 'enable' | 'disable'): string =>
  `alter table ${identifier(name)} ${state} trigger user`;

type ForeignKey = { table_name: string; name: string; definition: string };

const dropForeignKey = ({ table_name, name }: ForeignKey): string =>
  `alter table ${identifier(table_name)} drop constraint ${escapeIdentifier(name)}`;

const addForeignKey = ({ table_name, name, definition }: ForeignKey): string =>
  `alter table ${identifier(table_name)} add constraint ${escapeIdentifier(name)} ${definition}`;

type Sequences = readonly { readonly name: string; readonly last_value: number | null }[];

type Refill<Done> = {
  /** Those of the instance that is brought here. */
  tables: readonly Table[];
  /** The schemas of its cells beside the first. */
  cells: readonly string[];
  /** Looks once more, now that nobody can come in between. @throws where what is here must stay. */
  requireFree: () => Promise<void>;
  /** Fills the tables by COPY; they are empty, and nothing ties them together. */
  fill: () => Promise<Done>;
};

/**
 * Puts an instance in place of what the tables hold, in the transaction of `client`: what ties rows together is looked
 * through once more when all are there, and counts are not counted again.
 * @throws BackupError where the tables are others.
 */
export async function refillTables<Done extends { sequences: Sequences }>(
  client: PoolClient,
  { tables, cells, requireFree, fill }: Refill<Done>,
): Promise<Done> {
  const schemas = { cells: [...cells] };
  await client.query(hideShards);
  requireSameTables(await selectTables(client, schemas), tables);
  const foreignKeys = await selectForeignKeys(client, schemas);
  for (const key of foreignKeys) await client.query(dropForeignKey(key));
  for (const { name } of tables) await client.query(setTriggers(name, 'disable'));
  await requireFree();
  await client.query(emptyTables(tables.map(({ name }) => name)));
  const done = await fill();
  // The first cell lies where this database keeps what is of no other, whatever that was called where it comes from.
  if (cells.length > 0) await nameHome(client, {});
  if (cells.length > 0) await refreshPeople(client);
  for (const { name, last_value } of done.sequences)
    if (last_value !== null) await setSequence(client, { name, last_value });
  for (const key of foreignKeys) await client.query(addForeignKey(key));
  for (const { name } of tables) await client.query(setTriggers(name, 'enable'));
  return done;
}

function requireSameTables(found: readonly Table[], tables: readonly Table[]): void {
  const here = new Map(found.map(({ name, columns }) => [name, columns.toSorted().join()]));
  const differ = tables.filter(({ name, columns }) => here.get(name) !== columns.toSorted().join());
  if (differ.length > 0 || here.size !== tables.length)
    throw new BackupError('Its tables are not those of its version: it is damaged, or was changed by hand.');
}
