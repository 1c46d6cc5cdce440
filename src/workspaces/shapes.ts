import { type Static, Type } from 'typebox';
import { longestMailAddress } from '#kit/outbox/address.ts';
import { namedObject } from '#kit/pagination.ts';
import { orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { type Role, roleNames } from '#rules/permissions.ts';
import { longestName } from './accounts/users.ts';
import { type Plan, plans } from './authenticate.ts';

export type { Role };

export const role = Type.Enum([...roleNames]);
const plan = Type.Enum(Object.keys(plans) as Plan[]);
/** The name of a workspace, key or person in a request. */
export const nameText = Type.String({ maxLength: longestName });
export const emailText = Type.String({ maxLength: longestMailAddress });

/** A workspace with the limits of its plan. */
export const Workspace = namedObject('Workspace', {
  id: uuidSchema,
  name: Type.String(),
  plan,
  requests_per_minute: Type.Integer(),
  burst: Type.Integer(),
  signed_webhooks: Type.Boolean(),
  member_count: Type.Integer(),
  second_factor_required: Type.Boolean({
    description: 'Whether members need two-factor to access the workspace. API keys are not affected.',
  }),
  /** The role of the caller; null for an API key. */
  role: orNull(role),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
export type Workspace = Static<typeof Workspace>;
