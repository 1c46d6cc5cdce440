import type { Database } from '#kit/database.ts';
import { asInCell, migrate, type Migration, runMigrations } from '#kit/migrate.ts';
import { findHome, pathOf, setPath } from '#kit/search-path.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { firstCell, selectCells } from './cells.ts';
import {
  bindFunctions,
  closeViews,
  findPlaces,
  isCluster,
  openViews,
  pathOfDistributed,
} from './citus/citus.ts';

/** Returns the cells in a database except the first one; none if the database is empty. */
export async function otherCells(db: Queryable): ReturnType<typeof selectCells> {
  const { knows_cells: knowsCells } = only(await findHome(db, {}))!;
  return knowsCells ? (await selectCells(db, {})).filter(({ name }) => name !== firstCell) : [];
}

/** Makes the views of every cell that a cluster has, unless they are there. */
export async function openAllViews(database: Database): Promise<void> {
  const others = await otherCells(database);
  if (others.length > 0 && (await isCluster(database)))
    await openViews(
      database,
      others.map(({ schema_name }) => schema_name),
    );
}

/** Brings the database to this version, every cell of it, all or nothing: see `migrate`. Cells at nodes answer 503 meanwhile. */
export async function migrateCells(
  database: Database,
  migrations: readonly Migration[],
  tell?: (line: string) => void,
): Promise<string[]> {
  try {
    return await migrate(database, migrations, tell, async (client, run) => {
      const others = await otherCells(client);
      if (others.length === 0) return run();
      const { path, schema_name: home } = only(await findHome(client, {}))!;
      const places = (await isCluster(client)) ? await findPlaces(client) : new Map<string, never>();
      for (const schema of places.keys()) await closeViews(client, schema);
      const ran = await run();
      for (const { schema_name: schema } of others) {
        const isDistributed = places.has(schema);
        await setPath(client, {
          path: isDistributed ? pathOfDistributed(schema, home) : pathOf(schema, home),
        });
        await runMigrations(client, migrations.map(asInCell));
        if (isDistributed) await bindFunctions(client, schema);
      }
      await setPath(client, { path });
      return ran;
    });
  } finally {
    await openAllViews(database);
  }
}
