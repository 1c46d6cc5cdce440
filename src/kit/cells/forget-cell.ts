import { type Database, transaction } from '../database.ts';
import { ApiError } from '../errors.ts';
import { only } from '../statement.ts';
import { type Cell, cellsOf, firstCell } from './cells.ts';
import { countIn } from './contents.ts';
import { beginMigrating } from '../migrate.ts';
import { deleteCell, findHome, selectContents, tellOfCells } from './queries.ts';
import { isLost } from './servers/server.ts';
import { viewEveryCell } from './view-every-cell.ts';

/** What is let go of with a cell, as far as the instance knows. */
type Contents = Awaited<ReturnType<typeof selectContents>>[number];
export type Forgotten = Contents & { name: string; server?: string };

/**
 * Lets go of a cell that does not answer, or has no workspace: the instance forgets where it is, and nobody waits for it any more. Every process hears
 * of it. Its schema, where it is still there, stays as it is.
 * @param options.confirm asks whether that is meant, and throws where it is not.
 * @param options.channel on which processes hear that they should look.
 * @throws ApiError not_found for a cell that there is not; conflict for the first one, and for one that answers and has workspaces.
 */
export async function forgetCell(
  database: Database,
  name: string,
  { confirm, channel }: { confirm: (forgotten: Forgotten) => Promise<void>; channel: string },
): Promise<Forgotten> {
  if (name === firstCell)
    throw new ApiError('conflict', `The cell ${firstCell} has what is of the instance, and stays.`);
  const cell = cellsOf(database).find((each) => each.name === name);
  if (!cell) throw new ApiError('not_found', `There is no cell ${name}: \`cell list\` says which there are.`);
  await refuseFull(cell);
  const server = cell.server ?? cell.place;
  const forgotten = {
    name,
    ...(server && { server: 'node' in server ? server.node : server.place }),
    ...only(await selectContents(database, { name }))!,
  };
  await confirm(forgotten);
  // It may have come back while somebody was asked.
  await refuseFull(cell);
  await transaction(database, async (client) => {
    await beginMigrating(client);
    await deleteCell(client, { name });
    if (!cell.server) await viewEveryCell(client, only(await findHome(client, {}))!.schema_name);
    await client.query(tellOfCells(channel));
  });
  return forgotten;
}

async function refuseFull(cell: Cell): Promise<void> {
  try {
    await cell.server?.open();
    const { workspaces } = await countIn(cell);
    if (workspaces === 0) return;
    throw new ApiError(
      'conflict',
      `The cell ${cell.name} answers, and has ${workspaces} workspaces. Bring each into another cell (\`workspace pack\`), and delete it.`,
    );
  } catch (error) {
    if (!isLost(error)) throw error;
  }
}
