import { type Database, transaction } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { only } from '../../statement.ts';
import { cellsElsewhere } from '../other-cells.ts';
import { pathOf, setPath } from '../queries.ts';
import { findStranger, insertPeopleDue, selectKnownPeople, updateServerOfCell } from './queries.ts';

/**
 * Notes where a cell on another server is from now on, and has it told of all people that it knows.
 * @param options.there the database that has it.
 * @param options.server its address, sealed.
 * @throws ApiError not_found for no such cell; conflict where it is not there.
 */
export async function readdressCell(
  database: Database,
  name: string,
  { there, server }: { there: Database; server: Buffer },
): Promise<void> {
  const cell = (await cellsElsewhere(database)).find((each) => each.name === name);
  if (!cell)
    throw new ApiError('not_found', `No cell ${name} is on another server: \`cell list\` says which are.`);
  const { has_schema } = only(await findStranger(there, { schema_name: cell.schema_name }))!;
  if (!has_schema) throw new ApiError('conflict', `That database has no schema ${cell.schema_name}.`);
  const known = await transaction(there, async (client) => {
    await setPath(client, { path: pathOf(cell.schema_name) });
    return selectKnownPeople(client, {});
  });
  await transaction(database, async (client) => {
    await updateServerOfCell(client, { name, server });
    // It may have come back from a backup, and know people as they were.
    await insertPeopleDue(client, { cell: name, user_ids: known.map(({ id }) => id) });
  });
}
