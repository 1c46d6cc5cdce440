import { findInAllCells } from '#cells/across-cells.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { countedAddress } from '#kit/outbox/address.ts';
import type { MailKind } from '#kit/outbox.ts';
import { statement } from '#kit/statement.ts';

/** Deletes what no limit counts any more. @returns those removed; a full batch of 1,000 means that there may be more. */
export const deleteCountedEmails = statement(
  'mail.delete_counted_emails',
  '',
  'id',
  `/* sweep: across workspaces */
   delete from counted_emails where (workspace_id, id) in (
     select workspace_id, id from counted_emails
      where queued_at < now() - interval '2 days' and coalesce(sent_at, queued_at) < now() - interval '2 days'
      order by queued_at limit 1000)
   returning id`,
);

/** How many of some kinds have left to an address lately, from any workspace; counted no further than `most`. */
const countSentTo = statement(
  'mail.count_sent_to',
  'recipient:bytes kinds seconds most:bigint',
  'count',
  `/* lookup: across workspaces */
   select count(*) as count from (
     select id from counted_emails
      where recipient = $recipient and kind = any($kinds)
        and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many of some kinds an account has sent lately, from any workspace; counted no further than `most`. */
const countSentBy = statement(
  'mail.count_sent_by',
  'account_id kinds seconds most:bigint',
  'count',
  `/* lookup: across workspaces */
   select count(*) as count from (
     select id from counted_emails
      where account_id = $account_id and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many of some kinds have left lately from a workspace, or from one form of it; counted no further than `most`. */
const countSentFrom = statement(
  'mail.count_sent_from',
  'workspace_id form_id? kinds seconds most:bigint',
  'count',
  `select count(*) as count from (
     select from counted_emails
      where workspace_id = $workspace_id and ($form_id is null or form_id = $form_id)
        and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many mails of some kinds may have left when one more does. */
type Quota = {
  /** Counted together. */
  kinds: readonly MailKind[];
  of: 'recipient' | 'form' | 'workspace' | 'account';
  most: number;
  seconds: number;
  /** Why a mail is put off, for the log. */
  reason: string;
};

const hour = 3_600;
const day = 24 * hour;
/** A mail that is put off is looked at again so much later. */
const patience = hour / 4;

const toVisitors = ['receipt', 'resume_link'] as const satisfies readonly MailKind[];
const toInvited = ['invitation', 'reminder'] as const satisfies readonly MailKind[];

const toAddress = (kinds: readonly MailKind[], most: number, reason: string): Quota => ({
  kinds,
  of: 'recipient',
  most,
  seconds: day,
  reason: `Put off: ${reason} (${most} a day).`,
});

/** What the operator allows. */
export type QuotaConfig = Pick<Config, 'mailToVisitors'> & {
  limits: Pick<Config['limits'], 'invitationsPerPerson' | 'invitationsPerWorkspace'>;
};

/** Anybody can enter the address of somebody else into a form: a form must not fill inboxes, one or many. */
const visitorQuotas = ({ mailToVisitors: perForm }: QuotaConfig): readonly Quota[] => [
  toAddress(toVisitors, 5, 'this address got enough mails that visitors asked for'),
  {
    kinds: toVisitors,
    of: 'form',
    most: perForm,
    seconds: hour,
    reason: `Put off: the form has sent enough mails to visitors (${perForm} an hour, MAIL_TO_VISITORS).`,
  },
  {
    kinds: toVisitors,
    of: 'workspace',
    most: perForm * 5,
    seconds: hour,
    reason: `Put off: the workspace has sent enough mails to visitors (${perForm * 5} an hour, MAIL_TO_VISITORS).`,
  },
];

/** The last gate of the limits that throttleEmail (src/invitations/draft.ts) checks when mails are queued. */
const invitedQuotas = ({
  limits: { invitationsPerPerson, invitationsPerWorkspace },
}: QuotaConfig): readonly Quota[] => {
  const perDay = (of: 'workspace' | 'account', most: number, who: string, name: string): Quota[] =>
    most === 0
      ? []
      : [
          {
            kinds: toInvited,
            of,
            most,
            seconds: day,
            reason: `Put off: ${who} has sent enough invitations and reminders (${most} a day, ${name}).`,
          },
        ];
  return [
    toAddress(toInvited, 10, 'this address got enough invitations and reminders'),
    ...perDay('workspace', invitationsPerWorkspace, 'the workspace', 'INVITATIONS_PER_WORKSPACE'),
    ...perDay('account', invitationsPerPerson, 'the person who invited', 'INVITATIONS_PER_PERSON'),
  ];
};
const notices = (kind: MailKind): readonly Quota[] => [
  toAddress([kind], 1_000, 'this address got enough of them; a digest gathers them'),
];
const few = (kind: MailKind): readonly Quota[] => [toAddress([kind], 50, 'this address got enough of them')];

/** What holds for each kind of mail, over all processes and restarts: it is counted in the database. */
const quotasOf = {
  notification: () => notices('notification'),
  digest: () => notices('digest'),
  receipt: visitorQuotas,
  resume_link: visitorQuotas,
  invitation: invitedQuotas,
  reminder: invitedQuotas,
  member_invitation: () => few('member_invitation'),
  password_reset: () => few('password_reset'),
  security_notice: () => few('security_notice'),
  incident: () => few('incident'),
  announcement: () => few('announcement'),
  test: () => few('test'),
} as const satisfies Record<MailKind, (config: QuotaConfig) => readonly Quota[]>;

/** Why a mail has to wait, and for how many seconds; undefined when it may leave. */
export type PutOff = { reason: string; delay: number };

/** What of a mail is counted. */
type QuotaMail = {
  workspaceId: string;
  form_id: string | null;
  account_id: string | null;
  recipient: string;
  kind: MailKind;
};

/** Looks whether one more mail may leave now. Exact while one process sends one mail of a pace at a time. */
export async function checkQuotas(
  database: Database,
  mail: QuotaMail,
  config: QuotaConfig,
): Promise<PutOff | undefined> {
  for (const quota of quotasOf[mail.kind](config)) {
    const { most, reason } = quota;
    const sent = await countSent(database, mail, quota);
    if (sent.reduce((sum, { count }) => sum + count, 0) >= most) return { reason, delay: patience };
  }
  return undefined;
}

async function countSent(
  database: Database,
  { workspaceId, form_id, account_id, recipient }: QuotaMail,
  { kinds, of, most, seconds }: Quota,
): Promise<readonly { count: number }[]> {
  const asked = { kinds: [...kinds], seconds, most };
  // Mails leave also while the server of another cell is away.
  const options = { isPartial: true };
  if (of === 'recipient')
    return findInAllCells(
      database,
      (cells) => countSentTo(cells, { ...asked, recipient: countedAddress(recipient) }),
      options,
    );
  if (of === 'account')
    return account_id === null
      ? []
      : findInAllCells(database, (cells) => countSentBy(cells, { ...asked, account_id }), options);
  return countSentFrom(database, {
    ...asked,
    workspace_id: workspaceId,
    form_id: of === 'form' ? form_id : null,
  });
}
