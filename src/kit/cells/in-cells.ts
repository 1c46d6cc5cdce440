import { type Database, databaseOf, homeOf, transaction } from '../database.ts';
import type { Queryable } from '../statement.ts';
import { cellOfWorkspace } from './cell-with.ts';
import { type Cell, cellsOnServers, type Instance, instanceOf, ofFirstServer, poolOf } from './cells.ts';
import { setPath } from './queries.ts';
import { isAway } from './servers/server.ts';

/** Where all cells of the first server are read together, and nothing is written: where there is one, there. */
export const everywhere = <Db extends Queryable>(db: Db): Db | Database =>
  instanceOf(db)?.everywhere ?? homeOf(db);

/**
 * What is found in all cells, those of the first server together and in their order, then those of each other one.
 * @param options.isPartial passes over servers that do not answer, where something is better than nothing; else nobody can say.
 * @param options.order of what was found on several.
 */
export async function findInAllCells<Row>(
  db: Queryable,
  find: (db: Queryable) => Promise<readonly Row[]>,
  { isPartial = false, order }: { isPartial?: boolean; order?: (a: Row, b: Row) => number } = {},
): Promise<Row[]> {
  const others = cellsOnServers(db).map(({ server }) => server!.ask(find));
  const [here, ...there] = await Promise.allSettled([find(everywhere(db)), ...others]);
  if (here.status === 'rejected') throw here.reason;
  const found = [here, ...there].flatMap((each) => {
    if (each.status === 'fulfilled') return each.value;
    if (isPartial && isAway(each.reason)) return [];
    throw each.reason;
  });
  return order && there.length > 0 ? found.toSorted(order) : found;
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
  await setPath(db, { path: pathIn(instance, database) });
  const result = await work(db);
  await setPath(db, { path: pathIn(instance, own) });
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
 */
export async function inEachCellHere(db: Queryable, work: (db: Queryable) => Promise<void>): Promise<void> {
  const instance = instanceOf(db);
  const here = homeOf(db);
  if (!instance || instance.cells.length === 1) return work(here);
  if (here === databaseOf(here)) return transaction(here, (client) => inEachCellHere(client, work));
  for (const { path } of ofFirstServer(instance)) {
    await setPath(here, { path });
    await work(here);
  }
  await setPath(here, { path: pathIn(instance, databaseOf(here)) });
}

const pathIn = (instance: Instance, database: Database): string =>
  instance.cells.find((cell) => cell.database === database)!.path;
