import { cellsOf, openCells, refreshCells } from '#cells/cells.ts';
import { createCell } from '#cells/create-cell.ts';
import { type ConnectionTarget, type Database, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';

const service = { pool: 8, processes: 1, channel: keyChangeChannel };

/** The number of cells in the databases of this run: TEST_CELLS=3 (test/cells.ts). */
export const cellsOfRun = Number.parseInt(process.env['TEST_CELLS'] ?? '', 10) || 1;

/** Creates cells until a database has this number. Returns undefined if it is to have only one. */
export async function makeCells(
  database: Database,
  connection: ConnectionTarget,
  count: number,
): Promise<{ close(): Promise<void> } | undefined> {
  if (count === 1) return undefined;
  const options = { pool: database.options.max, log: openLog('silent'), waitMs: 60_000 };
  const cells = await openCells(database, (of) => openDatabase(connection, { ...options, ...of }));
  if (process.env['TEST_CELLS'] === '3@citus') await makeCluster(database);
  for (let number = cellsOf(database).length + 1; number <= count; number += 1)
    await createCell(database, `c${number}`, { service });
  await refreshCells(database);
  return cells;
}

/** Makes a database a Citus cluster of one node, which also has the cells. */
async function makeCluster(database: Database): Promise<void> {
  await database.query('create extension if not exists citus');
  await database.query("select citus_set_coordinator_host('localhost', current_setting('port')::integer)");
  await database.query(
    "select citus_set_node_property('localhost', current_setting('port')::integer, 'shouldhaveshards', true)",
  );
}
