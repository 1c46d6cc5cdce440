import { type Database, homeOf, transaction } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { only } from '../../statement.ts';
import { idInDirectory } from '../cell-with.ts';
import { cellsOnServers } from '../cells.ts';
import { findInDirectory } from '../queries.ts';
import { findFormHere, idsLock, tryLock } from './queries.ts';
import { away } from './server.ts';

/**
 * Writes a form that brings its id along: no cell on any server has it, and nobody else writes one meanwhile. Who had it would else lose
 * its visitors to this one. In one database the directory itself allows no second.
 * @throws ApiError conflict for an id that is taken; service_unavailable where a server is away, which may have it, and while somebody else
 * writes one.
 */
export async function whileFree<Result>(
  database: Database,
  id: string,
  write: () => Promise<Result>,
): Promise<Result> {
  const others = cellsOnServers(database);
  if (others.length === 0) return write();
  return transaction(homeOf(database), async (client) => {
    // Nobody waits for it with a connection, of which whoever has it needs another one.
    if (!only(await tryLock(client, { key: idsLock }))!.is_locked) throw away();
    const found = await Promise.all(
      others.map(({ server }) => server!.ask((there) => findFormHere(there, { id }))),
    );
    const listed = await findInDirectory(client, { id: idInDirectory(id) });
    if (listed.length > 0 || found.some((each) => only(each)!.is_here))
      throw new ApiError('conflict', `There is a form ${id} here already.`);
    return write();
  });
}
