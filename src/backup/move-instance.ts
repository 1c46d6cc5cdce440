import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { formatCount } from '#ast/basics/format-number.ts';
import { migrateCells, otherCells } from '#cells/cells.ts';
import { hideShardsSql } from '#cells/citus.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { findInstanceTable } from '#kit/instance-key.ts';
import { findPendingMigrations, readMigrations } from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import {
  BackupError,
  columnList,
  countCopiedRows,
  createCellsOfInstance,
  inInstanceSchemasSql,
  isInstanceUsed,
  quoteQualifiedName,
  refillTables,
  selectTables,
  startTableCopy,
  type Table,
  tableNameSql,
} from './fill-table.ts';
import { requireServiceStopped } from './restore-backup.ts';

/** Selects the last value of each sequence; null if it was never used. */
export const selectSequences = statement('cells', 'name last_value?')`
  select ${tableNameSql('schemaname', 'sequencename')} as name, last_value
    from pg_sequences where ${inInstanceSchemasSql('schemaname')} order by 1`;

export const copyTableOutSql = (table: Table): string =>
  // Uses a select, because the tables of a cell are views on its cluster node.
  `copy (select ${columnList(table)} from ${quoteQualifiedName(table.name)}) to stdout`;

/** Returns where this database was moved to; null if it was not. */
const findMove = statement('', 'key_fingerprint moved_to? moved_at?')`
  select key_fingerprint, moved_to, moved_at from instance`;

/** Records where this database was moved to, or, with nulls, that it is in use here. */
const markMove = statement('moved_to? moved_at?', 'key_fingerprint')`
  update instance set moved_to = $moved_to, moved_at = $moved_at returning key_fingerprint`;

/**
 * A process that starts on this database waits for the end of the transaction, and then checks whether the
 * database was moved.
 */
const lockInstance = 'lock table instance in access exclusive mode';

type MoveContext = {
  /**
   * Both databases are opened without timeouts, and their sessions are named as those of a restore
   * (openDatabase). Sessions with other names belong to a service.
   */
  from: Database;
  to: Database;
  /** A description of the target database for messages. */
  place: string;
  /** Reports progress. */
  report: (line: string) => void;
};

type Marks = Awaited<ReturnType<typeof findMove>>[0];

export type MoveResult = { moved_to: string; tables: number; rows: number };

/** How often progress is reported while a table takes a long time, in milliseconds. */
const progressMs = 5_000;

/**
 * The location that the target records until the source records the move. Until then, the target cannot be
 * used.
 */
const pendingMoveTarget = 'its source (a move to this database was interrupted; run it again)';

/**
 * Moves a whole database into another one: all rows of one snapshot, copied by COPY in one transaction. Files
 * and the key stay where they are. At the end, the source records where it was moved to, so that the two are
 * never in use at the same time. A later move back can replace the source's data. A move that was killed can
 * be run again. Until the source records the move, the target is marked as moved too, and its rows can only
 * be replaced.
 * @throws BackupError with the remedy, if a service runs on either database or the target is in use.
 */
export async function moveInstance({ from, to, place, report }: MoveContext): Promise<MoveResult> {
  const migrations = await readMigrations();
  if ((await findPendingMigrations(from, migrations)).length > 0)
    throw new BackupError(
      'The database was last used by an earlier version. Start this version with it once to migrate it, then move it.',
    );
  const source = await from.connect();
  try {
    await source.query('begin isolation level repeatable read');
    await source.query(hideShardsSql);
    await source.query(lockInstance);
    const instance = await requireMovable(source, to);
    if (instance.moved_to) {
      report('An earlier run had already copied all rows.');
      await markMove(to, { moved_to: null, moved_at: null });
      return { moved_to: place, tables: 0, rows: 0 };
    }
    await requireFree(to, instance.key_fingerprint);
    const cells = await otherCells(source);
    const schemas = cells.map(({ schema_name }) => schema_name);
    await migrateCells(to, migrations);
    await createCellsOfInstance(
      to,
      cells.map(({ name }) => name),
      migrations,
    );
    const tables = await selectTables(source, { cells: schemas });
    const moved_at = now();
    const { rows } = await transaction(to, async (client) => {
      const done = await refillTables(client, {
        tables,
        cells: schemas,
        requireFree: () => requireFree(client, instance.key_fingerprint),
        fill: async () => ({
          rows: await copyTables(source, client, tables, report),
          sequences: await selectSequences(source, { cells: schemas }),
        }),
      });
      await client.query('analyze');
      await markMove(client, { moved_to: pendingMoveTarget, moved_at });
      return done;
    });
    await markMove(source, { moved_to: place, moved_at });
    await source.query('commit');
    await markMove(to, { moved_to: null, moved_at: null });
    return { moved_to: place, tables: tables.length, rows };
  } finally {
    // The connection is not reused, because its state is not known.
    source.release(true);
  }
}

/**
 * Undoes the record of a move: the service starts on this database again, with the data that it contains.
 * @throws BackupError if the database was not moved.
 */
export async function undoInstanceMove(database: Database): Promise<{ stayed: true; was_moved_to: string }> {
  const moved = await findMoveRecord(database);
  if (!moved?.moved_to) throw new BackupError('This database was not moved.');
  await markMove(database, { moved_to: null, moved_at: null });
  return { stayed: true, was_moved_to: moved.moved_to };
}

/** Returns where a database was moved to, or undefined if it is empty. */
export const findMoveRecord = async (db: Queryable): Promise<Marks | undefined> =>
  (await isMade(db)) ? onlyRow(await findMove(db, {})) : undefined;

const isMade = async (db: Queryable): Promise<boolean> => onlyRow(await findInstanceTable(db, {}))!.is_there;

/**
 * Refuses a source that was already moved. A move can be run again only to the same target, if it was killed
 * before the target was updated.
 */
async function requireMovable(source: PoolClient, to: Database): Promise<Marks> {
  await requireServiceStopped(source);
  const instance = onlyRow(await findMove(source, {}));
  if (!instance) throw new BackupError('There is nothing to move: this instance has not been used yet.');
  if (!instance.moved_to) return instance;
  const there = await findMoveRecord(to);
  if (there?.moved_to === pendingMoveTarget && there.moved_at?.getTime() === instance.moved_at?.getTime())
    return instance;
  throw new BackupError(`This database was already moved to ${instance.moved_to}.`);
}

/**
 * Requires a target that is not in use. The data that an instance left when it was moved away can be
 * replaced.
 * @throws BackupError if the target is in use.
 */
async function requireFree(db: Queryable, fingerprint: string): Promise<void> {
  await requireServiceStopped(db, 'the target database');
  if (!(await isMade(db)) || !(await isInstanceUsed(db))) return;
  const there = onlyRow(await findMove(db, {}));
  if (there?.moved_to && there.key_fingerprint === fingerprint) return;
  throw new BackupError(
    'The target database is in use. Use an empty database, such as one made with `create database`.',
  );
}

async function copyTables(
  source: PoolClient,
  target: PoolClient,
  tables: readonly Table[],
  report: (line: string) => void,
): Promise<number> {
  let total = 0;
  for (const [index, table] of tables.entries()) {
    const out = source.query(copyTo(copyTableOutSql(table)));
    const filling = startTableCopy(target, table);
    try {
      await filling.pour(withProgress(out, `${table.name} (table ${index + 1} of ${tables.length})`, report));
    } catch (error) {
      await filling.giveUp();
      throw error;
    }
    const [rows, had] = [await filling.end(), await countCopiedRows(source, out)];
    if (rows !== had)
      throw new BackupError(`${table.name} has ${formatCount(had, 'row')}, but ${rows} were copied.`);
    if (rows > 0) report(`${table.name}: ${formatCount(rows, 'row')}`);
    total += rows;
  }
  return total;
}

/** Yields the bytes unchanged, and reports at intervals how many there were. */
async function* withProgress(
  bytes: AsyncIterable<Buffer>,
  name: string,
  report: (line: string) => void,
): AsyncGenerator<Buffer> {
  let size = 0;
  let next = now().getTime() + progressMs;
  for await (const chunk of bytes) {
    size += chunk.length;
    yield chunk;
    if (now().getTime() < next) continue;
    next = now().getTime() + progressMs;
    report(`${name}: ${Math.round(size / 1_000_000)} MB so far`);
  }
}
