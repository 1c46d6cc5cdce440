import { findInAllCells } from '#cells/across-cells.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { hashMailAddress } from '#kit/outbox/address.ts';
import type { MailKind } from '#kit/outbox.ts';
import { statement } from '#kit/statement.ts';

/**
 * Deletes records of emails that no longer count toward a limit. @returns the deleted ones; a full batch of
 * 1,000 means that there may be more.
 */
export const deleteExpiredEmailCounts = statement('', 'id')`
  /* sweep: across workspaces */
  delete from counted_emails where (workspace_id, id) in (
    select workspace_id, id from counted_emails
     where queued_at < now() - interval '2 days' and coalesce(sent_at, queued_at) < now() - interval '2 days'
     order by queued_at limit 1000)
  returning id`;

/** Counts recently sent emails of certain kinds to an address, from all workspaces, up to `most`. */
const countSentTo = statement('recipient:bytes kinds seconds most:bigint', 'count')`
  /* lookup: across workspaces */
  select count(*) as count from (
    select id from counted_emails
     where recipient = $recipient and kind = any($kinds)
       and sent_at > now() - make_interval(secs => $seconds)
     limit $most) sent`;

/** Counts recently sent emails of certain kinds from an account, in all workspaces, up to `most`. */
const countSentBy = statement('account_id kinds seconds most:bigint', 'count')`
  /* lookup: across workspaces */
  select count(*) as count from (
    select id from counted_emails
     where account_id = $account_id and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
     limit $most) sent`;

/** Counts recently sent emails of some kinds from a workspace, or from one form in it, up to `most`. */
const countSentFrom = statement('workspace_id form_id? kinds seconds most:bigint', 'count')`
  select count(*) as count from (
    select from counted_emails
     where workspace_id = $workspace_id and ($form_id is null or form_id = $form_id)
       and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
     limit $most) sent`;

/** A limit for emails of certain kinds: at most `most` in `seconds`. */
type MailLimit = {
  /** The kinds that count together. */
  kinds: readonly MailKind[];
  of: 'recipient' | 'form' | 'workspace' | 'account';
  most: number;
  seconds: number;
  /** The reason for postponing an email, for the log. */
  reason: string;
};

const hour = 3_600;
const day = 24 * hour;
/** A postponed email is retried after this many seconds. */
const patience = hour / 4;

const toVisitors = ['receipt', 'resume_link', 'edit_link'] as const satisfies readonly MailKind[];
const toInvited = ['invitation', 'reminder'] as const satisfies readonly MailKind[];

const toAddress = (kinds: readonly MailKind[], most: number, reason: string): MailLimit => ({
  kinds,
  of: 'recipient',
  most,
  seconds: day,
  reason: `Postponed: ${reason} (${most} a day).`,
});

/** The limits that the operator sets. */
export type MailLimitConfig = Pick<Config, 'mailToVisitors'> & {
  limits: Pick<Config['limits'], 'invitationsPerPerson' | 'invitationsPerWorkspace'>;
};

/**
 * Visitors can enter other people's addresses into a form, so emails from forms are limited for each address,
 * form and workspace.
 */
const visitorLimits = (
  { mailToVisitors: perForm }: MailLimitConfig,
  kinds: readonly MailKind[] = toVisitors,
  perAddress = 5,
): readonly MailLimit[] => [
  toAddress(kinds, perAddress, 'this address has reached the limit for emails requested by visitors'),
  {
    kinds,
    of: 'form',
    most: perForm,
    seconds: hour,
    reason: `Postponed: the form has reached the limit for emails to visitors (${perForm} an hour, MAIL_TO_VISITORS).`,
  },
  {
    kinds,
    of: 'workspace',
    most: perForm * 5,
    seconds: hour,
    reason: `Postponed: the workspace has reached the limit for emails to visitors (${perForm * 5} an hour, MAIL_TO_VISITORS).`,
  },
];

/** Checks again the limits that checkDailyEmailLimits (src/invitations/draft.ts) checks when emails are queued. */
const invitationLimits = ({
  limits: { invitationsPerPerson, invitationsPerWorkspace },
}: MailLimitConfig): readonly MailLimit[] => {
  const perDay = (of: 'workspace' | 'account', most: number, who: string, name: string): MailLimit[] =>
    most === 0
      ? []
      : [
          {
            kinds: toInvited,
            of,
            most,
            seconds: day,
            reason: `Postponed: ${who} has reached the limit for invitations and reminders (${most} a day, ${name}).`,
          },
        ];
  return [
    toAddress(toInvited, 10, 'this address has reached the limit for invitations and reminders'),
    ...perDay('workspace', invitationsPerWorkspace, 'the workspace', 'INVITATIONS_PER_WORKSPACE'),
    ...perDay(
      'account',
      invitationsPerPerson,
      'the person who sent the invitation',
      'INVITATIONS_PER_PERSON',
    ),
  ];
};
const noticeLimits = (kind: MailKind): readonly MailLimit[] => [
  toAddress([kind], 1_000, 'this address has reached the limit; use a digest to combine notifications'),
];
const rareMailLimits = (kind: MailKind): readonly MailLimit[] => [
  toAddress([kind], 50, 'this address has reached the limit for this kind of email'),
];

/**
 * The limits for each kind of email. They apply across processes and restarts, because they are counted in
 * the database.
 */
const limitsByKind = {
  notification: () => noticeLimits('notification'),
  digest: () => noticeLimits('digest'),
  assignment: () => noticeLimits('assignment'),
  receipt: (config) => visitorLimits(config),
  resume_link: (config) => visitorLimits(config),
  edit_link: (config) => visitorLimits(config),
  email_code: (config) => visitorLimits(config, ['email_code'], 10),
  invitation: invitationLimits,
  reminder: invitationLimits,
  member_invitation: () => rareMailLimits('member_invitation'),
  password_reset: () => rareMailLimits('password_reset'),
  security_notice: () => rareMailLimits('security_notice'),
  incident: () => rareMailLimits('incident'),
  announcement: () => rareMailLimits('announcement'),
  test: () => rareMailLimits('test'),
} as const satisfies Record<MailKind, (config: MailLimitConfig) => readonly MailLimit[]>;

/** The reason why an email is postponed, and for how many seconds. */
export type MailPostponement = { reason: string; delay: number };

/** The properties of an email that the limits count by. */
type LimitedMail = {
  workspaceId: string;
  form_id: string | null;
  account_id: string | null;
  recipient: string;
  kind: MailKind;
};

/**
 * Checks whether an email can be sent now. The result is exact only while each process sends bulk and prompt
 * emails one at a time.
 */
export async function checkMailLimits(
  database: Database,
  mail: LimitedMail,
  config: MailLimitConfig,
): Promise<MailPostponement | undefined> {
  for (const quota of limitsByKind[mail.kind](config)) {
    const { most, reason } = quota;
    const sent = await countSent(database, mail, quota);
    if (sent.reduce((sum, { count }) => sum + count, 0) >= most) return { reason, delay: patience };
  }
  return undefined;
}

async function countSent(
  database: Database,
  { workspaceId, form_id, account_id, recipient }: LimitedMail,
  { kinds, of, most, seconds }: MailLimit,
): Promise<readonly { count: number }[]> {
  const limit = { kinds: [...kinds], seconds, most };
  // Emails must also be sent while the server of another cell is unavailable.
  const options = { isPartial: true };
  if (of === 'recipient')
    return findInAllCells(
      database,
      (cells) => countSentTo(cells, { ...limit, recipient: hashMailAddress(recipient) }),
      options,
    );
  if (of === 'account')
    return account_id === null
      ? []
      : findInAllCells(database, (cells) => countSentBy(cells, { ...limit, account_id }), options);
  return countSentFrom(database, {
    ...limit,
    workspace_id: workspaceId,
    form_id: of === 'form' ? form_id : null,
  });
}
