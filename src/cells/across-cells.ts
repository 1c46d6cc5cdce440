import {
  type Database,
  databaseOf,
  isDatabaseTimeout,
  isUnavailableError,
  transaction,
} from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { type Cell, cellsOf } from './cells.ts';

/** Finds whether a cell has a workspace, a form (the 16 bytes of its ID) or an API key (its 32-byte hash). */
const findHere = statement('id:bytes', 'is_here:boolean')`
  /* lookup: across workspaces */
  with given as materialized (
    select case when length($id) = 16 then encode($id, 'hex')::uuid end as uuid)
  select exists (select from workspaces where id = (select uuid from given))
      or exists (select from form_lookup where form_id = (select uuid from given))
      or exists (select from api_key_lookup where hash = $id) as is_here`;

/** For how long a node that timed out is not queried again. One request can have several queries. */
const restMs = 1_000;

/** Returns whether an error means that a cell or the database is unavailable. */
export const isCellUnavailable = (error: unknown): boolean =>
  isUnavailableError(error) || (error instanceof ApiError && error.code === 'service_unavailable');

/**
 * Queries a cell that can be unavailable.
 * @throws immediately if its node timed out a moment ago.
 */
async function askCell<Result>(
  cell: Cell,
  question: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (performance.now() < cell.restsUntil)
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
  try {
    return await question(cell.database);
  } catch (error) {
    if (cell.place && isDatabaseTimeout(error)) cell.restsUntil = performance.now() + restMs;
    throw error;
  }
}

/**
 * Finds the cells on nodes that do not answer.
 * @param patience the timeout of each node, in ms.
 */
export async function findUnavailableCells(database: Database, patience?: number): Promise<Cell[]> {
  const cells = cellsOf(database).filter(({ place }) => place);
  const checks = await Promise.allSettled(
    cells.map((cell) =>
      within(
        patience,
        askCell(cell, (there) => there.query('select 1')),
      ),
    ),
  );
  return cells.filter((_, index) => checks[index]!.status === 'rejected');
}

/** Waits for a promise, with a timeout. */
function within<Result>(ms: number | undefined, answer: Promise<Result>): Promise<Result> {
  if (ms === undefined) return answer;
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('The cell did not respond in time.')), ms).unref();
    answer.then(resolve, reject);
  });
}

/**
 * Runs a query in every cell, in the caller's transaction for its own cell, and returns all rows.
 * @param options.isPartial skips nodes that do not answer, if partial results are acceptable.
 * @param options.order sorts the rows of several cells.
 */
export async function findInAllCells<Row>(
  db: Queryable,
  find: (db: Queryable) => Promise<readonly Row[]>,
  { isPartial = false, order }: { isPartial?: boolean; order?: (a: Row, b: Row) => number } = {},
): Promise<Row[]> {
  const cells = cellsOf(db);
  const own = databaseOf(db);
  const parts = await Promise.allSettled(
    cells.map((cell) => (cell.database === own ? find(db) : askCell(cell, find))),
  );
  const found = parts.flatMap((part, index) => {
    if (part.status === 'fulfilled') return part.value;
    if (isPartial && cells[index]!.place && isCellUnavailable(part.reason)) return [];
    throw part.reason;
  });
  return order && cells.length > 1 ? found.toSorted(order) : found;
}

/** Orders rows by their time-ordered IDs, newest first. */
export const newestFirst = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? 1 : -1);

/** Returns the bytes of a workspace or form ID for `findHere`. */
export const bytesOfId = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const absent = new Error('Not in this cell.');

/**
 * Finds the cell of a workspace, a form (bytesOfId) or an API key (its hash). Queries all cells at the same
 * time and returns the first that has it. If none has it, returns the first cell, where queries find nothing.
 * An instance with one cell runs no query.
 * @throws if a node that could have it is unavailable.
 */
export async function findCell(database: Database, id: Buffer): Promise<Database> {
  const cells = cellsOf(database);
  if (cells.length === 1) return database;
  const searches = cells.map(async (cell) => {
    const found = await askCell(cell, (there) => findHere(there, { id }));
    if (!onlyRow(found)!.is_here) throw absent;
    return cell.database;
  });
  try {
    return await Promise.any(searches);
  } catch (error) {
    const lost = (error as AggregateError).errors.find((each) => each !== absent);
    if (lost) throw lost;
    return cells[0]!.database;
  }
}

/** Finds the cell of a workspace (see findCell). */
export const cellOfWorkspace = (database: Database, workspaceId: string): Promise<Database> =>
  findCell(database, bytesOfId(workspaceId));

/**
 * Runs work in the cell of a workspace: in the caller's transaction if it is in this cell, otherwise in its
 * own transaction, which commits first.
 */
export async function runInCellOf<Result>(
  db: Queryable,
  workspaceId: string,
  work: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  const own = databaseOf(db);
  const database = await cellOfWorkspace(own, workspaceId);
  return database === own ? work(db) : transaction(database, work);
}

/**
 * Runs work in each cell: in the caller's transaction for its cell, and in a separate transaction for each
 * other cell, which commits first.
 * @param options.isPartial skips nodes that do not answer.
 */
export async function runInEachCell(
  db: Queryable,
  work: (db: Queryable) => Promise<void>,
  { isPartial = false }: { isPartial?: boolean } = {},
): Promise<void> {
  const own = databaseOf(db);
  for (const cell of cellsOf(db)) {
    if (cell.database === own) continue;
    try {
      await askCell(cell, (there) => transaction(there, work));
    } catch (error) {
      if (!isPartial || !cell.place || !isCellUnavailable(error)) throw error;
    }
  }
  await work(db);
}

/**
 * Runs work while a transaction is open in each other cell. They commit after the work.
 * @param work gets the clients of these transactions.
 */
export function runWithCellTransactions<Result>(
  database: Database,
  work: (others: readonly Queryable[]) => Promise<Result>,
): Promise<Result> {
  const open = ([cell, ...further]: readonly Cell[], clients: readonly Queryable[]): Promise<Result> =>
    cell
      ? askCell(cell, (there) => transaction(there, (client) => open(further, [...clients, client])))
      : work(clients);
  return open(cellsOf(database).slice(1), []);
}
