import { columns, jsonb, nullable, statement } from '#kit/statement.ts';
import type { TableSettings, ViewQuery } from '#submissions/shapes.ts';

const viewColumns = columns('id form_id name created_by? created_at updated_at', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});
const viewSelection = `v.id, v.form_id, v.name, v.query, v.columns, u.name as created_by, v.created_at, v.updated_at`;

const written = columns('workspace_id id name now', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});

/** The saved views of a form that is there, by their names. */
export const listSavedViews = statement(
  'saved.list_views',
  'workspace_id form_id',
  viewColumns,
  `select ${viewSelection} from saved_views v left join users u on u.id = v.created_by
   where v.workspace_id = $workspace_id and v.form_id = $form_id
   order by lower(v.name), v.id`,
);

/** A saved view of a form that is there. */
export const findSavedView = statement(
  'saved.find_view',
  'workspace_id id',
  viewColumns,
  `select ${viewSelection} from saved_views v
   join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id and f.deleted_at is null
   left join users u on u.id = v.created_by
   where v.workspace_id = $workspace_id and v.id = $id`,
);

/** Saves a view; nothing where the form has as many, or is gone. A name that is taken violates saved_views_by_name. */
export const insertSavedView = statement(
  'saved.insert_view',
  ['form_id created_by? most', written],
  'id',
  `insert into saved_views (workspace_id, id, form_id, name, query, columns, created_by, created_at, updated_at)
   select workspace_id, $id, id, $name, $query, $columns, $created_by, $now, $now from forms
   where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     and $most > (select count(*) from saved_views v where v.workspace_id = $workspace_id and v.form_id = $form_id)
   returning id`,
);

/** Locks a saved view for a change, and reads what it is. */
export const lockSavedView = statement(
  'saved.lock_view',
  'workspace_id id',
  ['name updated_at', { query: jsonb<ViewQuery>(), columns: nullable(jsonb<TableSettings>()) }],
  `select name, query, columns, updated_at from saved_views where workspace_id = $workspace_id and id = $id for update`,
);

export const updateSavedView = statement(
  'saved.update_view',
  written,
  '',
  `update saved_views set name = $name, query = $query, columns = $columns,
     updated_at = greatest($now, updated_at + interval '1 ms')
   where workspace_id = $workspace_id and id = $id`,
);

export const deleteSavedView = statement(
  'saved.delete_view',
  'workspace_id id',
  'id',
  `delete from saved_views where workspace_id = $workspace_id and id = $id returning id`,
);
