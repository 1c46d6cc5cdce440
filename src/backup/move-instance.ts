import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { sayCount } from '#ast/basics/say-count.ts';
import { migrateCells, otherCells } from '#cells/cells.ts';
import { hideShards } from '#cells/citus.ts';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { findInstance } from '#kit/instance-key.ts';
import { findPending, readMigrations } from '#kit/migrate.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import {
  BackupError,
  countOf,
  fillTable,
  identifier,
  inOurs,
  isUsed,
  listed,
  nameOf,
  refillTables,
  requireCells,
  selectTables,
  type Table,
} from './fill-table.ts';
import { requireStopped } from './restore-backup.ts';

/** Where each sequence stands; null: it was never asked. */
export const selectSequences = statement(
  'backup.select_sequences',
  'cells',
  'name last_value?',
  `select ${nameOf('schemaname', 'sequencename')} as name, last_value
     from pg_sequences where ${inOurs('schemaname')} order by 1`,
);

export const copyOut = (table: Table): string =>
  // A select, since the tables of a cell at a node are views there.
  `copy (select ${listed(table)} from ${identifier(table.name)}) to stdout`;

/** Returns where this database was moved to; null if it was not. */
const findMove = statement(
  'backup.find_move',
  '',
  'key_fingerprint moved_to? moved_at?',
  `select key_fingerprint, moved_to, moved_at from instance`,
);

/** Says where this database was moved to, or, with nulls, that it stays after all. */
const markMove = statement(
  'backup.mark_move',
  'moved_to? moved_at?',
  'key_fingerprint',
  `update instance set moved_to = $moved_to, moved_at = $moved_at returning key_fingerprint`,
);

/** Who would start on this database waits for the end of the transaction, and looks then whether it was moved. */
const lockInstance = 'lock table instance in access exclusive mode';

type MoveContext = {
  /** Both without limits of time, and named as what restores (openDatabase): others on them are a service. */
  from: Database;
  to: Database;
  /** Where the second one is, for a person. */
  place: string;
  /** Hears how far it is. */
  tell: (line: string) => void;
};

type Marks = Awaited<ReturnType<typeof findMove>>[0];

export type Moved = { moved_to: string; tables: number; rows: number };

/** So often a table that takes long says how far it is. */
const tellMs = 5_000;

/** What the second one says until the first one says where it went: in place of where that one is. */
const awaited = 'where it comes from (a move to here was broken off: make it again)';

/**
 * Brings a whole database into another one: all rows of one moment, from one COPY into the other, in one transaction.
 * Files and the key stay where they are. In the end the first one says where it went, so that nobody goes on in both; a
 * move back takes its place again. Killed at any moment it may be made again: the rows are committed there as those of an
 * instance that goes on here, which are of no use but to be replaced, until it is noted here that it goes on there.
 * @throws BackupError with the remedy, where a service runs on either, or the second is in use.
 */
export async function moveInstance({ from, to, place, tell }: MoveContext): Promise<Moved> {
  const migrations = await readMigrations();
  if ((await findPending(from, migrations)).length > 0) {
    throw new BackupError(
      'The database is of an earlier version. Start this version on it once, which migrates it, and move it then.',
    );
  }
  const source = await from.connect();
  try {
    await source.query('begin isolation level repeatable read');
    await source.query(hideShards);
    await source.query(lockInstance);
    const instance = await requireMovable(source, to);
    if (instance.moved_to) {
      tell('All rows were there already.');
      await markMove(to, { moved_to: null, moved_at: null });
      return { moved_to: place, tables: 0, rows: 0 };
    }
    await requireFree(to, instance.key_fingerprint);
    const cells = await otherCells(source);
    const schemas = cells.map(({ schema_name }) => schema_name);
    await migrateCells(to, migrations);
    await requireCells(
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
          rows: await copyTables(source, client, tables, tell),
          sequences: await selectSequences(source, { cells: schemas }),
        }),
      });
      await client.query('analyze');
      await markMove(client, { moved_to: awaited, moved_at });
      return done;
    });
    await markMove(source, { moved_to: place, moved_at });
    await source.query('commit');
    await markMove(to, { moved_to: null, moved_at: null });
    return { moved_to: place, tables: tables.length, rows };
  } finally {
    // Whatever happened on it, it is not used again.
    source.release(true);
  }
}

/** Takes back that a database was moved: whoever starts on it goes on with what it holds. @throws BackupError where it was not. */
export async function stayInPlace(database: Database): Promise<{ stayed: true; was_moved_to: string }> {
  const moved = await findMoved(database);
  if (!moved?.moved_to) throw new BackupError('This database was not moved.');
  await markMove(database, { moved_to: null, moved_at: null });
  return { stayed: true, was_moved_to: moved.moved_to };
}

/** Returns where a database was moved to, or undefined if it is empty. */
export const findMoved = async (db: Queryable): Promise<Marks | undefined> =>
  (await isMade(db)) ? only(await findMove(db, {})) : undefined;

const isMade = async (db: Queryable): Promise<boolean> => only(await findInstance(db, {}))!.is_there;

/** Of one that was moved already only the very move there can be made again: it was broken off before that one was told. */
async function requireMovable(source: PoolClient, to: Database): Promise<Marks> {
  await requireStopped(source);
  const instance = only(await findMove(source, {}));
  if (!instance) throw new BackupError('There is nothing to move yet: nobody has used this instance.');
  if (!instance.moved_to) return instance;
  const there = await findMoved(to);
  if (there?.moved_to === awaited && there.moved_at?.getTime() === instance.moved_at?.getTime())
    return instance;
  throw new BackupError(`This database was moved to ${instance.moved_to} already.`);
}

/** What an instance left when it was moved away is free for its return. @throws BackupError */
async function requireFree(db: Queryable, fingerprint: string): Promise<void> {
  await requireStopped(db, 'the database that this one is to be moved to');
  if (!(await isMade(db)) || !(await isUsed(db))) return;
  const there = only(await findMove(db, {}));
  if (there?.moved_to && there.key_fingerprint === fingerprint) return;
  throw new BackupError(
    'The database that this one is to be moved to is in use. Name an empty one, such as `create database` makes.',
  );
}

async function copyTables(
  source: PoolClient,
  target: PoolClient,
  tables: readonly Table[],
  tell: (line: string) => void,
): Promise<number> {
  let total = 0;
  for (const [index, table] of tables.entries()) {
    const out = source.query(copyTo(copyOut(table)));
    const filling = fillTable(target, table);
    try {
      await filling.pour(told(out, `${table.name} (table ${index + 1} of ${tables.length})`, tell));
    } catch (error) {
      await filling.giveUp();
      throw error;
    }
    const [rows, had] = [await filling.end(), await countOf(source, out)];
    if (rows !== had)
      throw new BackupError(`${table.name} has ${sayCount(had, 'row')}, and ${rows} of them arrived.`);
    if (rows > 0) tell(`${table.name}: ${sayCount(rows, 'row')}`);
    total += rows;
  }
  return total;
}

/** The bytes as they come; every now and then how many there were. */
async function* told(
  bytes: AsyncIterable<Buffer>,
  name: string,
  tell: (line: string) => void,
): AsyncGenerator<Buffer> {
  let size = 0;
  let next = now().getTime() + tellMs;
  for await (const chunk of bytes) {
    size += chunk.length;
    yield chunk;
    if (now().getTime() < next) continue;
    next = now().getTime() + tellMs;
    tell(`${name}: ${Math.round(size / 1_000_000)} MB so far`);
  }
}
