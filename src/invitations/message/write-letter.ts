import type { Letter, LetterBlock } from '#kit/outbox/letter.ts';
import type { Locale } from '#ast/locales.ts';
import { fill, sayDay } from '#ast/words.ts';
import type { Message } from './message.ts';
import { fillPlaceholders } from './placeholders.ts';
import { letterWords } from './words.ts';

/** The person that a mail is written to, and what it is about. */
export type Recipient = {
  email: string;
  name: string;
  reference: Readonly<Record<string, string>>;
  formName: string;
  workspaceName: string;
  /** The personal link. */
  link: string;
  expiresAt: Date | null;
  /** The language of the form. */
  locale: Locale;
};

/** It shows no answers. */
export type InvitationLetter = Letter & { blocks: Exclude<LetterBlock, { kind: 'fields' }>[] };

/** Whether the mail invites, or reminds of an invitation. */
export type MailPurpose = 'invitation' | 'reminder';

/** What the mail to one person says. */
export function writeLetter(
  message: Message,
  recipient: Recipient,
  purpose: MailPurpose,
): { subject: string; letter: InvitationLetter } {
  const { formName, workspaceName, email, link, expiresAt, locale } = recipient;
  const own = letterWords[locale];
  const words = wordsFor(message, purpose, own.reminder);
  const values = valuesFor(recipient);
  const blocks: InvitationLetter['blocks'] = [
    { kind: 'text', text: fillPlaceholders(words.message, values) },
    { kind: 'button', label: own.button, url: link },
  ];
  if (expiresAt) blocks.push({ kind: 'text', text: fill(own.until, { date: sayDay(expiresAt, locale) }) });
  return {
    subject: fillPlaceholders(words.subject, values),
    letter: {
      lang: locale,
      heading: formName,
      blocks,
      reason: fill(own.reason, { workspace: workspaceName, email }),
    },
  };
}

function wordsFor(
  message: Message,
  purpose: MailPurpose,
  reminder: string,
): { subject: string; message: string } {
  if (purpose === 'invitation') return message;
  return {
    subject: message.reminderSubject ?? fill(reminder, { subject: message.subject }),
    message: message.reminderMessage ?? message.message,
  };
}

function valuesFor({
  email,
  name,
  reference,
  formName,
  link,
  expiresAt,
  locale,
}: Recipient): Map<string, string> {
  return new Map([
    // A reference value of the name of a placeholder does not take its place.
    ...Object.entries(reference),
    ['name', name],
    ['email', email],
    ['form', formName],
    ['link', link],
    ['expires', expiresAt ? sayDay(expiresAt, locale) : ''],
  ]);
}
