import { localeChoices, localeNames } from './basics/language-tags.ts';
import { searchLanguageTags } from './basics/languages.ts';
import { formLimits } from './basics/limits.ts';
import { countCharacters, isCleanText } from './basics/text.ts';
import { canPipeInSettings, pipedIds } from './form/piping.ts';
import type { Form } from './form/tree.ts';
import { isTimeZone } from './rules/today.ts';
import { confirmationsSetting, isOrigin, isRedirect, originLimit } from './settings-by-condition.ts';
import { areRecipients, isReceiptElement, notificationsSetting, receiptSetting } from './settings-email.ts';
import {
  choiceSetting,
  countSetting,
  findTranslatedProblems,
  flagSetting,
  messageSetting,
  quizResultsSetting,
  type SettingKind,
  type SettingRow,
  type SettingsError,
  slugSetting,
  textElementSetting,
  timestampSetting,
} from './settings-kinds.ts';
import { findThemeProblems } from './theme/check-theme.ts';
import type { Theme } from './theme/theme.ts';
import { type SettingTranslations, settingTextNames } from './translations/check-translations.ts';

/** Who can fill in a form. The specification leaves the values open; docs/rules.md 15 names them. */
export const accessModes = ['public', 'invited', 'password', 'organisation', 'closed'] as const;
export type AccessMode = (typeof accessModes)[number];

export const digestModes = ['each', 'hourly', 'daily'] as const;
export type DigestMode = (typeof digestModes)[number];

type Language = keyof typeof searchLanguageTags;
const languageNames = Object.keys(searchLanguageTags) as Language[];
const titleOf = (name: string): string =>
  name === 'simple' ? 'Any language (exact words)' : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
const languageLabels = Object.fromEntries(languageNames.map((name) => [name, titleOf(name)]));

/**
 * Every setting of a form (specification, "Form"; docs/rules.md 15), in the order of the API reference. To
 * add a setting, add a row here.
 */
export const settingRows = {
  access: {
    ...choiceSetting(
      accessModes,
      {
        public: ['Anyone with the link', 'Open while the form is published.'],
        invited: ['Invited people', 'Each person needs an invitation.'],
        password: ['Anyone with the password', 'The page asks for the password first.'],
        organisation: ['People who sign in', 'With the identity provider that members use.'],
        closed: ['No one', 'The page says that the form is closed.'],
      },
      'public',
    ),
    control: 'radio',
    title: 'Who can respond',
    help: 'Whether visitors need a password, an invitation or a sign-in.',
    note: '`organisation` requires an identity provider (OIDC_ISSUER).',
    card: 'access',
    isKept: true,
  },
  slug: {
    ...slugSetting,
    title: 'Short address',
    help: 'The end of the public link, such as summer-party. Former links still lead to the form.',
    note: 'Unique in the instance. A form keeps its former short addresses until it is deleted. Copies and imports of a form have none.',
    card: 'access',
  },
  password: {
    accepts(value): value is string {
      if (typeof value !== 'string' || !isCleanText(value)) return false;
      const length = countCharacters(value);
      return length >= 4 && length <= 128;
    },
    problem: 'must be text of 4 to 128 characters',
    // Stored as a hash, and never in a version (src/forms/form-rows.ts).
    schema: { type: 'string', minLength: 4, maxLength: 128, writeOnly: true },
    title: 'Password',
    help: 'Visitors enter this password before they see the form, if access requires one.',
    note: 'The password is never returned. If omitted, it stays; null removes it.',
    card: 'access',
  },
  one_per_respondent: {
    ...flagSetting(),
    title: 'One response per person',
    help: 'Each person who signs in can respond once.',
    note: 'Applies if `access` is `organisation`.',
    card: 'access',
  },
  opens_at: {
    ...timestampSetting,
    title: 'Opens',
    help: 'The form accepts no submissions before this time.',
    card: 'access',
    isHalf: true,
  },
  closes_at: {
    ...timestampSetting,
    title: 'Closes',
    help: 'Submissions close at this time.',
    card: 'access',
    isHalf: true,
  },
  max_submissions: {
    ...countSetting(1),
    title: 'Response limit',
    help: 'The form closes after this many completed submissions.',
    note: 'The limit is exact, even if many submissions arrive at the same time.',
    card: 'access',
  },
  waiting_list: {
    ...flagSetting(),
    title: 'Waiting list',
    help: 'If the form or a chosen option is full, submissions join a waiting list. Visitors can cancel, and free places go to the first in line.',
    note: 'Applies to `max_submissions` and the `capacity` of options.',
    card: 'access',
  },
  closed_message: {
    ...messageSetting,
    title: 'Closed message',
    help: 'Shown before the form opens, and after it closes or reaches its response limit.',
    card: 'access',
  },
  confirmation_message: {
    ...messageSetting,
    accepts: (value, form): value is string =>
      messageSetting.accepts(value) && pipedIds(value).every((id) => !form || canPipeInSettings(form, id)),
    problem: `${messageSetting.problem}, and can only show answers ({{id}}) to questions in the form that are outside repeatable composites`,
    title: 'Confirmation message',
    help: 'Shown after a submission. It can show answers.',
    card: 'after',
  },
  redirect_url: {
    accepts: isRedirect,
    problem: 'must be a URL that begins with https:// (http:// for localhost only)',
    schema: { type: 'string', format: 'uri' },
    control: 'url',
    title: 'Redirect URL',
    help: 'Visitors go to this https address after a submission. The full ID of the submission is added as the parameter “receipt”.',
    card: 'after',
  },
  confirmations: {
    ...confirmationsSetting,
    title: 'Conditional confirmations',
    help: 'The first confirmation whose condition is met replaces the message and the redirect. If no condition is met, the message and the redirect apply.',
    card: 'after',
  },
  offer_pdf: {
    ...flagSetting(),
    title: 'Offer a PDF',
    help: 'The confirmation page has a link to download the answers as a PDF. It works for a day.',
    card: 'after',
  },
  quiz_results: {
    ...quizResultsSetting,
    title: 'Quiz result',
    help: 'What visitors see of their result after the submission.',
    note: 'Applies to forms with an element `score`.',
    card: 'after',
  },
  certificate_name_element: {
    ...textElementSetting,
    title: 'Certificate',
    help: 'Visitors who reach every pass mark can download a PDF certificate with the name in this answer. Make the question required.',
    card: 'after',
  },
  notifications: {
    ...notificationsSetting,
    title: 'Additional emails',
    help: 'Emails about completed submissions, always or if a condition is met. Fixed addresses get the answers immediately. The address in an email answer gets a receipt. Each email can have its own subject and message.',
    card: 'mail',
    order: 1,
  },
  notification_email: {
    accepts: (value): value is string => typeof value === 'string' && areRecipients(value),
    problem: `must be an email address like name@example.com, or up to ${formLimits.notificationAddresses} separated by commas`,
    schema: { type: 'string' },
    title: 'Notify by email',
    help: `Sends completed submissions to these addresses. Separate up to ${formLimits.notificationAddresses} addresses with commas.`,
    card: 'mail',
  },
  notification_digest: {
    ...choiceSetting(
      digestModes,
      {
        each: 'Every submission',
        hourly: ['Hourly', 'One email for all submissions in the hour.'],
        daily: ['Daily', 'At 08:00 in the form’s time zone.'],
      },
      'each',
    ),
    title: 'Email frequency',
    help: 'One email for each submission, or one for all submissions in an hour or a day.',
    note: 'A daily email is sent at 08:00 in `time_zone`.',
    card: 'mail',
  },
  receipt_email_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isReceiptElement(value, form),
    problem: 'must be the ID of an email element outside repeatable composites',
    schema: { type: 'string' },
    title: 'Receipt for visitors',
    help: 'The address in this answer gets a receipt. It includes an edit link if editing is on.',
    note: 'The id of the element.',
    card: 'mail',
  },
  receipt_answers: {
    ...flagSetting(),
    title: 'Include answers in the receipt',
    help: 'The receipt contains all answers.',
    note: 'Receipt addresses are not verified, so anyone can use the form to send text to any address in your name.',
    card: 'mail',
    order: 2,
    shownWith: 'receipt_email_element',
  },
  receipt: {
    ...receiptSetting,
    title: 'Receipt text',
    help: 'Your own subject and message for receipts. Omitted parts use the standard text.',
    note: 'Placeholders: `{{element_id}}`, `{{answers}}`, `{{form_name}}`, `{{submission_url}}` and `{{edit_url}}`.',
    card: 'mail',
    order: 2,
    shownWith: 'receipt_email_element',
  },
  save_progress: {
    ...flagSetting(),
    title: 'Save progress',
    help: 'Unfinished answers are kept as an incomplete submission. Visitors can continue later with a link, on any device.',
    card: 'later',
  },
  resume_days: {
    ...countSetting(1, 365),
    default: 30,
    title: 'Days to resume',
    help: 'How many days the link works after the last save.',
    card: 'later',
    shownWith: 'save_progress',
  },
  review_step: {
    ...flagSetting(),
    title: 'Check your answers',
    help: 'A final step lists all answers before they are sent, with a link to change each one.',
    card: 'layout',
    order: 1,
  },
  skip_prefilled: {
    ...flagSetting(),
    title: 'Skip prefilled questions',
    help: 'Questions that the link answers are not shown. Their answers are sent with the others.',
    note: 'The review step does not list them.',
    card: 'layout',
    order: 2,
  },
  layout: {
    ...choiceSetting(
      ['page', 'question'],
      {
        page: ['One step at a time', 'Each step is a page with its questions.'],
        question: ['One question at a time', 'Each question is a page. A group stays together.'],
      },
      'page',
    ),
    control: 'radio',
    title: 'Questions on a page',
    help: 'Show a whole step or one question per page.',
    note: 'It does not affect JSON requests.',
    card: 'layout',
  },
  editing: {
    ...flagSetting(),
    title: 'Allow editing',
    help: 'Visitors get a link to change their answers or to cancel. Webhooks receive each change as “Submission updated”.',
    card: 'later',
  },
  edit_days: {
    ...countSetting(1, 3_650),
    default: 365,
    title: 'Days to edit',
    help: 'How many days the link works after the submission.',
    card: 'later',
    shownWith: 'editing',
  },
  analytics: {
    ...flagSetting(true),
    title: 'Count visits',
    help: 'Counts views, starts, steps reached, and where visitors stop. Only totals are stored: no cookies, no IP addresses, no individual visits.',
    card: 'search',
    order: 1,
  },
  min_seconds: {
    ...countSetting(1, 600),
    title: 'Minimum seconds to complete',
    help: 'Faster submissions from the form’s page go to the spam box. Your own pages and programs are not timed.',
    card: 'spam',
    isHalf: true,
  },
  limit_per_address: {
    ...countSetting(1, 1_000_000),
    title: 'Limit per address and hour',
    help: 'The maximum number of submissions from one IP address per hour. Further submissions are rejected.',
    note: 'Rejected submissions get status 429.',
    card: 'spam',
    isHalf: true,
  },
  limit_per_form: {
    ...countSetting(1, 1_000_000),
    title: 'Limit per hour',
    help: 'The maximum number of submissions per hour. Further submissions are rejected.',
    note: 'Rejected submissions get status 429.',
    card: 'spam',
    isHalf: true,
  },
  proof_of_work: {
    ...flagSetting(),
    title: 'Proof of work',
    help: 'The visitor’s browser computes a result for about a second. Submissions without it go to the spam box, unless they come from an allowed site.',
    card: 'spam',
  },
  subject_element: {
    ...textElementSetting,
    title: 'Subject',
    help: 'The answer to this question is the title of a submission and ranks highest in search. The default is the element “subject” or the first short text.',
    card: 'search',
  },
  language: {
    ...choiceSetting(languageNames, languageLabels as Record<Language, string>, 'english'),
    problem: 'must be a language that search supports, like "english" or "simple"',
    title: 'Language of answers',
    help: 'Search also finds other forms of a word in this language.',
    card: 'search',
  },
  time_zone: {
    accepts: (value): value is string => typeof value === 'string' && isTimeZone(value),
    problem: 'must be the name of a time zone like "Europe/Berlin" or "UTC"',
    schema: { type: 'string', default: 'UTC' },
    title: 'Time zone',
    help: 'Determines which day is “today” in limits and conditions, and how the visit summary is divided into days.',
    note: 'An IANA name like Europe/Berlin.',
    card: 'search',
  },
  translations: {
    accepts: (value, form): value is SettingTranslations => findTranslated(value, form).length === 0,
    problem: 'must be an object with languages as keys',
    explain: findTranslated,
    schema: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(
          settingTextNames.map((name) => [name, { type: 'string', minLength: 1 }]),
        ),
      },
      examples: [{ de: { confirmation_message: 'Vielen Dank.' } }],
    },
    title: 'Translations',
    help: 'Texts of the settings in the form’s other languages, by language and setting.',
    note: 'Theme texts have names such as `theme.submit_label`.',
  },
  locale: {
    ...choiceSetting(localeChoices, localeNames, 'auto'),
    title: 'Page language',
    help: 'The language of buttons and messages. Your own texts stay as you wrote them.',
  },
  theme: {
    accepts: (value, form): value is Theme => findThemeProblems(value, form).length === 0,
    problem: 'must be a theme',
    explain: findThemeProblems,
    schema: { $ref: '#/components/schemas/Theme' },
    title: 'Theme',
    help: 'How the page looks.',
  },
  embed_origins: {
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.length <= originLimit && value.every(isOrigin),
    problem: `must be a list of at most ${originLimit} origins like "https://example.com"`,
    schema: { type: 'array', items: { type: 'string' } },
    title: 'Allowed sites',
    help: 'Only these sites, such as https://example.com or https://*.example.com, can embed the form and post to it. Their submissions need no proof of work.',
    note: 'If omitted, every site is allowed. An empty list allows no sites.',
    card: 'embedding',
  },
} as const satisfies Record<string, SettingRow>;

type ValueOf<Row> = Row extends SettingKind<infer Value> ? Value : never;
export type SettingName = keyof typeof settingRows;
export type Settings = { readonly [Name in SettingName]?: ValueOf<(typeof settingRows)[Name]> };

export const settingNames = Object.keys(settingRows) as readonly SettingName[];

/** Returns the row of a setting, with the general type that readers of the table use. */
export const settingRow = (name: SettingName): SettingRow => settingRows[name];

function findTranslated(input: unknown, form: Form | undefined): readonly SettingsError[] {
  return findTranslatedProblems(input, form, (name) => settingRow(name as SettingName));
}
