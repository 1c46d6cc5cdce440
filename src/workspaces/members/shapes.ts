import { type Static, Type } from 'typebox';
import { named } from '#kit/named.ts';
import { keyFates } from '../members.ts';
import { closed, maybe, role, timestamp, uuid } from '../shapes.ts';

/** A person in a workspace. */
export const Member = named(
  'Member',
  Type.Object({
    id: uuid,
    name: Type.String(),
    email: Type.String(),
    role,
    created_at: timestamp,
    updated_at: timestamp,
    /** API keys that they made, or rotated last, and that work: they may no more than their maker. */
    key_count: Type.Integer(),
    second_factor: maybe(
      Type.Boolean({
        description: 'Whether they have a second factor; null for who may not change members.',
      }),
    ),
  }),
);
export type Member = Static<typeof Member>;

/** What becomes of the keys of who is removed: they are revoked when it is left out. */
export const Removal = Type.Object({ keys: Type.Optional(Type.Enum([...keyFates])) }, closed);
export const RoleChange = Type.Object({ role: Type.Optional(role) }, closed);
