import { sharedDatabaseOf } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { type EmailBlock, type EmailBody, type EmailField, enqueueMails, type NewMail } from '#kit/outbox.ts';
import { onlyRow, type Queryable, statement, textEnum } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';
import type { AccountChange } from '#workspaces/audit/email-events.ts';
import { formatEmailTime, type NoticeServices } from '../notice-context.ts';

/** Selects the owners and admins, who manage a workspace's keys and members. */
const selectAdmins = statement('workspace_id', 'id:text name email')`
  select u.id, u.name, u.email
    from members m join users u on u.id = m.user_id
   where m.workspace_id = $workspace_id and m.role in ('owner', 'admin')
   order by u.id`;

const findKeyForNotice = statement('workspace_id id', 'workspace name created_by? created_at')`
  select w.name as workspace, k.name, u.name as created_by, k.created_at
    from api_keys k
    join workspaces w on w.id = k.workspace_id
    left join users u on u.id = k.created_by
   where k.workspace_id = $workspace_id and k.id = $id`;

const findMemberForNotice = statement('workspace_id user_id', [
  'workspace name email',
  { role: textEnum<Role>() },
])`
  select w.name as workspace, u.name, u.email, m.role
    from members m
    join workspaces w on w.id = m.workspace_id
    join users u on u.id = m.user_id
   where m.workspace_id = $workspace_id and m.user_id = $user_id`;

const findPerson = statement('id:text', 'email')`select email from users where id = $id`;

// Without SMTP these notices are not queued: the console shows keys and members, and a late notice helps no
// one.

/** Emails the workspace's owners and admins about a new API key. */
export const notifyKeyCreated = (
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { keyId }: { keyId: string },
): Promise<void> =>
  notifyAboutKey(context, client, { workspaceId, keyId }, (key) => ({
    subject: `New API key in ${key.workspace}: ${key.name}`,
    heading: 'A new API key was created',
    fields: [
      { label: 'Created by', value: key.created_by ?? 'The operator of this server' },
      { label: 'Created at', value: formatEmailTime(key.created_at) },
    ],
    warning:
      "If your team didn't create this key, revoke it: an API key gives access to the workspace's data.",
  }));

/** Emails the workspace's owners and admins about the new secret of an API key. */
export const notifyKeyRotated = (
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { keyId, formerUntil }: { keyId: string; formerUntil: string },
): Promise<void> =>
  notifyAboutKey(context, client, { workspaceId, keyId }, (key) => ({
    subject: `New secret for the API key in ${key.workspace}: ${key.name}`,
    heading: 'An API key has a new secret',
    fields: [{ label: 'Previous secret works until', value: formatEmailTime(new Date(formerUntil)) }],
    warning: "If your team didn't do this, revoke the key: someone else has the new secret.",
  }));

type FoundKey = Awaited<ReturnType<typeof findKeyForNotice>>[number];
type KeyNotice = { subject: string; heading: string; fields: EmailField[]; warning: string };

async function notifyAboutKey(
  context: NoticeServices,
  client: Queryable,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
  noticeOf: (key: FoundKey) => KeyNotice,
): Promise<void> {
  const key = onlyRow(await findKeyForNotice(client, { workspace_id: workspaceId, id: keyId }));
  if (!key || !context.config.smtp) return;
  const { subject, heading, fields, warning } = noticeOf(key);
  const place = [
    { label: 'Workspace', value: key.workspace },
    { label: 'API key', value: key.name },
  ];
  await notifyAdmins(context, client, workspaceId, {
    subject,
    letter: {
      heading,
      blocks: [
        { kind: 'fields', fields: [...place, ...fields] },
        { kind: 'text', text: warning },
        keysButton(context, workspaceId),
      ],
      reason: adminNoticeReason(key.workspace),
    },
  });
}

const keysButton = ({ config }: NoticeServices, workspaceId: string): EmailBlock => ({
  kind: 'button',
  label: 'View API keys',
  url: `${config.publicUrl}/app/w/${workspaceId}/settings/keys`,
});

/** Emails the other owners and admins about a new member. */
export async function notifyMemberAdded(
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { userId }: { userId: string },
): Promise<void> {
  const member = onlyRow(await findMemberForNotice(client, { workspace_id: workspaceId, user_id: userId }));
  if (!member || !context.config.smtp) return;
  const notice = {
    subject: `New member in ${member.workspace}: ${member.name}`,
    letter: {
      heading: 'A new member joined your workspace',
      blocks: [
        {
          kind: 'fields',
          fields: [
            { label: 'Workspace', value: member.workspace },
            { label: 'Name', value: member.name },
            { label: 'Email address', value: member.email },
            { label: 'Role', value: member.role },
          ],
        },
        {
          kind: 'button',
          label: 'View members',
          url: `${context.config.publicUrl}/app/w/${workspaceId}/settings/members`,
        },
      ],
      reason: adminNoticeReason(member.workspace),
    },
  } as const;
  await notifyAdmins(context, client, workspaceId, notice, userId);
}

/** Emails a person that their password was changed. */
export const notifyPasswordChanged = (
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { userId }: { userId: string },
): Promise<void> =>
  notifyPerson(context, client, { workspaceId, userId }, [
    'Your password was changed',
    "You were signed out everywhere else. If this wasn't you, choose a new password immediately.",
  ]);

const orNotYou = "If this wasn't you, choose a new password immediately and check your account.";

const personalWords: Readonly<Record<AccountChange, readonly [subject: string, text: string]>> = {
  addAuthenticatorApp: [
    'An authenticator app was added to your account',
    `You now need a code from this app to sign in. ${orNotYou}`,
  ],
  removeAuthenticatorApp: ['The authenticator app was removed from your account', orNotYou],
  addPasskey: [
    'A passkey was added to your account',
    `You can use it to sign in without a password. ${orNotYou}`,
  ],
  removePasskey: ['A passkey was removed from your account', orNotYou],
  renewRecoveryCodes: ['You have new recovery codes', `The previous codes no longer work. ${orNotYou}`],
  useRecoveryCode: [
    'A recovery code was used to sign in to your account',
    `This code can't be used again. ${orNotYou}`,
  ],
  forgetSecondFactors: [
    'Two-factor was removed from your account',
    "The operator of this server removed your authenticator app, passkeys and recovery codes, and signed you out. If you didn't request this, contact them.",
  ],
  deleteAccount: [
    'Your account is being deleted',
    `You are signed out everywhere. The account will be deleted in 7 days. Sign in before then to restore it. ${orNotYou}`,
  ],
  bringBackAccount: [
    'Your account was restored',
    `You can use it again, and nothing in it has changed. ${orNotYou}`,
  ],
};

/** Emails a person that their sign-in methods or account changed. */
export const notifySignInChanged = (
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { userId, what }: { userId: string; what: AccountChange },
): Promise<void> => notifyPerson(context, client, { workspaceId, userId }, personalWords[what]);

async function notifyPerson(
  { vault, config }: NoticeServices,
  client: Queryable,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  [subject, text]: readonly [subject: string, text: string],
): Promise<void> {
  const person = onlyRow(await findPerson(sharedDatabaseOf(client), { id: userId }));
  const to = person && readMailAddress(person.email);
  if (!to || !config.smtp) return;
  const mail: NewMail = {
    kind: 'security_notice',
    to,
    subject,
    letter: {
      heading: subject,
      blocks: [
        { kind: 'text', text },
        { kind: 'button', label: 'Choose a new password', url: `${config.publicUrl}/app/forgot-password` },
      ],
      reason: `You're receiving this email because you have an account at ${config.publicUrl}.`,
    },
  };
  await enqueueMails(client, vault, { workspaceId, isPrivate: true }, [mail]);
}

/** Returns the sentence below an email that says why owners and admins receive it. */
export const adminNoticeReason = (workspace: string): string =>
  `You're receiving this email because you are an owner or admin of the workspace “${workspace}”.`;

/** Queues an email to the owners and admins of a workspace. */
export async function notifyAdmins(
  { vault }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  notice: { subject: string; letter: EmailBody },
  except?: string,
): Promise<void> {
  const keepers = await selectAdmins(client, { workspace_id: workspaceId });
  const mails = keepers.flatMap(({ id, email }): NewMail[] => {
    const to = id === except ? undefined : readMailAddress(email);
    return to ? [{ ...notice, kind: 'security_notice', to }] : [];
  });
  await enqueueMails(client, vault, { workspaceId }, mails);
}
