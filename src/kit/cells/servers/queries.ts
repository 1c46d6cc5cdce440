import { escapeIdentifier, escapeLiteral } from 'pg';
import {
  bigint,
  boolean,
  bytes,
  byteStrings,
  integer,
  nullable,
  ofInstance,
  statement,
  text,
  texts,
  uuid,
  uuids,
} from '../../statement.ts';

/** Whether a database that is to have a cell of another one has something already. */
export const findStranger = statement(
  'cells.find_stranger',
  { schema_name: text },
  { knows_cells: boolean, has_schema: boolean, comment: nullable(text), cells: integer },
  `select to_regclass('cells') is not null as knows_cells,
          to_regnamespace(quote_ident($schema_name)) is not null as has_schema,
          obj_description(to_regnamespace(quote_ident($schema_name)), 'pg_namespace') as comment,
          (select count(*)::integer from pg_namespace where starts_with(nspname, 'cell_')) as cells`,
);

/** Whether a cell has a thing that the directory does not know: the cell is on another server. */
export const findHere = statement(
  'cells.find_here',
  { id: bytes },
  { is_here: boolean },
  `/* lookup: across workspaces */
   with given as materialized (
     select case when length($id) = 16 then encode($id, 'hex')::uuid end as uuid)
   select exists (select from workspaces where id = (select uuid from given))
       or exists (select from form_lookup where form_id = (select uuid from given))
       or exists (select from api_key_lookup where hash = $id) as is_here`,
);

/** What a cell has that leads requests to it; of these ids, or all. */
export const selectThings = statement(
  'cells.select_things',
  { ids: nullable(byteStrings) },
  { id: bytes, name: text },
  `/* lookup: across workspaces */
   select id, name
     from (select uuid_send(id) as id, concat('the workspace ', id) as name from workspaces
           union all select uuid_send(id), concat('the form ', id, ' of the workspace ', workspace_id) from forms
           union all select hash, concat('the key ', api_key_id, ' of the workspace ', workspace_id) from api_key_lookup) as things
    where $ids is null or id = any ($ids)`,
);

/** Takes an advisory lock until the transaction ends, where nobody has it. */
export const tryLock = statement(
  'cells.try_lock',
  { key: bigint },
  { is_locked: boolean },
  `select pg_try_advisory_xact_lock($key) as is_locked`,
);

export const updateServerOfCell = ofInstance(
  'cells.update_server',
  { name: text, server: bytes },
  {},
  `update cells set server = $server where name = $name`,
);

/** Whom a cell on another server knows. */
export const selectKnownPeople = statement(
  'cells.select_known_people',
  {},
  { id: text },
  `select id from users`,
);

export const insertPeopleDue = ofInstance(
  'cells.insert_people_due',
  { cell: text, user_ids: texts },
  {},
  `insert into people_due (cell, user_id) select $cell, unnest($user_ids)`,
);

/** The cells that a command was about to make, each until it is in the books; also of a database that is of no version with a name for them. */
export const selectBegun = ofInstance(
  'cells.select_begun',
  {},
  { id: uuid, name: nullable(text), place: nullable(text) },
  `select id::uuid as id, said -> id ->> 'name' as name, said -> id ->> 'place' as place
     from instance
    cross join lateral (select to_jsonb(instance) -> 'cells_begun' as ids, to_jsonb(instance) -> 'cells_begun_as' as said) as begun
    cross join lateral jsonb_array_elements_text(ids) as id`,
);

export const noteBegun = ofInstance(
  'cells.note_begun',
  { id: uuid, name: text, place: text },
  {},
  `update instance
      set cells_begun = cells_begun || $id,
          cells_begun_as = cells_begun_as || jsonb_build_object($id, jsonb_build_object('name', $name, 'place', $place))`,
);

export const endBegun = ofInstance(
  'cells.end_begun',
  { ids: uuids },
  {},
  `update instance
      set cells_begun = array(select unnest(cells_begun) except select unnest($ids)),
          cells_begun_as = cells_begun_as - $ids::text[]`,
);

export const nameSchema = (schema: string, name: string): string =>
  `comment on schema ${escapeIdentifier(schema)} is ${escapeLiteral(name)}`;

/** Has the cells on other servers told of what they know of people. @param columns of `users`. */
export const notePeopleDue = (columns: readonly string[]): string =>
  `create or replace trigger note_person_due after update of ${columns.map(escapeIdentifier).join(', ')} or delete on users
     for each row execute function note_person_due()`;
