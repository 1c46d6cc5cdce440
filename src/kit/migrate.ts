import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { type Database, transaction } from './database.ts';
import { statement } from './statement.ts';

/** Returns the schema of a session, its search path, and whether the instance has cells. */
export const findSessionSchema = statement('', 'schema_name path knows_cells:boolean')`
  select current_schema()::text as schema_name, current_setting('search_path') as path,
         to_regclass('cells') is not null as knows_cells`;

/** Sets the search path until the end of the transaction. */
export const setSearchPath = statement('path', 'path')`
  select set_config('search_path', $path, true) as path`;

/** Formats schemas as a search path. */
export const formatSearchPath = (...schemas: readonly string[]): string =>
  schemas.map(escapeIdentifier).join(', ');

/**
 * The schema with the tables of a session. On a node of a cluster, the first schema of the path contains
 * views of them, and its name is derived from that schema.
 */
export const sessionSchemaSql = `to_regnamespace(regexp_replace(quote_ident(current_schema()), '^near_', ''))`;

const migrationsDirectory = new URL('../../db/migrations/', import.meta.url);

export type Migration = { number: number; name: string; sql: string; checksum: string };

/** Thrown with the remedy if this version cannot use a database. */
export class MigrationError extends Error {}

/** Reads the migrations of this version, in order. */
export async function readMigrations(directory: URL = migrationsDirectory): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 4));
      // Numbers may have gaps, because branches are developed in parallel. The history is compared by
      // content.
      if (!(number > Number(names[index - 1]?.slice(0, 4) ?? 0)))
        throw new MigrationError(`Migration numbers must be unique and increasing; ${name} is out of order.`);
      const sql = await readFile(new URL(name, directory), 'utf8');
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * 0001_init.sql replaced the migrations up to 84; `first` is the checksum of the first one. A database with
 * all 84 counts as one with 0001, and later numbers decrease by 83.
 */
export const replacedMigrations = {
  first: '0806f17c37cdd178acfd177da2ec69c365d32b79dbac06ee0e491364322bba7e',
  last: 84,
} as const;

type Recorded = { readonly number: number; readonly checksum: string };

const hasReplaced = (recorded: readonly Recorded[]): boolean =>
  recorded[0]?.checksum === replacedMigrations.first;

/** Renumbers a history for this version. Returns undefined if it ends before the schema of 0001_init.sql. */
function renumber<Row extends Recorded>(
  recorded: readonly Row[],
  migrations: readonly Migration[],
): readonly Row[] | undefined {
  if (!hasReplaced(recorded)) return recorded;
  if (recorded.at(-1)!.number < replacedMigrations.last) return undefined;
  const later = recorded.filter(({ number }) => number > replacedMigrations.last);
  return [
    { ...recorded[0]!, checksum: migrations[0]!.checksum },
    ...later.map((row) => ({ ...row, number: row.number - replacedMigrations.last + 1 })),
  ];
}

/** Returns the migrations of a backup's database, or undefined if this version does not know one of them. */
export function findBackupMigrations(
  recorded: readonly Recorded[],
  migrations: readonly Migration[],
): readonly Migration[] | undefined {
  const history = renumber(recorded, migrations);
  return history?.every(({ checksum }, index) => migrations[index]?.checksum === checksum)
    ? migrations.slice(0, history.length)
    : undefined;
}

/** The advisory lock for migrating or moving a cell, one process at a time. The number is arbitrary. */
export const migrationLock = 7_246_001;
/**
 * The advisory lock that long readers of all tables share, such as a backup. A schema change locks it first.
 * It waits here rather than at the tables, where all requests would queue behind it.
 */
export const schemaReadLock = 7_246_006;
/** The locks for a schema change, in locking order. Two processes with different orders would deadlock. */
export const schemaChangeLocks = [schemaReadLock, migrationLock] as const;

/**
 * Migrates the database to this version, in one transaction and one process at a time. It never migrates
 * backward.
 * @param report receives a message if the migration must wait.
 * @param around runs the migrations, and may do more before and after them in the transaction.
 * @returns the names of the migrations that ran.
 * @throws MigrationError if the database is newer than this version or was migrated by other files.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  report: (line: string) => void = () => {},
  around = (_client: PoolClient, run: () => Promise<string[]>): Promise<string[]> => run(),
): Promise<string[]> {
  return transaction(database, async (client) => {
    // Checked without a lock, so that a server with nothing to migrate can start during a backup or a move of
    // a cell.
    if (await isCurrent(client, migrations)) return [];
    await lockForMigration(client, report);
    if (await isCurrent(client, migrations)) return [];
    return around(client, () => runMigrations(client, migrations));
  });
}

/**
 * Waits without a time limit for a backup, or for a process that migrates or moves a cell. If this process is
 * killed, its wait must end, because others would queue behind it. PostgreSQL itself detects this only on
 * some systems.
 * @param report receives a message if it must wait.
 */
export async function lockForMigration(
  client: PoolClient,
  report: (line: string) => void = () => {},
): Promise<void> {
  await client.query(`set local statement_timeout = 0;
    select set_config('client_connection_check_interval', '1s', true) where version() ~ 'linux|darwin|bsd'`);
  const { rows } = await client.query<{ is_free: boolean }>(
    'select pg_try_advisory_xact_lock($1) as is_free',
    [schemaReadLock],
  );
  if (!rows[0]!.is_free) report('Waiting for a backup or another migration to finish.');
  for (const lock of schemaChangeLocks) await client.query('select pg_advisory_xact_lock($1)', [lock]);
}

/**
 * The SQL of a migration for tables that exist once per instance. It begins with a line `-- Of the instance`
 * and ends at a line `-- Of each cell` or at the end of the file. Cells (src/cells) skip it.
 */
const ofInstance = /^-- Of the instance\b[^]*?(?=^-- Of each cell\b|(?![^]))/gm;
export const toCellMigration = (migration: Migration): Migration => ({
  ...migration,
  sql: migration.sql.replaceAll(ofInstance, ''),
});

/** Runs the pending migrations in the first schema of the search path. @returns their names. */
export async function runMigrations(client: PoolClient, migrations: readonly Migration[]): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())',
  );
  const pending = await findPendingOf(client, migrations);
  if (hasReplaced(await readRecorded(client))) await renumberRecorded(client, migrations[0]!);
  for (const migration of pending) {
    await client.query(migration.sql);
    await client.query('insert into migrations (number, name, checksum) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.checksum,
    ]);
  }
  return pending.map((migration) => migration.name);
}

async function renumberRecorded(client: PoolClient, { name, checksum }: Migration): Promise<void> {
  // Views over all cells, which depend on tables that the next migrations drop.
  await client.query('drop schema if exists every_cell cascade');
  await client.query('delete from migrations where number between 2 and $1', [replacedMigrations.last]);
  await client.query('update migrations set name = $1, checksum = $2 where number = 1', [name, checksum]);
  await client.query(
    `update migrations set number = number - $1 + 1, name = lpad((number - $1 + 1)::text, 4, '0') || substr(name, 5)
      where number > $1`,
    [replacedMigrations.last],
  );
}

/**
 * Checks that the database has this version, without changing it, for a process that joins running ones.
 * @throws MigrationError also if the database is older.
 */
export async function checkMigrated(database: Database, migrations: readonly Migration[]): Promise<void> {
  const [next] = await findPendingMigrations(database, migrations);
  if (next === undefined) return;
  throw new MigrationError(
    `This version of Formloom needs to migrate the database (${next}), but an older version is still running. Stop the older version, then start Formloom again.`,
  );
}

/**
 * Returns the names of the migrations that have not run yet; all of them for an empty database.
 * @throws MigrationError as `migrate` does.
 */
export async function findPendingMigrations(
  database: Database,
  migrations: readonly Migration[],
): Promise<string[]> {
  return (await findPendingOf(database, migrations)).map(({ name }) => name);
}

async function findPendingOf(
  db: PoolClient | Database,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const recorded = await readRecorded(db);
  const applied = renumber(recorded, migrations);
  if (applied === undefined)
    throw new MigrationError(
      `The database is at migration ${recorded.at(-1)!.number}, but this version can only upgrade from migration ${replacedMigrations.last} or later. First start the Formloom version with migration ${replacedMigrations.last}, then this one.`,
    );
  refuseForeignHistory(applied, migrations);
  return migrations.slice(applied.length);
}

async function isCurrent(client: PoolClient, migrations: readonly Migration[]): Promise<boolean> {
  const pending = await findPendingOf(client, migrations);
  return pending.length === 0 && !hasReplaced(await readRecorded(client));
}

type Applied = { number: number; name: string; checksum: string };

/** Returns the history in the database; empty for an empty database. */
async function readRecorded(db: PoolClient | Database): Promise<Applied[]> {
  const { rows } = await db.query<{ is_there: boolean }>(
    "select to_regclass('migrations') is not null as is_there",
  );
  if (!rows[0]!.is_there) return [];
  return (await db.query<Applied>('select number, name, checksum from migrations order by number')).rows;
}

function refuseForeignHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  if (applied.length > migrations.length)
    throw new MigrationError(
      `The database is newer than this version of Formloom: it has migration ${applied.at(-1)!.name}, but this version ends at ${migrations.at(-1)?.name ?? 'none'}. Start the newer version.`,
    );
  for (const [index, row] of applied.entries())
    if (migrations[index]!.checksum !== row.checksum)
      throw new MigrationError(
        `Migration ${row.name} ran on this database with different content. Released migrations never change; start the version that created this database.`,
      );
}
