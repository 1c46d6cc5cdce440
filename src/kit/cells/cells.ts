import { type Database, databaseOf, homeOf, isUnavailable, renew, transaction } from '../database.ts';
import { ApiError } from '../errors.ts';
import type { Whereabouts } from '../find-host.ts';
import { only, type Queryable } from '../statement.ts';
import { findPlaces, type Place } from './citus/places.ts';
import { findHome, findInDirectory, pathOf, selectCells, setPath } from './queries.ts';
import { findHere } from './servers/queries.ts';

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
  /** Of a cell on another server than the first. */
  server?: Server;
};

type Server = {
  /** Where it is, for a person. */
  readonly place: string;
  /** It has answered, and the cell is of this version. */
  isOpen: boolean;
  /** Brings the cell to this version. */
  open(): Promise<void>;
};

/** How a process comes to the database of another server. */
export type Reach = {
  /** Where it is, for a person. */
  readonly place: string;
  open: (pool: number) => Database;
  /** Brings the cell that is there to this version. */
  migrate: () => Promise<void>;
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
  reach: ((server: Buffer, path: string) => Reach) | undefined;
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
 * @param reach comes to the server of a cell, of which it is told the sealed address (servers/reach-server.ts).
 * @returns what ends the pools of the other cells.
 */
export async function openCells(
  database: Database,
  open: Instance['open'],
  reach?: Instance['reach'],
): Promise<{ close(): Promise<void> }> {
  const { schema_name: home, path } = only(await findHome(database, {}))!;
  const first: Cell = { name: firstCell, path, database };
  const instance: Instance = {
    first: database,
    home,
    cells: [first],
    everywhere: undefined,
    open,
    reach,
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
  for (const { name, schema_name, server } of fresh) {
    if (server) {
      cells.push(cellOnServer(instance, name, { schema: schema_name, server }));
      continue;
    }
    const path = pathOf(schema_name, home);
    const at: Whereabouts = { now: () => cell.place?.host, lost: () => lookAgain(instance) };
    const cell: Cell = {
      name,
      path,
      place: places.get(schema_name),
      database: instance.open(path, instance.first.options.max, at),
    };
    cells.push(cell);
  }
  for (const cell of cells) instances.set(cell.database, instance);
  if (!instance.everywhere && ofFirstServer(instance).length > 1) {
    instance.everywhere = instance.open(pathOf(everyCell, home), ofEverywhere);
    instances.set(instance.everywhere, instance);
  }
  const added = cells.slice(-fresh.length);
  for (const cell of added) for (const hear of hearers) hear(cell);
  // One that is away keeps nobody from the others; whoever serves them tries again.
  await Promise.allSettled(added.map(async (cell) => cell.server?.open()));
}

function cellOnServer(
  instance: Instance,
  name: string,
  { schema, server }: { schema: string; server: Buffer },
): Cell {
  const path = pathOf(schema);
  const { place, open, migrate } = instance.reach!(server, path);
  const own: Server = {
    place,
    isOpen: false,
    async open() {
      if (!own.isOpen) await migrate();
      own.isOpen = true;
    },
  };
  return { name, path, database: open(instance.first.options.max), server: own };
}

/** The pool of a cell. @throws ApiError service_unavailable for one that is not open yet. */
export function poolOf({ database, server }: Cell): Database {
  if (server && !server.isOpen) throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
  return database;
}

const ofFirstServer = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => !server);
const elsewhere = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => server);

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

/** The cells that are on other servers than the first. */
export const cellsOnServers = (db: Queryable): readonly Cell[] => {
  const instance = instanceOf(db);
  return instance ? elsewhere(instance) : [];
};

/** Where all cells of the first server are read together, and nothing is written: where there is one, there. */
const everywhere = <Db extends Queryable>(db: Db): Db | Database => instanceOf(db)?.everywhere ?? homeOf(db);

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
  const others = cellsOnServers(db).map(async (cell) => find(poolOf(cell)));
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

/** Whether an error says that a cell does not answer now. */
export const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable');

/** The pool of a cell by its name; undefined for one that this process does not know (yet). */
const poolNamed = (instance: Instance, name: string): Database | undefined =>
  instance.cells.find((cell) => cell.name === name)?.database;

const pathIn = (instance: Instance, database: Database): string =>
  instance.cells.find((cell) => cell.database === database)!.path;

/** The bytes under which the directory has a workspace or a form. */
export const idInDirectory = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/**
 * The cell of a workspace, a form (idInDirectory) or an API key (its hash). Where there is one cell nobody is asked. What is
 * nowhere is in the first, which says so.
 * @throws where a server is away, which may have it: nobody can say that it is nowhere.
 */
export async function cellWith(database: Database, id: Buffer): Promise<Database> {
  const instance = instances.get(database);
  if (!instance || instance.cells.length === 1) return database;
  const found = only(await findInDirectory(instance.first, { id }));
  if (!found) return (await findOnServers(instance, id)) ?? instance.first;
  const known = poolNamed(instance, found.cell);
  if (known) return known;
  await refreshCells(instance.first);
  return poolNamed(instance, found.cell)!;
}

/** Those that are there are asked themselves: a directory of theirs could not be written together with what is in them. */
async function findOnServers(instance: Instance, id: Buffer): Promise<Database | undefined> {
  const asked = await Promise.allSettled(
    elsewhere(instance).map(async (cell) =>
      only(await findHere(poolOf(cell), { id }))!.is_here ? cell.database : undefined,
    ),
  );
  const found = asked.find((each) => each.status === 'fulfilled' && each.value !== undefined);
  if (found?.status === 'fulfilled') return found.value;
  const lost = asked.find((each) => each.status === 'rejected');
  if (lost) throw lost.reason;
  return undefined;
}

/** The cell of a workspace: see cellWith. */
export const cellOfWorkspace = (database: Database, workspaceId: string): Promise<Database> =>
  cellWith(database, idInDirectory(workspaceId));

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
