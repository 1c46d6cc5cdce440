import type { Letter, LetterBlock } from '#kit/outbox.ts';
import type { Locale } from '#ast/locales.ts';
import { fill, sayDay } from '#ast/words.ts';
import type { Message } from './message.ts';
import { fillPlaceholders } from './placeholders.ts';

/** What the service says in a mail beside the author's own words. `{parts}` are the same in every language. */
type LetterWords = {
  readonly button: string;
  readonly until: string;
  readonly reason: string;
  /** Before the subject of a reminder that has none of its own. */
  readonly reminder: string;
};

/** In each language that a form can speak. */
const letterWords: Readonly<Record<Locale, LetterWords>> = {
  en: {
    button: 'Open the form',
    until: 'The link works until {date} (UTC).',
    reason:
      '{workspace} invited {email} to fill in this form. The link is personal: whoever has it can answer in your name.',
    reminder: 'Reminder: {subject}',
  },
  de: {
    button: 'Formular öffnen',
    until: 'Der Link gilt bis {date} (UTC).',
    reason:
      '{workspace} hat {email} eingeladen, dieses Formular auszufüllen. Der Link ist persönlich: Wer ihn hat, kann in Ihrem Namen antworten.',
    reminder: 'Erinnerung: {subject}',
  },
  es: {
    button: 'Abrir el formulario',
    until: 'El enlace funciona hasta el {date} (UTC).',
    reason:
      '{workspace} ha invitado a {email} a rellenar este formulario. El enlace es personal: quien lo tenga puede responder en su nombre.',
    reminder: 'Recordatorio: {subject}',
  },
  fr: {
    button: 'Ouvrir le formulaire',
    until: 'Le lien fonctionne jusqu’au {date} (UTC).',
    reason:
      '{workspace} a invité {email} à remplir ce formulaire. Le lien est personnel : qui l’a peut répondre en votre nom.',
    reminder: 'Rappel : {subject}',
  },
  pt: {
    button: 'Abrir o formulário',
    until: 'O link funciona até {date} (UTC).',
    reason:
      '{workspace} convidou {email} a preencher este formulário. O link é pessoal: quem o tiver pode responder em seu nome.',
    reminder: 'Lembrete: {subject}',
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
