import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { timestamp, uuid } from '#kit/validation.ts';
import { TableSettings, ViewQuery } from '#submissions/shapes.ts';

/** A view of a form's submissions with a name, which its workspace shares. */
export const SavedView = named(
  'SavedView',
  Type.Object({
    id: uuid,
    form_id: uuid,
    name: Type.String(),
    query: ViewQuery,
    columns: Type.Union([TableSettings, Type.Null()]),
    created_by: Type.Union([Type.String(), Type.Null()], {
      description: 'The name of the member; null for a key, and for somebody who is gone.',
    }),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);
export type SavedView = Static<typeof SavedView>;
