import type { PoolClient } from 'pg';
import { hideShards } from '#cells/citus/queries.ts';
import { refreshPeople } from '#cells/citus/citus.ts';
import { nameHome } from '#cells/queries.ts';
import { BackupError } from './backup-error.ts';
import {
  addForeignKey,
  dropForeignKey,
  emptyTables,
  selectForeignKeys,
  selectTables,
  setSequence,
  setTriggers,
  type Table,
} from './queries.ts';

type Sequences = readonly { readonly name: string; readonly last_value: number | null }[];

type Refill<Done> = {
  /** Those of the instance that is brought here. */
  tables: readonly Table[];
  /** The schemas of its cells beside the first. */
  cells: readonly string[];
  /** Looks once more, now that nobody can come in between. @throws where what is here must stay. */
  requireFree: () => Promise<void>;
  /** Fills the tables by COPY; they are empty, and nothing ties them together. */
  fill: () => Promise<Done>;
};

/**
 * Puts an instance in place of what the tables hold, in the transaction of `client`: what ties rows together is looked
 * through once more when all are there, and counts are not counted again.
 * @throws BackupError where the tables are others.
 */
export async function refillTables<Done extends { sequences: Sequences }>(
  client: PoolClient,
  { tables, cells, requireFree, fill }: Refill<Done>,
): Promise<Done> {
  const schemas = { cells: [...cells] };
  await client.query(hideShards);
  requireSameTables(await selectTables(client, schemas), tables);
  const foreignKeys = await selectForeignKeys(client, schemas);
  for (const key of foreignKeys) await client.query(dropForeignKey(key));
  for (const { name } of tables) await client.query(setTriggers(name, 'disable'));
  await requireFree();
  await client.query(emptyTables(tables.map(({ name }) => name)));
  const done = await fill();
  // The first cell lies where this database keeps what is of no other, whatever that was called where it comes from.
  if (cells.length > 0) await nameHome(client, {});
  if (cells.length > 0) await refreshPeople(client);
  for (const { name, last_value } of done.sequences)
    if (last_value !== null) await setSequence(client, { name, last_value });
  for (const key of foreignKeys) await client.query(addForeignKey(key));
  for (const { name } of tables) await client.query(setTriggers(name, 'enable'));
  return done;
}

function requireSameTables(found: readonly Table[], tables: readonly Table[]): void {
  const here = new Map(found.map(({ name, columns }) => [name, columns.toSorted().join()]));
  const differ = tables.filter(({ name, columns }) => here.get(name) !== columns.toSorted().join());
  if (differ.length > 0 || here.size !== tables.length)
    throw new BackupError('Its tables are not those of its version: it is damaged, or was changed by hand.');
}
