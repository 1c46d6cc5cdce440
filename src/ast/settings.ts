import { isMissing } from './attributes/attributes.ts';
import { isRecord, isSameJson, own, withoutNulls } from './basics/json.ts';
import { isLanguage } from './basics/languages.ts';
import { limits } from './basics/limits.ts';
import { type LocaleChoice, localeChoices } from './basics/locales.ts';
import type { ProblemCode } from './basics/problem-codes.ts';
import { quote, sayBytes } from './basics/problems.ts';
import { countCharacters, fitsBytes, isCleanText } from './basics/text.ts';
import { fillPiped, isShowable, pipedIds } from './form/piping.ts';
import { type Form, languagesOf } from './form/tree.ts';
import { readTimestamp } from './rules/timestamp.ts';
import { isTimeZone } from './rules/today.ts';
import { isSubjectElement } from './searchable.ts';
import {
  areRecipients,
  type Confirmation,
  findConfirmationProblems,
  findNotificationProblems,
  fitting,
  isOrigin,
  isReceiptElement,
  isRedirect,
  type Notification,
  originLimit,
} from './settings-by-condition.ts';
import { findThemeProblems } from './theme/check-theme.ts';
import type { Theme } from './theme/theme.ts';
import {
  isSettingText,
  keepLanguages,
  languageProblem,
  mapAllSettingTexts,
  type SettingTranslations,
  settingTexts,
  withSettingText,
} from './translations/check-translations.ts';

/** One setting: what it accepts, and the end of the sentence about a value that it does not. */
type Setting<Value> = {
  readonly accepts: (value: unknown, form: Form | undefined) => value is Value;
  readonly problem: string;
  /** How a value that it accepts is kept, where that is not as it came. */
  tidy?(value: Value): Value;
  /** For a setting with parts: what is wrong with which of them, in place of `problem`. */
  readonly explain?: (value: unknown, form: Form | undefined) => readonly SettingsError[];
};

/** Who may fill in a form. The specification leaves the values open; docs/rules.md 15 names them. */
export const accessModes = ['public', 'invited', 'password', 'closed'] as const;
export type AccessMode = (typeof accessModes)[number];

/** `each`: a mail for each submission; else one mail for those of an hour, or of a day (08:00 in the form's zone). */
export const digestModes = ['each', 'hourly', 'daily'] as const;
export type DigestMode = (typeof digestModes)[number];

/** `page`: a step is a page with all its questions; `question`: each of them has a page of its own. */
export const formLayouts = ['page', 'question'] as const;
export type FormLayout = (typeof formLayouts)[number];

const timestamp: Setting<string> = {
  accepts: (value): value is string => typeof value === 'string' && readTimestamp(value) !== undefined,
  problem: 'must be a time like 2026-01-31T14:30:00Z or 2026-01-31T15:30:00+01:00',
  tidy: (value) => readTimestamp(value)!,
};

const flag: Setting<boolean> = {
  accepts: (value): value is boolean => typeof value === 'boolean',
  problem: 'must be true or false',
};

const wholeNumber = (least: number, most: number): Setting<number> => ({
  accepts: (value): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  problem: `must be a whole number from ${least} to ${most}`,
});

const message: Setting<string> = {
  accepts: (value): value is string =>
    typeof value === 'string' && isCleanText(value) && fitsBytes(value, limits.textBytes),
  problem: `must be text of at most ${sayBytes(limits.textBytes)}`,
};

/** Every settings key (specification, "Form"; docs/rules.md 15): a new one is a row here. */
const table = {
  access: {
    accepts: (value): value is AccessMode => accessModes.some((mode) => mode === value),
    problem: `must be one of ${accessModes.map(quote).join(', ')}`,
  },
  /** May show answers (`{{id}}`), but none of rows. */
  confirmation_message: {
    accepts: (value, form): value is string =>
      message.accepts(value, form) && pipedIds(value).every((id) => !form || isShowable(form, id)),
    problem: `${message.problem}, and show ({{id}}) answers to questions of the form outside repeatable composites only`,
  },
  /** In place of the message and the address below: of several, the first whose condition holds. */
  confirmations: {
    accepts: (value, form): value is readonly Confirmation[] =>
      findConfirmationProblems(value, form).length === 0,
    problem: 'must be a list of confirmations',
    explain: findConfirmationProblems,
  },
  /** Who else gets a mail, by conditions. */
  notifications: {
    accepts: (value, form): value is readonly Notification[] =>
      findNotificationProblems(value, form).length === 0,
    problem: 'must be a list of notifications',
    explain: findNotificationProblems,
  },
  /** Who gets a mail for each completed submission. */
  notification_email: {
    accepts: (value): value is string => typeof value === 'string' && areRecipients(value),
    problem: `must be an email address like name@example.com, or up to ${limits.notificationAddresses} with commas between them`,
  },
  /** How completed submissions are gathered into those mails. */
  notification_digest: {
    accepts: (value): value is DigestMode => digestModes.some((mode) => mode === value),
    problem: `must be one of ${digestModes.map(quote).join(', ')}`,
  },
  /** The email element whose answer gets a receipt. */
  receipt_email_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isReceiptElement(value, form),
    problem: 'must be the id of an email element outside repeatable composites',
  },
  /** Whether the receipt repeats the answers: text of anybody's, to an address that they only entered. */
  receipt_answers: flag,
  /** Whether a last step lists every answer, to be looked through before they are sent. */
  review_step: flag,
  /** Whether visits are counted; they are unless it is false. */
  analytics: flag,
  /** Whether a step is asked as a whole, or each of its questions by itself. */
  layout: {
    accepts: (value): value is FormLayout => formLayouts.some((layout) => layout === value),
    problem: `must be one of ${formLayouts.map(quote).join(', ')}`,
  },
  editing: flag,
  /** For how many days after the submission its edit link works. */
  edit_days: wholeNumber(1, 3_650),
  /** Whether answers are kept while they are given, to go on with later. */
  save_progress: flag,
  /** For how many days after the last save a link to go on works. */
  resume_days: wholeNumber(1, 365),
  /** Only ever written: the service keeps a hash of it, elsewhere (src/forms/form-rows.ts). */
  password: {
    accepts(value): value is string {
      if (typeof value !== 'string' || !isCleanText(value)) return false;
      const length = countCharacters(value);
      return length >= 4 && length <= 128;
    },
    problem: 'must be text of 4 to 128 characters',
  },
  closed_message: message,
  /** Answers that come sooner after their page are held in the spam box. */
  min_seconds: wholeNumber(1, 600),
  /** Submissions in an hour. */
  limit_per_address: wholeNumber(1, 1_000_000),
  limit_per_form: wholeNumber(1, 1_000_000),
  /** Whether the visitor's browser has to work for about a second; answers without are held in the spam box. */
  proof_of_work: flag,
  subject_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isSubjectElement(value, form),
    problem: 'must be the id of a text element outside repeatable composites',
  },
  language: {
    accepts: isLanguage,
    problem: 'must be a language that search knows, like "english" or "simple"',
  },
  /** The time zone (IANA) of `today` in rules and conditions; UTC when not set. */
  time_zone: {
    accepts: (value): value is string => typeof value === 'string' && isTimeZone(value),
    problem: 'must be the name of a time zone like "Europe/Berlin" or "UTC"',
  },
  opens_at: timestamp,
  closes_at: timestamp,
  max_submissions: {
    accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= 1,
    problem: 'must be a whole number from 1',
  },
  theme: {
    accepts: (value): value is Theme => findThemeProblems(value).length === 0,
    problem: 'must be a theme',
    explain: findThemeProblems,
  },
  /** The texts of the settings in the form's other languages. */
  translations: {
    accepts: (value, form): value is SettingTranslations => findTextProblems(value, form).length === 0,
    problem: 'must be an object of languages',
    explain: findTextProblems,
  },
  locale: {
    accepts: (value): value is LocaleChoice => localeChoices.some((choice) => choice === value),
    problem: `must be one of ${localeChoices.map(quote).join(', ')}`,
  },
  /** Where visitors go after they submitted; the receipt is added as the parameter `receipt`. */
  redirect_url: {
    accepts: isRedirect,
    problem: 'must be an address that begins with https:// (http:// for localhost only)',
  },
  /** Whose pages may show the form inside them, and post to it; any, when there is no list. */
  embed_origins: {
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.length <= originLimit && value.every(isOrigin),
    problem: `must be a list of at most ${originLimit} origins like "https://example.com"`,
  },
} as const satisfies Record<string, Setting<unknown>>;

type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
export type SettingName = keyof typeof table;
export type Settings = { readonly [Name in SettingName]?: ValueOf<(typeof table)[Name]> };

/** For how many days after the submit the visitor's link to change the answers works (docs/decisions/0014). */
export const editDaysOf = ({ edit_days = 365 }: Pick<Settings, 'edit_days'>): number => edit_days;

type SettingsError = { readonly field: string; readonly message: string; readonly code?: ProblemCode };
type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly errors: readonly SettingsError[] };

/**
 * Checks the settings of a form; `form` is its structure, when there is one, for the keys that point into it.
 * A key with the value null is left out, at any depth, which is how a client clears it. Unknown keys are refused by name.
 * Reports every problem, never throws.
 */
export function checkSettings(input: unknown, form: Form | undefined): SettingsResult {
  if (!isRecord(input)) {
    return {
      ok: false,
      errors: [{ field: 'settings', message: 'The settings must be an object.', code: 'invalid_type' }],
    };
  }
  const names = Object.keys(table) as SettingName[];
  const known: ReadonlySet<string> = new Set(names);
  const settings: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const field of names) {
    const value = withoutNulls(own(input, field) ?? null);
    if (value === null) continue;
    const setting: Setting<unknown> = table[field];
    const { accepts, problem, explain } = setting;
    if (accepts(value, form)) settings[field] = setting.tidy ? setting.tidy(value) : value;
    else errors.push(...(explain?.(value, form) ?? [{ field, message: `"${field}" ${problem}.` }]));
  }
  errors.push(...checkPeriod(settings), ...checkTitle(settings, form));
  const unknown = Object.keys(input).filter((key) => !known.has(key));
  for (const field of unknown.slice(0, limits.structureErrors)) {
    errors.push({
      field,
      code: 'unknown_field',
      message: `There is no setting ${quote(field)}. Settings: ${names.join(', ')}.`,
    });
  }
  return errors.length === 0 ? { ok: true, settings } : { ok: false, errors };
}

function checkPeriod({ opens_at: opens, closes_at: closes }: Settings): SettingsError[] {
  if (!opens || !closes || Date.parse(closes) > Date.parse(opens)) return [];
  return [{ field: 'closes_at', message: '"closes_at" must be later than "opens_at".', code: 'too_small' }];
}

/** As of the message of the confirmation: the theme itself knows no questions. */
function checkTitle({ theme }: Settings, form: Form | undefined): SettingsError[] {
  const ids = form ? pipedIds(theme?.confirmation_title ?? '') : [];
  return ids
    .filter((id) => !isShowable(form!, id))
    .map((id) => ({
      field: 'theme.confirmation_title',
      message: `"theme.confirmation_title" shows the answer to ${quote(id)}, which is no question of the form outside repeatable composites.`,
    }));
}

/** What is wrong with the texts of the settings in other languages: each is held to what its setting takes. */
function findTextProblems(input: unknown, form: Form | undefined): readonly SettingsError[] {
  const field = 'translations';
  if (!isRecord(input)) return [{ field, message: '"translations" must be an object of languages.' }];
  return Object.entries(input).flatMap(([language, texts]): readonly SettingsError[] => {
    const problem = form && languageProblem(language, languagesOf(form));
    if (problem) return [{ field, message: `The translations of the settings ${problem}.` }];
    const at = `${field}.${language}`;
    if (!isRecord(texts)) return [{ field: at, message: `"${at}" must be an object of texts.` }];
    return Object.entries(texts).flatMap(([name, text]): readonly SettingsError[] => {
      if (!isSettingText(name))
        return [
          { field: at, message: `${quote(name)} is no text of the settings: ${settingTexts.join(', ')}.` },
        ];
      const where = `${at}.${name}`;
      if (isMissing(text)) return [{ field: where, message: `"${where}" must not be blank: leave it out.` }];
      const checked = checkSettings(withSettingText({}, name, text as string), form);
      return checked.ok ? [] : checked.errors.map(({ message }) => ({ field: where, message }));
    });
  });
}

/**
 * Stored settings as they hold for a structure: without the name of an element that went, for that says nothing any
 * more, and must not be in the way of other settings.
 */
export function settingsFor(form: Form, settings: Settings): Settings {
  const { receipt_email_element: receipt, subject_element: subject } = settings;
  const gone = [
    ...(receipt !== undefined && !isReceiptElement(receipt, form) ? ['receipt_email_element'] : []),
    ...(subject !== undefined && !isSubjectElement(subject, form) ? ['subject_element'] : []),
  ];
  const mend = (text: string): string => fillPiped(text, (id) => (isShowable(form, id) ? `{{${id}}}` : ''));
  const { confirmations, notifications, ...rest } = settings;
  const kept = mapAllSettingTexts(keepLanguages<Settings>(rest, languagesOf(form).slice(1)), mend);
  const all = { ...kept, ...fitting(form, { confirmations, notifications }, mend) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !gone.includes(name)));
}

/** The names of the settings in which two differ. */
export function changedSettings(before: Settings, after: Settings): SettingName[] {
  const names = Object.keys({ ...before, ...after }) as SettingName[];
  return names.filter((name) => !isSameJson(before[name], after[name]));
}

/**
 * Mine with what they changed since `base`, setting by setting. Where both changed one, and not to the same, mine
 * stays and its name is among the conflicts.
 */
export function mergeSettings(
  base: Settings,
  mine: Settings,
  theirs: Settings,
): { settings: Settings; conflicts: readonly SettingName[] } {
  const ours = new Set(changedSettings(base, mine));
  const changed = changedSettings(base, theirs);
  const merged = {
    ...mine,
    ...Object.fromEntries(changed.filter((name) => !ours.has(name)).map((name) => [name, theirs[name]])),
  };
  return {
    settings: Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)),
    conflicts: changed.filter((name) => ours.has(name) && !isSameJson(mine[name], theirs[name])),
  };
}
