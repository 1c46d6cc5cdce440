import type { Database } from '../../database.ts';
import type { Queryable } from '../../statement.ts';
import { cellsOnServers } from '../cells.ts';
import { findAllInDirectory } from '../queries.ts';
import { type Known, OtherCellError } from './identity.ts';
import { selectThings } from './queries.ts';
import { isAway, isLost } from './server.ts';

/** A cell on another server, to be asked. */
type Other = {
  readonly id?: string;
  readonly name: string;
  ask: <Result>(question: (there: Queryable) => Promise<Result>) => Promise<Result>;
};

/** So many are said by name. */
const most = 5;

/**
 * Refuses a database for a cell where a workspace, form or key of it is in another cell too, as after a dump of before: who asks for it would be led
 * to either of them. Cells that do not answer are not asked, since two that were lost have to come back one after the other.
 * @param home the first database of the instance.
 * @param place where that database is, for a person.
 * @param others the cells on other servers; those that this process knows, unless said.
 * @throws OtherCellError, which names what there is twice.
 */
export async function refuseTwins(
  home: Database,
  { id: own, schema_name: schema }: Known,
  there: Queryable,
  place: string,
  others: readonly Other[] = othersOf(home),
): Promise<void> {
  const things = await selectThings(there, { ids: null });
  const ids = things.map(({ id }) => id);
  const asked = others
    .filter(({ id }) => id !== own)
    .map(async ({ name: cell, ask }) => {
      try {
        return (await ask((other) => selectThings(other, { ids }))).map(({ id }) => ({ id, cell }));
      } catch (error) {
        if (isAway(error) || isLost(error)) return [];
        throw error;
      }
    });
  const [listed, ...elsewhere] = await Promise.all([findAllInDirectory(home, { ids }), ...asked]);
  const cells = new Map([listed, ...elsewhere].flat().map(({ id, cell }) => [id.toString('hex'), cell]));
  const twins = things.flatMap(({ id, name }) => {
    const cell = cells.get(id.toString('hex'));
    return cell === undefined ? [] : [`${name} in the cell ${cell}`];
  });
  if (twins.length === 0) return;
  const more = twins.length > most ? ` and ${twins.length - most} more` : '';
  throw new OtherCellError(
    `The schema ${schema} at ${place} has what another cell has too: ${twins.slice(0, most).join(', ')}${more}. ` +
      `Whoever asks for it would be led to either of them. Delete it in that cell, or the workspace here with all that is in it: \`delete from ${schema}.workspaces where id = ...\`.`,
  );
}

const othersOf = (home: Database): readonly Other[] =>
  cellsOnServers(home).map(({ id, name, server }) => ({
    id: id!,
    name,
    ask: (question) => server!.ask(question),
  }));
