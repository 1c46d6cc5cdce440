import { type Static, Type } from 'typebox';
import { plans, type Plan } from '#workspaces/plans.ts';
import type { WayIn } from '#workspaces/member-invitations/accept.ts';
import { type Role, roleNames } from '#workspaces/roles.ts';

const role = Type.Enum([...roleNames]);
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
