import { once } from 'node:events';
import { escapeIdentifier, type PoolClient } from 'pg';
import { type CopyToStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { otherCells } from '#cells/cells.ts';
import { hideShards, refreshPeople } from '#cells/citus.ts';
import { createCell, nameHome } from '#cells/create-cell.ts';
import type { Database } from '#kit/database.ts';
import type { Migration } from '#kit/migrate.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';

/** Why a backup was not made, or not restored, with the remedy. */
export class BackupError extends Error {}

/** Whether somebody has begun to use this instance. */
const findUse = statement(
  'backup.find_use',
  '',
  'is_used',
  `select exists (select from workspaces) or exists (select from users) as is_used`,
);

export const identifier = (name: string): string => name.split('.').map(escapeIdentifier).join('.');

const hasWorkspaces = (schema: string): string =>
  `select exists (select from ${identifier(`${schema}.workspaces`)}) as has`;

/** Makes the cells of an instance that is brought here, where they are not yet. @throws BackupError for one that it has not. */
export async function requireCells(
  database: Database,
  names: readonly string[],
  migrations: readonly Migration[],
): Promise<void> {
  const here = (await otherCells(database)).map(({ name }) => name);
  const foreign = here.filter((name) => !names.includes(name));
  if (foreign.length > 0)
    throw new BackupError(
      `The database has cells that what is brought here has not (${foreign.join(', ')}). Name an empty one.`,
    );
  for (const name of names) if (!here.includes(name)) await createCell(database, name, { migrations });
}

/** Whether somebody has begun to use an instance, in whichever cell. */
export async function isUsed(db: Queryable): Promise<boolean> {
  if (only(await findUse(db, {}))!.is_used) return true;
  for (const { schema_name } of await otherCells(db))
    if ((await db.query<{ has: boolean }>(hasWorkspaces(schema_name))).rows[0]!.has) return true;
  return false;
}

// What names tables, which are no parameters of a statement.

export type Table = { readonly name: string; readonly columns: readonly string[] };

export const listed = ({ columns }: Table): string =>
  columns.map((column) => escapeIdentifier(column)).join(', ');

const copyIn = (table: Table): string => `copy ${identifier(table.name)} (${listed(table)}) from stdin`;

/** A COPY into a table, which its connection is busy with until it is ended one way or the other. */
export type Filling = {
  pour(source: AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns how many rows came in. */
  end(): Promise<number>;
  /** Ends it without its rows, so that the transaction can be rolled back: else that would wait for ever. */
  giveUp(): Promise<void>;
};

export function fillTable(client: PoolClient, table: Table): Filling {
  const copy = client.query(copyFrom(copyIn(table)));
  let isOver = false;
  let failure: Error | undefined;
  copy.once('finish', () => void (isOver = true));
  // A connection that is gone says so before anybody waits for it.
  copy.once('error', (error) => {
    isOver = true;
    failure = error;
  });
  const refuseFailed = (): void => {
    if (failure) throw failure;
  };
  return {
    // A stream of a COPY is told its errors by its query, so each wait ends with it.
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

/** How many rows a COPY gave, of which all were read. PostgreSQL says it after the last byte, and at times that comes alone: until the next answer nobody knows. */
export async function countOf(client: PoolClient, copy: CopyToStreamQuery): Promise<number> {
  await client.query('select');
  return copy.rowCount;
}
