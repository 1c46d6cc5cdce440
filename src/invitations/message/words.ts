import type { Locale } from '#ast/locales.ts';

/** What the service says in a mail beside the author's own words. `{parts}` are the same in every language. */
type LetterWords = {
  readonly button: string;
  readonly until: string;
  readonly reason: string;
  /** Before the subject of a reminder that has none of its own. */
  readonly reminder: string;
};

/** In each language that a form can speak. */
export const letterWords: Readonly<Record<Locale, LetterWords>> = {
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
