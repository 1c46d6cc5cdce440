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

/** One setting: its check, and the end of the sentence about an invalid value. */
type Setting<Value> = {
  readonly accepts: (value: unknown, form: Form | undefined) => value is Value;
  readonly problem: string;
  /** Normalizes an accepted value for storage. */
  tidy?(value: Value): Value;
  /** For settings with parts: lists the problems of each part, instead of `problem`. */
  readonly explain?: (value: unknown, form: Form | undefined) => readonly SettingsError[];
};

/** Who can fill in a form. The specification leaves the values open; docs/rules.md 15 defines them. */
export const accessModes = ['public', 'invited', 'password', 'closed'] as const;
export type AccessMode = (typeof accessModes)[number];

/** `each`: one email for each submission. `hourly` and `daily` (08:00 in the form's time zone) batch them. */
export const digestModes = ['each', 'hourly', 'daily'] as const;
export type DigestMode = (typeof digestModes)[number];

/** `page`: a step is one page with all its questions. `question`: each question has its own page. */
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

/** Every key of the settings (specification, "Form"; docs/rules.md 15). A new key is a row here. */
const table = {
  access: {
    accepts: (value): value is AccessMode => accessModes.some((mode) => mode === value),
    problem: `must be one of ${accessModes.map(quote).join(', ')}`,
  },
  /** Can show answers (`{{id}}`), except those in rows. */
  confirmation_message: {
    accepts: (value, form): value is string =>
      message.accepts(value, form) && pipedIds(value).every((id) => !form || isShowable(form, id)),
    problem: `${message.problem}, and can show ({{id}}) only answers to questions of the form outside repeatable composites`,
  },
  /** Replaces the message and the URL below. The first confirmation whose condition is true is shown. */
  confirmations: {
    accepts: (value, form): value is readonly Confirmation[] =>
      findConfirmationProblems(value, form).length === 0,
    problem: 'must be a list of confirmations',
    explain: findConfirmationProblems,
  },
  /** Additional emails, by condition. */
  notifications: {
    accepts: (value, form): value is readonly Notification[] =>
      findNotificationProblems(value, form).length === 0,
    problem: 'must be a list of notifications',
    explain: findNotificationProblems,
  },
  /** Who is emailed about each completed submission. */
  notification_email: {
    accepts: (value): value is string => typeof value === 'string' && areRecipients(value),
    problem: `must be an email address like name@example.com, or up to ${limits.notificationAddresses} separated by commas`,
  },
  /** How notification emails are batched. */
  notification_digest: {
    accepts: (value): value is DigestMode => digestModes.some((mode) => mode === value),
    problem: `must be one of ${digestModes.map(quote).join(', ')}`,
  },
  /** The email element whose answer gets a receipt. */
  receipt_email_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isReceiptElement(value, form),
    problem: 'must be the ID of an email element outside repeatable composites',
  },
  /** Whether the receipt repeats the answers: text of any visitor, to an unverified address. */
  receipt_answers: flag,
  /** Whether a last step lists every answer for review before submitting. */
  review_step: flag,
  /** Whether page views are counted. Default: true. */
  analytics: flag,
  /** Whether the page shows a whole step or one question at a time. */
  layout: {
    accepts: (value): value is FormLayout => formLayouts.some((layout) => layout === value),
    problem: `must be one of ${formLayouts.map(quote).join(', ')}`,
  },
  editing: flag,
  /** How many days after the submission its edit link works. */
  edit_days: wholeNumber(1, 3_650),
  /** Whether unfinished answers are saved, to resume later. */
  save_progress: flag,
  /** How many days after the last save the resume link works. */
  resume_days: wholeNumber(1, 365),
  /** Write-only. A hash of it is stored elsewhere (src/forms/form-rows.ts). */
  password: {
    accepts(value): value is string {
      if (typeof value !== 'string' || !isCleanText(value)) return false;
      const length = countCharacters(value);
      return length >= 4 && length <= 128;
    },
    problem: 'must be text of 4 to 128 characters',
  },
  closed_message: message,
  /** Faster submissions, in seconds after loading the page, are treated as spam. */
  min_seconds: wholeNumber(1, 600),
  /** Submissions in an hour, per IP address. */
  limit_per_address: wholeNumber(1, 1_000_000),
  limit_per_form: wholeNumber(1, 1_000_000),
  /** Whether the browser must solve a one-second challenge. Submissions without it are treated as spam. */
  proof_of_work: flag,
  subject_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isSubjectElement(value, form),
    problem: 'must be the ID of a text element outside repeatable composites',
  },
  language: {
    accepts: isLanguage,
    problem: 'must be a language that search supports, like "english" or "simple"',
  },
  /** The time zone (IANA) of `today` in rules and conditions. UTC by default. */
  time_zone: {
    accepts: (value): value is string => typeof value === 'string' && isTimeZone(value),
    problem: 'must be the name of a time zone like "Europe/Berlin" or "UTC"',
  },
  opens_at: timestamp,
  closes_at: timestamp,
  max_submissions: {
    accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= 1,
    problem: 'must be a whole number of 1 or more',
  },
  theme: {
    accepts: (value): value is Theme => findThemeProblems(value).length === 0,
    problem: 'must be a theme',
    explain: findThemeProblems,
  },
  /** The texts of the settings in the other languages of the form. */
  translations: {
    accepts: (value, form): value is SettingTranslations => findTextProblems(value, form).length === 0,
    problem: 'must be an object with languages as keys',
    explain: findTextProblems,
  },
  locale: {
    accepts: (value): value is LocaleChoice => localeChoices.some((choice) => choice === value),
    problem: `must be one of ${localeChoices.map(quote).join(', ')}`,
  },
  /** The URL that visitors go to after submitting, with the receipt as the parameter `receipt`. */
  redirect_url: {
    accepts: isRedirect,
    problem: 'must be a URL that begins with https:// (http:// for localhost only)',
  },
  /** Sites that can embed the form and post to it. Without a list, all sites can. */
  embed_origins: {
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.length <= originLimit && value.every(isOrigin),
    problem: `must be a list of at most ${originLimit} origins like "https://example.com"`,
  },
} as const satisfies Record<string, Setting<unknown>>;

type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
export type SettingName = keyof typeof table;
export type Settings = { readonly [Name in SettingName]?: ValueOf<(typeof table)[Name]> };

/** Returns how many days after the submission the visitor's edit link works (docs/decisions/0014). */
export const editDaysOf = ({ edit_days = 365 }: Pick<Settings, 'edit_days'>): number => edit_days;

type SettingsError = { readonly field: string; readonly message: string; readonly code?: ProblemCode };
type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly errors: readonly SettingsError[] };

/**
 * Checks the settings of a form. `form` is its structure, if there is one, for keys that refer to it. Drops
 * null keys at any depth, which is how a client clears them. Reports every problem, including unknown keys;
 * never throws.
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
      message: `Unknown setting ${quote(field)}. Use one of these: ${names.join(', ')}.`,
    });
  }
  return errors.length === 0 ? { ok: true, settings } : { ok: false, errors };
}

function checkPeriod({ opens_at: opens, closes_at: closes }: Settings): SettingsError[] {
  if (!opens || !closes || Date.parse(closes) > Date.parse(opens)) return [];
  return [{ field: 'closes_at', message: '"closes_at" must be later than "opens_at".', code: 'too_small' }];
}

/** Checks the answers in `theme.confirmation_title`, because the theme does not know the questions. */
function checkTitle({ theme }: Settings, form: Form | undefined): SettingsError[] {
  const ids = form ? pipedIds(theme?.confirmation_title ?? '') : [];
  return ids
    .filter((id) => !isShowable(form!, id))
    .map((id) => ({
      field: 'theme.confirmation_title',
      message: `"theme.confirmation_title" shows the answer to ${quote(id)}, which is not a question of the form outside repeatable composites.`,
    }));
}

/** Checks the translated texts of the settings, each by the rules of its setting. */
function findTextProblems(input: unknown, form: Form | undefined): readonly SettingsError[] {
  const field = 'translations';
  if (!isRecord(input))
    return [{ field, message: '"translations" must be an object with languages as keys.' }];
  return Object.entries(input).flatMap(([language, texts]): readonly SettingsError[] => {
    const problem = form && languageProblem(language, languagesOf(form));
    if (problem) return [{ field, message: `The translations of the settings ${problem}.` }];
    const at = `${field}.${language}`;
    if (!isRecord(texts)) return [{ field: at, message: `"${at}" must be an object of texts.` }];
    return Object.entries(texts).flatMap(([name, text]): readonly SettingsError[] => {
      if (!isSettingText(name))
        return [
          {
            field: at,
            message: `${quote(name)} is not a text of the settings. Use one of these: ${settingTexts.join(', ')}.`,
          },
        ];
      const where = `${at}.${name}`;
      if (isMissing(text))
        return [{ field: where, message: `"${where}" must not be blank; omit it instead.` }];
      const checked = checkSettings(withSettingText({}, name, text as string), form);
      return checked.ok ? [] : checked.errors.map(({ message }) => ({ field: where, message }));
    });
  });
}

/** Returns stored settings without references to deleted elements, which would block other changes. */
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

/** Lists the names of settings that differ. */
export function changedSettings(before: Settings, after: Settings): SettingName[] {
  const names = Object.keys({ ...before, ...after }) as SettingName[];
  return names.filter((name) => !isSameJson(before[name], after[name]));
}

/**
 * Merges two changes since `base`, setting by setting. If both changed a setting to different values, `mine`
 * wins and the name is listed in `conflicts`.
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
