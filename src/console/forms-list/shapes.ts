import { type Static, Type } from 'typebox';
import { formStatuses } from '#forms/queries.ts';
import { pageParameters } from '#kit/pagination.ts';
import { roleNames } from '#workspaces/roles.ts';

const id = Type.String({ format: 'uuid' });
const timestamp = Type.String({ format: 'date-time' });
const nullableTimestamp = Type.Union([timestamp, Type.Null()]);
const status = Type.Enum([...formStatuses]);
const closed = { additionalProperties: false } as const;

/** What a list of forms can be ordered by. */
const formOrders = ['activity', 'created', 'name', 'submissions'] as const;
export type FormOrder = (typeof formOrders)[number];

export const FormsQuery = Type.Object(
  {
    ...pageParameters,
    status: Type.Optional(status),
    /** Part of the name, in any case. */
    q: Type.Optional(Type.String({ maxLength: 200 })),
    sort: Type.Optional(Type.Enum([...formOrders])),
  },
  closed,
);

/** One line of the list of forms. */
export const FormLine = Type.Object({
  id,
  name: Type.String(),
  description: Type.String(),
  status,
  submission_count: Type.Integer(),
  last_submission_at: nullableTimestamp,
  /** The later of its last change and its last submission. */
  last_activity_at: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
  published_at: nullableTimestamp,
});
export type FormLine = Static<typeof FormLine>;

/** Where a form is, and what its screens have in common. */
export const LocatedForm = Type.Object({
  workspace_id: id,
  id,
  name: Type.String(),
  status,
  submission_count: Type.Integer(),
  public_url: Type.String(),
  published_at: nullableTimestamp,
  /** The caller's role in its workspace. */
  role: Type.Enum([...roleNames]),
});
export type LocatedForm = Static<typeof LocatedForm>;

export const NewForm = Type.Object(
  { structure: Type.Unsafe<object>({}), settings: Type.Optional(Type.Unsafe<object>({ type: 'object' })) },
  closed,
);
export type NewForm = Static<typeof NewForm>;

/** The file that a form is exported as; `structure` can be sent to POST /forms of the API as it is. */
export type ExportedForm = { structure: object; settings: object };
