import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { timestamp, uuid } from '#kit/validation.ts';
import { TableSettings, ViewQuery } from '#submissions/shapes.ts';

/** A named view of a form's submissions, shared in the workspace. */
export const SavedView = named(
  'SavedView',
  Type.Object({
    id: uuid,
    form_id: uuid,
    name: Type.String(),
    query: ViewQuery,
    columns: Type.Union([TableSettings, Type.Null()]),
    created_by: Type.Union([Type.String(), Type.Null()], {
      description: 'The name of the member; null for an API key or a deleted account.',
    }),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);
export type SavedView = Static<typeof SavedView>;
