import { type Database, databaseOf, isSilent, isUnavailable, renew } from '../database.ts';
import { ApiError } from '../errors.ts';
import type { Whereabouts } from '../find-host.ts';
import { only, type Queryable } from '../statement.ts';
import { findPlaces, type Place } from './citus/places.ts';
import { findHome, pathOf, selectCells } from './queries.ts';

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
  /** By the clock of the process: it was waited for in vain, and is not asked again before. */
  silentUntil: number;
  /** Brings the cell to this version. */
  open(): Promise<void>;
};

/** How a process comes to the database of another server. */
export type Reach = {
  /** Where it is, for a person. */
  readonly place: string;
  open: (pool: number) => Database;
  /** Brings the cell that is there to this version. */
  migrate: (there: Database) => Promise<void>;
};

/** The only cell of an instance, and the first of one that has several. */
export const firstCell = 'default';

/** The schema of views in which each tenant table has the rows of all cells. */
export const everyCell = 'every_cell';

/** What a process knows of the cells of the instance that it works on. */
export type Instance = {
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

export const instanceOf = (db: Queryable): Instance | undefined => instances.get(databaseOf(db));

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
  const database = open(instance.first.options.max);
  const own: Server = {
    place,
    isOpen: false,
    silentUntil: 0,
    async open() {
      if (!own.isOpen) await migrate(database);
      own.isOpen = true;
    },
  };
  return { name, path, database, server: own };
}

/** The pool of a cell. @throws ApiError service_unavailable for one that is not open yet. */
export function poolOf({ database, server }: Cell): Database {
  if (server && !server.isOpen) throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
  return database;
}

/** Asks a cell on another server, beside others. One that is silent is waited for once in a while, and not by each question of a request. */
export async function askOnServer<Result>(
  cell: Cell,
  ask: (database: Database) => Promise<Result>,
): Promise<Result> {
  const server = cell.server!;
  if (performance.now() < server.silentUntil)
    throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
  try {
    return await ask(poolOf(cell));
  } catch (error) {
    if (isSilent(error)) server.silentUntil = performance.now() + againMs;
    throw error;
  }
}

export const ofFirstServer = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => !server);
const onServers = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => server);

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
  return instance ? onServers(instance) : [];
};

/** Whether an error says that a cell does not answer now. */
export const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable');
