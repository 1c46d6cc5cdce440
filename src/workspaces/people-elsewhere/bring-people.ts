import { cellOf, cellsOf, nameOfCell } from '#kit/cells/cells.ts';
import { type Database, databaseOf, homeOf, transaction } from '#kit/database.ts';
import type { Queryable } from '#kit/statement.ts';
import { insertLinesOfMember } from '../audit/queries.ts';
import {
  deleteDue,
  deletePeople,
  lockPeople,
  putPerson,
  selectCellsDue,
  selectDue,
  selectPeople,
} from './queries.ts';

/** Changes that are brought at once. */
const batch = 500;

/** What is due is asked so often, once for all cells of a process. */
const lookMs = 1_000;
const looks = new WeakMap<Database, { at: number; due: Promise<ReadonlySet<string>> }>();

function cellsDue(home: Database): Promise<ReadonlySet<string>> {
  const known = looks.get(home);
  if (known && performance.now() - known.at < lookMs) return known.due;
  const due = selectCellsDue(home, {}).then((rows) => new Set(rows.map(({ cell }) => cell)));
  looks.set(home, { at: performance.now(), due });
  return due;
}

/** bringPeople, where something is due. */
export async function bringDuePeople(database: Database): Promise<void> {
  if ((await cellsDue(cellsOf(database)[0]!.database)).has(nameOfCell(database))) await bringPeople(database);
}

/** Brings to a cell on another server what has changed of people, and to one on another node as well what they did (docs/decisions/0078-cells.md). */
export async function bringPeople(database: Database): Promise<void> {
  const cell = cellOf(database);
  // It was let go of, or is elsewhere now.
  if (!cell) return;
  for (;;) {
    const due = await selectDue(database, { cell: cell.name, limit: batch });
    if (due.length === 0) return;
    const changed = new Set(due.flatMap(({ user_id, line }) => (line ? [] : [user_id])));
    await transaction(database, async (client) => {
      if (changed.size > 0) await copyPeople(client, [...changed]);
      for (const { line } of due) if (line) await insertLinesOfMember(client, line);
    });
    // Not before they are there: what is brought again changes nothing.
    await deleteDue(database, { ids: due.map(({ id }) => String(id)) });
  }
}

/**
 * Writes to a cell on another server, in a transaction of it, what the instance knows of people: they are another now, or gone, or
 * (`adds`) new there.
 * @param options.from the transaction of the instance that changes them, where that is not committed yet.
 */
export async function copyPeople(
  client: Queryable,
  ids: readonly string[],
  { adds = false, from = client }: { adds?: boolean; from?: Queryable } = {},
): Promise<void> {
  await client.query(lockPeople);
  const people = await selectPeople(from, { ids: [...ids] });
  for (const person of people) await putPerson(client, { ...person, adds });
  const gone = ids.filter((id) => !people.some((person) => person.id === id));
  if (gone.length > 0) await deletePeople(client, { ids: gone });
}

/** Before a person becomes a member, with the transaction that does it: where their cell has all people of the instance it does nothing. */
export async function bringPerson(db: Queryable, userId: string): Promise<void> {
  if (homeOf(db) === db) return;
  if (db === databaseOf(db)) return transaction(db, (client) => bringPerson(client, userId));
  await copyPeople(db, [userId], { adds: true });
}
