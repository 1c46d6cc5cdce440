import { sayCount } from '#ast/say-count.ts';
import { type Database, despiteDeadlocks, transaction } from '../database.ts';
import { ApiError } from '../errors.ts';
import { beginMigrating } from '../migrate.ts';
import { only, type Queryable } from '../statement.ts';
import { askCell, cellsOf, firstCell } from './cells.ts';
import {
  countContents,
  deleteCell,
  dropSchema,
  findHome,
  lockWorkspaces,
  pathOf,
  selectCells,
  selectContents,
  setPath,
  tellOfCells,
} from './queries.ts';
import { isThere } from './servers/server.ts';
import { viewEveryCell } from './view-every-cell.ts';

/** What is let go of with a cell, as far as the instance knows. */
type Contents = Awaited<ReturnType<typeof selectContents>>[number];
export type Forgotten = Contents & { name: string; server?: string };

/**
 * Lets go of a cell that does not answer, or has no workspace: the instance forgets it, and nobody waits for it any more. Every process hears
 * of it. One that answers goes with its tables, so that nobody makes a workspace there who has just chosen it.
 * @param options.confirm asks whether that is meant, and throws where it is not.
 * @param options.channel on which processes hear that they should look.
 * @throws ApiError not_found for a cell that there is not; conflict for the first one, and for one that answers and has workspaces.
 */
export async function forgetCell(
  database: Database,
  name: string,
  {
    confirm,
    channel,
    tell,
  }: {
    confirm: (forgotten: Forgotten) => Promise<void>;
    channel: string;
    tell?: (line: string) => void;
  },
): Promise<Forgotten> {
  if (name === firstCell)
    throw new ApiError('conflict', `The cell ${firstCell} has what is of the instance, and stays.`);
  const cell = cellsOf(database).find((each) => each.name === name);
  const row = (await selectCells(database, {})).find((each) => each.id === cell?.id);
  if (!cell || !row)
    throw new ApiError('not_found', `There is no cell ${name}: \`cell list\` says which there are.`);
  const { schema_name: schema } = row;
  const look = (work: (client: Queryable) => Promise<void>): Promise<boolean> =>
    isThere(async () => {
      await cell.server?.open();
      await askCell(cell, (there) => transaction(there, work));
    });
  await look((client) => refuseFull(client, name, schema));
  const { server, place } = cell;
  const where = server?.place ?? place?.node;
  const forgotten = {
    name,
    ...(where !== undefined && { server: where }),
    ...only(await selectContents(database, { name }))!,
  };
  await confirm(forgotten);
  // It may have come back while somebody was asked. On another server it is committed before: where it is not noted here, the cell is lost.
  const answers = await despiteDeadlocks(() =>
    look((client) => (server ? takeAway : refuseFull)(client, name, schema)),
  );
  await despiteDeadlocks(() =>
    transaction(database, async (client) => {
      await beginMigrating(client, tell);
      const { path, schema_name: home } = only(await findHome(client, {}))!;
      if (!server && answers) await takeAway(client, name, schema);
      await setPath(client, { path });
      await deleteCell(client, { name });
      if (!server) await viewEveryCell(client, home);
      await client.query(tellOfCells(channel));
    }),
  );
  return forgotten;
}

/** Looks there with a transaction, whose path is another one then. */
async function refuseFull(client: Queryable, name: string, schema: string): Promise<void> {
  await setPath(client, { path: pathOf(schema) });
  const { workspaces } = only(await countContents(client, {}))!;
  if (workspaces > 0)
    throw new ApiError(
      'conflict',
      `The cell ${name} has ${sayCount(workspaces, 'workspace')}. Delete every workspace in it first.`,
    );
}

/** The same, and nobody makes one any more: who is at it is waited for. */
export async function takeAway(client: Queryable, name: string, schema: string): Promise<void> {
  await client.query(lockWorkspaces(schema));
  await refuseFull(client, name, schema);
  await client.query(dropSchema(schema));
}
