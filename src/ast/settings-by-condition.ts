import type { Answers } from './answers/check-answers.ts';
import { isMissing } from './attributes/attributes.ts';
import { findConditionFault } from './attributes/condition-problem.ts';
import type { Condition } from './basics/condition.ts';
import { getProperty, isRecord } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { formatExactBytes, type ProblemCode, quote } from './basics/problems.ts';
import { fitsBytes, isCleanText } from './basics/text.ts';
import { TooMuchWork } from './basics/work.ts';
import { canPipeInSettings, pipedIds } from './form/piping.ts';
import { answerKindOf, type Form, languagesOf, listQuestions } from './form/tree.ts';
import { checkFilter } from './logic/check-condition.ts';
import { type FilesByName, meetsCondition } from './logic/evaluate.ts';
import type { SettingKind, SettingsError } from './settings-kinds.ts';
import type { Theme } from './theme/theme.ts';
import {
  type EntryTextName,
  type EntryTranslations,
  entryTextBytes,
  isEntryTextName,
  languageProblem,
} from './translations/check-translations.ts';

/** The maximum number of origins in a list. */
export const originLimit = 20;

/**
 * Returns whether a text is an origin as browsers write it: `https://example.com`, `http://localhost:8080`,
 * or `https://*.example.com` for all subdomains. It is written into a header, so everything else is rejected.
 */
export function isOrigin(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= 255 &&
    /^https?:\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/.test(
      text,
    )
  );
}

/** Returns whether a list contains an origin, exactly or by a `*.` entry. */
export function includesOrigin(list: readonly string[], origin: string): boolean {
  return list.some((entry) => {
    const [scheme = '', below] = entry.split('*');
    return below === undefined ? entry === origin : origin.startsWith(scheme) && origin.endsWith(below);
  });
}

/** The maximum length of a URL, in characters, that all browsers and servers accept. */
const addressLimit = 2_000;

const localHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/**
 * Returns whether visitors can be redirected to a URL after submitting: https, or http on localhost for
 * tests, without credentials. Its origin is written into a header, so it must be plain (docs/rules.md T30).
 */
export function isRedirect(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > addressLimit || !URL.canParse(text)) return false;
  const { protocol, hostname, origin, username, password } = new URL(text);
  const isSecure = protocol === 'https:' || (protocol === 'http:' && localHosts.has(hostname));
  return isSecure && username === '' && password === '' && isOrigin(origin) && !origin.includes('*');
}

/** What visitors see after a submission that meets a condition, instead of the default confirmation. */
export type Confirmation = {
  readonly when: Condition;
  readonly title?: string;
  readonly message?: string;
  readonly redirect_url?: string;
  /** Its texts in the other languages of the form, by BCP 47 tag. */
  readonly translations?: EntryTranslations;
};

/** A problem with a part of an object: the end of a sentence about it. */
export type PartProblem = readonly [part: string, problem: string, code?: ProblemCode | undefined];

type Entry = Readonly<Record<string, unknown>>;

/** Checks an object in the settings. `check` finds the problems of its parts. */
export function* findInObject(
  at: string,
  entry: unknown,
  known: readonly string[],
  check: (entry: Entry) => Iterable<PartProblem>,
): Generator<SettingsError, void> {
  if (!isRecord(entry)) {
    yield { field: at, message: `"${at}" must be an object.` };
    return;
  }
  for (const key of Object.keys(entry).filter((name) => !known.includes(name))) {
    const message = `"${at}" must not have ${quote(key)}. Allowed: ${known.join(', ')}.`;
    yield { field: at, message, code: 'unknown_field' };
  }
  for (const [part, problem, code] of check(entry)) {
    const field = part === '' ? at : `${at}.${part}`;
    yield { field, message: `"${field}" ${problem}.`, ...(code && { code }) };
  }
}

/** Checks a list setting, entry by entry. */
export function* findInList(
  field: string,
  value: unknown,
  known: readonly string[],
  check: (entry: Entry) => Iterable<PartProblem>,
): Generator<SettingsError, void> {
  if (!Array.isArray(value) || value.length === 0 || value.length > formLimits.byCondition)
    yield { field, message: `"${field}" must be a list of 1 to ${formLimits.byCondition} objects.` };
  else
    for (const [index, entry] of value.entries())
      yield* findInObject(`${field}.${index}`, entry, known, check);
}

/** Checks the shape of `when` and, with a form, the names that it uses. */
export function* findWhenProblems(when: unknown, form: Form | undefined): Generator<PartProblem, void> {
  const fault = findConditionFault(when);
  if (fault) yield ['when', fault.problem];
  else if (form)
    for (const { message } of checkFilter(form, when))
      yield ['when', message.replace(/^The filter /, '').replace(/\.$/, '')];
}

const confirmationTextNames = ['title', 'message'] as const;

/** Checks the texts of a confirmation. */
function* findTextProblems(entry: Entry, form: Form | undefined): Generator<PartProblem, void> {
  for (const part of confirmationTextNames) {
    const text = getProperty(entry, part);
    const most = entryTextBytes[part];
    if (text === undefined) continue;
    if (typeof text !== 'string' || !isCleanText(text) || !fitsBytes(text, most))
      yield [part, `must be text of at most ${formatExactBytes(most)}`];
    else if (form && !pipedIds(text).every((id) => canPipeInSettings(form, id)))
      yield [part, 'can only show answers to questions in the form that are outside repeatable composites'];
  }
}

/** Checks the translations of an entry of a list. Each must translate an existing text. */
export function* findTranslationProblems(
  entry: Entry,
  form: Form | undefined,
  names: readonly EntryTextName[],
  check: typeof findTextProblems,
): Generator<PartProblem, void> {
  const translations = getProperty(entry, 'translations') ?? {};
  if (!isRecord(translations)) {
    yield ['translations', 'must be an object with languages as keys'];
    return;
  }
  for (const [language, texts] of Object.entries(translations)) {
    const at = `translations.${language}`;
    const problem = form && languageProblem(language, languagesOf(form));
    if (problem) yield ['translations', problem.replace(/^include/, 'includes')];
    else if (!isRecord(texts)) yield [at, 'must be an object whose values are text'];
    else {
      for (const [name, text] of Object.entries(texts))
        if (!isEntryTextName(name) || !names.includes(name))
          yield [at, `must not have ${quote(name)}; it can only have ${names.join(', ')}`];
        else if (getProperty(entry, name) === undefined)
          yield [`${at}.${name}`, 'translates a text that does not exist'];
        else if (isMissing(text)) yield [`${at}.${name}`, 'must not be blank; omit it instead'];
      for (const [part, wrong, code] of check(texts, form)) yield [`${at}.${part}`, wrong, code];
    }
  }
}

const confirmationParts = ['when', ...confirmationTextNames, 'redirect_url', 'translations'];

export const findConfirmationProblems = (value: unknown, form?: Form): readonly SettingsError[] => [
  ...findInList('confirmations', value, confirmationParts, function* (entry) {
    yield* findWhenProblems(getProperty(entry, 'when'), form);
    if (getProperty(entry, 'message') === undefined && getProperty(entry, 'redirect_url') === undefined)
      yield ['', 'must have a "message" or a "redirect_url"'];
    yield* findTextProblems(entry, form);
    yield* findTranslationProblems(entry, form, confirmationTextNames, findTextProblems);
    const address = getProperty(entry, 'redirect_url');
    if (address !== undefined && !isRedirect(address))
      yield ['redirect_url', 'must be a URL that begins with https:// (http:// for localhost only)'];
  }),
];

const bytes = (most: number) => ({ type: 'string', description: `At most ${most} bytes of UTF-8.` });

/** The value of the setting `confirmations`. */
export const confirmationsSetting = {
  accepts: (value, form): value is readonly Confirmation[] =>
    findConfirmationProblems(value, form).length === 0,
  problem: 'must be a list of confirmations',
  explain: findConfirmationProblems,
  schema: {
    type: 'array',
    minItems: 1,
    maxItems: formLimits.byCondition,
    examples: [[{ when: { reference: 'plan', is: 'equals', value: 'pro' }, message: 'We will call you.' }]],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['when'],
      properties: {
        when: { $ref: '#/components/schemas/Condition' },
        title: { type: 'string', description: 'The heading of the page shown after the submission.' },
        message: bytes(entryTextBytes.message),
        redirect_url: { type: 'string', format: 'uri' },
        translations: {
          type: 'object',
          description: "The confirmation in the form's other languages.",
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: {
              title: { type: 'string', minLength: 1 },
              message: { type: 'string', minLength: 1 },
            },
          },
          examples: [{ de: { message: 'Wir rufen Sie an.' } }],
        },
      },
    },
  },
} as const satisfies SettingKind<readonly Confirmation[]>;

/** Returns the index of the first matching confirmation, or undefined if matching takes too much work. */
export function findConfirmationIndex(
  confirmations: readonly Confirmation[] = [],
  ...answered: Parameters<typeof meetsCondition> extends [unknown, ...infer Rest] ? Rest : never
): number | undefined {
  try {
    const at = confirmations.findIndex(({ when }) => meetsCondition(when, ...answered));
    return at < 0 ? undefined : at;
  } catch (error) {
    // The answers are already stored, so the default confirmation is better than an error.
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

/** Returns the settings with the texts of the chosen confirmation. */
export function withConfirmation<Settings extends { readonly theme?: Theme }>(
  settings: Settings,
  chosen: Confirmation | undefined,
): Settings & { readonly confirmation_message?: string; readonly redirect_url?: string } {
  if (!chosen) return settings;
  const { title, message, redirect_url: address } = chosen;
  const rest = Object.entries(settings).filter(
    ([name]) => name !== 'confirmation_message' && name !== 'redirect_url',
  );
  return {
    ...(Object.fromEntries(rest) as Settings),
    ...(title !== undefined && { theme: { ...settings.theme, confirmation_title: title } }),
    ...(message !== undefined && { confirmation_message: message }),
    ...(address !== undefined && { redirect_url: address }),
  };
}

/** Returns the files in stored answers, for use in conditions. */
export function answerFilesOf(form: Form, answers: Answers): FilesByName {
  return new Map(
    listQuestions(form).flatMap(({ kind, element }): [string, readonly unknown[]][] => {
      const files =
        kind === 'input' && answerKindOf(element) === 'files'
          ? getProperty(answers, element.attrs.id)
          : undefined;
      return Array.isArray(files) ? [[element.attrs.id, files]] : [];
    }),
  );
}
