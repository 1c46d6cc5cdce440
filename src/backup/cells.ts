import { createCell } from '#cells/create-cell.ts';
import { otherCells } from '#cells/migrate-cells.ts';
import type { Database } from '#kit/database.ts';
import type { Migration } from '#kit/migrate.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import { BackupError } from './backup-error.ts';
import { escapeIdentifier } from 'pg';

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
