import { once } from 'node:events';
import { escapeIdentifier, type PoolClient } from 'pg';
import { type CopyToStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { otherCells } from '#cells/cells.ts';
import { copyPeopleToNodes, hideShardsSql } from '#cells/citus.ts';
import { createCell, setFirstCellSchema } from '#cells/create-cell.ts';
import type { Database } from '#kit/database.ts';
import type { Migration } from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';

/** Why a backup or a restore failed, with the remedy. */
export class BackupError extends Error {}

const findUse = statement('', 'is_used')`
  select exists (select from workspaces) or exists (select from users) as is_used`;

export const quoteQualifiedName = (name: string): string => name.split('.').map(escapeIdentifier).join('.');

const hasWorkspaces = (schema: string): string =>
  `select exists (select from ${quoteQualifiedName(`${schema}.workspaces`)}) as has`;

/**
 * Creates the missing cells for an instance that is restored or moved here.
 * @throws BackupError for a cell that the instance does not have.
 */
export async function createCellsOfInstance(
  database: Database,
  names: readonly string[],
  migrations: readonly Migration[],
): Promise<void> {
  const here = (await otherCells(database)).map(({ name }) => name);
  const foreign = here.filter((name) => !names.includes(name));
  if (foreign.length > 0)
    throw new BackupError(
      `The database has cells that the instance does not have (${foreign.join(', ')}). Use an empty database.`,
    );
  for (const name of names) if (!here.includes(name)) await createCell(database, name, { migrations });
}

/** Returns whether any cell of an instance is in use. */
export async function isInstanceUsed(db: Queryable): Promise<boolean> {
  if (onlyRow(await findUse(db, {}))!.is_used) return true;
  for (const { schema_name } of await otherCells(db))
    if ((await db.query<{ has: boolean }>(hasWorkspaces(schema_name))).rows[0]!.has) return true;
  return false;
}

// The names of tables are part of the SQL, since they cannot be parameters of a statement.

export type Table = { readonly name: string; readonly columns: readonly string[] };

export const columnList = ({ columns }: Table): string =>
  columns.map((column) => escapeIdentifier(column)).join(', ');

const copyIn = (table: Table): string =>
  `copy ${quoteQualifiedName(table.name)} (${columnList(table)}) from stdin`;

/** A COPY into a table. It occupies its connection until it is ended or aborted. */
export type TableCopy = {
  pour(source: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Ends the COPY.
   * @returns the number of rows that were copied.
   */
  end(): Promise<number>;
  /**
   * Aborts the COPY and discards its rows, so that the transaction can be rolled back. Otherwise the rollback
   * would wait forever.
   */
  giveUp(): Promise<void>;
};

export function startTableCopy(client: PoolClient, table: Table): TableCopy {
  const copy = client.query(copyFrom(copyIn(table)));
  let isOver = false;
  let failure: Error | undefined;
  copy.once('finish', () => void (isOver = true));
  // A lost connection reports its error before anything waits for it.
  copy.once('error', (error) => {
    isOver = true;
    failure = error;
  });
  const refuseFailed = (): void => {
    if (failure) throw failure;
  };
  return {
    // The query of a COPY passes its errors to the stream, so each wait ends with an error.
    async pour(source) {
      for await (const chunk of source) {
        refuseFailed();
        if (!copy.write(chunk)) await once(copy, 'drain');
      }
    },
    async end() {
      refuseFailed();
      const finished = once(copy, 'finish');
      copy.end();
      await finished;
      return copy.rowCount;
    },
    async giveUp() {
      if (isOver) return;
      const closed = new Promise((resolve) => copy.once('close', resolve));
      copy.destroy();
      await closed;
    },
  };
}

// Tables are read from PostgreSQL's catalog, so that a new table is in the next backup without a change here.

// Tables of other cells (src/cells) are called `schema.table`, also in a backup.

/** Returns the SQL for the name of a table or sequence, given the expressions for its schema and name. */
export const tableNameSql = (schema: string, name: string): string =>
  `case when ${schema} = current_schema() then '' else ${schema} || '.' end || ${name}::text`;

export const inInstanceSchemasSql = (schema: string): string =>
  `(${schema} = current_schema() or ${schema}::text = any ($cells))`;

/**
 * ledger_parts described the partitions of a database, which were never in backups. Migration 0009 removes
 * it.
 */
const isCopiedTableSql = `c.relkind = 'r' and c.relname not in ('migrations', 'ledger_parts')`;

/**
 * Selects all tables except `migrations`, with their columns that are not generated; `cells` are the schemas
 * of other cells.
 */
export const selectTables = statement('cells', 'name columns')`
  select ${tableNameSql('n.nspname', 'c.relname')} as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where ${inInstanceSchemasSql('n.nspname')} and ${isCopiedTableSql}
   group by n.nspname, c.relname
   order by 1`;

const setSequence = statement('name last_value', 'set:bigint')`
  select setval($name::regclass, $last_value) as set`;

/**
 * Selects the foreign keys. They are dropped while the tables are filled, and added again before the commit.
 */
const selectForeignKeys = statement('cells', 'table_name name definition')`
  select ${tableNameSql('n.nspname', 't.relname')} as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
   where c.contype = 'f' and c.conparentid = 0 and ${inInstanceSchemasSql('n.nspname')}
   order by 1, 2`;

const emptyTables = (names: readonly string[]): string =>
  `truncate ${names.map(quoteQualifiedName).join(', ')}`;

/** Triggers would count the restored rows again, because their counts are restored too. */
const setTriggers = (name: string, state: 'enable' | 'disable'): string =>
  `alter table ${quoteQualifiedName(name)} ${state} trigger user`;

type ForeignKey = { table_name: string; name: string; definition: string };

const dropForeignKey = ({ table_name, name }: ForeignKey): string =>
  `alter table ${quoteQualifiedName(table_name)} drop constraint ${escapeIdentifier(name)}`;

const addForeignKey = ({ table_name, name, definition }: ForeignKey): string =>
  `alter table ${quoteQualifiedName(table_name)} add constraint ${escapeIdentifier(name)} ${definition}`;

type Sequences = readonly { readonly name: string; readonly last_value: number | null }[];

type Refill<Done> = {
  /** The tables of the instance that is restored or moved here. */
  tables: readonly Table[];
  /** The schemas of its cells except the first. */
  cells: readonly string[];
  /**
   * Checks again, now that the tables are locked.
   * @throws if the existing data must stay.
   */
  requireFree: () => Promise<void>;
  /** Fills the tables with COPY. They are empty and have no foreign keys. */
  fill: () => Promise<Done>;
};

/**
 * Replaces the contents of the tables with those of an instance, in the transaction of `client`. Foreign keys
 * are checked once at the end, and triggers do not count the rows again.
 * @throws BackupError if the tables differ.
 */
export async function refillTables<Done extends { sequences: Sequences }>(
  client: PoolClient,
  { tables, cells, requireFree, fill }: Refill<Done>,
): Promise<Done> {
  const schemas = { cells: [...cells] };
  await client.query(hideShardsSql);
  requireSameTables(await selectTables(client, schemas), tables);
  const foreignKeys = await selectForeignKeys(client, schemas);
  for (const key of foreignKeys) await client.query(dropForeignKey(key));
  for (const { name } of tables) await client.query(setTriggers(name, 'disable'));
  await requireFree();
  await client.query(emptyTables(tables.map(({ name }) => name)));
  const done = await fill();
  // The first cell is in the home schema of this database, whatever that schema was called in the source.
  if (cells.length > 0) await setFirstCellSchema(client, {});
  if (cells.length > 0) await copyPeopleToNodes(client);
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
    throw new BackupError('The tables do not match their version: they are damaged or were changed by hand.');
}

/**
 * Returns the number of rows of a COPY after all were read. PostgreSQL sends it after the last byte,
 * sometimes separately; an empty query waits for it.
 */
export async function countCopiedRows(client: PoolClient, copy: CopyToStreamQuery): Promise<number> {
  await client.query('select');
  return copy.rowCount;
}
