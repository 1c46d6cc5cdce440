import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, escapeLiteral } from 'pg';
import { type Database, openClient } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Host } from '#kit/find-host.ts';
import { schemaChangeLocks } from '#kit/migrate.ts';
import { firstCellName, selectCells } from './cells.ts';
import { activeNodesSql, createCellViews, findCellNodes, isCluster, quoteName } from './citus.ts';

/** Moves a schema. Every process is notified afterwards, even if the command was killed. */
const moveSchema = (
  schema: string,
  { host, port }: { host: string; port: number },
  channel: string,
): string =>
  `select citus_schema_move(${escapeLiteral(quoteName(schema))}, ${escapeLiteral(host)}, ${port}, 'force_logical'),
          pg_notify(${escapeLiteral(channel)}, '')`;

/** Removes leftovers of moves that are not in use. Runs outside of a transaction. */
const removeMoveLeftovers = 'call citus_cleanup_orphaned_resources()';

const selectLeftBehind = 'select from pg_dist_cleanup limit 1';

/**
 * Moves a cell to another node while it is in use. Citus also copies writes during the move. At the end,
 * writes wait, then get a 503 until each process connects to the new node (a few seconds at most).
 * @param to a node from `cell list`.
 * @param channel on which processes are notified to refresh their cells.
 * @throws ApiError not_found for an unknown cell or node; conflict if the database is not a cluster, for the
 * first cell, and if the cell is already on the node.
 */
export async function moveCell(
  database: Database,
  name: string,
  { to, channel }: { to: string; channel: string },
): Promise<{ name: string; from: string; to: string }> {
  if (!(await isCluster(database)))
    throw new ApiError(
      'conflict',
      'This database is not a Citus cluster. Cells can only be moved within a Citus cluster.',
    );
  if (name === firstCellName)
    throw new ApiError(
      'conflict',
      `The cell ${firstCellName} cannot be moved. It stays on the coordinator with the tables of the instance.`,
    );
  const cell = (await selectCells(database, {})).find((each) => each.name === name);
  if (!cell) throw new ApiError('not_found', `No cell named ${name}. Run \`cell list\` to see all cells.`);
  const { schema_name: schema } = cell;
  const place = (await findCellNodes(database)).get(schema);
  if (!place)
    throw new ApiError(
      'conflict',
      `The cell ${name} cannot be moved. It was created before the database became a cluster.`,
    );
  const { rows: nodes } = await database.query<Host & { node: string }>(activeNodesSql);
  const target = nodes.find(({ node }) => node === to);
  if (!target)
    throw new ApiError(
      'not_found',
      `The cluster has no node ${to} for cells. Use one of these: ${nodes.map(({ node }) => node).join(', ')}.`,
    );
  if (target.node === place.node) throw new ApiError('conflict', `The cell ${name} is already on ${to}.`);
  // A separate connection without a timeout.
  const client = openClient(database);
  await client.connect();
  try {
    for (const lock of schemaChangeLocks) await client.query('select pg_advisory_lock($1)', [lock]);
    await removeLeftoversAfterMoves(client);
    await client.query(moveSchema(schema, target, channel));
  } finally {
    // Closing the connection also releases its locks, but a little later.
    await client.query('select pg_advisory_unlock_all()');
    await client.end();
    await createCellViews(database, [schema]);
  }
  return { name, from: place.node, to: target.node };
}

/** How often the removal of leftovers in use is retried: for 10 s in total. */
const maxCleanupAttempts = 50;
const cleanupPauseMs = 200;

/** Removes leftovers of an interrupted move, which would block the next one. */
async function removeLeftoversAfterMoves(client: Client): Promise<void> {
  for (let left = maxCleanupAttempts; left > 0; left--) {
    await client.query(removeMoveLeftovers);
    if ((await client.query(selectLeftBehind)).rowCount === 0) return;
    await sleep(cleanupPauseMs);
  }
}
