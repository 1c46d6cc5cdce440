import { type Database, databaseOf, homeOf, transaction } from '../database.ts';
import type { Queryable } from '../statement.ts';
import { cellOfWorkspace } from './cell-with.ts';
import {
  askCell,
  awayAfter,
  type Cell,
  cellOf,
  cellsOf,
  cellsOnServers,
  instanceOf,
  isApart,
  ofFirstServer,
  poolOf,
} from './cells.ts';
import { setPath } from './queries.ts';
import { isAway, restMs } from './servers/server.ts';

/** Where all cells of the first server are read together, and nothing is written: where there is one, there. */
const everywhere = (db: Queryable): Queryable => instanceOf(db)?.everywhere ?? homeOf(db);

/** What has all cells of the first server in one statement is waited for so long, where a node of a cluster may be away. */
const patienceMs = 500;

/**
 * What is found in the cells of the first server, in their order: as one part, or in a part for each.
 * @param isPartial on a cluster whether cells of a node that does not answer are passed over: Citus refuses the one statement for all
 * then, and each cell is asked for itself.
 */
export async function findInCellsHere<Row>(
  db: Queryable,
  find: (db: Queryable) => Promise<readonly Row[]>,
  isPartial: boolean,
): Promise<(readonly Row[])[]> {
  const instance = instanceOf(db);
  if (!isPartial || !instance?.cells.some(({ asker }) => asker)) return [await find(everywhere(db))];
  if (performance.now() >= instance.apartUntil)
    try {
      return [await Promise.race([find(everywhere(db)), awayAfter(patienceMs)])];
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  return Promise.all(
    ofFirstServer(instance).map((cell) =>
      askCell(cell, find).catch((error: unknown) => {
        if (!isApart(cell) || !isAway(error)) throw error;
        instance.apartUntil = performance.now() + restMs;
        return [];
      }),
    ),
  );
}

/** The cells that do not answer though the first one may, each asked for itself. @param patience how long one may take, in ms. */
export async function findCellsAway(database: Database, patience?: number): Promise<Cell[]> {
  const cells = cellsOf(database).filter(isApart);
  const asked = await Promise.allSettled(
    cells.map((cell) => {
      const answer = askCell(cell, (there) => there.query('select 1'));
      return patience === undefined ? answer : Promise.race([answer, awayAfter(patience)]);
    }),
  );
  return cells.filter((_, index) => asked[index]!.status === 'rejected');
}

/**
 * What is found in all cells, those of the first server together and in their order, then those of each other one.
 * @param options.isPartial passes over servers and nodes that do not answer, where something is better than nothing; else nobody can say.
 * @param options.order of what was found on several.
 */
export async function findInAllCells<Row>(
  db: Queryable,
  find: (db: Queryable) => Promise<readonly Row[]>,
  { isPartial = false, order }: { isPartial?: boolean; order?: (a: Row, b: Row) => number } = {},
): Promise<Row[]> {
  const others = cellsOnServers(db).map(({ server }) => server!.ask(find));
  const [here, ...there] = await Promise.allSettled([findInCellsHere(db, find, isPartial), ...others]);
  if (here.status === 'rejected') throw here.reason;
  const elsewhere = there.flatMap((each) => {
    if (each.status === 'fulfilled') return [each.value];
    if (isPartial && isAway(each.reason)) return [];
    throw each.reason;
  });
  const parts = [...here.value, ...elsewhere];
  const found = parts.flat();
  return order && parts.length > 1 ? found.toSorted(order) : found;
}

/** The order of rows whose ids say when they were made. */
export const newestFirst = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? 1 : -1);

/**
 * Does something in the cell of a workspace, in the transaction of the caller where there is one; on another server than the caller's in
 * one of its own, which is committed first.
 */
export async function inCellOf<Result>(
  db: Queryable,
  workspaceId: string,
  work: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  const instance = instanceOf(db);
  if (!instance || instance.cells.length === 1) return work(db);
  const database = await cellOfWorkspace(instance.first, workspaceId);
  const own = databaseOf(db);
  if (own === db) return work(database);
  if (own === database) return work(db);
  if (homeOf(own) !== own || homeOf(database) !== database) return transaction(database, work);
  await setPath(db, { path: pathOfCell(database) });
  const result = await work(db);
  await setPath(db, { path: pathOfCell(own) });
  return result;
}

/**
 * Does something in each cell: in those of the first server as inEachCellHere, and on each other one in a transaction of its own, which is
 * committed before.
 */
export async function inEachCell(db: Queryable, work: (db: Queryable) => Promise<void>): Promise<void> {
  for (const cell of cellsOnServers(db)) await transaction(poolOf(cell), work);
  await inEachCellHere(db, work);
}

/** Does something while a transaction is open on each other server. They are committed when it is done. */
export function whileOnServers<Result>(
  db: Queryable,
  work: (servers: readonly Queryable[]) => Promise<Result>,
): Promise<Result> {
  const open = ([cell, ...further]: readonly Cell[], clients: readonly Queryable[]): Promise<Result> =>
    cell ? transaction(poolOf(cell), (client) => open(further, [...clients, client])) : work(clients);
  return open(cellsOnServers(db), []);
}

/**
 * Does something in each cell of the first server, in one transaction: that of the caller, or one for it. Where there is one cell it is
 * done there, as if this were not here.
 * @param isMeant in which of them.
 */
export async function inEachCellHere(
  db: Queryable,
  work: (db: Queryable) => Promise<void>,
  isMeant: (cell: Cell) => boolean = () => true,
): Promise<void> {
  const instance = instanceOf(db);
  const here = homeOf(db);
  if (!instance || instance.cells.length === 1) return work(here);
  if (here === databaseOf(here)) return transaction(here, (client) => inEachCellHere(client, work, isMeant));
  for (const { path } of ofFirstServer(instance).filter(isMeant)) {
    await setPath(here, { path });
    await work(here);
  }
  await setPath(here, { path: pathOfCell(databaseOf(here)) });
}

const pathOfCell = (database: Database): string => cellOf(database)!.path;
