import type { Database } from '../database.ts';
import { only } from '../statement.ts';
import { cellsOnServers, type Instance, instanceOf, refreshCells } from './cells.ts';
import { findInDirectory } from './queries.ts';
import { findHere } from './servers/queries.ts';

/** The bytes under which the directory has a workspace or a form. */
export const idInDirectory = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/**
 * The cell of a workspace, a form (idInDirectory) or an API key (its hash). Where there is one cell nobody is asked. What is
 * nowhere is in the first, which says so.
 * @throws where a server is away, which may have it: nobody can say that it is nowhere.
 */
export async function cellWith(database: Database, id: Buffer): Promise<Database> {
  const instance = instanceOf(database);
  if (!instance || instance.cells.length === 1) return database;
  const found = only(await findInDirectory(instance.first, { id }));
  if (!found) return (await findOnServers(database, id)) ?? instance.first;
  const known = poolNamed(instance, found.cell);
  if (known) return known;
  await refreshCells(instance.first);
  return poolNamed(instance, found.cell)!;
}

const nowhere = new Error('It is not there.');

/**
 * Cells on other servers are asked themselves: a directory of theirs could not be written together with what is in them. The first to have it
 * answers for all, so that one that is away or silent keeps nobody from another.
 */
async function findOnServers(database: Database, id: Buffer): Promise<Database | undefined> {
  const asked = cellsOnServers(database).map(async (cell) => {
    const found = await cell.server!.ask((there) => findHere(there, { id }));
    if (!only(found)!.is_here) throw nowhere;
    return cell.database;
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    const lost = (error as AggregateError).errors.find((each) => each !== nowhere);
    if (lost) throw lost;
    return undefined;
  }
}

/** The cell of a workspace: see cellWith. */
export const cellOfWorkspace = (database: Database, workspaceId: string): Promise<Database> =>
  cellWith(database, idInDirectory(workspaceId));

/** The pool of a cell by its name; undefined for one that this process does not know (yet). */
const poolNamed = (instance: Instance, name: string): Database | undefined =>
  instance.cells.find((cell) => cell.name === name)?.database;
