import { only, type Queryable } from '../statement.ts';
import { firstCell } from './cells.ts';
import { findHome, selectCells } from './queries.ts';

/** The cells of a database beside its first one; none of one that is empty, or of a version that knows none. */
export async function otherCells(db: Queryable): ReturnType<typeof selectCells> {
  const { knows_cells } = only(await findHome(db, {}))!;
  return knows_cells ? (await selectCells(db, {})).filter(({ name }) => name !== firstCell) : [];
}
