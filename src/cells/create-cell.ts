import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import { formatCount } from '#ast/basics/format-number.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import {
  findSessionSchema,
  formatSearchPath,
  lockForMigration,
  type Migration,
  readMigrations,
  runMigrations,
  setSearchPath,
  toCellMigration,
} from '#kit/migrate.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { countProcessConnections, firstCellName, selectCells } from './cells.ts';
import {
  createCellViews,
  distributeCell,
  findConnectionLimits,
  isCluster,
  requireUsableNodes,
} from './citus.ts';

const insertCell = statement('name schema_name', '')`
  insert into cells (name, schema_name) values ($name, $schema_name)`;

/** Corrects the schema of the first cell in a restored database. */
export const setFirstCellSchema = statement('', '')`
  update cells set schema_name = current_schema()::text where name = 'default'`;

/**
 * Reads how many connections the server allows, and counts the processes on all machines. Each listens for
 * keys on one connection and sends a query every few seconds (kit/queue/announcer.ts). A connection of a lost
 * machine can remain for hours.
 */
const readConnectionUse = statement('channel:text', 'connections:integer processes:integer')`
  select current_setting('max_connections')::integer as connections,
         (select count(*)::integer from pg_stat_activity
           where datname = current_database() and starts_with(query, 'listen ' || $channel)
             and state_change > now() - interval '10 seconds') as processes`;

// Escapes names in statements with schema names, which cannot be parameters.

const name = escapeIdentifier;

/** Notifies every process to refresh its cells. */
const notifyOfCells = (channel: string): string => `select pg_notify(${escapeLiteral(channel)}, '')`;

const createSchema = (schema: string): string => `create schema ${name(schema)}`;

/** A cell's name is a part of a schema's name, which PostgreSQL truncates at 63 characters. */
const cellName = /^[a-z][a-z0-9_]{0,39}$/;

/**
 * Creates a cell in one transaction: a migrated schema without the tables of the instance, which its foreign
 * keys refer to. On a Citus cluster it is placed on the node with the fewest cells. Every process is notified
 * and opens it.
 * @param database without timeouts (openDatabase), because it waits for other schema changes.
 * @param options.migrations the applied migrations; by default all of this version.
 * @param options.service undefined if nothing runs on the database.
 * @param options.report is called with what it waits for.
 * @throws ApiError validation_error for an invalid name; conflict for an existing one, if the server allows
 * too few connections, and if a cluster does not have the settings that cells need.
 */
export async function createCell(
  database: Database,
  name: string,
  {
    migrations,
    service,
    report,
  }: { migrations?: readonly Migration[]; service?: ServiceConnections; report?: (line: string) => void },
): Promise<void> {
  const own = (migrations ?? (await readMigrations())).map(toCellMigration);
  const schema = `cell_${name}`;
  const make = async (client: PoolClient): Promise<boolean> => {
    await lockForMigration(client, report);
    const { schema_name: home, path } = onlyRow(await findSessionSchema(client, {}))!;
    const known = await requireFree(client, name);
    const count = Math.max(known.length, 1) + 1;
    if (service) requireConnectionCapacity(count, await findConnectionCapacity(client, count, service));
    const isDistributed = await isCluster(client);
    if (isDistributed) await requireUsableNodes(client);
    await client.query(createSchema(schema)).catch((error: unknown) => {
      throw isDuplicateSchema(error) ? new ApiError('conflict', describeDuplicateSchema(schema)) : error;
    });
    await setSearchPath(client, { path: formatSearchPath(schema, home) });
    await runMigrations(client, own);
    if (isDistributed) await distributeCell(client, schema, home);
    await setSearchPath(client, { path });
    if (known.length === 0) await insertCell(client, { name: firstCellName, schema_name: home });
    await insertCell(client, { name, schema_name: schema });
    if (service) await client.query(notifyOfCells(service.channel));
    return isDistributed;
  };
  const isDistributed = await transaction(database, make);
  if (isDistributed) await createCellViews(database, [schema]);
}

/**
 * Checks the name of a new cell.
 * @returns the existing cells.
 * @throws ApiError if the name is invalid or in use.
 */
async function requireFree(client: PoolClient, name: string): ReturnType<typeof selectCells> {
  if (!cellName.test(name))
    throw new ApiError(
      'validation_error',
      'A cell name must have at most 40 lowercase letters, digits and _, and begin with a letter.',
    );
  const known = await selectCells(client, {});
  if (known.some((cell) => cell.name === name) || name === firstCellName)
    throw new ApiError('conflict', `A cell ${name} already exists. Choose another name.`);
  return known;
}

const isDuplicateSchema = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '42P06';
const describeDuplicateSchema = (schema: string): string =>
  `The database has a schema ${schema} that is not a cell. Choose another name, or remove the schema: \`drop schema ${schema} cascade\`.`;

/** The service that runs on a database. */
export type ServiceConnections = {
  /** Connections of each process to each cell. */
  pool: number;
  /** Processes of one machine, counted even if they are not running. */
  processes: number;
  /** The channel that notifies each process to refresh its cells, on a separate connection. */
  channel: string;
};

/** Connections reserved for the command line and for operators. */
const others = 20;

type ConnectionCapacity = {
  /** All processes on all machines that use the database, and the connections they can open. */
  processes: number;
  needed: number;
  /** The number of connections that the server allows. In a cluster, the lowest limit of its nodes. */
  allowed: number;
  node?: string | undefined;
  /** Nodes of a cluster that do not answer. */
  away: readonly string[];
};

/** Compares the connections that this many cells can open with the limit of the server. */
export async function findConnectionCapacity(
  db: Queryable,
  cells: number,
  { pool, processes: own, channel }: ServiceConnections,
): Promise<ConnectionCapacity> {
  const { connections, processes: listening } = onlyRow(await readConnectionUse(db, { channel }))!;
  const processes = Math.max(listening, own);
  if (!(await isCluster(db)))
    return {
      processes,
      needed: processes * countProcessConnections(cells, pool) + others,
      allowed: connections,
      away: [],
    };
  // On a node, each cell has two more connections, which listen for jobs and for keys.
  const needed = processes * countProcessConnections(cells, pool + 2) + others;
  const { least, away } = await findConnectionLimits(db);
  return { processes, needed, allowed: least!.connections, node: least!.node, away };
}

/** Describes why there are too few connections. */
export const describeMissingConnections = (
  cells: number,
  { processes, needed, allowed, node }: ConnectionCapacity,
): string =>
  `${formatCount(cells, 'cell takes', 'cells take')} up to ${needed} connections to ${node === undefined ? 'the database' : 'each node of the cluster'} (${formatCount(processes, 'process', 'processes')}, DATABASE_POOL), but ${node ?? 'it'} allows ${allowed} (max_connections).`;

function requireConnectionCapacity(cells: number, room: ConnectionCapacity): void {
  if (room.needed > room.allowed)
    throw new ApiError(
      'conflict',
      `${describeMissingConnections(cells, room)} Increase max_connections, or run fewer processes.`,
    );
}
