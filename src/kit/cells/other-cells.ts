import { only, type Queryable } from '../statement.ts';
import { firstCell } from './cells.ts';
import { findHome, selectCells } from './queries.ts';

const allOthers = async (db: Queryable): ReturnType<typeof selectCells> => {
  const { knows_cells } = only(await findHome(db, {}))!;
  return knows_cells ? (await selectCells(db, {})).filter(({ name }) => name !== firstCell) : [];
};

/** The cells in a database beside its first one; none of one that is empty, or of a version that knows none. */
export const otherCells = async (db: Queryable): ReturnType<typeof selectCells> =>
  (await allOthers(db)).filter(({ server }) => server === null);

/** The cells of its instance that are on other servers. */
export const cellsElsewhere = async (db: Queryable): ReturnType<typeof selectCells> =>
  (await allOthers(db)).filter(({ server }) => server !== null);
