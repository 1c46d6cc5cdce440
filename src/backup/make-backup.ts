import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { findInAllCells } from '#cells/across-cells.ts';
import { type Cell, cellsOf, otherCells } from '#cells/cells.ts';
import { hideShardsSql } from '#cells/citus.ts';
import { listReceivedFiles } from '#files/stored-files.ts';
import { listStoredImages } from '#forms/images/images.ts';
import { now } from '#kit/clock.ts';
import { type Database, openLongQueryPool, transaction } from '#kit/database.ts';
import { selectKeyFingerprint } from '#kit/instance-key.ts';
import { findSessionSchema, formatSearchPath, schemaReadLock, setSearchPath } from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import type { Storage } from '#kit/storage.ts';
import {
  type ArchiveManifest,
  type ArchiveTrailer,
  type ArchiveWriter,
  entryNames,
  writeArchive,
} from './archive.ts';
import { countCopiedRows, selectTables } from './fill-table.ts';
import { copyTableOutSql, selectSequences } from './move-instance.ts';

const selectMigrations = statement('', 'number:integer checksum:text')`
  select number, checksum from migrations order by number`;

/** What a backup is made from. */
export type BackupServices = { database: Database; storage: Storage };

export type BackupOptions = {
  path: string;
  /** The version of Formloom, for the manifest. */
  version: string;
  /** Encrypts the whole backup. */
  passphrase?: string | undefined;
  /** The instance key, if the backup includes it. */
  key?: string | undefined;
  /** Bytes that stay free on the disk of the backup. */
  leastRoom?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type BackupMade = {
  path: string;
  tables: number;
  rows: number;
  files: number;
  bytes: number;
  /** The files that are missing or incomplete in storage. They were lost before this backup. */
  missing: string[];
};

/** A table is split into entries of this size, since an entry states its length before its first byte. */
const partBytes = 4 * 1024 * 1024;

/**
 * Writes everything in an instance to one file while it serves: first the tables from one snapshot of
 * PostgreSQL, then the files that they name. Files are stored before they are named and never change, so
 * everything that was acknowledged before the backup began is in it. Rows are read by COPY; no other program
 * is needed.
 * @throws BackupError, and leaves no file.
 */
export async function makeBackup(context: BackupServices, options: BackupOptions): Promise<BackupMade> {
  const readers: Reader[] = [];
  let result: BackupMade | undefined;
  try {
    await beginReading(context.database, readers);
    await writeArchive(
      options.path,
      options.passphrase,
      async (archive) => {
        result = await fillArchive(context, readers, archive, options);
      },
      options,
    );
    return result!;
  } finally {
    // The connections are not reused, because their state is not known.
    for (const { pool, client } of readers) {
      client.release(true);
      void pool.end();
    }
  }
}

/** Returns the manifest of a backup: the part that instances and workspaces share, and the given parts. */
export async function createManifest(
  client: PoolClient,
  version: string,
  parts: Pick<ArchiveManifest, 'tables'> & Partial<Pick<ArchiveManifest, 'cells' | 'workspace'>>,
): Promise<ArchiveManifest> {
  return {
    format: 1,
    version,
    made_at: now().toISOString(),
    migrations: await selectMigrations(client, {}),
    key_fingerprint: onlyRow(await selectKeyFingerprint(client, {}))?.key_fingerprint ?? null,
    ...parts,
  };
}

/**
 * A connection that reads. The first one reads all tables of the database; each other one reads those of a
 * cell on a cluster node.
 */
type Reader = { cell: string; pool: Database; client: PoolClient };

/**
 * Begins a snapshot on each reader. A cluster has no snapshot across nodes, so writes to `users` are blocked
 * while the snapshots begin. Every member in a cell is then known to the instance. No cell moves until the
 * backup ends.
 */
async function beginReading(database: Database, readers: Reader[]): Promise<void> {
  const [first, ...others] = cellsOf(database) as [Cell, ...Cell[]];
  const away = others.filter(({ place }) => place);
  for (const { name, database: own } of [first, ...away]) {
    // The first row of a large table can take a long time.
    const pool = openLongQueryPool(own, 1);
    readers.push({ cell: name, pool, client: await pool.connect() });
  }
  const begin = async (): Promise<void> => {
    for (const { client } of readers) {
      await client.query('begin isolation level repeatable read, read only');
      // No timeouts: a large table takes a long time to read, and no statement runs while a large file is
      // written.
      await client.query(
        `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; ${hideShardsSql}; select`,
      );
    }
  };
  await readers[0]!.client.query('select pg_advisory_lock_shared($1)', [schemaReadLock]);
  if (away.length === 0) return begin();
  await transaction(database, async (holder) => {
    await holder.query('lock table users in share mode');
    await begin();
  });
}

async function fillArchive(
  context: BackupServices,
  readers: readonly Reader[],
  archive: ArchiveWriter,
  { path, version, key }: BackupOptions,
): Promise<BackupMade> {
  const { client } = readers[0]!;
  const addText = (name: string, text: string) =>
    archive.add(name, Buffer.byteLength(text), Buffer.from(text));
  const cells = await otherCells(client);
  const schemas = { cells: cells.map(({ schema_name }) => schema_name) };
  const tables = await selectTables(client, schemas);
  const more = cells.length > 0 ? { cells } : {};
  await addText(
    entryNames.manifest,
    JSON.stringify(await createManifest(client, version, { tables, ...more })),
  );
  if (key !== undefined) await addText(entryNames.key, key);
  const rows: ArchiveTrailer['rows'] = {};
  for (const table of tables) {
    const cell = cells.find(({ schema_name }) => table.name.startsWith(`${schema_name}.`));
    const reader = readers.find((each) => each.cell === cell?.name);
    // On its node, a cell's tables are on the search path.
    const query = copyTableOutSql(
      reader ? { ...table, name: table.name.slice(cell!.schema_name.length + 1) } : table,
    );
    rows[table.name] = await addTable((reader ?? readers[0]!).client, archive, table.name, query);
  }
  const sequences = await selectSequences(client, schemas);
  const { missing, ...files } = await addFiles(context, storedAt(readers, cells), archive);
  const ending: ArchiveTrailer = { rows, sequences, ...files };
  await addText(entryNames.ending, JSON.stringify(ending));
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return { path, tables: tables.length, rows: total, ...files, missing };
}

/**
 * Adds the rows of a COPY to the archive.
 * @returns the number of rows.
 */
export async function addTable(
  client: PoolClient,
  archive: ArchiveWriter,
  name: string,
  query: string,
): Promise<number> {
  const copy = client.query(copyTo(query));
  let part = 0;
  let waiting: Buffer[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    part += 1;
    await archive.add(`tables/${name}/${part}`, size, Readable.from(waiting));
    waiting = [];
    size = 0;
  };
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    waiting.push(chunk);
    size += chunk.length;
    if (size >= partBytes) await flush();
  }
  if (size > 0) await flush();
  return countCopiedRows(client, copy);
}

type StoredFile = { key: string; size: number };

/** Lists the files and images of all cells. */
async function* storedAt(
  readers: readonly Reader[],
  cells: Awaited<ReturnType<typeof otherCells>>,
): AsyncGenerator<StoredFile> {
  const { client } = readers[0]!;
  const { schema_name: home, path } = onlyRow(await findSessionSchema(client, {}))!;
  const local = cells.filter(({ name }) => !readers.some(({ cell }) => cell === name));
  for (const each of [path, ...local.map(({ schema_name }) => formatSearchPath(schema_name, home))]) {
    await setSearchPath(client, { path: each });
    yield* listStoredFiles(client);
  }
  for (const { client: there } of readers.slice(1)) yield* listStoredFiles(there);
}

/** Lists the stored files of all workspaces, or of one. */
export async function* listStoredFiles(db: Queryable, workspaceId?: string): AsyncGenerator<StoredFile> {
  yield* listReceivedFiles(db, workspaceId);
  yield* await listStoredImages(db, workspaceId);
}

export async function addFiles(
  { storage, database }: BackupServices,
  stored: AsyncIterable<StoredFile>,
  archive: ArchiveWriter,
): Promise<{ files: number; bytes: number; missing: string[] }> {
  const done = { files: 0, bytes: 0, missing: [] as string[] };
  const put = async (key: string, size: number, content: Readable | Buffer): Promise<void> => {
    await archive.add(`files/${key}`, size, content);
    done.files += 1;
    done.bytes += size;
  };
  const add = async ({ key, size }: { key: string; size: number }): Promise<void> => {
    const content = await storage.open(key);
    if (!content) {
      done.missing.push(key);
      return;
    }
    const whole = exactly(content, size, () => void done.missing.push(key));
    await put(key, size, size === 0 ? await buffer(whole) : Readable.from(whole, { objectMode: false }));
  };
  for await (const file of stored) await add(file);
  // Files that were deleted since the snapshot are not lost: nothing refers to them any more.
  const stillNamed = done.missing.length > 0 ? new Set(await findInAllCells(database, keysOf)) : new Set();
  return { ...done, missing: done.missing.filter((key) => stillNamed.has(key)) };
}

const zeros = Buffer.alloc(64 * 1024);

/**
 * Yields exactly `size` bytes of a file, since an entry states its length before its first byte. Zeros
 * replace bytes that are lost.
 */
async function* exactly(content: Readable, size: number, onLoss: () => void): AsyncGenerator<Buffer> {
  let left = size;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      yield chunk.subarray(0, Math.max(left, 0));
      left -= chunk.length;
    }
  } catch (error) {
    // If a disk cannot read a file now, it never will. A bucket may return it for the next backup.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
  if (left !== 0) onLoss();
  for (; left > 0; left -= zeros.length) yield zeros.subarray(0, left);
}

function keysOf(db: Queryable): Promise<string[]> {
  return Array.fromAsync(listStoredFiles(db), ({ key }) => key);
}
