import { type Static, Type } from 'typebox';
import { listSchemaOf } from '#kit/pagination.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { roleNames } from '#rules/permissions.ts';
import { passwordLength } from '../accounts/passwords.ts';
import { accountActions } from '../audit/account-actions.ts';
import { type Plan, plans } from '../authenticate.ts';
import { joinMethods } from '../member-invitations/accept.ts';
import { nameText } from '../shapes.ts';
import { twoFactorMethods } from './second-factor.ts';

const role = Type.Enum([...roleNames]);
const plan = Type.Enum(Object.keys(plans) as Plan[]);
/** Longer texts are rejected before any code reads them. */
const shortText = Type.String({ maxLength: 1000 });
const newPassword = Type.String({ maxLength: passwordLength.most });

export const AccountEmail = Type.Object({ email: Type.String() });
export const JoinedWorkspace = Type.Object({ workspace_id: uuidSchema });
export const CreatedWorkspace = Type.Object({
  id: uuidSchema,
  name: Type.String(),
  plan,
});

/** The signed-in person, and the workspaces that they can open. */
export const Session = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    /** True after signing in with a temporary password: nothing else is available until it is changed. */
    must_change_password: Type.Boolean(),
    /**
     * When the account will be deleted; null if it is not scheduled for deletion. Until then it can only be
     * restored.
     */
    ends_at: orNull(timestampSchema),
  }),
  /**
   * The two-factor methods that can complete the sign-in; nothing else is available until then. Null if the
   * sign-in is complete or needs no two-factor.
   */
  second_steps: orNull(Type.Array(Type.Enum([...twoFactorMethods]))),
  workspaces: Type.Array(Type.Object({ id: uuidSchema, name: Type.String(), plan, role })),
  /** Workspaces that require two-factor, which this person has not set up. The person can't open them. */
  closed_workspaces: Type.Array(uuidSchema),
  /** Workspaces that are scheduled for deletion, with the time. No one can open them. */
  ending_workspaces: Type.Array(
    Type.Object({
      id: uuidSchema,
      name: Type.String(),
      role,
      ends_at: timestampSchema,
    }),
  ),
  /** Whether the operator lets this person create workspaces (WORKSPACE_CREATION). */
  may_create_workspaces: Type.Boolean(),
  max_file_bytes: Type.Integer(),
});
export type Session = Static<typeof Session>;

export const SignInCredentials = strictObject({ email: shortText, password: shortText });
export const TwoFactorCode = strictObject({ code: shortText });
export const PasswordChange = strictObject({ current_password: shortText, new_password: newPassword });
export const PersonChange = strictObject({ name: nameText });

/** The emails that a person wants. */
export const Notifications = strictObject({
  assignment_emails: Type.Boolean({
    description: 'Whether to email the person about submissions that are assigned to them.',
  }),
});

/** When the account or workspace will be deleted. */
export const ScheduledDeletion = Type.Object({ ends_at: timestampSchema });

export const WorkspaceName = strictObject({ name: nameText });
export const InvitationToken = strictObject({ token: shortText });
/** An invitation as its page shows it. */
export const OpenInvitation = Type.Object({
  workspace: Type.String(),
  email: Type.String(),
  role,
  invited_by: orNull(Type.String()),
  way: Type.Enum([...joinMethods]),
});
export type OpenInvitation = Static<typeof OpenInvitation>;
export const NewInvitedPerson = strictObject({ token: shortText, name: nameText, password: newPassword });

export const PasswordResetRequest = strictObject({ email: shortText });
export const PasswordResetCompletion = strictObject({ token: shortText, password: newPassword });

/** The two-factor methods of a person. */
export const SecondFactors = Type.Object({
  /** When the authenticator app was added; null without an app. */
  totp_since: orNull(timestampSchema),
  recovery_codes_left: Type.Integer(),
  /** False for people who only sign in with a provider. A recent sign-in then replaces the password. */
  has_password: Type.Boolean(),
  passkeys: Type.Array(
    Type.Object({
      id: uuidSchema,
      name: Type.String(),
      created_at: timestampSchema,
      last_used_at: orNull(timestampSchema),
    }),
  ),
});
export type SecondFactors = Static<typeof SecondFactors>;

export const PasswordConfirmation = strictObject({ password: shortText });
export const TotpSetup = Type.Object({
  /** Base32, for people who cannot scan the QR code. */
  secret: Type.String(),
  /** `otpauth://…`, the content of the QR code. */
  address: Type.String(),
});
export const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) });
/** The new recovery codes; null if the existing ones remain valid. */
export const AddedFactorCodes = Type.Object({
  recovery_codes: orNull(Type.Array(Type.String())),
});

/** Base64url data from the browser; authenticator data is a few hundred bytes. */
const encoded = Type.String({ maxLength: 4_000, pattern: '^[\\w-]+$' });
export const PasskeyName = strictObject({ name: nameText });
export const PasskeyChallenge = Type.Object({ challenge: Type.String(), host: Type.String() });
export const PasskeyRequest = Type.Object({
  challenge: Type.String(),
  /** The host that the passkey is bound to. */
  host: Type.String(),
  /** COSE numbers, the preferred algorithm first. */
  algorithms: Type.Array(Type.Integer()),
  /** The passkeys that the person already has. */
  known: Type.Array(Type.String()),
});
export type PasskeyRequest = Static<typeof PasskeyRequest>;
export const PasskeyRegistrationBody = strictObject({
  name: nameText,
  client_data: encoded,
  authenticator_data: encoded,
  /** `SubjectPublicKeyInfo`. */
  public_key: encoded,
  algorithm: Type.Integer(),
});
export const PasskeyAssertionBody = strictObject({
  id: encoded,
  client_data: encoded,
  authenticator_data: encoded,
  signature: encoded,
});

export const Sessions = Type.Object({
  data: Type.Array(
    Type.Object({
      id: uuidSchema,
      /** The User-Agent of the browser. */
      browser: orNull(Type.String()),
      signed_in_at: timestampSchema,
      /** When it was last used, up to a day behind. */
      used_at: timestampSchema,
      /** True if only the password was entered and two-factor is pending. */
      is_halfway: Type.Boolean(),
      is_this: Type.Boolean(),
    }),
  ),
});

/** Account activity: what happened, where it came from, and whether it was refused. */
export const AccountActivity = listSchemaOf(
  Type.Object({
    id: uuidSchema,
    at: timestampSchema,
    /** True if it was done on the command line of the server. */
    by_operator: Type.Boolean(),
    operation: Type.Enum([...accountActions]),
    /** 200, or 401 or 422 for an attempt that was refused. */
    status: Type.Integer(),
    address: orNull(Type.String()),
    browser: orNull(Type.String()),
    /** Whether it was done in the current session. */
    is_this: Type.Boolean(),
  }),
);

export const SignInMethods = Type.Object({
  /**
   * False if there is no account yet. The link that the server prints when it starts creates the first one.
   */
  is_set_up: Type.Boolean(),
  /** The display name of the identity provider; null if there is none. */
  provider: orNull(Type.String()),
});
export const ProviderRedirect = Type.Object({ url: Type.String() });
/** The query string with which the identity provider redirected the browser back. */
export const ProviderCallback = strictObject({ answer: Type.String({ maxLength: 8_000 }) });
