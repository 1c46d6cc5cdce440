import { only, type Queryable, statement } from '#kit/statement.ts';
import { BackupError } from './backup-error.ts';

/** Whether a service is on this database; what restores names its sessions otherwise. */
const findService = statement(
  'backup.find_service',
  '',
  'is_running:boolean',
  `select exists (
     select from pg_stat_activity where datname = current_database() and (application_name = 'formloom' or application_name like 'formloom node %')) as is_running`,
);

/**
 * A running service would go on with what it remembers of the database, its key first.
 * @throws BackupError
 */
export async function requireStopped(db: Queryable, which = 'this database'): Promise<void> {
  if (only(await findService(db, {}))!.is_running)
    throw new BackupError(`Formloom is running on ${which}. Stop it first.`);
}
