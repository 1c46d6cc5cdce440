import type { Locale } from '#ast/locales.ts';
import { fill, sayDay } from '#ast/words.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { MailAddress } from '#kit/outbox/address.ts';
import { enqueueMail } from '#kit/outbox/enqueue-mail.ts';
import type { Vault } from '#kit/vault.ts';
import { mailWords } from '../words/words.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { MailKind } from '#kit/outbox/kinds.ts';

/** Lets one mail at a time be counted and added for an address, until the transaction ends. */
const lockRecipient = statement(
  'mail.lock_recipient',
  'workspace_id recipient',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`,
);

/** How many mails of some kinds were written to an address, in whatever case, in the last so many seconds. */
const countMailsTo = statement(
  'mail.count_mails_to',
  'workspace_id recipient kinds seconds',
  'count',
  `select count(*) as count from mails
    where workspace_id = $workspace_id and lower(recipient) = lower($recipient) and kind = any($kinds)
      and created_at > now() - make_interval(secs => $seconds)`,
);

/** What was written to people whom nobody asked: see countMailsTo. */
const visitorKinds: readonly MailKind[] = ['receipt', 'resume_link'];

/** Mails of a workspace to one address that only a visitor entered, in a day. */
const mostADay = 5;
const secondsOfDay = 86_400;

/**
 * Whether an address that a visitor entered may be written to once more: a public form is not for filling somebody
 * else's inbox. Exact for mails that are told of at the same time, within the transaction that adds them.
 */
async function maySendToVisitor(db: Queryable, workspaceId: string, address: string): Promise<boolean> {
  await lockRecipient(db, { workspace_id: workspaceId, recipient: address });
  const [counted] = await countMailsTo(db, {
    workspace_id: workspaceId,
    recipient: address,
    kinds: [...visitorKinds],
    seconds: secondsOfDay,
  });
  return counted!.count < mostADay;
}

/** Saved answers, and where the visitor goes on with them. */
type ResumeLink = {
  workspaceId: string;
  formId: string;
  formName: string;
  submissionId: string;
  timeZone: string | undefined;
  /** The language in which the visitor reads the page. */
  locale: Locale;
  url: string;
  until: Date;
};

/** Mails a visitor the link to go on. @returns false when this address got enough mails for today. */
export async function mailResumeLink(
  { database, vault }: { database: Database; vault: Vault },
  { workspaceId, formId, formName, submissionId, timeZone, locale, url, until }: ResumeLink,
  to: MailAddress,
): Promise<boolean> {
  const { words } = mailWords(locale);
  const values = { form: formName, date: sayDay(until, locale, timeZone) };
  return transaction(database, async (client) => {
    if (!(await maySendToVisitor(client, workspaceId, to.address))) return false;
    await enqueueMail(
      client,
      vault,
      { workspaceId, formId, submissionIds: [submissionId] },
      {
        kind: 'resume_link',
        to,
        subject: fill(words.resumeSubject, values),
        letter: {
          lang: locale,
          heading: words.resumeHeading,
          blocks: [
            { kind: 'text', text: fill(words.resumeText, values) },
            { kind: 'button', label: words.resumeButton, url },
          ],
          reason: fill(words.reason, values),
        },
      },
    );
    return true;
  });
}
