import { randomInt } from 'node:crypto';
import { sayCount } from '#ast/say-count.ts';
import { type Database, transaction } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { only } from '../../statement.ts';
import { cellsElsewhere } from '../other-cells.ts';
import { readRoom, tellOfCells } from '../queries.ts';
import { type CellElsewhere, findCell, type Known, requireCell } from './identity.ts';
import { insertPeopleDue, selectKnownPeople, tryLock, updateServerOfCell } from './queries.ts';
import { refuseTwins } from './refuse-twins.ts';
import { isThere, type Reach } from './server.ts';

/**
 * Notes where a cell on another server is from now on, brings it to this version, and has it told of all people that it knows. Every process
 * hears of it, and goes there.
 * @param options.server the address of the database that has it, sealed.
 * @param options.reach as openCells has it.
 * @param options.channel on which processes hear that they should look.
 * @throws ApiError not_found for no such cell; conflict while processes may write to another database of it, and while ids are brought along
 *   anywhere; OtherCellError where it is not there, or has what another cell has; MigrationError where it is of a later version.
 */
export async function readdressCell(
  database: Database,
  name: string,
  { server, reach, channel }: { server: Buffer; reach: (cell: CellElsewhere) => Reach; channel: string },
): Promise<void> {
  const cell = (await cellsElsewhere(database)).find((each) => each.name === name);
  if (!cell)
    throw new ApiError('not_found', `No cell ${name} is on another server: \`cell list\` says which are.`);
  const { place, open, migrate } = reach({ ...cell, server });
  const there = open(1);
  try {
    await findCell(there, cell, place);
    await refuseTwins(database, cell, there, place);
    await requireCell(there, cell, place);
    const { processes } = only(await readRoom(database, { channel }))!;
    if (processes > 0) await refuseTwo(cell, reach({ ...cell, server: cell.server! }), there, processes);
    await migrate(there);
    const known = await selectKnownPeople(there, {});
    await transaction(database, async (client) => {
      await updateServerOfCell(client, { name, server });
      // It may have come back from a backup, and know people as they were.
      await insertPeopleDue(client, { cell: name, user_ids: known.map(({ id }) => id) });
      await client.query(tellOfCells(channel));
    });
  } finally {
    await there.end();
  }
}

/**
 * Between this moment and that in which each process has heard, what is written goes to the address of before: that has to be the same database,
 * or to take nothing any more.
 * @throws ApiError conflict where it is another one that has the cell.
 */
async function refuseTwo(
  { name, ...cell }: Known & { readonly name: string },
  former: Reach,
  there: Database,
  processes: number,
): Promise<void> {
  const before = former.open(1);
  try {
    const hasIt = await isThere(() => findCell(before, cell, former.place));
    if (!hasIt || (await isSame(before, there))) return;
  } finally {
    await before.end();
  }
  throw new ApiError(
    'conflict',
    `The cell ${name} is at ${former.place} too, in another database, and ${sayCount(processes, 'process of the service writes', 'processes of the service write')} there: that would be lost. ` +
      'Stop the service, bring along what is there, and start it when this is done. If nothing is to be brought along, stop that server, or rename the schema there.',
  );
}

/** What is locked in a database is locked at each of its addresses, and not in a copy of it, which is alike in all else. */
async function isSame(one: Database, other: Database): Promise<boolean> {
  const key = randomInt(2 ** 47);
  return transaction(one, async (client) => {
    await tryLock(client, { key });
    return !only(await tryLock(other, { key }))!.is_locked;
  });
}
