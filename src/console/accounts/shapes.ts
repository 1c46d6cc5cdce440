import { type Static, Type } from 'typebox';
import { plans, type Plan } from '#workspaces/plans.ts';
import { waysIn } from '#workspaces/member-invitations/accept.ts';
import { passwordLength } from '#workspaces/passwords.ts';
import { roleNames } from '#workspaces/roles.ts';
import { nameText } from '#workspaces/shapes.ts';

const role = Type.Enum([...roleNames]);
const plan = Type.Enum(Object.keys(plans) as Plan[]);
/** Longer texts are refused before anything looks at them. */
const shortText = Type.String({ maxLength: 1000 });
const newPassword = Type.String({ maxLength: passwordLength.most });

const closed = { additionalProperties: false } as const;

export const Account = Type.Object({ email: Type.String() });
export const Joined = Type.Object({ workspace_id: Type.String({ format: 'uuid' }) });
export const MadeWorkspace = Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String(), plan });

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
export const PasswordChange = Type.Object({ current_password: shortText, new_password: newPassword }, closed);
export const PersonChange = Type.Object({ name: nameText }, closed);

export const WorkspaceName = Type.Object({ name: nameText }, closed);
export const InvitationToken = Type.Object({ token: shortText }, closed);
/** What the holder of a link is asked. */
export const OpenInvitation = Type.Object({
  workspace: Type.String(),
  email: Type.String(),
  role,
  invited_by: Type.Union([Type.String(), Type.Null()]),
  way: Type.Enum([...waysIn]),
});
export type OpenInvitation = Static<typeof OpenInvitation>;
export const NewPerson = Type.Object({ token: shortText, name: nameText, password: newPassword }, closed);

export const PasswordReset = Type.Object({ email: shortText }, closed);
export const NewPassword = Type.Object({ token: shortText, password: newPassword }, closed);
