import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { longestGraceHours } from '../keys.ts';
import { permissionNames } from '#rules/permissions.ts';
import { closed, maybe, nameText, role, timestamp, uuid } from '../shapes.ts';

const permission = Type.Enum([...permissionNames]);
const permissions = Type.Array(permission, { maxItems: 100 });
const formIds = Type.Array(uuid, { maxItems: 1_000 });

export const Key = named(
  'Key',
  Type.Object({
    id: uuid,
    name: Type.String(),
    prefix: Type.String(),
    /** Null: all with data, also those that come later. */
    permissions: maybe(Type.Array(permission)),
    /** The only forms that it reaches; null: all of the workspace. */
    form_ids: maybe(Type.Array(uuid)),
    /** The name of the member who made it, or rotated it last; null for the operator's, and for people who are gone. */
    created_by: maybe(Type.String()),
    /** Of that member; null where nobody's role limits the key. */
    created_by_role: maybe(role),
    /** What it was given and may not do, because that member may not. */
    withheld: Type.Array(permission),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: maybe(timestamp),
    revoked_at: maybe(timestamp),
    last_used_at: maybe(timestamp),
    last_used_address: maybe(Type.String()),
    /** After a rotation: until when the former secret works too. */
    former_until: maybe(timestamp),
    /** Of the last seven days. */
    requests: Type.Integer(),
  }),
);
export type Key = Static<typeof Key>;

export const NewKey = Type.Object(
  {
    name: nameText,
    /** Absent: all with data, also those that come later. */
    permissions: Type.Optional(permissions),
    /** Absent: every form, also later ones. */
    form_ids: Type.Optional(formIds),
    expires_at: Type.Optional(timestamp),
  },
  closed,
);
export type NewKey = Static<typeof NewKey>;

/** What is left out stays as it is; null is not limited. */
export const KeyChange = Type.Object(
  {
    name: Type.Optional(nameText),
    permissions: Type.Optional(maybe(permissions)),
    form_ids: Type.Optional(maybe(formIds)),
    expires_at: Type.Optional(maybe(timestamp)),
  },
  closed,
);
export type KeyChange = Static<typeof KeyChange>;

/** For how long the former secret works beside the new one: no longer, when left out. */
export const KeyRotation = Type.Object(
  { grace_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceHours })) },
  closed,
);
/** The key itself is shown this once. */
export const CreatedKey = Type.Object({ id: uuid, key: Type.String() });
export const RotatedKey = Type.Object({ id: uuid, key: Type.String(), former_until: timestamp });

/** A request that a key made lately. */
export const KeyRequest = named(
  'KeyRequest',
  Type.Object({
    /** X-Request-Id of its answer. */
    id: uuid,
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    ms: Type.Integer(),
    requested_at: timestamp,
  }),
);
export type KeyRequest = Static<typeof KeyRequest>;
