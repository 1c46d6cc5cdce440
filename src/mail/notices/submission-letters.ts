import { chooseConfirmation, confirmedBy, filesOf, type Notification } from '#ast/settings-by-condition.ts';
import { answerContext } from '#forms/answer-context.ts';
import { shortReference } from '#ast/short-reference.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { settingsInLanguage } from '#ast/translations/setting-texts.ts';
import { own } from '#ast/json.ts';
import { type LocaleChoice, localeOf } from '#ast/locales.ts';
import { withoutMarks } from '#ast/marks.ts';
import { isSeen } from '#ast/tree.ts';
import { fill, sayDay } from '#ast/words.ts';
import type { NewMail } from '#kit/outbox/enqueue-mail.ts';
import type { LetterBlock } from '#kit/outbox/letter.ts';
import { json, jsonb, nullable, type RowOf, text, timestamp, uuid } from '#kit/statement.ts';
import { sayMoment } from '../say-moment.ts';
import { english, mailWords } from '../words/words.ts';
import { answerFields, replyAddress, sayWithAnswers } from './answer-fields.ts';
import type { Answers } from '#ast/answers.ts';
import type { Settings } from '#ast/settings.ts';
import { formTree } from '#forms/structure-columns.ts';

export const noticeColumns = {
  id: uuid,
  form_id: uuid,
  form_name: text,
  settings: jsonb<Settings>(),
  /** As it was answered. */
  structure: formTree,
  answers: json<Answers>(),
  reference: json<Record<string, string>>(),
  /** In which it was answered, as a BCP-47 tag; null where the form names none. */
  language: nullable(text),
  completed_at: timestamp,
} as const;

/** A completed submission with its form. */
export type Noticed = RowOf<typeof noticeColumns>;

/** Where the form's people read it. */
const consoleAddress = (publicUrl: string, { form_id, id }: Pick<Noticed, 'form_id' | 'id'>): string =>
  `${publicUrl}/app/forms/${form_id}/submissions?open=${id}`;

const reasonOfOwners = (formName: string): string =>
  `You get this mail because this address is set to be notified in the settings of the form “${formName}”.`;

/** What was answered, and what came along with it. */
function factsOf({ structure, answers, reference }: Noticed): LetterBlock[] {
  const along = Object.entries(reference).map(([label, value]) => ({ label, value }));
  return [
    { kind: 'fields', fields: answerFields(structure, answers, { locale: 'en', words: english }) },
    ...(along.length > 0
      ? ([
          { kind: 'heading', text: 'Reference data' },
          { kind: 'fields', fields: along },
        ] as const)
      : []),
  ];
}

/** The mail to the form's people about one submission; an answer to it goes to whoever submitted. */
export function notificationOf(submission: Noticed, publicUrl: string): Omit<NewMail, 'to'> {
  const { form_name, structure, answers, completed_at, settings } = submission;
  const replyTo = replyAddress(structure, answers);
  return {
    kind: 'notification',
    subject: `New submission: ${form_name}`,
    ...(replyTo !== undefined && { replyTo }),
    letter: {
      heading: form_name,
      blocks: [
        { kind: 'text', text: `Submitted on ${sayMoment(completed_at, settings.time_zone)}.` },
        ...factsOf(submission),
        { kind: 'button', label: 'Open the submission', url: consoleAddress(publicUrl, submission) },
      ],
      reason: reasonOfOwners(form_name),
    },
  };
}

/** One mail about the submissions of an hour or a day; `total` may be more than are listed. */
export function digestOf(
  submissions: readonly [Noticed, ...Noticed[]],
  total: number,
  publicUrl: string,
): Omit<NewMail, 'to'> {
  const [{ form_name, form_id }] = submissions;
  const count = total === 1 ? 'One new submission' : `${total} new submissions`;
  const more = total - submissions.length;
  return {
    kind: 'digest',
    subject: `${count}: ${form_name}`,
    letter: {
      heading: `${count}: ${form_name}`,
      blocks: [
        ...submissions.flatMap((submission): LetterBlock[] => [
          { kind: 'heading', text: sayMoment(submission.completed_at, submission.settings.time_zone) },
          ...factsOf(submission),
          { kind: 'button', label: 'Open this submission', url: consoleAddress(publicUrl, submission) },
        ]),
        ...(more > 0
          ? [{ kind: 'text' as const, text: `And ${more} more, which are not listed here.` }]
          : []),
        {
          kind: 'button',
          label: 'See all submissions',
          url: `${publicUrl}/app/forms/${form_id}/submissions`,
        },
      ],
      reason: reasonOfOwners(form_name),
    },
  };
}

/**
 * The visitor's own copy.
 * @param edit the link to change the answers, where the form allows that.
 * @param spoken that the page spoke to the visitor, or the form's.
 */
export function receiptOf(
  { id, answers, ...noticed }: Noticed,
  edit: { url: string; until: Date } | undefined,
  spoken: LocaleChoice | undefined,
): Omit<NewMail, 'to'> {
  const language = noticed.language ?? undefined;
  const structure = inLanguage(noticed.structure, language);
  const { confirmations } = noticed.settings;
  const context = answerContext(noticed.settings, noticed.reference);
  const place = chooseConfirmation(confirmations, structure, answers, context, filesOf(structure, answers));
  const chosen = place === undefined ? undefined : confirmations?.[place];
  const settings = confirmedBy(settingsInLanguage(noticed.settings, language), chosen);
  const form_name = structure.attrs.name;
  const { locale, words } = mailWords(localeOf(language) ?? spoken);
  const receipt = settings.theme?.short_reference ? shortReference(id) : id;
  const values = { form: form_name, receipt };
  return {
    kind: 'receipt',
    subject: fill(words.receiptSubject, values),
    letter: {
      lang: locale,
      heading: words.receiptHeading,
      filesNote: words.filesNote,
      blocks: [
        { kind: 'text', text: fill(words.receiptText, values) },
        ...(settings.confirmation_message
          ? [
              {
                kind: 'text' as const,
                // Answers that it shows are answers as well.
                text: sayWithAnswers(
                  structure,
                  settings.receipt_answers === true ? answers : {},
                  { locale, words },
                  withoutMarks(settings.confirmation_message),
                ),
              },
            ]
          : []),
        // The address is anybody's until its owner says otherwise, and so are the answers.
        ...(settings.receipt_answers === true
          ? [
              {
                kind: 'fields' as const,
                fields: answerFields(structure, answers, { locale, words }, isSeen),
              },
            ]
          : []),
        ...(edit
          ? ([
              { kind: 'button', label: words.editButton, url: edit.url },
              {
                kind: 'text',
                text: fill(words.editText, { date: sayDay(edit.until, locale, settings.time_zone) }),
              },
            ] as const)
          : []),
      ],
      reason: fill(words.reason, values),
    },
  };
}

/** Whose receipt it is: the answers to the form's receipt element and to those that notifications name, each once. */
export function receiptAddresses(
  { settings, answers }: Noticed,
  heard: readonly Notification[],
): readonly string[] {
  const ids = [
    settings.receipt_email_element,
    ...heard.map(({ to }) => (typeof to === 'string' ? undefined : to.answer)),
  ];
  const given = ids.flatMap((id) => (id === undefined ? [] : [own(answers, id)]));
  const texts = given.filter((answer) => typeof answer === 'string');
  return [...new Map(texts.map((text) => [text.toLowerCase(), text])).values()];
}
