import { sayCount } from '#ast/say-count.ts';
import { only, type Queryable } from '../statement.ts';
import { connectionsOf } from './cells.ts';
import { isCluster } from './citus/distribute-cell.ts';
import { selectConnections } from './citus/queries.ts';
import { readRoom } from './queries.ts';
import { askers } from './servers/server.ts';

/** For whom cells are: what runs on the database. */
export type Service = {
  /** Connections of each process for each cell. */
  pool: number;
  /** Those of one machine, of which one at least may start. */
  processes: number;
  /** On which each process hears that it should look, over a connection of its own. */
  channel: string;
};

/** For the command line, and whoever looks. */
const others = 20;

/** Each cell on another server takes so many connections more: what asks all cells, and what listens, for jobs and for revoked keys. */
const beside = askers + 2;

type Room = {
  /** The same for each database that a server has. */
  server: string;
  /** All processes that are at work on the database, of all machines, and what they may have open. */
  processes: number;
  needed: number;
  /** What the server allows; of a cluster the node that allows least, as a session at any may have one at each other. */
  allowed: number;
  /** Of a cluster: that node, and those that do not answer. */
  node?: string | undefined;
  away: readonly string[];
};

/** What so many cells may take of the server's connections. */
export async function findRoom(
  db: Queryable,
  cells: number,
  { pool, processes: own, channel }: Service,
): Promise<Room> {
  const { server, connections: allowed, processes: listening } = only(await readRoom(db, { channel }))!;
  const processes = Math.max(listening, own);
  const hasNodes = await isCluster(db);
  // At a node each cell listens for itself, and is asked for itself where another node is away.
  const needed = processes * connectionsOf(cells, hasNodes ? pool + 1 + askers : pool) + others;
  if (!hasNodes) return { server, processes, needed, allowed, away: [] };
  type Node = { node: string; connections: number | null };
  const { rows } = await db.query<Node>(selectConnections);
  const away = rows.flatMap(({ node, connections }) => (connections === null ? [node] : []));
  const least = rows.find(({ connections }) => connections !== null)!;
  return { server, processes, needed, allowed: least.connections!, node: least.node, away };
}

/**
 * The same of cells on another server than the first, where each process listens once for each cell.
 * @param load.processes those that findRoom found on the first one.
 */
export async function findRoomElsewhere(
  there: Queryable,
  cells: number,
  { pool, processes }: Pick<Service, 'pool' | 'processes'>,
): Promise<Room> {
  const { server, connections: allowed } = only(await readRoom(there, { channel: '' }))!;
  const needed = processes * connectionsOf(cells, pool + beside) + others;
  return { server, processes, needed, allowed, away: [] };
}

/** What all takes that is on the server of one of them. */
export const onServerOf = (room: Room, rooms: readonly Room[]): Room => ({
  ...room,
  needed: rooms
    .filter(({ server }) => server === room.server)
    .reduce((sum, { needed }) => sum + needed - others, others),
});

/** Why there is no room, for a person. */
export const sayRoom = (cells: number, { processes, needed, allowed, node }: Room): string =>
  `${sayCount(cells, 'cell takes', 'cells take')} up to ${needed} connections to ${node === undefined ? 'the database' : 'each node of the cluster'} (${sayCount(processes, 'process', 'processes')}, DATABASE_POOL), and ${node ?? 'it'} allows ${allowed} (max_connections).`;
