import { type Connection, type Database, openDatabase } from '../../database.ts';
import { placeOf } from '../../find-host.ts';
import type { Log } from '../../log.ts';
import { asInCell, findPending, migrate, readMigrations } from '../../migrate.ts';
import type { Vault } from '../../vault.ts';
import { pathOf } from '../queries.ts';
import { type CellElsewhere, findCell, nameCell } from './identity.ts';
import { refuseTwins } from './refuse-twins.ts';
import type { Reach } from './server.ts';

/** For whom the address cannot be opened: a name that leads nowhere (RFC 2606), so that its cell is one that is away. */
const nowhere = 'postgres://unknown.invalid/';

export const sealAddress = (vault: Vault, url: string): Buffer => vault.seal('servers of cells', url);

/**
 * How a process comes to cells on other servers.
 * @param home the first database of the instance.
 * @param options as its pool was opened with.
 */
export const reachServers =
  (home: Database, vault: Vault, options: { log: Log; name?: string; waitMs?: number }) =>
  (cell: CellElsewhere): Reach => {
    const url = open(cell.server);
    const path = pathOf(cell.schema_name);
    const place = placeOf(url);
    const connection: Connection = { connectionString: url };
    return {
      place,
      isAt: (server) => server.equals(cell.server) || [url, nowhere].includes(open(server)),
      open: (pool) => openDatabase(connection, { ...options, path, pool, home }),
      async migrate(there) {
        if (!(await findCell(there, cell, place))) {
          await refuseTwins(home, cell, there, place);
          await nameCell(there, cell);
        }
        const migrations = (await readMigrations()).map(asInCell);
        if ((await findPending(there, migrations)).length === 0) return;
        // Nothing ends it for taking long, nor where its server falls silent.
        const database = openDatabase(connection, { ...options, path, pool: 1, limits: false });
        try {
          await migrate(database, migrations);
        } finally {
          await database.end();
        }
      },
    };

    function open(sealed: Buffer): string {
      try {
        return vault.unseal('servers of cells', sealed);
      } catch (error) {
        options.log.error({ err: error }, 'the address of a cell is sealed with another key');
        return nowhere;
      }
    }
  };
