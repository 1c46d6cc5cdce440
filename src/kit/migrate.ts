import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { PoolClient } from 'pg';
import { transaction, type Database } from './database.ts';

const migrationsDirectory = new URL('../../db/migrations/', import.meta.url);

/** The advisory lock that lets one process migrate at a time; any constant of our own. */
export const migrationLock = 7_246_001;

type Migration = { number: number; name: string; sql: string; checksum: string };

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
 * Brings the database to this version, forward only, all or nothing, one process at a time.
 * @returns the names of the migrations that ran now.
 * @throws MigrationError when the database is newer than this version or was migrated by other files.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  return transaction(database, async (client) => {
    // Waiting for another process's migration and running a long one are both legitimate here.
    await client.query('set local statement_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query(
      'create table if not exists migrations (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())',
    );
    const applied = await appliedMigrations(client);
    refuseForeignHistory(applied, migrations);
    const pending = migrations.slice(applied.length);
    for (const migration of pending) {
      await client.query(migration.sql);
      await client.query('insert into migrations (number, name, checksum) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        migration.checksum,
      ]);
    }
    return pending.map((migration) => migration.name);
  });
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
  const { rows } = await database.query<{ is_there: boolean }>(
    "select to_regclass('migrations') is not null as is_there",
  );
  const applied = rows[0]!.is_there ? await appliedMigrations(database) : [];
  refuseForeignHistory(applied, migrations);
  return migrations.slice(applied.length).map(({ name }) => name);
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
