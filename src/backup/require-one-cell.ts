import { findHome, selectCells } from '#kit/cells/queries.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { BackupError } from './backup-error.ts';

/**
 * A file of ours has the tables of one schema: of several cells it would be a part that looks like the whole.
 * @throws BackupError with the remedy.
 */
export async function requireOneCell(db: Queryable, which = 'This instance'): Promise<void> {
  if (!only(await findHome(db, {}))!.knows_cells || (await selectCells(db, {})).length === 0) return;
  throw new BackupError(
    `${which} has several cells, which \`backup\`, \`restore\` and \`move\` do not take along yet. Use PostgreSQL's own for its database (pg_dump, pg_restore, or a base backup), and copy the files and the key beside it: docs/operating/cells.md.`,
  );
}
