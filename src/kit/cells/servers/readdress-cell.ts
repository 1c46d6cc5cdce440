import { type Database, transaction } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { cellsElsewhere } from '../other-cells.ts';
import { type CellElsewhere, requireCell } from './identity.ts';
import { insertPeopleDue, selectKnownPeople, updateServerOfCell } from './queries.ts';
import type { Reach } from './server.ts';

/**
 * Notes where a cell on another server is from now on, brings it to this version, and has it told of all people that it knows.
 * @param options.server the address of the database that has it, sealed.
 * @param options.reach as openCells has it.
 * @throws ApiError not_found for no such cell; OtherCellError where it is not there; MigrationError where it is of a later version.
 */
export async function readdressCell(
  database: Database,
  name: string,
  { server, reach }: { server: Buffer; reach: (cell: CellElsewhere) => Reach },
): Promise<void> {
  const cell = (await cellsElsewhere(database)).find((each) => each.name === name);
  if (!cell)
    throw new ApiError('not_found', `No cell ${name} is on another server: \`cell list\` says which are.`);
  const { place, open, migrate } = reach({ ...cell, server });
  const there = open(1);
  try {
    await requireCell(there, cell, place);
    await migrate(there);
    const known = await selectKnownPeople(there, {});
    await transaction(database, async (client) => {
      await updateServerOfCell(client, { name, server });
      // It may have come back from a backup, and know people as they were.
      await insertPeopleDue(client, { cell: name, user_ids: known.map(({ id }) => id) });
    });
  } finally {
    await there.end();
  }
}
