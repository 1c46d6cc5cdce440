import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { type Database, transaction } from './database.ts';
import { statement } from './statement.ts';

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

/**
 * 0001_init.sql replaced the migrations up to 84, of which the first had this checksum. A database that has all of them counts as one that
 * has 0001, and each later number is 83 less.
 */
export const replaced = {
  first: '0806f17c37cdd178acfd177da2ec69c365d32b79dbac06ee0e491364322bba7e',
  last: 84,
} as const;

type Recorded = { readonly number: number; readonly checksum: string };

const hasReplaced = (recorded: readonly Recorded[]): boolean => recorded[0]?.checksum === replaced.first;

/** Returns a history with the numbers of this version, or undefined if it ends before the schema of 0001_init.sql. */
function renumber<Row extends Recorded>(
  recorded: readonly Row[],
  migrations: readonly Migration[],
): readonly Row[] | undefined {
  if (!hasReplaced(recorded)) return recorded;
  if (recorded.at(-1)!.number < replaced.last) return undefined;
  const later = recorded.filter(({ number }) => number > replaced.last);
  return [
    { ...recorded[0]!, checksum: migrations[0]!.checksum },
    ...later.map((row) => ({ ...row, number: row.number - replaced.last + 1 })),
  ];
}

/** Returns the migrations of this version that a backup's database had, or undefined if this version does not know them. */
export function findMigrationsOf(
  recorded: readonly Recorded[],
  migrations: readonly Migration[],
): readonly Migration[] | undefined {
  const history = renumber(recorded, migrations);
  return history?.every(({ checksum }, index) => migrations[index]?.checksum === checksum)
    ? migrations.slice(0, history.length)
    : undefined;
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
    if (await isCurrent(client, migrations)) return [];
    await beginMigrating(client, tell);
    if (await isCurrent(client, migrations)) return [];
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

/**
 * The tables of the instance exist once: a cell (src/cells) leaves out the SQL of a migration from a line `-- Of the instance` to a line
 * `-- Of each cell`, or to the end.
 */
const ofInstance = /^-- Of the instance\b[^]*?(?=^-- Of each cell\b|(?![^]))/gm;
export const asInCell = (migration: Migration): Migration => ({
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
  // Views of all cells, which depend on tables that the next migrations drop.
  await client.query('drop schema if exists every_cell cascade');
  await client.query('delete from migrations where number between 2 and $1', [replaced.last]);
  await client.query('update migrations set name = $1, checksum = $2 where number = 1', [name, checksum]);
  await client.query(
    `update migrations set number = number - $1 + 1, name = lpad((number - $1 + 1)::text, 4, '0') || substr(name, 5)
      where number > $1`,
    [replaced.last],
  );
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
  const recorded = await readRecorded(db);
  const applied = renumber(recorded, migrations);
  if (applied === undefined)
    throw new MigrationError(
      `The database is at migration ${recorded.at(-1)!.number}, and this version upgrades databases from migration ${replaced.last} on. Start the version of Formloom with migration ${replaced.last} on it first, then this version.`,
    );
  refuseForeignHistory(applied, migrations);
  return migrations.slice(applied.length);
}

async function isCurrent(client: PoolClient, migrations: readonly Migration[]): Promise<boolean> {
  const pending = await findPendingOf(client, migrations);
  return pending.length === 0 && !hasReplaced(await readRecorded(client));
}

type Applied = { number: number; name: string; checksum: string };

/** Returns the history as the database has it; none for an empty database. */
async function readRecorded(db: PoolClient | Database): Promise<Applied[]> {
  const { rows } = await db.query<{ is_there: boolean }>(
    "select to_regclass('migrations') is not null as is_there",
  );
  if (!rows[0]!.is_there) return [];
  return (await db.query<Applied>('select number, name, checksum from migrations order by number')).rows;
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
