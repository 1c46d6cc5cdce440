import { Type } from 'typebox';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import type { Locale } from '#ast/basics/locales.ts';
import { countCharacters, isCleanText } from '#ast/basics/text.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import type { EmailBlock, EmailBody } from '#kit/outbox.ts';

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
  const named = [...text.matchAll(pattern)].map(([, name]) => name!);
  return [...new Set(named)].filter(
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
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  send: Type.Optional(
    Type.Boolean({ description: 'Whether emails are sent. If not, hand out the links.', default: true }),
  ),
};

/** The service's own texts in an invitation email. The `{parts}` are identical in every language. */
type EmailWords = {
  readonly button: string;
  readonly until: string;
  readonly reason: string;
  /** The subject of a reminder without its own subject. */
  readonly reminder: string;
};

/** The texts in each language that forms support. */
const emailWords: Readonly<Record<Locale, EmailWords>> = {
  en: {
    button: 'Open the form',
    until: 'The link works until {date} (UTC).',
    reason:
      '{workspace} invited {email} to fill in this form. The link is personal: anyone who has it can answer in your name.',
    reminder: 'Reminder: {subject}',
  },
  de: {
    button: 'Formular öffnen',
    until: 'Der Link gilt bis zum {date} (UTC).',
    reason:
      '{workspace} hat {email} eingeladen, dieses Formular auszufüllen. Der Link ist persönlich: Jede Person, die ihn hat, kann in Ihrem Namen antworten.',
    reminder: 'Erinnerung: {subject}',
  },
  es: {
    button: 'Abrir el formulario',
    until: 'El enlace funciona hasta el {date} (UTC).',
    reason:
      '{workspace} ha invitado a {email} a rellenar este formulario. El enlace es personal: cualquiera que lo tenga puede responder en su nombre.',
    reminder: 'Recordatorio: {subject}',
  },
  fr: {
    button: 'Ouvrir le formulaire',
    until: 'Le lien fonctionne jusqu’au {date} (UTC).',
    reason:
      '{workspace} a invité {email} à remplir ce formulaire. Le lien est personnel : toute personne qui l’a peut répondre en votre nom.',
    reminder: 'Rappel : {subject}',
  },
  pt: {
    button: 'Abrir o formulário',
    until: 'O link funciona até {date} (UTC).',
    reason:
      '{workspace} convidou {email} para preencher este formulário. O link é pessoal: qualquer pessoa que o tenha pode responder em seu nome.',
    reminder: 'Lembrete: {subject}',
  },
  nl: {
    button: 'Formulier openen',
    until: 'De link werkt tot {date} (UTC).',
    reason:
      '{workspace} heeft {email} uitgenodigd om dit formulier in te vullen. De link is persoonlijk: iedereen die hem heeft, kan namens u antwoorden.',
    reminder: 'Herinnering: {subject}',
  },
  ja: {
    button: 'フォームを開く',
    until: 'リンクの有効期限：{date}（UTC）',
    reason:
      '{workspace} がこのフォームへの回答のため {email} を招待しました。リンクはあなた専用です。リンクを知っている人はあなたの名前で回答できます。',
    reminder: 'リマインダー：{subject}',
  },
  zh: {
    button: '打开表单',
    until: '链接有效期至 {date}（UTC）。',
    reason: '{workspace} 邀请 {email} 填写此表单。该链接仅供您本人使用：任何拥有它的人都可以以您的名义作答。',
    reminder: '提醒：{subject}',
  },
  ar: {
    button: 'فتح النموذج',
    until: 'يعمل الرابط حتى {date} (UTC).',
    reason:
      'دعت {workspace} صاحب العنوان {email} إلى تعبئة هذا النموذج. الرابط شخصي: من يملكه يستطيع الإجابة باسمك.',
    reminder: 'تذكير: {subject}',
  },
};

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
export type InvitationEmail = EmailBody & { blocks: Exclude<EmailBlock, { kind: 'fields' }>[] };

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
