import { type Database, databaseOf, renew, transaction } from '../database.ts';
import type { Whereabouts } from '../find-host.ts';
import { only, type Queryable } from '../statement.ts';
import { findPlaces, type Place } from './citus/places.ts';
import { findHome, findInDirectory, pathOf, selectCells, setPath } from './queries.ts';

/**
 * A cell: a schema with the tenant tables of its workspaces, and the pool whose sessions look there first and then in the
 * schema of the instance (docs/decisions/0078-cells.md).
 */
export type Cell = {
  readonly name: string;
  /** The search path of its sessions. */
  readonly path: string;
  readonly database: Database;
  /** Of a cluster: which node has it. */
  place?: Place | undefined;
};

/** The only cell of an instance, and the first of one that has several. */
export const firstCell = 'default';

/** The schema of views in which each tenant table has the rows of all cells. */
export const everyCell = 'every_cell';

/** What a process knows of the cells of the instance that it works on. */
type Instance = {
  first: Database;
  /** Its schema, which what is of no cell stays in. */
  home: string;
  cells: Cell[];
  /** Reads all cells; undefined while there is one. */
  everywhere: Database | undefined;
  open: (path: string, pool: number, at?: Whereabouts) => Database;
  hearers: Set<(cell: Cell) => void>;
  isLooking: boolean;
};

/** By the pool of each of its cells. A database that nobody registered is an instance of one cell. */
const instances = new WeakMap<Database, Instance>();

const instanceOf = (db: Queryable): Instance | undefined => instances.get(databaseOf(db));

/** Connections of a process to what reads all cells. */
const ofEverywhere = 2;
/** What a process has open to a cell beside its pool: what listens for jobs and for the feed. And once, for keys. */
const listenersOfCell = 2;

/**
 * How many connections a process may have open where there are so many cells. Each has a whole pool: shared out among cells, it made
 * whoever waits for a connection a tenth dearer (measured).
 */
export const connectionsOf = (cells: number, pool: number): number =>
  cells * (pool + listenersOfCell) + 1 + (cells > 1 ? ofEverywhere : 0);

/**
 * Looks which cells the instance at a database has; from then on the functions below know them, and see to the pools of all.
 * @param open opens a pool of its own with a search path, as `database` was opened.
 * @returns what ends the pools of the other cells.
 */
export async function openCells(
  database: Database,
  open: Instance['open'],
): Promise<{ close(): Promise<void> }> {
  const { schema_name: home, path } = only(await findHome(database, {}))!;
  const first: Cell = { name: firstCell, path, database };
  const instance: Instance = {
    first: database,
    home,
    cells: [first],
    everywhere: undefined,
    open,
    hearers: new Set(),
    isLooking: false,
  };
  instances.set(database, instance);
  await refreshCells(database);
  return {
    async close() {
      const others = instance.cells.slice(1).map((cell) => cell.database);
      await Promise.all(others.map((each) => each.end()));
      await instance.everywhere?.end();
    },
  };
}

/** Looks whether there is a cell that was not there before, or one that lies on another node than before. */
export async function refreshCells(database: Database): Promise<void> {
  const instance = instances.get(database);
  if (!instance) return;
  const rows = await selectCells(instance.first, {});
  const places = rows.length > 0 ? await findPlaces(instance.first) : new Map<string, Place>();
  const { cells, home, hearers } = instance;
  // Nothing waits from here on, so that of two who look at once one opens a cell.
  for (const { name, schema_name } of rows) {
    const known = cells.find((cell) => cell.name === name);
    if (known) follow(known, places.get(schema_name));
  }
  const fresh = rows.filter(({ name }) => !cells.some((cell) => cell.name === name));
  if (fresh.length === 0) return;
  for (const { name, schema_name } of fresh) {
    const path = pathOf(schema_name, home);
    const at: Whereabouts = { now: () => cell.place?.host, lost: () => lookAgain(instance) };
    const cell: Cell = {
      name,
      path,
      place: places.get(schema_name),
      database: instance.open(path, instance.first.options.max, at),
    };
    instances.set(cell.database, instance);
    cells.push(cell);
  }
  if (!instance.everywhere) {
    instance.everywhere = instance.open(pathOf(everyCell, home), ofEverywhere);
    instances.set(instance.everywhere, instance);
  }
  for (const cell of cells.slice(-fresh.length)) for (const hear of hearers) hear(cell);
}

/** A cell that was moved is connected to at the node that has it now. */
function follow(cell: Cell, place: Place | undefined): void {
  if (cell.place?.node === place?.node) return;
  cell.place = place;
  void renew(cell.database);
}

const againMs = 1_000;

/** A node that takes no connection may have been replaced: looks where cells lie, once for all who lost it. */
function lookAgain(instance: Instance): void {
  if (instance.isLooking) return;
  instance.isLooking = true;
  setTimeout(() => (instance.isLooking = false), againMs).unref();
  // Who cannot look either asks again with the next connection.
  refreshCells(instance.first).catch(() => {});
}

/** Calls `hear` with every cell beside the first, those of now and those that come. @returns what ends it. */
export function onCell(database: Database, hear: (cell: Cell) => void): () => void {
  const instance = instances.get(database);
  if (!instance) return () => {};
  for (const cell of instance.cells.slice(1)) hear(cell);
  instance.hearers.add(hear);
  return () => void instance.hearers.delete(hear);
}

/** All cells of the instance that a database is of, the first one first. */
export const cellsOf = (database: Database): readonly Cell[] =>
  instances.get(database)?.cells ?? [{ name: firstCell, path: '', database }];

/** Where all cells are read together, and nothing is written: where there is one, there. */
export const everywhere = <Db extends Queryable>(db: Db): Db | Database => instanceOf(db)?.everywhere ?? db;

/** The pool of a cell by its name; undefined for one that this process does not know (yet). */
const poolOf = (instance: Instance, name: string): Database | undefined =>
  instance.cells.find((cell) => cell.name === name)?.database;

const pathIn = (instance: Instance, database: Database): string =>
  instance.cells.find((cell) => cell.database === database)!.path;

/** The bytes under which the directory has a workspace or a form. */
export const idInDirectory = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/**
 * The cell of a workspace, a form (idInDirectory) or an API key (its hash). Where there is one cell nobody is asked. What is
 * nowhere is in the first, which says so.
 */
export async function cellWith(database: Database, id: Buffer): Promise<Database> {
  const instance = instances.get(database);
  if (!instance || instance.cells.length === 1) return database;
  const found = only(await findInDirectory(instance.first, { id }));
  if (!found) return instance.first;
  const known = poolOf(instance, found.cell);
  if (known) return known;
  await refreshCells(instance.first);
  return poolOf(instance, found.cell)!;
}

/** The cell of a workspace: see cellWith. */
export const cellOfWorkspace = (database: Database, workspaceId: string): Promise<Database> =>
  cellWith(database, idInDirectory(workspaceId));

/** Does something in the cell of a workspace, in the transaction of the caller where there is one. */
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
  await setPath(db, { path: pathIn(instance, database) });
  const result = await work(db);
  await setPath(db, { path: pathIn(instance, own) });
  return result;
}

/**
 * Does something in each cell, in one transaction: that of the caller, or one for it. Where there is one cell it is done there,
 * as if this were not here.
 */
export async function inEachCell(db: Queryable, work: (db: Queryable) => Promise<void>): Promise<void> {
  const instance = instanceOf(db);
  if (!instance || instance.cells.length === 1) return work(db);
  if (db === databaseOf(db)) return transaction(db, (client) => inEachCell(client, work));
  for (const { path } of instance.cells) {
    await setPath(db, { path });
    await work(db);
  }
  await setPath(db, { path: pathIn(instance, databaseOf(db)) });
}
