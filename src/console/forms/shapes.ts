import { type Static, Type } from 'typebox';
import { formStatuses } from '#forms/live-form.ts';
import { roleNames } from '#rules/permissions.ts';
import { TableSettings } from '#submissions/shapes.ts';

const id = Type.String({ format: 'uuid' });
const timestamp = Type.String({ format: 'date-time' });
const nullableTimestamp = Type.Union([timestamp, Type.Null()]);
const status = Type.Enum([...formStatuses]);

/** The workspace of a form, and the data that all its screens share. */
export const LocatedForm = Type.Object({
  workspace_id: id,
  id,
  name: Type.String(),
  status,
  submission_count: Type.Integer(),
  public_url: Type.String(),
  published_at: nullableTimestamp,
  /** The caller's role in the workspace of the form. */
  role: Type.Enum([...roleNames]),
});
export type LocatedForm = Static<typeof LocatedForm>;

export const Arrangement = Type.Object({ settings: Type.Union([TableSettings, Type.Null()]) });
