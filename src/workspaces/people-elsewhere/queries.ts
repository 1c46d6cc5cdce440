import {
  bigint,
  boolean,
  here,
  integer,
  jsonb,
  nullable,
  ofInstance,
  statement,
  text,
  texts,
  timestamp,
} from '#kit/statement.ts';
import type { LineOfMember } from '../audit/queries.ts';

const person = { id: text, name: text, email: text, second_factor: boolean, ends_at: nullable(timestamp) };

/** What a cell knows of people, as the instance has it. */
export const selectPeople = ofInstance(
  'people_elsewhere.select',
  { ids: texts },
  person,
  `select id, name, email, second_factor, ends_at from users where id = any ($ids)`,
);

/** Writes it to a cell on another server. @param adds also of whom the cell did not know. */
export const putPerson = statement(
  'people_elsewhere.put',
  { ...person, adds: boolean },
  {},
  `insert into users (id, name, email, second_factor, ends_at)
   select given.* from (select $id, $name, $email, $second_factor, $ends_at) as given ${here}
    where $adds or exists (select from users where id = $id)
   on conflict (id) do update
      set name = excluded.name, email = excluded.email, second_factor = excluded.second_factor, ends_at = excluded.ends_at`,
);

export const deletePeople = statement(
  'people_elsewhere.delete',
  { ids: texts },
  {},
  `delete from users where id = any ($ids)`,
);

/** One at a time writes to the people of a cell: who reads what the instance has of them has it until it is written. */
export const lockPeople = 'lock table users in share row exclusive mode';

/** What a cell is to be told. */
export const selectDue = ofInstance(
  'people_elsewhere.select_due',
  { cell: text, limit: integer },
  { id: bigint, user_id: text, line: nullable(jsonb<LineOfMember>()) },
  `select id, user_id, line from people_due where cell = $cell order by id limit $limit`,
);

/** Which cells are to be told something. */
export const selectCellsDue = ofInstance(
  'people_elsewhere.select_cells_due',
  {},
  { cell: text },
  `select distinct cell from people_due`,
);

export const deleteDue = ofInstance(
  'people_elsewhere.delete_due',
  { ids: texts },
  {},
  `delete from people_due where id = any ($ids::bigint[])`,
);

/** Has cells note a line for the workspaces that a person has there. */
export const insertLineDue = ofInstance(
  'people_elsewhere.insert_line_due',
  { cells: texts, user_id: text, line: jsonb<LineOfMember>() },
  {},
  `insert into people_due (cell, user_id, line) select name, $user_id, $line from cells where name = any ($cells) order by name`,
);
