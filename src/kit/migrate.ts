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

type Recorded = Pick<Migration, 'checksum'>;

/** Returns the migrations of a backup's database, or undefined if this version does not know one of them. */
export function findBackupMigrations(
  recorded: readonly Recorded[],
  migrations: readonly Migration[],
): readonly Migration[] | undefined {
  return recorded.every(({ checksum }, index) => migrations[index]?.checksum === checksum)
    ? migrations.slice(0, recorded.length)
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
    if ((await findPendingOf(client, migrations)).length === 0) return [];
    await lockForMigration(client, report);
    if ((await findPendingOf(client, migrations)).length === 0) return [];
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
  const applied = await readRecorded(db);
  refuseForeignHistory(applied, migrations);
  return migrations.slice(applied.length);
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
