import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, databaseOf, renew } from '../database.ts';
import type { Whereabouts } from '../find-host.ts';
import { guardPeople, only, type Queryable } from '../statement.ts';
import { findPlaces, type Place } from './citus/places.ts';
import { nearOf } from './citus/queries.ts';
import { findHome, pathOf, selectCells } from './queries.ts';
import type { CellElsewhere } from './servers/identity.ts';
import { type Asker, askerOf, askers, away, type Reach, type Server, serverAt } from './servers/server.ts';

/**
 * A cell: a schema with the tenant tables of its workspaces, and the pool whose sessions look there first and then in the
 * schema of the instance (docs/decisions/0078-cells.md).
 */
export type Cell = {
  /** Of the first one undefined. Another cell of the same name has another. */
  readonly id?: string;
  readonly name: string;
  /** The search path of its sessions. */
  readonly path: string;
  readonly database: Database;
  /** Of a cluster: which node has it. */
  place?: Place | undefined;
  /** Of a cell that a node of a cluster has: what asks it past the coordinator. */
  asker?: Asker | undefined;
  /** Of a cell on another server than the first. */
  server?: Server;
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
  /** Until then each cell of a cluster is asked for itself, as one of them was just away. */
  apartUntil: number;
  open: (path: string, pool: number, at?: Whereabouts) => Database;
  reach: ((cell: CellElsewhere) => Reach) | undefined;
  hearers: Set<Hearer>;
  isLooking: boolean;
};

/** Who hears of cells that come, and of those that go, with which it ends what it has there. */
type Hearer = { comes: (cell: Cell) => void; goes?: ((cell: Cell) => Promise<unknown>) | undefined };

/** By the pool of each of its cells. A database that nobody registered is an instance of one cell. */
const instances = new WeakMap<Database, Instance>();

export const instanceOf = (db: Queryable): Instance | undefined => instances.get(databaseOf(db));

/** Connections of a process to what reads all cells. */
const ofEverywhere = 2;
/** What a process has open beside the pools: what listens for jobs, for all cells of a server, and what listens for keys. */
const listeners = 2;

/**
 * How many connections a process may have open where there are so many cells. Each has a whole pool: shared out among cells, it made
 * whoever waits for a connection a tenth dearer (measured).
 */
export const connectionsOf = (cells: number, pool: number): number =>
  cells * pool + listeners + (cells > 1 ? ofEverywhere : 0);

/**
 * Looks which cells the instance at a database has; from then on the functions below know them, and see to the pools of all.
 * @param open opens a pool of its own with a search path, as `database` was opened.
 * @param reach comes to a cell on another server (servers/reach-server.ts).
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
    apartUntil: 0,
    open,
    reach,
    hearers: new Set(),
    isLooking: false,
  };
  instances.set(database, instance);
  await refreshCells(database);
  return {
    async close() {
      const cells = instance.cells.slice(1);
      await Promise.all([
        ...cells.map((cell) => cell.database.end()),
        ...onServers(instance).map(({ server }) => server!.close()),
        ...cells.map(({ asker }) => asker?.database.end()),
      ]);
      await instance.everywhere?.end();
    },
  };
}

/** A start waits so long for cells on other servers. */
const openMs = 3_000;

/**
 * Looks whether there is a cell that was not there before, one that lies on another node than before, or one that is no more. One that has
 * another address is both: what is of the old one ends, and nothing of it is asked again.
 */
export async function refreshCells(database: Database): Promise<void> {
  const instance = instances.get(database);
  if (!instance) return;
  const rows = (await selectCells(instance.first, {})).filter(({ name }) => name !== firstCell);
  const places = rows.length > 0 ? await findPlaces(instance.first) : new Map<string, Place>();
  const { cells, home, hearers } = instance;
  // Nothing waits from here on, so that of two who look at once one opens a cell.
  const isStill = (cell: Cell): boolean =>
    rows.some(({ id, server }) => id === cell.id && (!server || cell.server!.isAt(server)));
  for (const cell of cells.slice(1)) if (!isStill(cell)) void letGo(instance, cell);
  for (const { id, schema_name } of rows) {
    const known = cells.find((cell) => cell.id === id);
    if (known) follow(known, places.get(schema_name));
  }
  const fresh = rows.filter(({ id }) => !cells.some((cell) => cell.id === id));
  if (fresh.length === 0) return;
  for (const { id, name, schema_name, server } of fresh) {
    if (server) {
      const reach = instance.reach!({ id, schema_name, server });
      cells.push({
        id,
        name,
        path: pathOf(schema_name),
        database: reach.open(instance.first.options.max),
        server: serverAt(reach),
      });
      continue;
    }
    const place = places.get(schema_name);
    const path = pathOf(...(place ? [nearOf(schema_name)] : []), schema_name, home);
    const at: Whereabouts = { now: () => cell.place?.host, lost: () => lookAgain(instance) };
    const cell: Cell = {
      id,
      name,
      path,
      place,
      asker: place && askerOf(instance.open(path, askers, at)),
      database: instance.open(path, instance.first.options.max, at),
    };
    cells.push(cell);
  }
  for (const cell of cells) {
    instances.set(cell.database, instance);
    guardPeople(cell.database, () => requireNodes(instance));
  }
  if (!instance.everywhere && ofFirstServer(instance).length > 1) {
    instance.everywhere = instance.open(pathOf(everyCell, home), ofEverywhere);
    instances.set(instance.everywhere, instance);
  }
  const added = cells.slice(-fresh.length);
  // Whoever holds several at once goes through them in the order of all processes.
  const orderOf = (cell: Cell): number => rows.findIndex(({ id }) => id === cell.id);
  cells.sort((a, b) => orderOf(a) - orderOf(b));
  for (const cell of added) for (const { comes } of hearers) comes(cell);
  // One that is away, or migrates for long, keeps nobody from the others; whoever serves them tries again.
  const opened = Promise.allSettled(added.map(async (cell) => cell.server?.open()));
  await Promise.race([opened, sleep(openMs, undefined, { ref: false })]);
}

/** So long a node may take to say that it is there. */
const nodeMs = 500;

/**
 * On a cluster every node has a copy of the people, and Citus waits for one that says nothing, for 10 s and more, with a connection of
 * everybody's pool: so each that has a cell is asked first. @throws ApiError service_unavailable
 */
async function requireNodes({ cells }: Instance): Promise<void> {
  const nodes = new Map(
    cells.flatMap((cell) => (cell.asker && cell.place ? [[cell.place.node, cell.asker]] : [])),
  );
  await Promise.all(
    [...nodes.values()].map((asker) =>
      Promise.race([asker.ask((there) => there.query('select 1')), awayAfter(nodeMs)]),
    ),
  );
}

/** What waits for no longer than that. */
export const awayAfter = (ms: number): Promise<never> =>
  sleep(ms, undefined, { ref: false }).then(() => {
    throw away();
  });

/** The pool of a cell. @throws ApiError service_unavailable for one that is not open yet. */
export function poolOf({ database, server }: Cell): Database {
  if (server && !server.isOpen()) throw away();
  return database;
}

/** Asks a cell that may be away. @throws as Server has it. */
export function askCell<Result>(
  { database, server, asker }: Cell,
  question: (database: Database) => Promise<Result>,
): Promise<Result> {
  const apart = server ?? asker;
  return apart ? apart.ask(question) : question(database);
}

/** Whether a cell may be away while the first one is not. One that is no more is nowhere. */
export const isApart = (cell: Cell | undefined): boolean => (cell?.server ?? cell?.asker) !== undefined;

export const ofFirstServer = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => !server);
const onServers = ({ cells }: Instance): readonly Cell[] => cells.filter(({ server }) => server);

/** A cell is no more: who has something there ends it, and then its connections end. Never rejects. */
async function letGo({ cells, hearers }: Instance, cell: Cell): Promise<void> {
  cells.splice(cells.indexOf(cell), 1);
  await Promise.allSettled([...hearers].map(async ({ goes }) => goes?.(cell)));
  await Promise.allSettled([cell.database.end(), cell.server?.close(), cell.asker?.database.end()]);
}

/** A cell that was moved is connected to at the node that has it now. */
function follow(cell: Cell, place: Place | undefined): void {
  if (cell.place?.node === place?.node) return;
  cell.place = place;
  void renew(cell.database);
  if (cell.asker) void renew(cell.asker.database);
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

/** Calls `comes` with every cell beside the first, those of now and those that come. @returns what ends it. */
export function onCell(database: Database, comes: Hearer['comes'], goes?: Hearer['goes']): () => void {
  const instance = instances.get(database);
  if (!instance) return () => {};
  for (const cell of instance.cells.slice(1)) comes(cell);
  const hearer = { comes, goes };
  instance.hearers.add(hearer);
  return () => void instance.hearers.delete(hearer);
}

/** All cells of the instance that a database is of, the first one first. */
export const cellsOf = (database: Database): readonly Cell[] =>
  instances.get(database)?.cells ?? [{ name: firstCell, path: '', database }];

/** The cell of a pool. Undefined: it is no more. */
export const cellOf = (database: Database): Cell | undefined =>
  cellsOf(database).find((cell) => cell.database === database);

/** What the cell of a pool is called. */
export const nameOfCell = (database: Database): string => cellOf(database)?.name ?? firstCell;

/** Where the processes that work on a cell tell each other of it: those of one server in one place. A node of a cluster is a server. */
export const saidAt = (database: Database): Database => {
  const instance = instances.get(database);
  const cell = cellOf(database);
  return instance && cell && !cell.server && !cell.place ? instance.first : database;
};

/** The cells that are on other servers than the first. */
export const cellsOnServers = (db: Queryable): readonly Cell[] => {
  const instance = instanceOf(db);
  return instance ? onServers(instance) : [];
};
