import type { Answers } from './answers/check-answers.ts';
import { isElementId, isMissing } from './attributes/attributes.ts';
import type { Condition } from './basics/condition.ts';
import { getProperty, isRecord } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { formatExactBytes } from './basics/problems.ts';
import { countCharacters, fitsBytes, isCleanText } from './basics/text.ts';
import { TooMuchWork } from './basics/work.ts';
import { canPipeInSettings, fillPiped, pipedIds } from './form/piping.ts';
import { type Form, type InputElement, listQuestions } from './form/tree.ts';
import { type EvaluationContext, meetsCondition } from './logic/evaluate.ts';
import { isEmail } from './rules/text-formats.ts';
import {
  answerFilesOf,
  findInList,
  findInObject,
  findTranslationProblems,
  findWhenProblems,
  type PartProblem,
} from './settings-by-condition.ts';
import type { SettingKind, SettingsError } from './settings-kinds.ts';
import { type EntryTranslations, mapEntryTexts } from './translations/check-translations.ts';

/** Splits `notification_email` into addresses. */
export const recipientsOf = (text: string): string[] => [
  ...new Set(text.split(',').map((address) => address.trim())),
];

/** Returns whether a text lists valid email addresses, within the limit. */
export function areRecipients(text: string): boolean {
  const addresses = recipientsOf(text);
  return addresses.length <= formLimits.notificationAddresses && addresses.every(isMailable);
}

/**
 * Email is stricter than HTML: at most 64 characters before the @, and no leading, trailing or double dot
 * (RFC 5321, 5322). Other addresses would never receive an email.
 */
const isMailable = (address: string): boolean =>
  isEmail(address) && /^(?!\.)(?!.*\.[.@])[^@]{1,64}@/.test(address);

/** Lists the elements whose answer can get a receipt: email answers outside repeatable groups. */
export function receiptCandidates(form: Form): InputElement[] {
  return listQuestions(form).flatMap((question) =>
    question.element.type === 'email' ? [question.element] : [],
  );
}

/** Returns whether an ID is a receipt candidate. Without a form, returns whether it could be one. */
export function isReceiptElement(id: string, form: Form | undefined): boolean {
  return form ? receiptCandidates(form).some((input) => input.attrs.id === id) : isElementId(id);
}

/** A recipient of replies: an address, or the address in an answer. */
export type ReplyTo = string | { readonly answer: string };

/** The author's own words for an email. Omitted parts are the service's. */
export type EmailWords = {
  readonly subject?: string;
  readonly message?: string;
  readonly reply_to?: ReplyTo;
  readonly attach_pdf?: boolean;
};

/**
 * An email that is sent for every completed submission, or only if a condition is met. Comma-separated
 * addresses get the answers, as with `notification_email`. The address in an answer to an email element gets
 * a receipt, within the limits of receipts.
 */
export type SubmissionNotification = EmailWords & {
  readonly when?: Condition;
  readonly to: string | { readonly answer: string };
  /** Its texts in the other languages of the form, by BCP 47 tag. */
  readonly translations?: EntryTranslations;
};

/** The placeholders of a message beside the IDs of questions. A question with the same ID takes precedence. */
export const emailPlaceholders = {
  answers: 'All answers',
  form_name: 'Name of the form',
  submission_url: 'Link to the submission, for members',
  edit_url: 'Link to change the answers',
} as const;
export type EmailPlaceholder = keyof typeof emailPlaceholders;

const isEmailPlaceholder = (id: string): id is EmailPlaceholder => Object.hasOwn(emailPlaceholders, id);

/**
 * Returns a text of an email without placeholders of deleted elements. If nothing is left, it is the name of
 * the form, because an email needs a text.
 */
export function mendEmailText(form: Form, text: string): string {
  const isKnown = (id: string): boolean => isEmailPlaceholder(id) || canPipeInSettings(form, id);
  const mended = fillPiped(text, (id) => (isKnown(id) ? `{{${id}}}` : ''));
  return isMissing(mended) ? '{{form_name}}' : mended;
}

/** Returns an email without references to deleted elements. */
export function mendEmail<Email extends EmailWords>(form: Form, email: Email): Email {
  const { reply_to: replyTo, ...rest } = mapEntryTexts(email, (text) => mendEmailText(form, text));
  // The cast is safe: the address for replies is optional.
  return { ...rest, ...(isReplyTo(replyTo, form) && { reply_to: replyTo }) } as Email;
}

/** The maximum length of a subject, in characters. Longer headers are cut by mail programs. */
const subjectLength = 200;

/** Checks the texts of an email. */
function* findTextProblems(
  entry: Readonly<Record<string, unknown>>,
  form: Form | undefined,
): Generator<PartProblem, void> {
  for (const part of ['subject', 'message'] as const) {
    const isSubject = part === 'subject';
    const text = getProperty(entry, part);
    if (text === undefined) continue;
    const shape = isSubject
      ? `one line of at most ${subjectLength} characters`
      : `text of at most ${formatExactBytes(formLimits.textBytes)}`;
    if (typeof text !== 'string') yield [part, `must be ${shape}`, 'invalid_type'];
    else if (isMissing(text)) yield [part, 'must not be blank; omit it instead', 'required'];
    else if (!isCleanText(text) || (isSubject && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)))
      yield [part, `must be ${shape}, without control characters`, 'invalid_format'];
    else if (isSubject ? countCharacters(text) > subjectLength : !fitsBytes(text, formLimits.textBytes))
      yield [part, `must be ${shape}`, 'too_long'];
    else yield* findPlaceholderProblems(part, pipedIds(text), form);
  }
}

function* findPlaceholderProblems(
  part: 'subject' | 'message',
  ids: readonly string[],
  form: Form | undefined,
): Generator<PartProblem, void> {
  const isAnswer = (id: string): boolean => form !== undefined && canPipeInSettings(form, id);
  const own = part === 'subject' ? ['form_name'] : Object.keys(emailPlaceholders);
  const unknown = ids.find(
    (id) => !own.includes(id) && (isEmailPlaceholder(id) ? !isAnswer(id) : form && !isAnswer(id)),
  );
  if (unknown !== undefined)
    yield [
      part,
      `cannot show {{${unknown}}}. Use ${own.map((id) => `{{${id}}}`).join(', ')} or the ID of a question outside repeatable composites`,
      'invalid_reference',
    ];
  else if (!isAnswer('answers') && ids.filter((id) => id === 'answers').length > 1)
    yield [part, 'can contain {{answers}} only once', 'duplicate'];
}

/** Checks the author's own words for an email. */
function* findWordProblems(
  entry: Readonly<Record<string, unknown>>,
  form: Form | undefined,
): Generator<PartProblem, void> {
  yield* findTextProblems(entry, form);
  const replyTo = getProperty(entry, 'reply_to');
  if (replyTo !== undefined && !isReplyTo(replyTo, form))
    yield ['reply_to', `must be an email address, or ${answerShape}`, 'invalid_format'];
  if (!['boolean', 'undefined'].includes(typeof getProperty(entry, 'attach_pdf')))
    yield ['attach_pdf', 'must be true or false', 'invalid_type'];
}

const answerShape = '{"answer": …} with the ID of an email element outside repeatable composites';

/** Returns whether a value names the answer to an email element. */
function isReceiptAnswer(value: unknown, form: Form | undefined): boolean {
  const id = isRecord(value) && Object.keys(value).length === 1 ? getProperty(value, 'answer') : undefined;
  return typeof id === 'string' && isReceiptElement(id, form);
}

const isReplyTo = (value: unknown, form: Form | undefined): value is ReplyTo =>
  typeof value === 'string' ? isMailable(value) : isReceiptAnswer(value, form);

const wordParts = ['subject', 'message', 'reply_to', 'attach_pdf'] as const;
const notificationParts = ['when', 'to', ...wordParts, 'translations'];

export const findNotificationProblems = (value: unknown, form?: Form): readonly SettingsError[] => [
  ...findInList('notifications', value, notificationParts, function* (entry) {
    if (getProperty(entry, 'when') !== undefined) yield* findWhenProblems(entry['when'], form);
    const to = getProperty(entry, 'to');
    if (!(typeof to === 'string' ? areRecipients(to) : isReceiptAnswer(to, form)))
      yield [
        'to',
        `must be email addresses (up to ${formLimits.notificationAddresses}, separated by commas), or ${answerShape}`,
      ];
    yield* findWordProblems(entry, form);
    yield* findTranslationProblems(entry, form, ['subject', 'message'], findTextProblems);
  }),
];

/** Returns the problems with the author's own words for an email. */
export const findEmailProblems = (words: EmailWords, form: Form): readonly SettingsError[] =>
  [...findWordProblems(words, form)].map(([field, problem, code = 'invalid']) => ({
    field,
    message: `"${field}" ${problem}.`,
    code,
  }));

const findReceiptProblems = (value: unknown, form?: Form): readonly SettingsError[] => [
  ...findInObject('receipt', value, wordParts, (entry) => findWordProblems(entry, form)),
];

const addressSchema = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      additionalProperties: false,
      required: ['answer'],
      properties: { answer: { type: 'string', description: 'The id of an email element.' } },
    },
  ],
} as const;

export const wordSchemas = {
  subject: { type: 'string', description: `One line of at most ${subjectLength} characters.` },
  message: {
    type: 'string',
    description: `Markdown: bold, italics, links, lists and headings. At most ${formLimits.textBytes} bytes of UTF-8.`,
  },
  reply_to: { ...addressSchema, description: 'Where replies go.' },
  attach_pdf: {
    type: 'boolean',
    description:
      'Attaches the submission as a PDF of up to 7 MB and, for visitors, their certificate of a quiz.',
  },
} as const;

/** The value of the setting `receipt`. */
export const receiptSetting = {
  accepts: (value, form): value is EmailWords => findReceiptProblems(value, form).length === 0,
  problem: 'must be an object',
  explain: findReceiptProblems,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: wordSchemas,
    examples: [
      {
        subject: 'Your booking: {{form_name}}',
        message: 'Thank you.\n\n{{answers}}',
        reply_to: 'help@example.com',
      },
    ],
  },
} as const satisfies SettingKind<EmailWords>;

/** The value of the setting `notifications`. */
export const notificationsSetting = {
  accepts: (value, form): value is readonly SubmissionNotification[] =>
    findNotificationProblems(value, form).length === 0,
  problem: 'must be a list of notifications',
  explain: findNotificationProblems,
  schema: {
    type: 'array',
    minItems: 1,
    maxItems: formLimits.byCondition,
    examples: [[{ when: { reference: 'plan', is: 'equals', value: 'pro' }, to: 'sales@example.com' }]],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        when: { $ref: '#/components/schemas/Condition' },
        to: addressSchema,
        ...wordSchemas,
        translations: {
          type: 'object',
          description: "The email in the form's other languages.",
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: {
              subject: { type: 'string', minLength: 1 },
              message: { type: 'string', minLength: 1 },
            },
          },
          examples: [{ de: { subject: 'Ihre Buchung' } }],
        },
      },
    },
  },
} as const satisfies SettingKind<readonly SubmissionNotification[]>;

/** Lists the notifications of a stored submission. If a condition takes too much work, it counts as true. */
export function notificationsFor(
  notifications: readonly SubmissionNotification[] = [],
  form: Form,
  answers: Answers,
  context: EvaluationContext,
): readonly SubmissionNotification[] {
  const files = answerFilesOf(form, answers);
  return notifications.filter(({ when }) => {
    try {
      return when === undefined || meetsCondition(when, form, answers, context, files);
    } catch (error) {
      if (error instanceof TooMuchWork) return true;
      throw error;
    }
  });
}
