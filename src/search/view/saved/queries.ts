import { integer, jsonb, nullable, statement, text, timestamp, uuid } from '#kit/statement.ts';
import type { TableSettings, ViewQuery } from '#submissions/shapes.ts';

const viewColumns = {
  id: uuid,
  form_id: uuid,
  name: text,
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
  created_by: nullable(text),
  created_at: timestamp,
  updated_at: timestamp,
} as const;
const viewSelection = `v.id, v.form_id, v.name, v.query, v.columns, u.name as created_by, v.created_at, v.updated_at`;

const written = {
  workspace_id: uuid,
  id: uuid,
  name: text,
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
  now: timestamp,
} as const;

/** The saved views of a form that is there, by their names. */
export const listSavedViews = statement(
  'saved.list_views',
  { workspace_id: uuid, form_id: uuid },
  viewColumns,
  `select ${viewSelection} from saved_views v left join users u on u.id = v.created_by
   where v.workspace_id = $workspace_id and v.form_id = $form_id
   order by lower(v.name), v.id`,
);

/** A saved view of a form that is there. */
export const findSavedView = statement(
  'saved.find_view',
  { workspace_id: uuid, id: uuid },
  viewColumns,
  `select ${viewSelection} from saved_views v
   join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id and f.deleted_at is null
   left join users u on u.id = v.created_by
   where v.workspace_id = $workspace_id and v.id = $id`,
);

/** Saves a view; nothing where the form has as many, or is gone. A name that is taken violates saved_views_by_name. */
export const insertSavedView = statement(
  'saved.insert_view',
  { ...written, form_id: uuid, created_by: nullable(text), most: integer },
  { id: uuid },
  `insert into saved_views (workspace_id, id, form_id, name, query, columns, created_by, created_at, updated_at)
   select workspace_id, $id, id, $name, $query, $columns, $created_by, $now, $now from forms
   where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     and $most > (select count(*) from saved_views v where v.workspace_id = $workspace_id and v.form_id = $form_id)
   returning id`,
);

/** Locks a saved view for a change, and reads what it is. */
export const lockSavedView = statement(
  'saved.lock_view',
  { workspace_id: uuid, id: uuid },
  { name: text, query: jsonb<ViewQuery>(), columns: nullable(jsonb<TableSettings>()), updated_at: timestamp },
  `select name, query, columns, updated_at from saved_views where workspace_id = $workspace_id and id = $id for update`,
);

export const updateSavedView = statement(
  'saved.update_view',
  written,
  {},
  `update saved_views set name = $name, query = $query, columns = $columns,
     updated_at = greatest($now, updated_at + interval '1 ms')
   where workspace_id = $workspace_id and id = $id`,
);

export const deleteSavedView = statement(
  'saved.delete_view',
  { workspace_id: uuid, id: uuid },
  { id: uuid },
  `delete from saved_views where workspace_id = $workspace_id and id = $id returning id`,
);
