import type { FileHandle } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { PoolClient } from 'pg';
import { formatCount } from '#ast/basics/format-number.ts';
import { migrateCells } from '#cells/cells.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { reassignStorage, setStorageId } from '#kit/instance-key.ts';
import { findBackupMigrations, readMigrations } from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import { findInstanceKey, makeInstanceKey, openVault } from '#kit/vault.ts';
import {
  type ArchiveEntry,
  ArchiveManifest,
  ArchiveTrailer,
  entryNames,
  parseArchiveEntry,
  readArchive,
} from './archive.ts';
import {
  BackupError,
  createCellsOfInstance,
  isInstanceUsed,
  refillTables,
  startTableCopy,
  type TableCopy,
} from './fill-table.ts';

/** Finds whether a service uses this database. The sessions of a restore have another name. */
const findService = statement('', 'is_running:boolean')`
  select exists (
    select from pg_stat_activity where datname = current_database() and (application_name = 'formloom' or application_name like 'formloom node %')) as is_running`;

/**
 * Refuses a running service, because it would continue to use cached data of the database, such as its key.
 * @throws BackupError if a service runs.
 */
export async function requireServiceStopped(db: Queryable, which = 'this database'): Promise<void> {
  if (onlyRow(await findService(db, {}))!.is_running)
    throw new BackupError(`Formloom is running on ${which}. Stop it first.`);
}

/**
 * Deletes the record of the backup that was in progress when this backup was made. It is the restored backup
 * itself, and its outcome is not known here.
 */
const deleteUnfinishedBackup = statement('', '')`
  delete from backups where finished_at is null`;

const findTable = statement('name', 'is_there')`
  select to_regclass(format('%I', $name)) is not null as is_there`;

type RestoreContext = {
  /** Has no timeouts and session names of a restore (openDatabase): other sessions belong to a service. */
  database: Database;
  storage: Storage;
} & Pick<Config, 'dataDir' | 'secretKey'>;

export type Restored = { made_at: string; version: string; rows: number; files: number; bytes: number };

export type RestoreOptions = {
  path: string;
  /** The open file, passed to readArchive as `opened`. */
  file?: FileHandle | undefined;
  passphrase?: string | undefined;
  /** Aborts the restore before the next part of the archive. */
  signal?: AbortSignal | undefined;
  /** Restores even if the key is lost; `instance-key replace` then lists what is lost with it. */
  isKeyLost?: boolean;
};

/**
 * Restores a backup into an empty instance: files first, then all rows in one transaction. The transaction is
 * committed only when the whole archive was read and is complete. If the restore is killed, the instance
 * stays empty and the restore can be run again. A backup of an earlier version is migrated to this version.
 * @throws BackupError with the remedy: for an instance that is in use, an archive that is damaged or of a
 * newer version, or a key that is not the backup's.
 */
export async function restoreBackup(
  context: RestoreContext,
  { path, file, passphrase, signal, isKeyLost = false }: RestoreOptions,
): Promise<Restored> {
  const entries = readArchive(path, passphrase, file);
  try {
    return await restoreEntries(context, iterateUntilAborted(entries, signal), isKeyLost);
  } finally {
    await entries.return(undefined);
  }
}

export async function* iterateUntilAborted<Part>(
  parts: AsyncIterable<Part>,
  signal?: AbortSignal,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    signal?.throwIfAborted();
    yield part;
  }
}

async function restoreEntries(
  context: RestoreContext,
  entries: AsyncGenerator<ArchiveEntry>,
  isKeyLost: boolean,
): Promise<Restored> {
  const manifest = await readManifest(entries);
  const { database } = context;
  await requireEmpty(database);
  const migrations = await readMigrations();
  const ofBackup = findBackupMigrations(manifest.migrations, migrations);
  if (!ofBackup)
    throw new BackupError(
      `The backup was made by Formloom ${manifest.version}, whose database schema this version does not support. Restore it with that version or a later one.`,
    );
  // A large backup takes hours to restore, so the key is checked at the beginning.
  const needsKey = !isKeyLost && manifest.key_fingerprint !== null;
  const hasKey = needsKey && (await findKey(context, manifest));
  const { cells = [] } = manifest;
  await migrateCells(database, ofBackup);
  await createCellsOfInstance(
    database,
    cells.map(({ name }) => name),
    ofBackup,
  );
  const restored = await transaction(database, (client) =>
    fill(context, client, { manifest, entries, takesKey: needsKey && !hasKey }),
  ).catch((error: unknown) => {
    throw isInvalidRowsError(error) ? createDamagedBackupError(error.message) : error;
  });
  await migrateCells(database, migrations);
  await reassignStorage(database, context.storage);
  await database.query('analyze');
  return restored;
}

/**
 * Requires an empty instance.
 * @throws BackupError if a service runs on it, or if it is in use.
 */
async function requireEmpty(database: Database): Promise<void> {
  await requireServiceStopped(database);
  if (onlyRow(await findTable(database, { name: 'workspaces' }))!.is_there) await requireUnused(database);
}

async function requireUnused(db: Queryable): Promise<void> {
  if (!(await isInstanceUsed(db))) return;
  throw new BackupError(
    'This instance is in use, but a backup can only be restored into an empty one. Use another DATA_DIR or an empty database.',
  );
}

type Reading = {
  manifest: ArchiveManifest;
  entries: AsyncGenerator<ArchiveEntry>;
  /** Whether there is no key here yet, so that the backup has to contain it. */
  takesKey: boolean;
  /** A prefix. Files whose key does not begin with it are refused. */
  filesOf?: string;
  /** Called when all rows of a table are inserted. */
  onTable?: (name: string) => Promise<void>;
};

async function fill(
  { storage, dataDir }: RestoreContext,
  client: PoolClient,
  reading: Reading,
): Promise<Restored> {
  const { manifest } = reading;
  const { rows, files, bytes, keyInside } = await refillTables(client, {
    tables: manifest.tables,
    cells: (manifest.cells ?? []).map(({ schema_name }) => schema_name),
    requireFree: () => requireUnused(client),
    fill: () => restoreArchiveEntries(storage, client, reading),
  });
  // The files are now in this storage. The storage is marked when everything is restored.
  await setStorageId(client, { storage_id: null });
  await deleteUnfinishedBackup(client, {});
  // A service that was started here in the meantime may have created another key.
  if (keyInside !== undefined && (await makeInstanceKey(dataDir, keyInside)) !== keyInside)
    throw new BackupError(otherKey);
  const { made_at, version } = manifest;
  return { made_at, version, rows: sum(rows), files, bytes };
}

/**
 * Reads the first entry of an archive.
 * @throws BackupError if it is not the manifest of a backup.
 */
export async function readManifest(entries: AsyncGenerator<ArchiveEntry>): Promise<ArchiveManifest> {
  const first = await entries.next();
  return parseArchiveEntry(ArchiveManifest, first.done ? '' : await textOf(first.value, entryNames.manifest));
}

/**
 * Restores the entries of an archive up to its end.
 * @throws BackupError if something is missing.
 */
export async function restoreArchiveEntries(
  storage: Storage,
  client: PoolClient,
  { manifest, entries, takesKey, filesOf = '', onTable }: Reading,
): Promise<ArchiveTrailer & { keyInside: string | undefined }> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  const rows: Record<string, number> = Object.fromEntries(manifest.tables.map(({ name }) => [name, 0]));
  const done = { files: 0, bytes: 0 };
  let keyInside: string | undefined;
  let ending: ArchiveTrailer | undefined;
  let open: (TableCopy & { table: string }) | undefined;
  const endTable = async (): Promise<void> => {
    if (!open) return;
    const { table } = open;
    rows[table] = await open.end();
    open = undefined;
    await onTable?.(table);
  };
  try {
    for await (const entry of entries) {
      const [kind, name] = entry.name.split('/', 2) as [string, string | undefined];
      if (kind !== 'tables' || name !== open?.table) await endTable();
      if (kind === entryNames.key) {
        const key = await text(entry.body);
        if (takesKey && isKeyOf(manifest, key)) keyInside = key;
        continue;
      }
      if (takesKey && keyInside === undefined)
        throw new BackupError(
          'The backup does not contain its key. Set SECRET_KEY, or put secret.key into DATA_DIR, as on the original instance. If the key is lost, use --key-is-lost: everything is restored except what was sealed with the key.',
        );
      if (kind === entryNames.ending) ending = parseArchiveEntry(ArchiveTrailer, await text(entry.body));
      else if (kind === 'tables') {
        const table = tables.get(name!);
        if (!table)
          throw createDamagedBackupError(`it contains a table ${name} that its manifest does not list`);
        // A database on a full disk stops, and a test restore may share the disk of a service.
        if (!(await storage.hasRoom()))
          throw new BackupError(
            'The free space at the target is below UPLOAD_FREE_MB. Free up space there, or restore elsewhere: change DATA_DIR, or TMPDIR with --check.',
          );
        open ??= { ...startTableCopy(client, table), table: table.name };
        await open.pour(entry.body);
      } else if (kind === 'files' && isOurKey(entry.name) && entry.name.startsWith(`files/${filesOf}`)) {
        await storage.put(entry.name.slice('files/'.length), entry.body, entry.size);
        done.files += 1;
        done.bytes += entry.size;
      } else throw createDamagedBackupError(`it contains ${entry.name}, which does not belong in a backup`);
    }
  } finally {
    await open?.giveUp();
  }
  if (!ending) throw createDamagedBackupError('its end is missing');
  requireAll({ rows, ...done }, ending);
  return { ...ending, keyInside };
}

/** Returns whether a file name stays below the folder of the storage. */
const isOurKey = (name: string): boolean =>
  name.split('/').every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part));

export const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Whether PostgreSQL refused rows because they are invalid or inconsistent (classes 22 and 23). */
export const isInvalidRowsError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));

export const createDamagedBackupError = (why: string): BackupError =>
  new BackupError(`The backup is damaged: ${why}.`);

async function textOf(entry: ArchiveEntry, name: string): Promise<string> {
  if (entry.name !== name) throw createDamagedBackupError(`it begins with ${entry.name}`);
  return text(entry.body);
}

function requireAll(found: Pick<ArchiveTrailer, 'rows' | 'files' | 'bytes'>, ending: ArchiveTrailer): void {
  for (const [table, count] of Object.entries(found.rows))
    if (ending.rows[table] !== count)
      throw createDamagedBackupError(
        `${table} has ${formatCount(count, 'row')} instead of ${ending.rows[table] ?? 'none'}`,
      );
  if (found.files !== ending.files || found.bytes !== ending.bytes)
    throw createDamagedBackupError(`it has ${found.files} of ${formatCount(ending.files, 'file')}`);
}

const otherKey =
  'SECRET_KEY, or secret.key in DATA_DIR, is not the key of the instance that was backed up. The secrets and links in the backup could not be read with it. Remove that key, or replace it with the right one.';

export const isKeyOf = ({ key_fingerprint: fingerprint }: ArchiveManifest, key: string): boolean =>
  openVault(key).derive('fingerprint').includes(fingerprint!);

/**
 * Returns whether there is a key here.
 * @throws BackupError if the backup was used with another key.
 */
async function findKey(
  { dataDir, secretKey }: Pick<Config, 'dataDir' | 'secretKey'>,
  manifest: ArchiveManifest,
): Promise<boolean> {
  const here = await findInstanceKey(dataDir, secretKey);
  if (here !== undefined && !isKeyOf(manifest, here)) throw new BackupError(otherKey);
  return here !== undefined;
}
