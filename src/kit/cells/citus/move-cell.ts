import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Database, openClient } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import type { Host } from '../../find-host.ts';
import { firstCell } from '../cells.ts';
import { changingLocks, selectCells } from '../queries.ts';
import { isCluster } from './distribute-cell.ts';
import { openNearTables, shutNearTables } from './near.ts';
import { findPlaces } from './places.ts';
import { listenForWakes, moveSchema, selectLeftBehind, selectNodes, tidyUp, wakeMove } from './queries.ts';

/**
 * Has Citus move a cell to another node, beside whoever reads and writes there: what was written meanwhile is moved along, and who
 * writes in the last moment waits. Every process hears of it, and connects to that node.
 * @param to a node as `cell list` has it.
 * @param channel on which processes hear that they should look.
 * @throws ApiError not_found for a cell or node that there is not; conflict on a database that is no cluster's, for the first cell
 *   and for a node that has it already.
 */
export async function moveCell(
  database: Database,
  name: string,
  { to, channel }: { to: string; channel: string },
): Promise<{ name: string; from: string; to: string }> {
  if (!(await isCluster(database)))
    throw new ApiError(
      'conflict',
      'This database is not a Citus cluster. Only a Citus cluster can move a cell.',
    );
  if (name === firstCell)
    throw new ApiError(
      'conflict',
      `The cell ${firstCell} stays at the coordinator, with what is of the instance.`,
    );
  const cell = (await selectCells(database, {})).find((each) => each.name === name);
  if (!cell) throw new ApiError('not_found', `There is no cell ${name}: \`cell list\` says which there are.`);
  const place = (await findPlaces(database)).get(cell.schema_name);
  if (!place)
    throw new ApiError(
      'conflict',
      `The cell ${name} was made before this was a cluster, and lies on no node of it.`,
    );
  const { rows: nodes } = await database.query<Host & { node: string }>(selectNodes);
  const target = nodes.find(({ node }) => node === to);
  if (!target)
    throw new ApiError(
      'not_found',
      `The cluster has no node ${to} that takes cells. It has ${nodes.map(({ node }) => node).join(', ')}.`,
    );
  if (target.node === place.node) throw new ApiError('conflict', `The cell ${name} is at ${to} already.`);
  // For as long as it takes: nothing ends what a connection of its own does.
  const client = openClient(database);
  await client.connect();
  try {
    // Meanwhile nobody migrates or makes a backup, and nobody asks the cell past Citus, which moves what went through it.
    for (const lock of changingLocks) await client.query('select pg_advisory_lock($1)', [lock]);
    await tidyUpAfterMoves(client);
    await shutNearTables(client, cell.schema_name);
    await client.query(listenForWakes);
    const over = new AbortController();
    const moved = client.query(moveSchema(cell.schema_name, target, channel)).finally(() => over.abort());
    await Promise.all([moved, wake(database, client, over.signal)]);
  } finally {
    // At its end a connection lets go of its locks too, but a little later.
    await client.query('select pg_advisory_unlock_all()');
    await client.end();
    await openNearTables(database);
  }
  return { name, from: place.node, to: target.node };
}

/** So often, so many milliseconds apart, it is tried to take away what is in use there: for 10 s. */
const tidyTimes = 50;
const tidyMs = 200;

/** What a move that was broken off has left behind keeps Citus from the next one. Where it stays, Citus says why. */
async function tidyUpAfterMoves(client: Client): Promise<void> {
  for (let left = tidyTimes; left > 0; left--) {
    await client.query(tidyUp);
    if ((await client.query(selectLeftBehind)).rowCount === 0) return;
    await sleep(tidyMs);
  }
}

const wakeMs = 20;

/**
 * Citus looks once a second whether the copy has caught up, also while writers wait for it (WaitForMiliseconds, "or until somebody
 * wakes us up"): what is said on a channel that its session hears wakes it.
 */
async function wake(database: Database, mover: Client, signal: AbortSignal): Promise<void> {
  const { processID } = mover as Client & { processID: number };
  while (!signal.aborted) {
    await database.query(wakeMove, [processID]);
    await sleep(wakeMs, undefined, { signal }).catch(() => undefined);
  }
}
