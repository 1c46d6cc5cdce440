import { only, type Queryable } from '#kit/statement.ts';
import { BackupError } from './backup-error.ts';
import { findService } from './queries.ts';

/**
 * A running service would go on with what it remembers of the database, its key first.
 * @throws BackupError
 */
export async function requireStopped(db: Queryable, which = 'this database'): Promise<void> {
  if (only(await findService(db, {}))!.is_running)
    throw new BackupError(`Formloom is running on ${which}. Stop it first.`);
}
