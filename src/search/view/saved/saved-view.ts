import { columns, jsonb, nullable } from '#kit/statement.ts';
import type { TableSettings, ViewQuery } from '#submissions/shapes.ts';

export const viewColumns = columns('id form_id name created_by? created_at updated_at', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});

export const written = columns('workspace_id id name now', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});
