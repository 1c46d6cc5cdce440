import { findInAllCells } from '#kit/cells/in-cells.ts';
import type { Database } from '#kit/database.ts';
import type { MailKind } from '#kit/outbox/kinds.ts';
import { countSentFrom, countSentTo } from './queries.ts';

/** How many mails of some kinds may have left when one more does. */
type Quota = {
  /** Counted together. */
  kinds: readonly MailKind[];
  of: 'recipient' | 'form' | 'workspace';
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

/**
 * Addresses that visitors enter are anybody's: a form is not for filling inboxes, one or many. `perForm` is what the
 * operator allows a form in an hour.
 */
const visitorQuotas = (perForm: number): readonly Quota[] => [
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

const invitedQuotas = [toAddress(toInvited, 10, 'this address got enough invitations and reminders')];
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
  invitation: () => invitedQuotas,
  reminder: () => invitedQuotas,
  member_invitation: () => few('member_invitation'),
  password_reset: () => few('password_reset'),
  security_notice: () => few('security_notice'),
  incident: () => few('incident'),
  announcement: () => few('announcement'),
  test: () => few('test'),
} as const satisfies Record<MailKind, (perForm: number) => readonly Quota[]>;

/** Why a mail has to wait, and for how many seconds; undefined when it may leave. */
export type PutOff = { reason: string; delay: number };

/** Looks whether one more mail may leave now. Exact while one process sends one mail of a pace at a time. */
export async function checkQuotas(
  database: Database,
  mail: { workspaceId: string; formId: string | null; recipient: string; kind: MailKind },
  perForm: number,
): Promise<PutOff | undefined> {
  for (const { kinds, of, most, seconds, reason } of quotasOf[mail.kind](perForm)) {
    const asked = { kinds: [...kinds], seconds, most };
    const form_id = of === 'form' ? mail.formId : null;
    const sent =
      of === 'recipient'
        ? await findInAllCells(
            database,
            (cells) => countSentTo(cells, { ...asked, recipient: mail.recipient }),
            // Mails leave also while a server is away.
            { isPartial: true },
          )
        : await countSentFrom(database, { ...asked, workspace_id: mail.workspaceId, form_id });
    if (sent.reduce((sum, { count }) => sum + count, 0) >= most) return { reason, delay: patience };
  }
  return undefined;
}
