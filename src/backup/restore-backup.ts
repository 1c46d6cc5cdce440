import type { FileHandle } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { PoolClient } from 'pg';
import { sayCount } from '#ast/basics/say-count.ts';
import { migrateCells } from '#cells/cells.ts';
import type { Config } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { setStorageId, takeOverStorage } from '#kit/instance-key.ts';
import { findMigrationsOf, readMigrations } from '#kit/migrate.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import { findInstanceKey, makeInstanceKey, openVault } from '#kit/vault.ts';
import { type ArchiveEntry, Ending, entryNames, Manifest, readArchive, readPart } from './archive.ts';
import { BackupError, type Filling, fillTable, isUsed, refillTables, requireCells } from './fill-table.ts';

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

/** Of what was being made when a backup was: the one that holds this row, and no more is known of it where that is restored. */
const forgetBegun = statement('backup.forget_begun', '', '', `delete from backups where finished_at is null`);

const findTable = statement(
  'backup.find_table',
  'name',
  'is_there',
  `select to_regclass(format('%I', $name)) is not null as is_there`,
);

/** Where a backup goes. */
type RestoreContext = {
  /** Without limits of time, and named as what restores (openDatabase): others on it are a service. */
  database: Database;
  storage: Storage;
} & Pick<Config, 'dataDir' | 'secretKey'>;

export type Restored = { made_at: string; version: string; rows: number; files: number; bytes: number };

export type RestoreOptions = {
  path: string;
  /** The file, as readArchive has `opened`. */
  file?: FileHandle | undefined;
  passphrase?: string | undefined;
  /** Breaks it off before the next part of the archive. */
  signal?: AbortSignal | undefined;
  /** Restores all the same where the key is lost for good; `instance-key replace` then says what is lost with it. */
  isKeyLost?: boolean;
};

/**
 * Brings a backup into an empty instance: files first, then all rows in one transaction that is committed when the
 * archive was read to its end and all of it was found. Killed midway it leaves an instance as empty as it was, and may be
 * run again. A backup of an earlier version becomes one of this version.
 * @throws BackupError with the remedy: for an instance that is in use, an archive that is damaged or of a newer version,
 * or a key that is not the backup's.
 */
export async function restoreBackup(
  context: RestoreContext,
  { path, file, passphrase, signal, isKeyLost = false }: RestoreOptions,
): Promise<Restored> {
  const entries = readArchive(path, passphrase, file);
  try {
    return await restoreEntries(context, untilEnd(entries, signal), isKeyLost);
  } finally {
    await entries.return(undefined);
  }
}

export async function* untilEnd<Part>(
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
  const ofBackup = findMigrationsOf(manifest.migrations, migrations);
  if (!ofBackup) {
    throw new BackupError(
      `The backup was made by Formloom ${manifest.version}, whose database this version does not know. Restore it with that version or a newer one.`,
    );
  }
  // All of a large backup takes hours: the key is asked for at its beginning.
  const needsKey = !isKeyLost && manifest.key_fingerprint !== null;
  const hasKey = needsKey && (await findKey(context, manifest));
  const { cells = [] } = manifest;
  await migrateCells(database, ofBackup);
  await requireCells(
    database,
    cells.map(({ name }) => name),
    ofBackup,
  );
  const restored = await transaction(database, (client) =>
    fill(context, client, { manifest, entries, takesKey: needsKey && !hasKey }),
  ).catch((error: unknown) => {
    throw isRefusedContent(error) ? damaged(error.message) : error;
  });
  await migrateCells(database, migrations);
  await takeOverStorage(database, context.storage);
  await database.query('analyze');
  return restored;
}

/** @throws BackupError where somebody works, or a newer version was. */
async function requireEmpty(database: Database): Promise<void> {
  await requireStopped(database);
  if (only(await findTable(database, { name: 'workspaces' }))!.is_there) await requireUnused(database);
}

async function requireUnused(db: Queryable): Promise<void> {
  if (!(await isUsed(db))) return;
  throw new BackupError(
    'This instance is in use, and a backup is restored into an empty one. Give it another DATA_DIR, or an empty database.',
  );
}

type Reading = {
  manifest: Manifest;
  entries: AsyncGenerator<ArchiveEntry>;
  /** Whether this place has no key yet, so that the backup has to bring it. */
  takesKey: boolean;
  /** Files whose key does not begin so are refused. */
  filesOf?: string;
  /** Called when the rows of a table are in. */
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
    fill: () => readEntries(storage, client, reading),
  });
  // Its files lie in this storage now, which is marked when all is there.
  await setStorageId(client, { storage_id: null });
  await forgetBegun(client, {});
  // A service that began here meanwhile has made one of its own.
  if (keyInside !== undefined && (await makeInstanceKey(dataDir, keyInside)) !== keyInside)
    throw new BackupError(otherKey);
  const { made_at, version } = manifest;
  return { made_at, version, rows: sum(rows), files, bytes };
}

/** Reads the first entry of an archive. @throws BackupError if it is not the manifest of a backup. */
export async function readManifest(entries: AsyncGenerator<ArchiveEntry>): Promise<Manifest> {
  const first = await entries.next();
  return readPart(Manifest, first.done ? '' : await textOf(first.value, entryNames.manifest));
}

/** Takes in what an archive holds, to its end. @throws BackupError where something of it is missing. */
export async function readEntries(
  storage: Storage,
  client: PoolClient,
  { manifest, entries, takesKey, filesOf = '', onTable }: Reading,
): Promise<Ending & { keyInside: string | undefined }> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  const rows: Record<string, number> = Object.fromEntries(manifest.tables.map(({ name }) => [name, 0]));
  const done = { files: 0, bytes: 0 };
  let keyInside: string | undefined;
  let ending: Ending | undefined;
  let open: (Filling & { table: string }) | undefined;
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
          'The backup was made without its key. Set SECRET_KEY, or put secret.key into DATA_DIR, as they were there. Where it is lost for good, say so with --key-is-lost; all but what was sealed with it is restored.',
        );
      if (kind === entryNames.ending) ending = readPart(Ending, await text(entry.body));
      else if (kind === 'tables') {
        const table = tables.get(name!);
        if (!table) throw damaged(`it holds a table ${name} that it does not name`);
        // A database that has no room at all stops, and a trial may lie beside that of a service.
        if (!(await storage.hasRoom()))
          throw new BackupError(
            'Less is free where it is restored than has to stay free (UPLOAD_FREE_MB). Make room there, or restore elsewhere: DATA_DIR, or TMPDIR with --check.',
          );
        open ??= { ...fillTable(client, table), table: table.name };
        await open.pour(entry.body);
      } else if (kind === 'files' && isOurKey(entry.name) && entry.name.startsWith(`files/${filesOf}`)) {
        await storage.put(entry.name.slice('files/'.length), entry.body, entry.size);
        done.files += 1;
        done.bytes += entry.size;
      } else throw damaged(`it holds ${entry.name}, which no backup does`);
    }
  } finally {
    await open?.giveUp();
  }
  if (!ending) throw damaged('its end is missing');
  requireAll({ rows, ...done }, ending);
  return { ...ending, keyInside };
}

/** What the storage takes for a path stays below its folder. */
const isOurKey = (name: string): boolean =>
  name.split('/').every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part));

export const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** What PostgreSQL says of rows that are none, or that do not belong together (classes 22 and 23). */
export const isRefusedContent = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));

export const damaged = (why: string): BackupError => new BackupError(`The backup is damaged: ${why}.`);

async function textOf(entry: ArchiveEntry, name: string): Promise<string> {
  if (entry.name !== name) throw damaged(`it begins with ${entry.name}`);
  return text(entry.body);
}

function requireAll(found: Pick<Ending, 'rows' | 'files' | 'bytes'>, ending: Ending): void {
  for (const [table, count] of Object.entries(found.rows)) {
    if (ending.rows[table] !== count)
      throw damaged(`${table} has ${sayCount(count, 'row')} of ${ending.rows[table] ?? 'none'}`);
  }
  if (found.files !== ending.files || found.bytes !== ending.bytes)
    throw damaged(`it has ${found.files} of ${sayCount(ending.files, 'file')}`);
}

const otherKey =
  'SECRET_KEY, or secret.key in DATA_DIR, is not the key that the backup was used with: secrets and links in it could not be read. Take that one away, or put the right one in its place.';

export const isKeyOf = ({ key_fingerprint: fingerprint }: Manifest, key: string): boolean =>
  openVault(key).derive('fingerprint').includes(fingerprint!);

/** Whether there is a key here. @throws BackupError for one that the backup was not used with. */
async function findKey(
  { dataDir, secretKey }: Pick<Config, 'dataDir' | 'secretKey'>,
  manifest: Manifest,
): Promise<boolean> {
  const here = await findInstanceKey(dataDir, secretKey);
  if (here !== undefined && !isKeyOf(manifest, here)) throw new BackupError(otherKey);
  return here !== undefined;
}
