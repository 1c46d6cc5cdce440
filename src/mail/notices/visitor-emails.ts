import type { Locale } from '#ast/basics/language-tags.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { MailAddress } from '#kit/outbox/address.ts';
import { enqueueMail, type MailKind } from '#kit/outbox.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { mailWords } from '../words/words.ts';

/** Locks counting and adding emails for an address until the transaction ends. */
const lockRecipient = statement('workspace_id recipient', '')`
  select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`;

/** Counts the emails of certain kinds written to an address within the last `seconds`, ignoring case. */
const countMailsTo = statement('workspace_id recipient kinds seconds', 'count')`
  select count(*) as count from mails
   where workspace_id = $workspace_id and lower(recipient) = lower($recipient) and kind = any($kinds)
     and created_at > now() - make_interval(secs => $seconds)`;

/** Kinds of email to addresses that only a visitor entered. */
const visitorKinds: readonly MailKind[] = ['receipt', 'resume_link', 'edit_link'];

/** The maximum number of emails per day from a workspace to one address that only a visitor entered. */
const mostADay = 5;
const secondsOfDay = 86_400;

/**
 * Whether another email can go to an address that a visitor entered: a public form must not flood anyone's
 * inbox. The check is exact for parallel emails if it runs in the transaction that adds them.
 */
async function maySendToVisitor(
  db: Queryable,
  workspaceId: string,
  address: string,
  { kinds, most }: { readonly kinds: readonly MailKind[]; readonly most: number } = {
    kinds: visitorKinds,
    most: mostADay,
  },
): Promise<boolean> {
  await lockRecipient(db, { workspace_id: workspaceId, recipient: address });
  const [counted] = await countMailsTo(db, {
    workspace_id: workspaceId,
    recipient: address,
    kinds: [...kinds],
    seconds: secondsOfDay,
  });
  return counted!.count < most;
}

/** A link to resume saved answers, or to change submitted ones. */
type PersonalLink = {
  purpose: 'resume' | 'edit';
  workspaceId: string;
  formId: string;
  formName: string;
  submissionId: string;
  timeZone: string | undefined;
  /** The language in which the visitor sees the page. */
  locale: Locale;
  url: string;
  until: Date;
};

/** Emails a visitor a personal link. @returns false if the address has reached its limit for today. */
export async function mailPersonalLink(
  { database, vault }: { database: Database; vault: Vault },
  { purpose, workspaceId, formId, formName, submissionId, timeZone, locale, url, until }: PersonalLink,
  to: MailAddress,
): Promise<boolean> {
  const { words } = mailWords(locale);
  const values = { form: formName, date: formatDay(until, locale, timeZone) };
  const isEdit = purpose === 'edit';
  return transaction(database, async (client) => {
    if (!(await maySendToVisitor(client, workspaceId, to.address))) return false;
    await enqueueMail(
      client,
      vault,
      { workspaceId, formId, submissionIds: [submissionId] },
      {
        kind: isEdit ? 'edit_link' : 'resume_link',
        to,
        subject: fillTemplate(isEdit ? words.editSubject : words.resumeSubject, values),
        letter: {
          lang: locale,
          heading: isEdit ? words.editButton : words.resumeHeading,
          blocks: [
            { kind: 'text', text: fillTemplate(isEdit ? words.editText : words.resumeText, values) },
            { kind: 'button', label: isEdit ? words.editButton : words.resumeButton, url },
          ],
          reason: fillTemplate(words.reason, values),
        },
      },
    );
    return true;
  });
}

/** Codes have their own daily limit, so that they leave room for a receipt. */
const codeLimit = { kinds: ['email_code'], most: 10 } as const;

/** Emails a visitor the code that verifies an address. @returns false if the address has reached its limit. */
export async function mailCode(
  { database, vault }: { database: Database; vault: Vault },
  {
    workspaceId,
    formId,
    formName: form,
    locale,
  }: Pick<PersonalLink, 'workspaceId' | 'formId' | 'formName' | 'locale'>,
  code: string,
  to: MailAddress,
): Promise<boolean> {
  const { words } = mailWords(locale);
  return transaction(database, async (client) => {
    if (!(await maySendToVisitor(client, workspaceId, to.address, codeLimit))) return false;
    await enqueueMail(
      client,
      vault,
      { workspaceId, formId },
      {
        kind: 'email_code',
        to,
        subject: fillTemplate(words.codeSubject, { code, form }),
        letter: {
          lang: locale,
          heading: code,
          blocks: [{ kind: 'text', text: fillTemplate(words.codeText, { form }) }],
          reason: fillTemplate(words.reason, { form }),
        },
      },
    );
    return true;
  });
}
