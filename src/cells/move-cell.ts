import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, escapeLiteral } from 'pg';
import { type Database, openClient } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Host } from '#kit/find-host.ts';
import { changingLocks } from '#kit/migrate.ts';
import { firstCell, selectCells } from './cells.ts';
import { findPlaces, isCluster, name, openViews, selectNodes } from './citus.ts';

/** Moves a schema. Every process hears of it when it is done, also if the command has been killed by then. */
const moveSchema = (
  schema: string,
  { host, port }: { host: string; port: number },
  channel: string,
): string =>
  `select citus_schema_move(${escapeLiteral(name(schema))}, ${escapeLiteral(host)}, ${port}, 'force_logical'),
          pg_notify(${escapeLiteral(channel)}, '')`;

/** Removes what moves have left behind, unless somebody uses it. In no transaction. */
const tidyUp = 'call citus_cleanup_orphaned_resources()';

const selectLeftBehind = 'select from pg_dist_cleanup limit 1';

/**
 * Has Citus move a cell to another node while it is used: what is written meanwhile is copied as well. At the end of a move writes wait, and
 * are then answered 503 until each process connects to the other node, some seconds at most.
 * @param to a node as `cell list` has it.
 * @param channel on which processes hear that they should look.
 * @throws ApiError not_found for an unknown cell or node; conflict if the database is no cluster, for the first cell, and for a node that
 *   has the cell already.
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
      `The cell ${firstCell} stays at the coordinator, with the tables of the instance.`,
    );
  const cell = (await selectCells(database, {})).find((each) => each.name === name);
  if (!cell) throw new ApiError('not_found', `There is no cell ${name}. \`cell list\` shows all cells.`);
  const { schema_name: schema } = cell;
  const place = (await findPlaces(database)).get(schema);
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
  // A connection of its own, which nothing ends for taking long.
  const client = openClient(database);
  await client.connect();
  try {
    for (const lock of changingLocks) await client.query('select pg_advisory_lock($1)', [lock]);
    await tidyUpAfterMoves(client);
    await client.query(moveSchema(schema, target, channel));
  } finally {
    // A connection that ends lets go of its locks too, but a little later.
    await client.query('select pg_advisory_unlock_all()');
    await client.end();
    await openViews(database, [schema]);
  }
  return { name, from: place.node, to: target.node };
}

/** What is in use is tried again so often, so many milliseconds apart: for 10 s. */
const tidyTimes = 50;
const tidyMs = 200;

/** Removes what a move that was broken off has left, which keeps Citus from the next one. If it stays, Citus says why. */
async function tidyUpAfterMoves(client: Client): Promise<void> {
  for (let left = tidyTimes; left > 0; left--) {
    await client.query(tidyUp);
    if ((await client.query(selectLeftBehind)).rowCount === 0) return;
    await sleep(tidyMs);
  }
}
