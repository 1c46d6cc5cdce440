import { type Static, Type } from 'typebox';
import { listOf } from '#kit/pagination.ts';
import { roleNames } from '#rules/permissions.ts';
import { passwordLength } from '../accounts/passwords.ts';
import { personalDeeds } from '../audit/personal-audit.ts';
import { type Plan, plans } from '../authenticate.ts';
import { waysIn } from '../member-invitations/accept.ts';
import { nameText } from '../shapes.ts';
import { secondSteps } from './second-factor.ts';

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
    /** When the account is gone, while it is being deleted: nothing is open but to come back. */
    ends_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  }),
  /** How the second step of the sign-in can be taken, before which nothing else is open; null: it was, or there is none. */
  second_steps: Type.Union([Type.Array(Type.Enum([...secondSteps])), Type.Null()]),
  workspaces: Type.Array(
    Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String(), plan, role }),
  ),
  /** Those of them that ask for a second factor, which this person has yet to set up: nothing of them is open. */
  closed_workspaces: Type.Array(Type.String({ format: 'uuid' })),
  /** Workspaces that are being deleted, and when they are gone: nothing of them is open. */
  ending_workspaces: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      role,
      ends_at: Type.String({ format: 'date-time' }),
    }),
  ),
  /** What the operator set (WORKSPACE_CREATION), for this person. */
  may_create_workspaces: Type.Boolean(),
});
export type Session = Static<typeof Session>;

export const SignIn = Type.Object({ email: shortText, password: shortText }, closed);
export const SecondStep = Type.Object({ code: shortText }, closed);
export const PasswordChange = Type.Object({ current_password: shortText, new_password: newPassword }, closed);
export const PersonChange = Type.Object({ name: nameText }, closed);

/** When what is being deleted is gone. */
export const Ending = Type.Object({ ends_at: Type.String({ format: 'date-time' }) });

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

/** What a person has to sign in with beside the password. */
export const SecondFactors = Type.Object({
  /** When the authenticator app was added; null: there is none. */
  totp_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  recovery_codes_left: Type.Integer(),
  /** Who signs in by a provider alone has none; a sign-in in the last minutes stands in for it. */
  has_password: Type.Boolean(),
  passkeys: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      created_at: Type.String({ format: 'date-time' }),
      last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    }),
  ),
});
export type SecondFactors = Static<typeof SecondFactors>;

export const PasswordAgain = Type.Object({ password: shortText }, closed);
export const NewTotp = Type.Object({
  /** Base32, for who cannot read the QR code. */
  secret: Type.String(),
  /** `otpauth://…`, what the QR code holds. */
  address: Type.String(),
});
export const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) });
/** Null: those that were given before still work. */
export const AddedFactor = Type.Object({
  recovery_codes: Type.Union([Type.Array(Type.String()), Type.Null()]),
});

/** Base64url of what a browser says; an authenticator's data are some hundred bytes. */
const encoded = Type.String({ maxLength: 4_000, pattern: '^[\\w-]+$' });
export const PasskeyName = Type.Object({ name: nameText }, closed);
export const PasskeyQuestion = Type.Object({ challenge: Type.String(), host: Type.String() });
export const PasskeyRequest = Type.Object({
  challenge: Type.String(),
  /** What the passkey is bound to. */
  host: Type.String(),
  /** By their numbers of COSE, the best liked first. */
  algorithms: Type.Array(Type.Integer()),
  /** Passkeys that are there already. */
  known: Type.Array(Type.String()),
});
export type PasskeyRequest = Static<typeof PasskeyRequest>;
export const MadePasskey = Type.Object(
  {
    name: nameText,
    client_data: encoded,
    authenticator_data: encoded,
    /** `SubjectPublicKeyInfo`. */
    public_key: encoded,
    algorithm: Type.Integer(),
  },
  closed,
);
export const ShownPasskey = Type.Object(
  { id: encoded, client_data: encoded, authenticator_data: encoded, signature: encoded },
  closed,
);

export const Sessions = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid' }),
      /** How the browser calls itself. */
      browser: Type.Union([Type.String(), Type.Null()]),
      signed_in_at: Type.String({ format: 'date-time' }),
      /** At most a day behind. */
      used_at: Type.String({ format: 'date-time' }),
      /** Signed in by the password, and the second step not taken. */
      is_halfway: Type.Boolean(),
      is_this: Type.Boolean(),
    }),
  ),
});

/** What concerned somebody's account: where from, and whether it was refused. */
export const Activity = listOf(
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    at: Type.String({ format: 'date-time' }),
    /** At the command line of the service. */
    by_operator: Type.Boolean(),
    operation: Type.Enum([...personalDeeds]),
    /** 401 and 422: somebody tried, and was refused. */
    status: Type.Integer(),
    address: Type.Union([Type.String(), Type.Null()]),
    browser: Type.Union([Type.String(), Type.Null()]),
    /** Whether it was done in the session that asks. */
    is_this: Type.Boolean(),
  }),
);

export const WaysIn = Type.Object({
  /** False: nobody has an account yet, and the link that the start of the service printed makes the first one. */
  is_set_up: Type.Boolean(),
  /** What people call the provider that they can sign in by; null: there is none. */
  provider: Type.Union([Type.String(), Type.Null()]),
});
export const ProviderQuestion = Type.Object({ url: Type.String() });
/** The query of the address that the provider sent the browser back to. */
export const ProviderAnswer = Type.Object({ answer: Type.String({ maxLength: 8_000 }) }, closed);
