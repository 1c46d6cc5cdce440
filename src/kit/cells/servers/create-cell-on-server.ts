import type { PoolClient } from 'pg';
import { newId } from '../../clock.ts';
import { type Database, despiteDeadlocks, transaction } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { asInCell, beginMigrating, readMigrations, runMigrations } from '../../migrate.ts';
import { only } from '../../statement.ts';
import { isCluster } from '../citus/distribute-cell.ts';
import { takeAway } from '../forget-cell.ts';
import { listFirst, requireFree, requireRoom, sharedTables } from '../create-cell.ts';
import {
  createSchema,
  dropColumns,
  dropKey,
  dropTables,
  findHome,
  insertCell,
  pathOf,
  selectTablesOf,
  setPath,
  tellOfCells,
} from '../queries.ts';
import { findRoom, findRoomElsewhere, type Service } from '../room.ts';
import { nameCell, nameOf } from './identity.ts';
import { endBegun, findStranger, noteBegun, notePeopleDue, selectBegun } from './queries.ts';

/** What a cell on another server keeps of a person. */
export const personColumns: readonly string[] = ['id', 'name', 'email', 'second_factor', 'ends_at'];

/**
 * Makes one more cell, in the database of another server: a schema as createCell makes it, with a `users` of its own, which has of people
 * what the tables of the cell need.
 * @param database as createCell has it.
 * @param options.there that database, without limits of time.
 * @param options.server its address, sealed.
 * @param options.place the same, for a person.
 * @throws ApiError as createCell; conflict where that database has an instance of its own, or such a schema, and on a Citus cluster.
 */
export async function createCellOnServer(
  database: Database,
  name: string,
  {
    there,
    server,
    place,
    service,
    tell,
  }: { there: Database; server: Buffer; place: string; service: Service; tell?: (line: string) => void },
): Promise<void> {
  const make = async (client: PoolClient): Promise<void> => {
    await beginMigrating(client, tell);
    const { schema_name: home } = only(await findHome(client, {}))!;
    const known = await requireFree(client, name);
    if (await isCluster(client))
      throw new ApiError(
        'conflict',
        'The cells of a Citus cluster lie on its nodes: `cell create` makes one there, without --server.',
      );
    const { processes } = await findRoom(client, 1, service);
    const id = newId();
    const schema = `cell_${name}`;
    const begun = await selectBegun(client, {});
    // Committed before it is said where it is: a schema that nobody knows harms nobody.
    const ended = await transaction(there, async (other) => {
      const { cells, left } = await requireStranger(other, schema, begun);
      if (left) await takeAway(other, name, schema);
      const count = left ? cells : cells + 1;
      requireRoom(count, await findRoomElsewhere(other, count, { pool: service.pool, processes }));
      await makeSchema(other, schema);
      await nameCell(other, { id, schema_name: schema });
      // Past the transaction: who is killed from here on leaves a schema that the next one knows.
      await noteBegun(database, { id, name, place });
      return left ? [id, left.id] : [id];
    });
    // Of those that came to nothing there, too.
    const same = begun.filter((each) => each.name === name && each.place === place).map((each) => each.id);
    await endBegun(client, { ids: [...ended, ...same] });
    // Late: whoever writes to the first cell waits from here on.
    if (known.length === 0) await listFirst(client, home);
    await insertCell(client, { id, name, schema_name: schema, server });
    await client.query(notePeopleDue(personColumns));
    await client.query(tellOfCells(service.channel));
  };
  await despiteDeadlocks(() => transaction(database, make));
}

async function makeSchema(client: PoolClient, schema: string): Promise<void> {
  await client.query(createSchema(schema));
  await setPath(client, { path: pathOf(schema) });
  await runMigrations(client, (await readMigrations()).map(asInCell));
  await client.query(dropTables(sharedTables.filter((table) => table !== 'users')));
  const tables = await selectTablesOf(client, { schema_name: schema });
  const { columns } = tables.find((table) => table.name === 'users')!;
  const others = columns.filter((column) => !personColumns.includes(column));
  await client.query(dropColumns('users', others));
  // Two may exchange their addresses, and one of them is told first.
  await client.query(dropKey({ table_name: 'users', name: 'users_email_key' }));
}

/**
 * @param begun the cells that this instance was about to make.
 * @throws ApiError conflict where an instance uses a database itself, or has a cell of this name there.
 * @returns how many cells are there, and which of those is left of a command that was killed.
 */
async function requireStranger<Begun extends { readonly id: string }>(
  there: PoolClient,
  schema: string,
  begun: readonly Begun[],
): Promise<{ cells: number; left: Begun | undefined }> {
  const { knows_cells, has_schema, comment, cells } = only(
    await findStranger(there, { schema_name: schema }),
  )!;
  if (knows_cells)
    throw new ApiError(
      'conflict',
      'That database has an instance itself. Name another one, such as `create database` makes.',
    );
  const left = begun.find(({ id }) => comment === nameOf(id));
  if (has_schema && !left)
    throw new ApiError(
      'conflict',
      `That database has a schema ${schema}, which this instance has not made: of another one, or of a cell that was let go of. Choose another name, or drop what is nobody's.`,
    );
  return { cells, left };
}
