import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { type AnswerFormat, formatAnswerParts } from '#ast/answers/format-answer.ts';
import { createPlaceholderFiller, type PlaceholderFiller } from '#ast/answers/format-piped.ts';
import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import { type Locale, type LocaleChoice, localeOf } from '#ast/basics/locales.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  isVisibleToVisitors,
  listQuestions,
} from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import {
  answerFilesOf,
  findConfirmationIndex,
  type SubmissionNotification,
  withConfirmation,
} from '#ast/settings-by-condition.ts';
import { formatReference } from '#ast/short-reference.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type MailAddress, readMailAddress } from '#kit/outbox/address.ts';
import { type EmailBlock, type EmailField, enqueueMail, type MailKind, type NewMail } from '#kit/outbox.ts';
import {
  json,
  jsonb,
  nullable,
  type Queryable,
  type RowOf,
  statement,
  text,
  timestamp,
  uuid,
} from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { formatEmailTime } from '../notice-context.ts';
import { english, type MailWords, mailWords } from '../words/words.ts';

/** Returns the format of answers in emails. It matches the public page. */
const speechOf = (language: Locale, words: Pick<MailWords, 'yes' | 'no'>): AnswerFormat => ({
  language,
  numberLocale: language,
  words,
});

const noFiles: ReadonlyMap<string, readonly { readonly filename: string }[]> = new Map();

/**
 * Returns a function that fills answers into a form's texts. All elements count as shown, because hidden ones
 * have no stored answers.
 */
const createTextFiller = (form: Form, values: Answers, format: AnswerFormat): PlaceholderFiller =>
  createPlaceholderFiller({ form, values, files: noFiles, shown: { isShown: () => true }, format });

/** Fills answers into a text of the form's settings. */
const fillWithAnswers = (
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  text: string,
): string => createTextFiller(form, answers, speechOf(locale, words))(text);

/**
 * Returns the answers with their labels, in form order. Unanswered questions are omitted.
 * @param isListed selects inputs; defaults to all.
 */
export function listAnswerFields(
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  isListed: (input: InputElement) => boolean = () => true,
): EmailField[] {
  const format = speechOf(locale, words);
  const fillText = createTextFiller(form, answers, format);
  return listQuestions(form).flatMap((question): EmailField[] => {
    const { id } = question.element.attrs;
    const label = fillText(question.element.attrs.label);
    const answer = getProperty(answers, id);
    if (answer === undefined) return [];
    if (question.kind === 'input')
      return !isListed(question.element) ? [] : [fieldOf(question.element, label, answer, format)];
    return (answer as AnswerRow[]).flatMap((row, index) =>
      question.inputs.flatMap((input): EmailField[] => {
        const cell = getProperty(row, input.attrs.id);
        const inRow = fillText(input.attrs.label, { group: question.element, index });
        const place = `${label} ${index + 1}: ${inRow}`;
        return cell === undefined || !isListed(input) ? [] : [fieldOf(input, place, cell, format)];
      }),
    );
  });
}

function fieldOf(input: InputElement, label: string, answer: AnswerValue, format: AnswerFormat): EmailField {
  if (answerKindOf(input) === 'files') {
    const files = (answer as FileAnswer[]).map(({ id, filename, size }) => ({ id, filename, size }));
    return { label, files };
  }
  return { label, value: formatAnswerParts(input, answer, format).join('\n') };
}

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
} as const;

/** A completed submission with its form. */
export type NotifiedSubmission = RowOf<typeof noticeColumns>;

export const consoleAddress = (
  publicUrl: string,
  { form_id, id }: Pick<NotifiedSubmission, 'form_id' | 'id'>,
): string => `${publicUrl}/app/forms/${form_id}/submissions?open=${id}`;

const reasonOfOwners = (formName: string): string =>
  `You're receiving this email because the settings of the form “${formName}” list this address for notifications.`;

/** Returns the answers and the reference data as blocks of an email. */
function factsOf({ structure, answers, reference }: NotifiedSubmission): EmailBlock[] {
  const along = Object.entries(reference).map(([label, value]) => ({ label, value }));
  return [
    { kind: 'fields', fields: listAnswerFields(structure, answers, { locale: 'en', words: english }) },
    ...(along.length > 0
      ? ([
          { kind: 'heading', text: 'Reference data' },
          { kind: 'fields', fields: along },
        ] as const)
      : []),
  ];
}

/** Writes the notification about one submission; a reply to it goes to the visitor. */
export function composeNotification(submission: NotifiedSubmission, publicUrl: string): Omit<NewMail, 'to'> {
  const { form_name, structure, answers, completed_at, settings } = submission;
  const replyTo = replyAddress(structure, answers);
  return {
    kind: 'notification',
    subject: `New submission: ${form_name}`,
    ...(replyTo !== undefined && { replyTo }),
    letter: {
      heading: form_name,
      blocks: [
        { kind: 'text', text: `Submitted on ${formatEmailTime(completed_at, settings.time_zone)}.` },
        ...factsOf(submission),
        { kind: 'button', label: 'Open the submission', url: consoleAddress(publicUrl, submission) },
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

/**
 * Writes the visitor's receipt.
 * @param edit the link to edit the answers, if the form allows it.
 * @param spoken the language of the page, or else of the form.
 */
export function composeReceipt(
  { id, answers, ...noticed }: NotifiedSubmission,
  edit: { url: string; until: Date } | undefined,
  spoken: LocaleChoice | undefined,
): Omit<NewMail, 'to'> {
  const language = noticed.language ?? undefined;
  const structure = formInLanguage(noticed.structure, language);
  const { confirmations } = noticed.settings;
  const context = createEvaluationContext(noticed.settings, noticed.reference);
  const place = findConfirmationIndex(
    confirmations,
    structure,
    answers,
    context,
    answerFilesOf(structure, answers),
  );
  const chosen = place === undefined ? undefined : confirmations?.[place];
  const settings = withConfirmation(settingsInLanguage(noticed.settings, language), chosen);
  const form_name = structure.attrs.name;
  const { locale, words } = mailWords(localeOf(language) ?? spoken);
  const receipt = formatReference(id, settings.theme);
  const values = { form: form_name, receipt };
  return {
    kind: 'receipt',
    subject: fillTemplate(words.receiptSubject, values),
    letter: {
      lang: locale,
      heading: words.receiptHeading,
      filesNote: words.filesNote,
      blocks: [
        { kind: 'text', text: fillTemplate(words.receiptText, values) },
        ...(settings.confirmation_message
          ? [
              {
                kind: 'text' as const,
                // If the receipt shows no answers, those in the confirmation message are also left out.
                text: fillWithAnswers(
                  structure,
                  settings.receipt_answers === true ? answers : {},
                  { locale, words },
                  stripInlineMarkup(settings.confirmation_message),
                ),
              },
            ]
          : []),
        // The address may belong to another person, so answers are only included if the form's settings say
        // so.
        ...(settings.receipt_answers === true
          ? [
              {
                kind: 'fields' as const,
                fields: listAnswerFields(structure, answers, { locale, words }, isVisibleToVisitors),
              },
            ]
          : []),
        ...(edit
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
      ],
      reason: fillTemplate(words.reason, values),
    },
  };
}

/**
 * Returns the addresses that get a receipt, each once: the answer to the form's receipt element, and the
 * answers that notifications name.
 */
export function receiptAddresses(
  { settings, answers }: NotifiedSubmission,
  heard: readonly SubmissionNotification[],
): readonly string[] {
  const ids = [
    settings.receipt_email_element,
    ...heard.map(({ to }) => (typeof to === 'string' ? undefined : to.answer)),
  ];
  const given = ids.flatMap((id) => (id === undefined ? [] : [getProperty(answers, id)]));
  const texts = given.filter((answer) => typeof answer === 'string');
  return [...new Map(texts.map((text) => [text.toLowerCase(), text])).values()];
}

/** Locks counting and adding emails for an address until the transaction ends. */
const lockRecipient = statement('mail.lock_recipient', 'workspace_id recipient', '')`
  select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`;

/** Counts the emails of certain kinds written to an address within the last `seconds`, ignoring case. */
const countMailsTo = statement('mail.count_mails_to', 'workspace_id recipient kinds seconds', 'count')`
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
async function maySendToVisitor(db: Queryable, workspaceId: string, address: string): Promise<boolean> {
  await lockRecipient(db, { workspace_id: workspaceId, recipient: address });
  const [counted] = await countMailsTo(db, {
    workspace_id: workspaceId,
    recipient: address,
    kinds: [...visitorKinds],
    seconds: secondsOfDay,
  });
  return counted!.count < mostADay;
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
