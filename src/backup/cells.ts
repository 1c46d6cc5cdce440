import { createCell } from '#kit/cells/create-cell.ts';
import { cellsElsewhere, otherCells } from '#kit/cells/other-cells.ts';
import type { Database } from '#kit/database.ts';
import type { readMigrations } from '#kit/migrate.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { BackupError } from './backup-error.ts';
import { findUse, hasWorkspaces } from './queries.ts';

/** @throws BackupError for an instance with cells on other servers: what is there is of another moment. */
export async function refuseServers(db: Queryable): Promise<void> {
  const names = (await cellsElsewhere(db)).map(({ name }) => name);
  if (names.length > 0)
    throw new BackupError(
      `This instance has cells on other servers (${names.join(', ')}), which neither a backup nor a move takes along. ` +
        'docs/operating/cells.md says how each database is saved by pg_dump or pg_basebackup.',
    );
}

/** Makes the cells of an instance that is brought here, where they are not yet. @throws BackupError for one that it has not. */
export async function requireCells(
  database: Database,
  names: readonly string[],
  migrations: Awaited<ReturnType<typeof readMigrations>>,
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
