import { Type } from 'typebox';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import type { Locale } from '#ast/basics/language-tags.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import type { EmailBlock, EmailBody } from '#kit/outbox.ts';
import { timestampSchema } from '#kit/validation.ts';
import ar from './words/ar.json' with { type: 'json' };
import de from './words/de.json' with { type: 'json' };
import en from './words/en.json' with { type: 'json' };
import es from './words/es.json' with { type: 'json' };
import fr from './words/fr.json' with { type: 'json' };
import ja from './words/ja.json' with { type: 'json' };
import nl from './words/nl.json' with { type: 'json' };
import pt from './words/pt.json' with { type: 'json' };
import zh from './words/zh.json' with { type: 'json' };

/** The placeholders of a subject and a message, besides the names of reference values. */
export const placeholders = {
  name: "The person's name.",
  email: "The person's email address.",
  form: 'The name of the form.',
  link: 'The personal link. The email always has a button for it.',
  expires: 'The day on which the link expires.',
} as const satisfies Record<string, string>;

/** Matches `{{name}}`, and `{{name|friend}}` with a fallback for a missing value. */
const pattern = /\{\{\s*([^{}|]{1,64}?)\s*(?:\|([^{}]{0,200}))?\}\}/gu;

/** Replaces placeholders with values, once: placeholders inside a value stay text. */
function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    pattern,
    (_, name: string, otherwise: string | undefined) => values.get(name) || (otherwise ?? ''),
  );
}

function unknownPlaceholders(text: string, referenceNames: ReadonlySet<string>): string[] {
  const names = [...text.matchAll(pattern)].map(([, name]) => name!);
  return [...new Set(names)].filter(
    (name) => !Object.hasOwn(placeholders, name) && !referenceNames.has(name),
  );
}

/**
 * The texts of a batch's emails, with placeholders. A reminder without its own text repeats the invitation.
 */
export type InvitationMessage = {
  subject: string;
  message: string;
  reminderSubject: string | null;
  reminderMessage: string | null;
  /** Days after the invitation was sent, in ascending order. */
  remindAfterDays: number[];
};

const messageLimits = { subject: 200, message: 10_000, reminders: 5, days: 365 } as const;

export const defaultMessage: InvitationMessage = {
  subject: 'You are invited: {{form}}',
  message: 'Hello {{name|there}},\n\nYou are invited to fill in “{{form}}”. The link below is only for you.',
  reminderSubject: null,
  reminderMessage: null,
  remindAfterDays: [],
};

type MessageProblem = { field: string; message: string };

/** Returns the problems with a message to people with these reference values. */
export function checkMessage(
  message: InvitationMessage,
  referenceNames: ReadonlySet<string>,
): MessageProblem[] {
  const { reminderSubject, reminderMessage, remindAfterDays } = message;
  const texts = [
    ['subject', message.subject, messageLimits.subject, false],
    ['message', message.message, messageLimits.message, true],
    ['reminder_subject', reminderSubject, messageLimits.subject, false],
    ['reminder_message', reminderMessage, messageLimits.message, true],
  ] as const;
  const problems = texts.flatMap(([field, text, most, hasLines]): MessageProblem[] => {
    if (text === null) return [];
    if (text.trim() === '') return [{ field, message: 'The text must not be empty.' }];
    if (countCharacters(text) > most || !isCleanText(text))
      return [
        {
          field,
          message: `The text must have at most ${formatWholeNumber(most)} characters and no control characters.`,
        },
      ];
    if (!hasLines && /[\r\n]/.test(text)) return [{ field, message: 'The subject must be one line.' }];
    const unknown = unknownPlaceholders(text, referenceNames);
    if (unknown.length === 0) return [];
    const known = [...Object.keys(placeholders), ...referenceNames].map((name) => `{{${name}}}`);
    return [
      {
        field,
        message: `{{${unknown[0]}}} is not a placeholder. Use one of ${known.slice(0, 20).join(', ')}.`,
      },
    ];
  });
  const isAscending = remindAfterDays.every((days, index) => days > (remindAfterDays[index - 1] ?? 0));
  const isBounded =
    remindAfterDays.length <= messageLimits.reminders &&
    remindAfterDays.every((days) => Number.isInteger(days) && days >= 1 && days <= messageLimits.days);
  if (!isAscending || !isBounded)
    problems.push({
      field: 'remind_after_days',
      message: `Give up to ${messageLimits.reminders} whole numbers from 1 to ${messageLimits.days}, in ascending order.`,
    });
  return problems;
}

/** The message and options of a batch in a request; the console sends them too. */
export const messageProperties = {
  subject: Type.Optional(Type.String({ maxLength: messageLimits.subject, default: defaultMessage.subject })),
  message: Type.Optional(
    Type.String({
      maxLength: messageLimits.message,
      description: `Plain text with placeholders: ${Object.keys(placeholders)
        .map((name) => `{{${name}}}`)
        .join(', ')} and the names of reference values. {{name|friend}} sets a fallback for a missing value.`,
      default: defaultMessage.message,
    }),
  ),
  reminder_subject: Type.Optional(Type.String({ maxLength: messageLimits.subject })),
  reminder_message: Type.Optional(Type.String({ maxLength: messageLimits.message })),
  remind_after_days: Type.Optional(
    Type.Array(Type.Integer(), {
      description: 'Days after the invitation was sent.',
      maxItems: messageLimits.reminders,
    }),
  ),
  expires_at: Type.Optional(timestampSchema),
  send: Type.Optional(
    Type.Boolean({ description: 'Whether emails are sent. If not, hand out the links.', default: true }),
  ),
};

/** The service's own texts in an invitation email. The `{parts}` are identical in every language. */
type EmailWords = Readonly<Record<keyof typeof en, string>>;

/** The texts in each language that forms support. */
const emailWords: Readonly<Record<Locale, EmailWords>> = { en, fr, de, es, pt, nl, ar, ja, zh };

/** The person who gets the email, and the data in it. */
export type Recipient = {
  email: string;
  name: string;
  reference: Readonly<Record<string, string>>;
  formName: string;
  workspaceName: string;
  link: string;
  expiresAt: Date | null;
  /** The language of the form. */
  locale: Locale;
};

/** The content of an invitation email. It contains no answers. */
export type InvitationEmail = EmailBody & { blocks: Exclude<EmailBlock, { kind: 'fields' | 'rich' }>[] };

export type MailPurpose = 'invitation' | 'reminder';

/** Renders the email to one person. */
export function renderInvitationEmail(
  message: InvitationMessage,
  recipient: Recipient,
  purpose: MailPurpose,
): { subject: string; letter: InvitationEmail } {
  const { formName, workspaceName, email, link, expiresAt, locale } = recipient;
  const own = emailWords[locale];
  const words = wordsFor(message, purpose, own.reminder);
  const values = valuesFor(recipient);
  const blocks: InvitationEmail['blocks'] = [
    { kind: 'text', text: fillPlaceholders(words.message, values) },
    { kind: 'button', label: own.button, url: link },
  ];
  if (expiresAt)
    blocks.push({ kind: 'text', text: fillTemplate(own.until, { date: formatDay(expiresAt, locale) }) });
  return {
    subject: fillPlaceholders(words.subject, values),
    letter: {
      lang: locale,
      heading: formName,
      blocks,
      reason: fillTemplate(own.reason, { workspace: workspaceName, email }),
    },
  };
}

function wordsFor(
  message: InvitationMessage,
  purpose: MailPurpose,
  reminder: string,
): { subject: string; message: string } {
  if (purpose === 'invitation') return message;
  return {
    subject: message.reminderSubject ?? fillTemplate(reminder, { subject: message.subject }),
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
    // Placed first, so that a reference value cannot replace a built-in placeholder.
    ...Object.entries(reference),
    ['name', name],
    ['email', email],
    ['form', formName],
    ['link', link],
    ['expires', expiresAt ? formatDay(expiresAt, locale) : ''],
  ]);
}
