import { cellsOf, openCells, refreshCells } from '#kit/cells/cells.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { createCellOnServer } from '#kit/cells/servers/create-cell-on-server.ts';
import { reachServers, sealAddress } from '#kit/cells/servers/reach-server.ts';
import { type Connection, type Database, openDatabase } from '#kit/database.ts';
import { placeOf } from '#kit/find-host.ts';
import { openLog } from '#kit/log.ts';
import type { Vault } from '#kit/vault.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

const service = { pool: 8, processes: 1, channel: keyChannel };

/** How many cells the databases of this run have: TEST_CELLS=3 (test/cells.ts). */
export const cellsOfRun = Number.parseInt(process.env['TEST_CELLS'] ?? '', 10) || 1;
/** Whether one more is in a database of its own, as that of another server is: TEST_CELLS=2+1. */
export const hasElsewhere = process.env['TEST_CELLS']?.endsWith('+1') === true;

/**
 * Makes so many cells of a database, those that are there among them; undefined: it is one alone, and nobody looks.
 * @param elsewhere the address of another database, which has one more, and what seals it.
 */
export async function makeCells(
  database: Database,
  connection: Connection,
  count: number,
  elsewhere?: { url: string; vault: Vault },
): Promise<{ close(): Promise<void> } | undefined> {
  if (count === 1 && !elsewhere) return undefined;
  const log = openLog('silent');
  const cells = await openCells(
    database,
    (path, pool, at) => openDatabase(connection, { path, pool, log, waitMs: 60_000, ...(at && { at }) }),
    elsewhere && reachServers(database, elsewhere.vault, { log }),
  );
  for (let number = cellsOf(database).length + 1; number <= count; number += 1)
    await createCell(database, `c${number}`, { service });
  if (elsewhere) await createElsewhere(database, 'elsewhere', elsewhere);
  await refreshCells(database);
  return cells;
}

async function createElsewhere(
  database: Database,
  name: string,
  { url, vault }: { url: string; vault: Vault },
): Promise<void> {
  const there = openDatabase({ connectionString: url }, { pool: 1, log: openLog('silent'), limits: false });
  try {
    await createCellOnServer(database, name, {
      there,
      server: sealAddress(vault, url),
      place: placeOf(url),
      service,
    });
  } finally {
    await there.end();
  }
}

/** Opens the cells of a service as another process of it does that starts now. */
export async function joinService({
  environment,
  services,
}: {
  environment: Record<string, string>;
  services: { vault: Vault };
}): Promise<{ database: Database; close(): Promise<void> }> {
  const log = openLog('silent');
  const connection = { connectionString: environment['DATABASE_URL']! };
  const database = openDatabase(connection, { pool: 2, log });
  const cells = await openCells(
    database,
    (path, pool) => openDatabase(connection, { path, pool, log }),
    reachServers(database, services.vault, { log }),
  );
  return {
    database,
    async close() {
      await cells.close();
      await database.end();
    },
  };
}
