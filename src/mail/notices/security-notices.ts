import { homeOf } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMails, type Letter, type LetterBlock, type LetterField, type NewMail } from '#kit/outbox.ts';
import { only, type Queryable, statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';
import type { PersonalNews } from '#workspaces/audit/mail-news.ts';
import type { NewsContext } from '../news-context.ts';
import { sayMoment } from '../say-moment.ts';

/** Those who may see to a workspace's keys and members. */
const selectKeepers = statement(
  'mail.select_keepers',
  'workspace_id',
  'id:text name email',
  `select u.id, u.name, u.email
     from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.role in ('owner', 'admin')
    order by u.id`,
);

const findKeyForNotice = statement(
  'mail.find_key_for_notice',
  'workspace_id id',
  'workspace name created_by? created_at',
  `select w.name as workspace, k.name, u.name as created_by, k.created_at
     from api_keys k
     join workspaces w on w.id = k.workspace_id
     left join users u on u.id = k.created_by
    where k.workspace_id = $workspace_id and k.id = $id`,
);

const findMemberForNotice = statement(
  'mail.find_member_for_notice',
  'workspace_id user_id',
  ['workspace name email', { role: word<Role>() }],
  `select w.name as workspace, u.name, u.email, m.role
     from members m
     join workspaces w on w.id = m.workspace_id
     join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.user_id = $user_id`,
);

const findPerson = statement(
  'mail.find_person',
  'id:text',
  'email',
  `select email from users where id = $id`,
);

// Without a mail server nobody is told: the console shows keys and members, and these are no letters to keep.

/** A new API key: to the workspace's owners and admins. */
export const tellKeyCreated = (
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { keyId }: { keyId: string },
): Promise<void> =>
  tellOfKey(context, client, { workspaceId, keyId }, (key) => ({
    subject: `New API key in ${key.workspace}: ${key.name}`,
    heading: 'A new API key was made',
    fields: [
      { label: 'Made by', value: key.created_by ?? 'The operator of this server' },
      { label: 'Made at', value: sayMoment(key.created_at) },
    ],
    warning: 'If nobody of you made it, revoke it: a key reaches the data of the workspace.',
  }));

/** A key that got another secret: to the workspace's owners and admins. */
export const tellKeyRotated = (
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { keyId, formerUntil }: { keyId: string; formerUntil: string },
): Promise<void> =>
  tellOfKey(context, client, { workspaceId, keyId }, (key) => ({
    subject: `New secret for the API key in ${key.workspace}: ${key.name}`,
    heading: 'An API key got a new secret',
    fields: [{ label: 'The former secret works until', value: sayMoment(new Date(formerUntil)) }],
    warning: 'If nobody of you did it, revoke the key: whoever did it holds the new secret.',
  }));

type FoundKey = Awaited<ReturnType<typeof findKeyForNotice>>[number];
type KeyNotice = { subject: string; heading: string; fields: LetterField[]; warning: string };

async function tellOfKey(
  context: NewsContext,
  client: Queryable,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
  noticeOf: (key: FoundKey) => KeyNotice,
): Promise<void> {
  const key = only(await findKeyForNotice(client, { workspace_id: workspaceId, id: keyId }));
  if (!key || !context.config.smtp) return;
  const { subject, heading, fields, warning } = noticeOf(key);
  const place = [
    { label: 'Workspace', value: key.workspace },
    { label: 'Name of the key', value: key.name },
  ];
  await tellKeepers(context, client, workspaceId, {
    subject,
    letter: {
      heading,
      blocks: [
        { kind: 'fields', fields: [...place, ...fields] },
        { kind: 'text', text: warning },
        keysButton(context, workspaceId),
      ],
      reason: reasonOfKeepers(key.workspace),
    },
  });
}

const keysButton = ({ config }: NewsContext, workspaceId: string): LetterBlock => ({
  kind: 'button',
  label: 'See the API keys',
  url: `${config.publicUrl}/app/w/${workspaceId}/settings/keys`,
});

/** A new member: to the owners and admins who were there before. */
export async function tellMemberAdded(
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { userId }: { userId: string },
): Promise<void> {
  const member = only(await findMemberForNotice(client, { workspace_id: workspaceId, user_id: userId }));
  if (!member || !context.config.smtp) return;
  const notice = {
    subject: `New member of ${member.workspace}: ${member.name}`,
    letter: {
      heading: 'Somebody joined your workspace',
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
          label: 'See the members',
          url: `${context.config.publicUrl}/app/w/${workspaceId}/settings/members`,
        },
      ],
      reason: reasonOfKeepers(member.workspace),
    },
  } as const;
  await tellKeepers(context, client, workspaceId, notice, userId);
}

/** A changed password: to whom it belongs. */
export const tellPasswordChanged = (
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { userId }: { userId: string },
): Promise<void> =>
  tellPerson(context, client, { workspaceId, userId }, [
    'Your password was changed',
    'You were signed out everywhere else. If it was not you, choose another password at once.',
  ]);

const orNotYou = 'If it was not you, choose another password at once, and look at your account.';

const personalWords: Readonly<Record<PersonalNews, readonly [subject: string, text: string]>> = {
  addAuthenticatorApp: [
    'An authenticator app was added to your account',
    `From now on a code of it is asked for when you sign in. ${orNotYou}`,
  ],
  removeAuthenticatorApp: ['The authenticator app was removed from your account', orNotYou],
  addPasskey: ['A passkey was added to your account', `It signs you in without a password. ${orNotYou}`],
  removePasskey: ['A passkey was removed from your account', orNotYou],
  renewRecoveryCodes: ['You have new recovery codes', `The former ones work no more. ${orNotYou}`],
  useRecoveryCode: ['A recovery code was used to sign in to your account', `It works once. ${orNotYou}`],
  forgetSecondFactors: [
    'Your account has no second factor any more',
    'Whoever runs the service has removed your authenticator app, passkeys and recovery codes, and signed you out. If you did not ask for it, write to them.',
  ],
  deleteAccount: [
    'Your account is being deleted',
    `You are signed out everywhere, and in 7 days the account is gone. Sign in until then to bring it back. ${orNotYou}`,
  ],
  bringBackAccount: ['Your account stays', `It is open again, as it was. ${orNotYou}`],
};

/** A change of how somebody signs in: to them. */
export const tellSecondFactorChanged = (
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { userId, what }: { userId: string; what: PersonalNews },
): Promise<void> => tellPerson(context, client, { workspaceId, userId }, personalWords[what]);

async function tellPerson(
  { vault, config }: NewsContext,
  client: Queryable,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  [subject, text]: readonly [subject: string, text: string],
): Promise<void> {
  const person = only(await findPerson(homeOf(client), { id: userId }));
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
        { kind: 'button', label: 'Choose another password', url: `${config.publicUrl}/app/forgot-password` },
      ],
      reason: `You get this mail because you have an account at ${config.publicUrl}.`,
    },
  };
  await enqueueMails(client, vault, { workspaceId, isPrivate: true }, [mail]);
}

/** Why they get it. */
export const reasonOfKeepers = (workspace: string): string =>
  `You get this mail because you are an owner or admin of the workspace “${workspace}”.`;

/** To the owners and admins of a workspace. */
export async function tellKeepers(
  { vault }: NewsContext,
  client: Queryable,
  workspaceId: string,
  notice: { subject: string; letter: Letter },
  except?: string,
): Promise<void> {
  const keepers = await selectKeepers(client, { workspace_id: workspaceId });
  const mails = keepers.flatMap(({ id, email }): NewMail[] => {
    const to = id === except ? undefined : readMailAddress(email);
    return to ? [{ ...notice, kind: 'security_notice', to }] : [];
  });
  await enqueueMails(client, vault, { workspaceId }, mails);
}
