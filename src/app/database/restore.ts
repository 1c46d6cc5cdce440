import { statSync } from 'node:fs';
import { type Restored, type RestoreOptions, restoreBackup } from '#backup/restore-backup.ts';
import {
  type RestoredWorkspace,
  readWorkspaceOfArchive,
  restoreWorkspace,
} from '#backup/workspace-backup.ts';
import { type Config, readConfig } from '#kit/config.ts';
import type { Log } from '#kit/log.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { checkTargetDatabase } from '../checks/database-checks.ts';
import { openEmptyDatabase, openFormloomDatabase } from './open-database.ts';

/**
 * Restores an instance, or a workspace into an instance.
 * @throws BackupError, or the errors of openEmptyDatabase and openFormloomDatabase.
 */
export async function restoreInstanceOrWorkspace(config: Config, log: Log, options: RestoreOptions) {
  const { path, file, passphrase } = options;
  // A bucket only has backups of instances. A pipe can be read only once, so it counts as one as well.
  const canLook = !file && statSync(path, { throwIfNoEntry: false })?.isFile();
  const workspace = canLook ? await readWorkspaceOfArchive(path, passphrase) : undefined;
  return workspace ? restoreOne(config, log, options) : restoreAll(config, log, options);
}

async function restoreOne(config: Config, log: Log, options: RestoreOptions): Promise<RestoredWorkspace> {
  const opened = await openFormloomDatabase(config, log);
  try {
    const key = options.isKeyLost ? undefined : await findInstanceKey(config.dataDir, config.secretKey);
    return await restoreWorkspace({ database: opened.database, storage: openStorage(config), key }, options);
  } finally {
    await opened.close();
  }
}

/**
 * Restores into the instance of the configuration.
 * @throws BackupError, or the errors of openEmptyDatabase.
 */
async function restoreAll(config: Config, log: Log, options: RestoreOptions): Promise<Restored> {
  const { database, close } = await openEmptyDatabase(config, log);
  try {
    await checkTargetDatabase({ config, database });
    const { dataDir, secretKey } = config;
    return await restoreBackup({ database, storage: openStorage(config), dataDir, secretKey }, options);
  } finally {
    await close();
  }
}

/**
 * Restores into a temporary embedded database and folder.
 * @throws the errors of restore.
 */
export async function testRestore({ limits }: Config, log: Log, options: RestoreOptions): Promise<Restored> {
  const { createTemporaryDataDirectory, removeTemporaryDataDirectory } = await import(
    '#kit/embedded-postgres/temporary-data-directory.ts'
  );
  const report = (line: string): void => log.warn(line);
  const dataDir = await createTemporaryDataDirectory('formloom-restore', report);
  try {
    return await restoreInstanceOrWorkspace({ ...readConfig({ DATA_DIR: dataDir }), limits }, log, options);
  } finally {
    await removeTemporaryDataDirectory(dataDir, report);
  }
}
