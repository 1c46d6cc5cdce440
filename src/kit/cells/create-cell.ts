import type { PoolClient } from 'pg';
import { newId } from '../clock.ts';
import { type Database, despiteDeadlocks, transaction } from '../database.ts';
import { ApiError } from '../errors.ts';
import { asInCell, beginMigrating, readMigrations, runMigrations } from '../migrate.ts';
import { only } from '../statement.ts';
import { firstCell } from './cells.ts';
import { distributeCell, isCluster, openToCluster, requireNodes } from './citus/distribute-cell.ts';
import {
  addKey,
  createSchema,
  dropKey,
  dropTables,
  fillDirectory,
  findHome,
  insertCell,
  listedTables,
  noteInDirectory,
  pathOf,
  selectCells,
  selectKeysTo,
  setPath,
  tellOfCells,
} from './queries.ts';
import { findRoom, sayRoom, type Service } from './room.ts';
import { viewEveryCell } from './view-every-cell.ts';

/** Those of the instance that migrations have made until there were cells; later ones say themselves that no cell has them. */
export const sharedTables: readonly string[] = [
  'accounts',
  'announced',
  'backups',
  'incidents',
  'instance',
  'mail_pace',
  'passkeys',
  'password_resets',
  'person_lines',
  'recovery_codes',
  'sessions',
  'setup',
  'totp_secrets',
  'users',
  'verifications',
];

const tables = Object.keys(listedTables) as (keyof typeof listedTables)[];

/** What names cells: it is a part of a schema's name, which PostgreSQL cuts at 63 letters. */
const cellName = /^[a-z][a-z0-9_]{0,39}$/;

/** Those that no cell has, as their migrations say themselves. */
export const ofCells: readonly string[] = ['cells', 'directory', 'people_due'];

/**
 * Makes one more cell in the database of the instance, all of it or nothing: a schema that is migrated as any other, without
 * what is of the instance, which its keys lead to instead. On a Citus cluster the node that has the fewest has it. Every process hears
 * of it, and opens it.
 * @param database without limits of time (openDatabase): it waits for whoever writes, and takes as long as the first cell is large.
 * @param options.migrations those that the database has; all of this version unless said.
 * @param options.service undefined: nothing runs on the database.
 * @param options.tell hears what it waits for.
 * @throws ApiError validation_error for a name that will not do; conflict for one that is taken, by whatever has its schema, and where the server of the
 *   database allows fewer connections than that takes, or a cluster is not set to what cells need.
 */
export async function createCell(
  database: Database,
  name: string,
  {
    migrations,
    service,
    tell,
  }: {
    migrations?: Awaited<ReturnType<typeof readMigrations>>;
    service?: Service;
    tell?: (line: string) => void;
  },
): Promise<void> {
  const own = (migrations ?? (await readMigrations())).map(asInCell);
  const make = async (client: PoolClient): Promise<void> => {
    await beginMigrating(client, tell);
    const { schema_name: home, path } = only(await findHome(client, {}))!;
    const known = await requireFree(client, name);
    const count = Math.max(known.filter(({ server }) => server === null).length, 1) + 1;
    if (service) requireRoom(count, await findRoom(client, count, service));
    const distributes = await isCluster(client);
    if (distributes) await requireNodes(client);
    const schema = `cell_${name}`;
    await client.query(createSchema(schema)).catch((error: unknown) => {
      throw isTaken(error) ? new ApiError('conflict', sayTaken(schema)) : error;
    });
    await setPath(client, { path: pathOf(schema) });
    await runMigrations(client, own);
    const keys = await selectKeysTo(client, { schema_name: schema, tables: [...sharedTables] });
    for (const key of keys) await client.query(dropKey(key));
    await client.query(dropTables(sharedTables));
    if (distributes) {
      await distributeCell(client, schema, home);
      await setPath(client, { path });
      await openToCluster(client, home, schema);
    }
    await setPath(client, { path: pathOf(schema, home) });
    for (const key of keys) await client.query(addKey(key));
    for (const table of tables) await client.query(noteInDirectory(table, name));
    await setPath(client, { path });
    // Late: whoever writes to the first cell waits from here on.
    if (known.length === 0) await listFirst(client, home);
    await insertCell(client, { id: newId(), name, schema_name: schema, server: null });
    await viewEveryCell(client, home);
    if (service) await client.query(tellOfCells(service.channel));
  };
  await despiteDeadlocks(() => transaction(database, make));
}

/** @throws ApiError validation_error, conflict for a name that no new cell may have. @returns the cells that there are. */
export async function requireFree(client: PoolClient, name: string): ReturnType<typeof selectCells> {
  if (!cellName.test(name))
    throw new ApiError(
      'validation_error',
      'A cell is named by up to 40 small letters, digits and _, a letter first.',
    );
  const known = await selectCells(client, {});
  if (known.some((cell) => cell.name === name) || name === firstCell)
    throw new ApiError('conflict', `There is a cell ${name} already.`);
  return known;
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '42P06';
const sayTaken = (schema: string): string =>
  `The database has a schema ${schema} that is no cell. Take another name, or look what is in it: \`drop schema ${schema} cascade\` takes it away.`;

/** The cell that is there becomes the first of several: from now on the directory knows what is in it. */
export async function listFirst(client: PoolClient, home: string): Promise<void> {
  await insertCell(client, { id: newId(), name: firstCell, schema_name: home, server: null });
  for (const table of tables) {
    // What makes a trigger waits for whoever writes to the table, and keeps others from it until the end.
    await client.query(noteInDirectory(table, firstCell));
    await client.query(fillDirectory(table, firstCell));
  }
}

/** @throws ApiError conflict where the processes of all machines might have more connections than the server allows. */
export function requireRoom(cells: number, room: Awaited<ReturnType<typeof findRoom>>): void {
  if (room.needed > room.allowed)
    throw new ApiError('conflict', `${sayRoom(cells, room)} Allow more, or run fewer processes.`);
}
