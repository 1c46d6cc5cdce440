import type { Answers } from '#ast/answers/check-answers.ts';
import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import { type LocaleChoice, localeOf } from '#ast/basics/language-tags.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import { type Form, isVisibleToVisitors, languagesOf, listQuestions } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { answerFilesOf, findConfirmationIndex, withConfirmation } from '#ast/settings-by-condition.ts';
import type { EmailWords, SubmissionNotification } from '#ast/settings-email.ts';
import { formatReference } from '#ast/short-reference.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import type { EmailBlock, NewMail } from '#kit/outbox.ts';
import { json, jsonb, nullable, type RowOf, text, textEnum, timestamp, uuid } from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/submission-rows.ts';
import { formatEmailTime } from '../notice-context.ts';
import { english, mailWords } from '../words/words.ts';
import { composeAuthorWords, fillWithAnswers, listAnswerFields, type Speech } from './answer-texts.ts';

/**
 * Returns the first email answer that can receive email, for Reply-To. Answers follow the HTML standard,
 * which allows addresses that cannot receive email: `ada.@example.org`.
 */
function replyAddress(form: Form, answers: Answers): string | undefined {
  for (const { kind, element } of listQuestions(form)) {
    const answer =
      kind === 'input' && element.type === 'email' ? getProperty(answers, element.attrs.id) : undefined;
    const address = typeof answer === 'string' ? readMailAddress(answer)?.address : undefined;
    if (address !== undefined) return address;
  }
  return undefined;
}

export const noticeColumns = {
  id: uuid,
  form_id: uuid,
  form_name: text,
  settings: jsonb<Settings>(),
  /** The version that the visitor answered. */
  structure: effectiveFormColumn,
  answers: json<Answers>(),
  reference: json<Record<string, string>>(),
  /** The language of the answers, as a BCP 47 tag; null if the form names none. */
  language: nullable(text),
  completed_at: timestamp,
  status: textEnum<SubmissionStatus>(),
} as const;

/** What an email reports, other than a completed submission. */
export type SubmissionNews = 'waiting' | 'promoted' | 'cancelled';

/** A completed or waiting submission with its form. */
export type NotifiedSubmission = RowOf<typeof noticeColumns> & {
  news?: SubmissionNews | undefined;
  /** The position of a waiting submission. */
  position?: number | undefined;
};

export const consoleAddress = (
  publicUrl: string,
  { form_id, id }: Pick<NotifiedSubmission, 'form_id' | 'id'>,
): string => `${publicUrl}/app/forms/${form_id}/submissions?open=${id}`;

const reasonOfOwners = (formName: string): string =>
  `You're receiving this email because the settings of the form “${formName}” list this address for notifications.`;

/** Returns the answers and the reference data as blocks of an email. */
function factsOf(
  { structure, answers, reference }: NotifiedSubmission,
  speech: Speech = { locale: 'en', words: english },
): EmailBlock[] {
  const along = Object.entries(reference).map(([label, value]) => ({ label, value }));
  return [
    { kind: 'fields', fields: listAnswerFields(structure, answers, speech) },
    ...(along.length > 0
      ? ([
          { kind: 'heading', text: 'Reference data' },
          { kind: 'fields', fields: along },
        ] as const)
      : []),
  ];
}

/** The visitor's link to change the answers or cancel, if the form allows one of them. */
export type EditLink = { url: string; until: Date } | undefined;

/** The subject of a notification, and a sentence. */
const ownerTexts: Readonly<Record<SubmissionNews | 'completed', readonly [subject: string, fact: string]>> = {
  completed: ['New submission', ''],
  waiting: ['New on the waiting list', 'It is number {position} on the waiting list.'],
  promoted: ['Moved up from the waiting list', 'It has moved up from the waiting list.'],
  cancelled: ['Submission cancelled', 'The visitor has cancelled it. You can restore it from the trash.'],
};

/** The names of the words with which visitors are told. They are not told what they did themselves. */
const visitorWords = { waiting: 'wait', promoted: 'place', cancelled: undefined } as const;

/**
 * Writes the notification about one submission, with the author's own words if there are any. By default, a
 * reply to it goes to the visitor.
 */
export function composeNotification(
  submission: NotifiedSubmission,
  publicUrl: string,
  { edit, words }: { edit?: EditLink; words?: EmailWords } = {},
): Omit<NewMail, 'to'> {
  const { form_name, structure, answers, completed_at, settings, position = '' } = submission;
  const [subject, fact] = ownerTexts[submission.news ?? 'completed'];
  const replyTo = replyAddress(structure, answers);
  const url = consoleAddress(publicUrl, submission);
  const speech = mailWords(localeOf(languagesOf(structure)[0]) ?? settings.locale);
  const { blocks, ...own } = composeAuthorWords(words ?? {}, {
    form: structure,
    answers,
    speech,
    links: { submission_url: url, edit_url: settings.editing ? edit?.url : undefined },
    listed: factsOf(submission, speech),
  });
  return {
    kind: 'notification',
    subject: `${subject}: ${form_name}`,
    ...(replyTo !== undefined && { replyTo }),
    ...own,
    ...(words?.attach_pdf && {
      pdf: { submissionId: submission.id, fallback: (blocks ? speech.words : english).noPdf },
    }),
    letter: {
      heading: form_name,
      blocks: blocks ?? [
        {
          kind: 'text',
          text: `Submitted on ${formatEmailTime(completed_at, settings.time_zone)}. ${fillTemplate(fact, { position })}`.trim(),
        },
        ...factsOf(submission),
        { kind: 'button', label: 'Open the submission', url },
      ],
      reason: reasonOfOwners(form_name),
    },
  };
}

/** Writes one email about the submissions of an hour or a day; `total` can exceed the listed ones. */
export function composeDigest(
  submissions: readonly [NotifiedSubmission, ...NotifiedSubmission[]],
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
        ...submissions.flatMap((submission): EmailBlock[] => [
          { kind: 'heading', text: formatEmailTime(submission.completed_at, submission.settings.time_zone) },
          ...factsOf(submission),
          { kind: 'button', label: 'Open this submission', url: consoleAddress(publicUrl, submission) },
        ]),
        ...(more > 0 ? [{ kind: 'text' as const, text: `And ${more} more, not listed here.` }] : []),
        {
          kind: 'button',
          label: 'View all submissions',
          url: `${publicUrl}/app/forms/${form_id}/submissions`,
        },
      ],
      reason: reasonOfOwners(form_name),
    },
  };
}

/** Writes the text of a receipt without the author's own words. */
function* receiptBlocks(
  form: Form,
  settings: Settings,
  { answers, introduction, speech }: { answers: Answers; introduction: string; speech: Speech },
): Generator<EmailBlock> {
  yield { kind: 'text', text: introduction };
  const { confirmation_message: message } = settings;
  // If the receipt shows no answers, those in the confirmation message are also left out.
  const shown = settings.receipt_answers === true ? answers : {};
  if (message) yield { kind: 'text', text: fillWithAnswers(form, shown, speech, stripInlineMarkup(message)) };
}

/**
 * Writes the visitor's receipt. Its address may belong to another person, so it has answers only if the form's settings
 * say so.
 * @param given the settings of the submission are in its language.
 * @param edit the link to edit the answers, if the form allows it.
 * @param spoken the language of the page, or else of the form.
 */
export function composeReceipt(
  given: NotifiedSubmission,
  publicUrl: string,
  {
    edit: link,
    words: own = {},
    spoken,
  }: { edit: EditLink; words?: EmailWords | undefined; spoken: LocaleChoice | undefined },
): Omit<NewMail, 'to'> {
  const { answers, reference, news, position = '' } = given;
  const edit = given.settings.editing ? link : undefined;
  const language = given.language ?? undefined;
  const structure = formInLanguage(given.structure, language);
  const context = createEvaluationContext(given.settings, reference);
  const { confirmations = [] } = given.settings;
  const place = findConfirmationIndex(
    confirmations,
    structure,
    answers,
    context,
    answerFilesOf(structure, answers),
  );
  const settings = withConfirmation(given.settings, place === undefined ? undefined : confirmations[place]);
  const { locale, words } = mailWords(localeOf(language) ?? spoken);
  const speech = { locale, words };
  const form = structure.attrs.name;
  const values = { form, receipt: formatReference(given.id, settings.theme), position };
  const listed: EmailBlock[] = [
    { kind: 'fields', fields: listAnswerFields(structure, answers, speech, isVisibleToVisitors) },
  ];
  const { subject: _, message: __, ...withoutWords } = own;
  // The author's own words may confirm a place.
  const { blocks, ...worded } = composeAuthorWords(news === 'waiting' ? withoutWords : own, {
    form: structure,
    answers,
    speech,
    links: { submission_url: consoleAddress(publicUrl, given), edit_url: edit?.url },
    listed,
  });
  const introduction = fillTemplate(words.receiptText, values);
  const told = news && visitorWords[news];
  const hasList = blocks?.includes(listed[0]!) ?? false;
  return {
    kind: 'receipt',
    subject: fillTemplate(words.receiptSubject, values),
    ...worded,
    ...(told && { subject: fillTemplate(words[`${told}Subject`], values) }),
    ...(own.attach_pdf && { pdf: { submissionId: given.id, fallback: words.noPdf } }),
    letter: {
      lang: locale,
      heading: told ? words[`${told}Heading`] : blocks ? form : words.receiptHeading,
      filesNote: words.filesNote,
      blocks: [
        ...(told ? [{ kind: 'text' as const, text: fillTemplate(words[`${told}Text`], values) }] : []),
        ...(news === 'waiting'
          ? []
          : (blocks ?? receiptBlocks(structure, settings, { answers, introduction, speech }))),
        ...(settings.receipt_answers === true && !hasList ? listed : []),
        ...(edit && !blocks
          ? ([
              { kind: 'button', label: words.editButton, url: edit.url },
              {
                kind: 'text',
                text: fillTemplate(words.editText, {
                  date: formatDay(edit.until, locale, settings.time_zone),
                }),
              },
            ] as const)
          : []),
        ...(link && settings.waiting_list
          ? ([
              { kind: 'button', label: words.cancelButton, url: `${link.url}/cancel` },
              { kind: 'text', text: words.cancelText },
            ] as const)
          : []),
      ],
      reason: fillTemplate(words.reason, values),
    },
  };
}

/**
 * Lists the addresses that get a receipt, each once with its words: the answers that notifications name, then the answer
 * to the form's receipt element. News of the waiting list go to the first email answer if there is no other address.
 */
export function listReceipts(
  { settings, structure, answers, news }: NotifiedSubmission,
  heard: readonly SubmissionNotification[],
): readonly { address: string; words: EmailWords }[] {
  const { receipt: words = {}, receipt_email_element: element } = settings;
  const named = [
    ...heard.map(({ to, ...own }) => ({
      id: typeof to === 'string' ? undefined : to.answer,
      words: { ...words, ...own },
    })),
    { id: element, words },
  ];
  const byAddress = new Map<string, { address: string; words: EmailWords }>();
  for (const { id, words: own } of named) {
    const address = id === undefined ? undefined : getProperty(answers, id);
    if (typeof address === 'string' && !byAddress.has(address.toLowerCase()))
      byAddress.set(address.toLowerCase(), { address, words: own });
  }
  const first = news && byAddress.size === 0 ? replyAddress(structure, answers) : undefined;
  return first === undefined ? [...byAddress.values()] : [{ address: first, words }];
}
