import { only, type Queryable } from '../../statement.ts';
import { findStranger, nameSchema } from './queries.ts';

/** A cell on another server, as the instance has it in its books. */
export type CellElsewhere = { readonly id: string; readonly schema_name: string; readonly server: Buffer };
export type Known = Pick<CellElsewhere, 'id' | 'schema_name'>;

/** Why a database is not the one of a cell, with the remedy. */
export class OtherCellError extends Error {}

/** The schema says itself which cell it is, wherever it is brought: `pg_dump` takes its comment along. */
export const nameOf = (id: string): string => `Formloom cell ${id}`;

/** Has a cell say which it is. */
export const nameCell = async (there: Queryable, { id, schema_name }: Known): Promise<void> =>
  void (await there.query(nameSchema(schema_name, nameOf(id))));

/**
 * @param place where that database is, for a person.
 * @returns whether the cell says which it is: one of an earlier version does not.
 * @throws OtherCellError where a database has no such schema, or that of another cell.
 */
export async function findCell(
  there: Queryable,
  { id, schema_name }: Known,
  place: string,
): Promise<boolean> {
  const { has_schema, comment } = only(await findStranger(there, { schema_name }))!;
  if (!has_schema) throw new OtherCellError(`The database at ${place} has no schema ${schema_name}.`);
  if (comment === null || comment === nameOf(id)) return comment !== null;
  throw new OtherCellError(
    `The schema ${schema_name} at ${place} is that of another cell, or of another instance. ` +
      '`cell address` says where this one is.',
  );
}

/** The same for a new address. @throws OtherCellError also where the cell does not say which it is. */
export async function requireCell(there: Queryable, known: Known, place: string): Promise<void> {
  if (await findCell(there, known, place)) return;
  throw new OtherCellError(
    `The schema ${known.schema_name} at ${place} does not say which cell it is. If you are sure of it: ${nameSchema(known.schema_name, nameOf(known.id))}`,
  );
}
