import type { Letter, LetterBlock } from '#kit/outbox/letter.ts';
import type { Message } from './message.ts';
import { fillPlaceholders } from './placeholders.ts';

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
};

/** Whether the mail invites, or reminds of an invitation. */
export type MailPurpose = 'invitation' | 'reminder';

/** What the mail to one person says. */
export function writeLetter(
  message: Message,
  recipient: Recipient,
  purpose: MailPurpose,
): { subject: string; letter: Letter } {
  const { formName, workspaceName, link, expiresAt } = recipient;
  const words = wordsFor(message, purpose);
  const values = valuesFor(recipient);
  const blocks: LetterBlock[] = [
    { kind: 'text', text: fillPlaceholders(words.message, values) },
    { kind: 'button', label: 'Open the form', url: link },
  ];
  if (expiresAt) blocks.push({ kind: 'text', text: `The link works until ${sayDay(expiresAt)} (UTC).` });
  return {
    subject: fillPlaceholders(words.subject, values),
    letter: {
      heading: formName,
      blocks,
      reason: `${workspaceName} invited ${recipient.email} to fill in this form. The link is personal: whoever has it can answer in your name.`,
    },
  };
}

function wordsFor(message: Message, purpose: MailPurpose): { subject: string; message: string } {
  if (purpose === 'invitation') return message;
  return {
    subject: message.reminderSubject ?? `Reminder: ${message.subject}`,
    message: message.reminderMessage ?? message.message,
  };
}

function valuesFor({ email, name, reference, formName, link, expiresAt }: Recipient): Map<string, string> {
  return new Map([
    // A reference value of the name of a placeholder does not take its place.
    ...Object.entries(reference),
    ['name', name],
    ['email', email],
    ['form', formName],
    ['link', link],
    ['expires', expiresAt ? sayDay(expiresAt) : ''],
  ]);
}

const sayDay = (at: Date): string =>
  new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(at);
