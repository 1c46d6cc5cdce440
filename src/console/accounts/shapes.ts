import { type Static, Type } from 'typebox';
import { longestGraceHours } from '#workspaces/keys.ts';
import { keyFates } from '#workspaces/members.ts';
import { permissionNames } from '#workspaces/permissions.ts';
import { plans, type Plan } from '#workspaces/plans.ts';
import type { WayIn } from '#workspaces/member-invitations/accept.ts';
import { type Role, roleNames } from '#workspaces/roles.ts';

const timestamp = Type.String({ format: 'date-time' });
const nullableTimestamp = Type.Union([timestamp, Type.Null()]);
const role = Type.Enum([...roleNames]);
const permission = Type.Enum([...permissionNames]);
const plan = Type.Enum(Object.keys(plans) as Plan[]);
/** Longer texts are refused before anything looks at them. */
const shortText = Type.String({ maxLength: 1000 });

const closed = { additionalProperties: false } as const;

/** Who is signed in, and where they may go. */
export const Session = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    /** Signed in with a temporary password: nothing else is open before it was changed. */
    must_change_password: Type.Boolean(),
  }),
  workspaces: Type.Array(
    Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String(), plan, role }),
  ),
  /** What the operator set (WORKSPACE_CREATION), for this person. */
  may_create_workspaces: Type.Boolean(),
});
export type Session = Static<typeof Session>;

export const SignIn = Type.Object({ email: shortText, password: shortText }, closed);
export const PasswordChange = Type.Object({ current_password: shortText, new_password: shortText }, closed);
export const PersonChange = Type.Object({ name: shortText }, closed);

export const WorkspaceName = Type.Object({ name: shortText }, closed);
/** A workspace with its plan's terms, and the caller's role in it. */
export const WorkspaceDetail = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  plan,
  requests_per_minute: Type.Integer(),
  burst: Type.Integer(),
  signed_webhooks: Type.Boolean(),
  member_count: Type.Integer(),
  role,
  created_at: timestamp,
});
export type WorkspaceDetail = Static<typeof WorkspaceDetail>;

export const Member = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role,
  created_at: timestamp,
  /** API keys that they made, or rotated last, and that work. */
  key_count: Type.Integer(),
});
export type Member = Static<typeof Member>;
/** What becomes of the keys of who is removed: they are revoked when it is left out. */
export const Removal = Type.Object({ keys: Type.Optional(Type.Enum([...keyFates])) }, closed);
export const RoleChange = Type.Object({ role }, closed);

/** Somebody who was asked by mail to join. */
export type MemberInvitation = {
  id: string;
  email: string;
  role: Role;
  /** The name of the member who asked; null for people who are gone. */
  invited_by: string | null;
  created_at: string;
  expires_at: string;
  /** How the latest mail fared; null when none was written. */
  mail_state: 'queued' | 'sent' | 'failed' | 'cancelled' | null;
  mail_error: string | null;
};
export type MemberInvitations = { data: MemberInvitation[]; sends_mail: boolean };
export const NewInvitation = Type.Object({ email: shortText, role }, closed);
/** `link` only where no mail is sent: it is handed over by hand. */
export type Invited = { id: string; link: string | null };
export const InvitationToken = Type.Object({ token: shortText }, closed);
/** What the holder of a link is asked. */
export type OpenInvitation = {
  workspace: string;
  email: string;
  role: Role;
  invited_by: string | null;
  way: WayIn;
};
export const NewPerson = Type.Object({ token: shortText, name: shortText, password: shortText }, closed);

export const PasswordReset = Type.Object({ email: shortText }, closed);
export const NewPassword = Type.Object({ token: shortText, password: shortText }, closed);

const uuid = Type.String({ format: 'uuid' });
const nullableText = Type.Union([Type.String(), Type.Null()]);

export const Key = Type.Object({
  id: uuid,
  name: Type.String(),
  prefix: Type.String(),
  /** Null: all of them, also those that come later. */
  permissions: Type.Union([Type.Array(permission), Type.Null()]),
  /** The only forms that it reaches; null: all of the workspace. */
  form_ids: Type.Union([Type.Array(uuid), Type.Null()]),
  /** The name of the member who made it; null for the operator's, and for people who are gone. */
  created_by: nullableText,
  created_at: timestamp,
  expires_at: nullableTimestamp,
  revoked_at: nullableTimestamp,
  last_used_at: nullableTimestamp,
  last_used_address: nullableText,
  /** After a rotation: until when the former secret works too. */
  former_until: nullableTimestamp,
  /** Of the last seven days. */
  requests: Type.Integer(),
});
export type Key = Static<typeof Key>;
export const NewKey = Type.Object(
  {
    name: shortText,
    /** Absent: all of them, also those that come later. */
    permissions: Type.Optional(Type.Array(permission, { maxItems: 100 })),
    /** Absent: every form, also later ones. */
    form_ids: Type.Optional(Type.Array(uuid, { maxItems: 1_000 })),
    expires_at: Type.Optional(timestamp),
  },
  closed,
);
export type NewKey = Static<typeof NewKey>;
/** Everything that can be changed of a key, in whole; null is not limited. */
export const KeyEdit = Type.Object(
  {
    name: shortText,
    permissions: Type.Union([Type.Array(permission, { maxItems: 100 }), Type.Null()]),
    form_ids: Type.Union([Type.Array(uuid, { maxItems: 1_000 }), Type.Null()]),
    expires_at: nullableTimestamp,
  },
  closed,
);
export type KeyEdit = Static<typeof KeyEdit>;
/** For how long the former secret works beside the new one; 0: no longer. */
export const KeyRotation = Type.Object(
  { grace_hours: Type.Integer({ minimum: 0, maximum: longestGraceHours }) },
  closed,
);
/** The new secret, shown this once. */
export type RotatedKey = { id: string; key: string; former_until: string };

/** A request that a key made lately. */
export const KeyRequest = Type.Object({
  /** X-Request-Id of its answer. */
  id: uuid,
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  ms: Type.Integer(),
  requested_at: timestamp,
});
export type KeyRequest = Static<typeof KeyRequest>;
/** The key itself is shown this once. */
export type CreatedKey = { id: string; key: string };

export type { Role };
