import { type Database, databaseOf, isSilent, isUnavailable, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only, type Queryable, statement } from '#kit/statement.ts';
import { type Cell, cellsOf } from './cells.ts';

/** Whether a cell has a workspace, a form (the 16 bytes of its id) or an API key (the 32 of its hash). */
const findHere = statement(
  'cells.find_here',
  'id:bytes',
  'is_here:boolean',
  `/* lookup: across workspaces */
   with given as materialized (
     select case when length($id) = 16 then encode($id, 'hex')::uuid end as uuid)
   select exists (select from workspaces where id = (select uuid from given))
       or exists (select from form_lookup where form_id = (select uuid from given))
       or exists (select from api_key_lookup where hash = $id) as is_here`,
);

/** A node that was waited for in vain is not asked again before: one request may have several questions. */
const restMs = 1_000;

/** Whether an error says that a cell, or the database, does not answer now. */
export const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable');

/** Asks a cell that may be away. @throws at once where its node was silent a moment ago. */
async function askCell<Result>(
  cell: Cell,
  question: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (performance.now() < cell.restsUntil)
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
  try {
    return await question(cell.database);
  } catch (error) {
    if (cell.place && isSilent(error)) cell.restsUntil = performance.now() + restMs;
    throw error;
  }
}

/** Finds the cells at nodes that do not answer. @param patience how long one may take, in ms. */
export async function findCellsAway(database: Database, patience?: number): Promise<Cell[]> {
  const cells = cellsOf(database).filter(({ place }) => place);
  const asked = await Promise.allSettled(
    cells.map((cell) =>
      within(
        patience,
        askCell(cell, (there) => there.query('select 1')),
      ),
    ),
  );
  return cells.filter((_, index) => asked[index]!.status === 'rejected');
}

/** Waits for something no longer than so many milliseconds. */
function within<Result>(ms: number | undefined, answer: Promise<Result>): Promise<Result> {
  if (ms === undefined) return answer;
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('It took too long.')), ms).unref();
    answer.then(resolve, reject);
  });
}

/**
 * Asks each cell the same question, that of a client within its transaction, and returns the rows of all.
 * @param options.isPartial passes over nodes that do not answer, where something is better than nothing.
 * @param options.order of the rows of several cells.
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
    if (isPartial && cells[index]!.place && isAway(part.reason)) return [];
    throw part.reason;
  });
  return order && cells.length > 1 ? found.toSorted(order) : found;
}

/** The order of rows whose ids say when they were made. */
export const newestFirst = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? 1 : -1);

/** The bytes by which a cell is asked for a workspace or a form. */
export const bytesOfId = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const absent = new Error('It is not there.');

/**
 * Finds the cell of a workspace, a form (bytesOfId) or an API key (its hash). All cells are asked at once, and the first that has it
 * answers. If no cell has it, the first cell is returned, and its query finds nothing. An instance of one cell runs no query.
 * @throws where a node is away, whose cell may have it.
 */
export async function cellWith(database: Database, id: Buffer): Promise<Database> {
  const cells = cellsOf(database);
  if (cells.length === 1) return database;
  const asked = cells.map(async (cell) => {
    const found = await askCell(cell, (there) => findHere(there, { id }));
    if (!only(found)!.is_here) throw absent;
    return cell.database;
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    const lost = (error as AggregateError).errors.find((each) => each !== absent);
    if (lost) throw lost;
    return cells[0]!.database;
  }
}

/** Finds the cell of a workspace: see cellWith. */
export const cellOfWorkspace = (database: Database, workspaceId: string): Promise<Database> =>
  cellWith(database, bytesOfId(workspaceId));

/**
 * Works in the cell of a workspace: in the caller's transaction if that is of the same cell, otherwise in a transaction of its own, which
 * is committed first.
 */
export async function inCellOf<Result>(
  db: Queryable,
  workspaceId: string,
  work: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  const own = databaseOf(db);
  const database = await cellOfWorkspace(own, workspaceId);
  return database === own ? work(db) : transaction(database, work);
}

/**
 * Works in each cell: in the caller's cell in its transaction, in each other one in a transaction of its own, which is committed first.
 * @param options.isPartial passes over nodes that do not answer.
 */
export async function inEachCell(
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
      if (!isPartial || !cell.place || !isAway(error)) throw error;
    }
  }
  await work(db);
}

/**
 * Works while a transaction is open in each cell beside the first. They are committed after the work is done.
 * @param work gets the clients of these transactions.
 */
export function whileInCells<Result>(
  database: Database,
  work: (others: readonly Queryable[]) => Promise<Result>,
): Promise<Result> {
  const open = ([cell, ...further]: readonly Cell[], clients: readonly Queryable[]): Promise<Result> =>
    cell
      ? askCell(cell, (there) => transaction(there, (client) => open(further, [...clients, client])))
      : work(clients);
  return open(cellsOf(database).slice(1), []);
}
