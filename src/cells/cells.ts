import {
  type Database,
  type DatabasePart,
  databaseOf,
  firstPartName,
  renewConnections,
} from '#kit/database.ts';
import type { ServerLocation } from '#kit/find-host.ts';
import {
  findSessionSchema,
  formatSearchPath,
  type Migration,
  migrate,
  runMigrations,
  setSearchPath,
  toCellMigration,
} from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import {
  bindFunctions,
  type CellNode,
  createCellViews,
  distributedCellSearchPath,
  dropCellViews,
  findCellNodes,
  isCluster,
  viewsOf,
} from './citus.ts';

/** Lists the cells of an instance, the first one first. Empty for an instance with one cell. */
export const selectCells = statement('', 'name schema_name')`
  select name, schema_name from cells order by created_at, name`;

/** A schema with the tenant tables of its workspaces, and a pool of sessions in it. */
export type Cell = {
  readonly name: string;
  readonly database: Database;
  /** The node of the cell in a Citus cluster. Undefined for a cell in the database of the instance. */
  place?: CellNode | undefined;
  /**
   * Until this time (performance.now()), the cell is skipped if possible, because its node just timed out.
   */
  restsUntil: number;
};

/** The name of the only or first cell of an instance. */
export const firstCellName = firstPartName;

/** Opens a pool with the options of the instance's pool. */
type OpenPool = (options: { path: string; part: DatabasePart; at?: ServerLocation }) => Database;

/** The state of an instance's cells in this process. */
type Instance = {
  first: Database;
  /** The schema of the first cell, which also has the tables outside of cells. */
  home: string;
  /** The first one first. A process keeps its opened cells until it exits. */
  cells: Cell[];
  open: OpenPool;
  /** Called with each cell that is opened later. */
  listeners: Set<(cell: Cell) => void>;
  isLooking: boolean;
};

/** Instances by the pools of their cells. A database without an entry is an instance with one cell. */
const instances = new WeakMap<Database, Instance>();

/** Connections of a process besides its pools: one listens for jobs, one for keys and cells. */
const listeningConnections = 2;

/**
 * Returns how many connections a process can open with this number of cells. Each cell has its own pool: a
 * shared pool made waiting for a connection 10 % slower (measured).
 */
export const countProcessConnections = (cells: number, pool: number): number =>
  cells * pool + listeningConnections;

/**
 * Finds the cells of the instance and opens a pool for each, for the functions in src/cells.
 * @returns an object that closes the pools of the other cells.
 */
export async function openCells(database: Database, open: OpenPool): Promise<{ close(): Promise<void> }> {
  const first: Cell = { name: firstCellName, database, restsUntil: 0 };
  const { schema_name: home } = onlyRow(await findSessionSchema(database, {}))!;
  const instance: Instance = {
    first: database,
    home,
    cells: [first],
    open,
    listeners: new Set(),
    isLooking: false,
  };
  instances.set(database, instance);
  await refreshCells(database);
  return {
    async close() {
      await Promise.all(instance.cells.slice(1).map((cell) => cell.database.end()));
    },
  };
}

/** Opens new cells, and reconnects to cells that moved to another node. */
export async function refreshCells(database: Database): Promise<void> {
  const instance = instances.get(database);
  if (!instance) return;
  const rows = (await selectCells(instance.first, {})).filter(({ name }) => name !== firstCellName);
  const places =
    rows.length > 0 && (await isCluster(instance.first))
      ? await findCellNodes(instance.first)
      : new Map<string, CellNode>();
  // There is no await from here on, so concurrent calls open a cell only once.
  const { cells } = instance;
  const fresh: Cell[] = [];
  for (const { name, schema_name: schema } of rows) {
    const place = places.get(schema);
    const known = cells.find((cell) => cell.name === name);
    if (known) follow(known, place);
    else fresh.push(openCell(instance, { name, schema, place }));
  }
  cells.push(...fresh);
  const orderOf = ({ name }: Cell): number => rows.findIndex((row) => row.name === name);
  cells.sort((a, b) => orderOf(a) - orderOf(b));
  for (const cell of fresh) for (const notify of instance.listeners) notify(cell);
}

/**
 * Opens the pool of a cell. On a cluster node, its sessions see only the tables of the cell. Shared tables
 * are queried in the pool of the instance (`sharedDatabaseOf`).
 */
function openCell(
  instance: Instance,
  { name, schema, place }: { name: string; schema: string; place: CellNode | undefined },
): Cell {
  const { first, home, open } = instance;
  const cell: { -readonly [K in keyof Cell]: Cell[K] } = { name, place, restsUntil: 0, database: first };
  cell.database = place
    ? open({
        path: formatSearchPath(viewsOf(schema)),
        part: { name, home: first },
        at: { now: () => cell.place?.host, lost: () => refreshAfterRejection(instance) },
      })
    : open({ path: formatSearchPath(schema, home), part: { name, notifier: first } });
  instances.set(cell.database, instance);
  return cell;
}

function follow(cell: Cell, place: CellNode | undefined): void {
  if (cell.place?.node === place?.node) return;
  cell.place = place;
  void renewConnections(cell.database);
}

const againMs = 1_000;

/** Refreshes the cells once after nodes rejected connections or writes, because cells may have moved. */
function refreshAfterRejection(instance: Instance): void {
  if (instance.isLooking) return;
  instance.isLooking = true;
  setTimeout(() => (instance.isLooking = false), againMs).unref();
  // If this fails, the next rejection tries again.
  refreshCells(instance.first).catch(() => {});
}

/**
 * Calls `notify` with every cell except the first, now and when one is opened.
 * @returns a function that stops the notifications.
 */
export function watchOtherCells(database: Database, notify: (cell: Cell) => void): () => void {
  const instance = instances.get(database);
  if (!instance) return () => {};
  for (const cell of instance.cells.slice(1)) notify(cell);
  instance.listeners.add(notify);
  return () => void instance.listeners.delete(notify);
}

/** Returns all cells of the instance of a pool or client, the first one first. */
export function cellsOf(db: Queryable): readonly Cell[] {
  const database = databaseOf(db);
  return instances.get(database)?.cells ?? [{ name: firstCellName, database, restsUntil: 0 }];
}

/** Returns the cells in a database except the first one; none if the database is empty. */
export async function otherCells(db: Queryable): ReturnType<typeof selectCells> {
  const { knows_cells: knowsCells } = onlyRow(await findSessionSchema(db, {}))!;
  return knowsCells ? (await selectCells(db, {})).filter(({ name }) => name !== firstCellName) : [];
}

/** Creates the missing views of every cell of a cluster. */
export async function createAllCellViews(database: Database): Promise<void> {
  const others = await otherCells(database);
  if (others.length > 0 && (await isCluster(database)))
    await createCellViews(
      database,
      others.map(({ schema_name }) => schema_name),
    );
}

/**
 * Migrates the database and all its cells to this version, all or nothing (see `migrate`). Cells on nodes
 * return 503 during the migration.
 */
export async function migrateCells(
  database: Database,
  migrations: readonly Migration[],
  report?: (line: string) => void,
): Promise<string[]> {
  try {
    return await migrate(database, migrations, report, async (client, run) => {
      const others = await otherCells(client);
      if (others.length === 0) return run();
      const { path, schema_name: home } = onlyRow(await findSessionSchema(client, {}))!;
      const places = (await isCluster(client)) ? await findCellNodes(client) : new Map<string, never>();
      for (const schema of places.keys()) await dropCellViews(client, schema);
      const ran = await run();
      for (const { schema_name: schema } of others) {
        const isDistributed = places.has(schema);
        await setSearchPath(client, {
          path: isDistributed ? distributedCellSearchPath(schema, home) : formatSearchPath(schema, home),
        });
        await runMigrations(client, migrations.map(toCellMigration));
        if (isDistributed) await bindFunctions(client, schema);
      }
      await setSearchPath(client, { path });
      return ran;
    });
  } finally {
    await createAllCellViews(database);
  }
}
