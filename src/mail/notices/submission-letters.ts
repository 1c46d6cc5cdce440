import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { type AnswerSpeech, sayAnswer } from '#ast/answers/say-answer.ts';
import { type SayText, textSayer } from '#ast/answers/say-piped.ts';
import { own } from '#ast/basics/json.ts';
import { type Locale, type LocaleChoice, localeOf } from '#ast/basics/locales.ts';
import { withoutMarks } from '#ast/basics/marks.ts';
import { fill, sayDay } from '#ast/basics/words.ts';
import { type Form, type InputElement, isSeen, kindOf, listQuestions } from '#ast/form/tree.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import type { Settings } from '#ast/settings.ts';
import { chooseConfirmation, confirmedBy, filesOf, type Notification } from '#ast/settings-by-condition.ts';
import { shortReference } from '#ast/short-reference.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { formTree } from '#forms/form-rows.ts';
import { answerContext } from '#forms/live-form.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type MailAddress, readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMail, type LetterBlock, type LetterField, type MailKind, type NewMail } from '#kit/outbox.ts';
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
import { sayMoment } from '../say-moment.ts';
import { english, type MailWords, mailWords } from '../words/words.ts';

/** How a mail says answers: as the page does. */
const speechOf = (language: Locale, words: Pick<MailWords, 'yes' | 'no'>): AnswerSpeech => ({
  language,
  numbers: numberMarksOf(language),
  words,
});

const noFiles: ReadonlyMap<string, readonly { readonly filename: string }[]> = new Map();

/** Texts of a form with the answers that they show, as they were stored: of what was hidden nothing was. */
const storedSayer = (form: Form, values: Answers, speech: AnswerSpeech): SayText =>
  textSayer({ form, values, held: noFiles, shown: { isShown: () => true }, speech });

/** A text of the form's settings with the answers that it shows. */
const sayWithAnswers = (
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  text: string,
): string => storedSayer(form, answers, speechOf(locale, words))(text);

/**
 * What was answered, in the order of the form and under its labels; what was left out is not listed.
 * @param isListed which of the inputs: all, unless it says otherwise.
 */
export function answerFields(
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  isListed: (input: InputElement) => boolean = () => true,
): LetterField[] {
  const speech = speechOf(locale, words);
  const say = storedSayer(form, answers, speech);
  return listQuestions(form).flatMap((question): LetterField[] => {
    const { id } = question.element.attrs;
    const label = say(question.element.attrs.label);
    const answer = own(answers, id);
    if (answer === undefined) return [];
    if (question.kind === 'input')
      return !isListed(question.element) ? [] : [fieldOf(question.element, label, answer, speech)];
    return (answer as AnswerRow[]).flatMap((row, index) =>
      question.inputs.flatMap((input): LetterField[] => {
        const cell = own(row, input.attrs.id);
        const inRow = say(input.attrs.label, { group: question.element, index });
        const place = `${label} ${index + 1}: ${inRow}`;
        return cell === undefined || !isListed(input) ? [] : [fieldOf(input, place, cell, speech)];
      }),
    );
  });
}

function fieldOf(input: InputElement, label: string, answer: AnswerValue, speech: AnswerSpeech): LetterField {
  if (kindOf(input) === 'files') {
    const files = (answer as FileAnswer[]).map(({ id, filename, size }) => ({ id, filename, size }));
    return { label, files };
  }
  return { label, value: sayAnswer(input, answer, speech).join('\n') };
}

/**
 * The first answer to a question for an email address that mail can be sent to, so that an answer to the mail goes
 * there. An answer is an address by the HTML standard, which takes some that are none of mail: `ada.@example.org`.
 */
function replyAddress(form: Form, answers: Answers): string | undefined {
  for (const { kind, element } of listQuestions(form)) {
    const answer = kind === 'input' && element.type === 'email' ? own(answers, element.attrs.id) : undefined;
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

/** Lets one mail at a time be counted and added for an address, until the transaction ends. */
const lockRecipient = statement(
  'mail.lock_recipient',
  'workspace_id recipient',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`,
);

/** How many mails of some kinds were written to an address, in whatever case, in the last so many seconds. */
const countMailsTo = statement(
  'mail.count_mails_to',
  'workspace_id recipient kinds seconds',
  'count',
  `select count(*) as count from mails
    where workspace_id = $workspace_id and lower(recipient) = lower($recipient) and kind = any($kinds)
      and created_at > now() - make_interval(secs => $seconds)`,
);

/** What was written to people whom nobody asked: see countMailsTo. */
const visitorKinds: readonly MailKind[] = ['receipt', 'resume_link'];

/** Mails of a workspace to one address that only a visitor entered, in a day. */
const mostADay = 5;
const secondsOfDay = 86_400;

/**
 * Whether an address that a visitor entered may be written to once more: a public form is not for filling somebody
 * else's inbox. Exact for mails that are told of at the same time, within the transaction that adds them.
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
