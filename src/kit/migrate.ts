import { escapeIdentifier, type PoolClient } from 'pg';
import { only, statement } from './statement.ts';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { type Database, transaction } from './database.ts';

/** Returns the schema that a session works in, its search path, and whether the instance there knows cells. */
export const findHome = statement(
  'search_path.find_home',
  '',
  'schema_name path knows_cells:boolean',
  `select current_schema()::text as schema_name, current_setting('search_path') as path,
          to_regclass('cells') is not null as knows_cells`,
);

/** Sets the search path of a transaction, until its end. */
export const setPath = statement(
  'search_path.set',
  'path',
  'path',
  `select set_config('search_path', $path, true) as path`,
);

/** Writes a search path of schemas. */
export const pathOf = (...schemas: readonly string[]): string => schemas.map(escapeIdentifier).join(', ');

/**
 * The schema that has the tables of a session. At a node of a cluster the first schema of the path has views of them,
 * and is named after that one.
 */
export const ownSchema = `to_regnamespace(regexp_replace(quote_ident(current_schema()), '^near_', ''))`;

const migrationsDirectory = new URL('../../db/migrations/', import.meta.url);

export type Migration = { number: number; name: string; sql: string; checksum: string };

/** Why a database cannot be used by this version, with the remedy. */
export class MigrationError extends Error {}

/** The migrations of this version, in order. */
export async function readMigrations(directory: URL = migrationsDirectory): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 4));
      // A number may be left out, for work that is done at the same time; what ran is compared by its content below.
      if (!(number > Number(names[index - 1]?.slice(0, 4) ?? 0)))
        throw new MigrationError(
          `Migrations are numbered upwards, each number once; ${name} is out of order.`,
        );
      const sql = await readFile(new URL(name, directory), 'utf8');
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** The advisory lock under which one process at a time migrates, or moves a cell; any constant of our own. */
export const migrationLock = 7_246_001;
/**
 * The advisory lock that a long reader of all tables shares, as a backup does. A change of tables takes it first, and waits here
 * instead of at the tables, where all requests would wait behind it.
 */
export const readingLock = 7_246_006;
/** The locks for a change of tables, in the order in which to take them: two processes in different orders would wait for each other. */
export const changingLocks = [readingLock, migrationLock] as const;

/**
 * Brings the database to this version: forward only, all or nothing, one process at a time.
 * @param tell hears what it waits for.
 * @param around runs the migrations; it may do more before and after them, in the same transaction.
 * @returns the names of the migrations that ran now.
 * @throws MigrationError when the database is newer than this version or was migrated by other files.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  tell: (line: string) => void = () => {},
  around = (_client: PoolClient, run: () => Promise<string[]>): Promise<string[]> => run(),
): Promise<string[]> {
  return transaction(database, async (client) => {
    // Without a lock, so that a server that has nothing to migrate starts beside a backup and a move of a cell.
    if ((await findPendingOf(client, migrations)).length === 0) return [];
    await beginMigrating(client, tell);
    if ((await findPendingOf(client, migrations)).length === 0) return [];
    return around(client, () => runMigrations(client, migrations));
  });
}

/**
 * Waits for a backup, and for another process that migrates or moves a cell, in a transaction that may take as long as it takes. Where its
 * process is killed, what it waits for then is given up: others would wait behind it, for as long. (Elsewhere PostgreSQL may not be able to
 * tell, and refuses to.)
 * @param tell hears that it waits.
 */
export async function beginMigrating(
  client: PoolClient,
  tell: (line: string) => void = () => {},
): Promise<void> {
  await client.query(`set local statement_timeout = 0;
    select set_config('client_connection_check_interval', '1s', true) where version() ~ 'linux|darwin|bsd'`);
  const { rows } = await client.query<{ is_free: boolean }>(
    'select pg_try_advisory_xact_lock($1) as is_free',
    [readingLock],
  );
  if (!rows[0]!.is_free) tell('A backup is being made, or another process migrates: that is waited for.');
  for (const lock of changingLocks) await client.query('select pg_advisory_xact_lock($1)', [lock]);
}

/** A migration of the instance's own tables changes nothing in a cell: there it is in the history alone (src/cells). */
const ofInstance = /^-- Of the instance\b/;
export const isOfInstance = ({ sql }: Pick<Migration, 'sql'>): boolean => ofInstance.test(sql);
export const asInCell = (migration: Migration): Migration =>
  isOfInstance(migration) ? { ...migration, sql: 'select' } : migration;

/** Runs what has not run yet in the schema that is first on the path. @returns the names of what ran. */
export async function runMigrations(client: PoolClient, migrations: readonly Migration[]): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())',
  );
  const pending = await findPendingOf(client, migrations);
  const { path } = only(await findHome(client, {}))!;
  for (const migration of pending) {
    // Citus takes no `from current`, but the path by name.
    await client.query(migration.sql.replaceAll('search_path from current', `search_path to ${path}`));
    await client.query('insert into migrations (number, name, checksum) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.checksum,
    ]);
  }
  return pending.map((migration) => migration.name);
}

/**
 * Makes sure that the database is of this version, without changing it: for a process that joins others which use it.
 * @throws MigrationError also when it is older.
 */
export async function checkMigrated(database: Database, migrations: readonly Migration[]): Promise<void> {
  const [next] = await findPending(database, migrations);
  if (next === undefined) return;
  throw new MigrationError(
    `This version of Formloom changes the database (${next}), which the running one does not expect. Stop it and start it again.`,
  );
}

/**
 * The names of the migrations that have not run yet; all of them for a database that is empty.
 * @throws MigrationError as `migrate` does.
 */
export async function findPending(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  return (await findPendingOf(database, migrations)).map(({ name }) => name);
}

async function findPendingOf(
  db: PoolClient | Database,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows } = await db.query<{ is_there: boolean }>(
    "select to_regclass('migrations') is not null as is_there",
  );
  const applied = rows[0]!.is_there ? await appliedMigrations(db) : [];
  refuseForeignHistory(applied, migrations);
  return migrations.slice(applied.length);
}

type Applied = { number: number; name: string; checksum: string };

async function appliedMigrations(db: PoolClient | Database): Promise<Applied[]> {
  const result = await db.query<Applied>('select number, name, checksum from migrations order by number');
  return result.rows;
}

function refuseForeignHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  if (applied.length > migrations.length) {
    throw new MigrationError(
      `The database is newer than this version of Formloom: it has migration ${applied.at(-1)!.name}, and this version ends at ${migrations.at(-1)?.name ?? 'none'}. Start the newer version.`,
    );
  }
  for (const [index, row] of applied.entries()) {
    if (migrations[index]!.checksum !== row.checksum) {
      throw new MigrationError(
        `Migration ${row.name} ran on this database with another content than this version has. Released migrations never change; start the version that made this database.`,
      );
    }
  }
}
