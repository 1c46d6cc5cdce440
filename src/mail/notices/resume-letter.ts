import type { Locale } from '#ast/locales.ts';
import { fill, sayDay } from '#ast/words.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { MailAddress } from '#kit/outbox/address.ts';
import { enqueueMail } from '#kit/outbox/enqueue-mail.ts';
import type { Vault } from '#kit/vault.ts';
import { mailWords } from '../words/words.ts';
import { maySendToVisitor } from './visitor-limit.ts';

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
