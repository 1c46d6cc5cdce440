import { only, type Queryable } from '../statement.ts';
import { connectionsOf } from './cells.ts';
import { readRoom } from './queries.ts';

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

type Room = {
  /** All processes that are at work on the database, of all machines, and what they may have open. */
  processes: number;
  needed: number;
  /** What the server allows. */
  allowed: number;
};

/** What so many cells may take of the server's connections. */
export async function findRoom(
  db: Queryable,
  cells: number,
  { pool, processes: own, channel }: Service,
): Promise<Room> {
  const { connections: allowed, processes: listening } = only(await readRoom(db, { channel }))!;
  const processes = Math.max(listening, own);
  return { processes, needed: processes * connectionsOf(cells, pool) + others, allowed };
}

/** Why there is no room, for a person. */
export const sayRoom = (cells: number, { processes, needed, allowed }: Room): string =>
  `${cells} cells take up to ${needed} connections to the database (${processes} ${processes === 1 ? 'process' : 'processes'}, DATABASE_POOL), and it allows ${allowed} (max_connections).`;
