import { isMissing } from './attributes/attributes.ts';
import { isRecord } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { formatExactBytes, type ProblemCode, quote } from './basics/problems.ts';
import { fitsBytes, isCleanText } from './basics/text.ts';
import { type Form, languagesOf } from './form/tree.ts';
import { toUtcTimestamp } from './rules/moments.ts';
import { isSubjectElement } from './searchable.ts';
import { isSettingTextName, languageProblem, settingTextNames } from './translations/check-translations.ts';

export type SettingsError = {
  /** The path of a setting, such as `closes_at`, `theme.color` or `confirmations.0.when`. */
  readonly field: string;
  readonly message: string;
  readonly code?: ProblemCode;
};

/** One of the values of a setting, as the builder shows it. */
type SettingChoice<Id extends string = string> = {
  readonly id: Id;
  readonly label: string;
  readonly description?: string;
};

/** Describes the values of a setting or theme part: validation, JSON Schema and builder control. */
export type SettingKind<Value> = {
  readonly accepts: (value: unknown, form: Form | undefined) => value is Value;
  /** The end of the error sentence about a value that is not accepted. */
  readonly problem: string;
  /** For a setting with parts: what is wrong with which part, instead of `problem`. */
  readonly explain?: (value: unknown, form: Form | undefined) => readonly SettingsError[];
  /** Normalizes an accepted value before it is stored. */
  tidy?(value: Value): Value;
  /** The JSON Schema, without its description. */
  readonly schema: object;
  /** Added to the help text in the API reference, for developers only. */
  readonly note?: string;
  /**
   * The builder's control for the setting. Settings without it have a control of their own
   * (web/builder/settings).
   */
  readonly control?: 'switch' | 'number' | 'text' | 'line' | 'url' | 'time' | 'radio' | 'select' | 'image';
  /** What an absent value means. */
  readonly default?: string | number | boolean;
  readonly choices?: readonly SettingChoice[];
};

/** The title and help text of a setting or theme part. */
export type SettingTexts = {
  readonly title: string;
  /** Shown below the control, in the API reference and in docs/form-language.md. */
  readonly help?: string;
};

/** The cards of the settings view in the builder, in their order. */
export const settingCards = {
  access: { title: 'Access and schedule' },
  layout: { title: 'Layout' },
  after: { title: 'After a submission' },
  mail: { title: 'Email' },
  later: { title: 'Save and edit' },
  spam: {
    title: 'Spam protection',
    lead: 'No third-party services are used. Suspected spam goes to the spam box, where you can release it.',
  },
  embedding: { title: 'Embedding' },
  search: { title: 'Search, time and visits' },
} as const satisfies Record<string, { title: string; lead?: string }>;

/** A setting: its values, texts and position in the builder. */
export type SettingRow<Value = unknown> = SettingKind<Value> &
  Required<SettingTexts> & {
    /** The card of the builder; settings without one are in the theme or the languages view. */
    readonly card?: keyof typeof settingCards;
    /** The position in the card, if it differs from the order of the table. */
    readonly order?: number;
    /** Stored even if it is the default, since the API always returns it. */
    readonly isKept?: true;
    /** Shown at half width, next to another half-width setting. */
    readonly isHalf?: true;
    /** Shown only if the setting with this name is set. */
    readonly shownWith?: string;
  };

export const flagSetting = (isOn = false) =>
  ({
    accepts: (value): value is boolean => typeof value === 'boolean',
    problem: 'must be true or false',
    schema: { type: 'boolean', default: isOn },
    control: 'switch',
    default: isOn,
  }) as const satisfies SettingKind<boolean>;

/** A whole number. If it is absent, there is no limit, unless the row has a default. */
export const countSetting = (minimum: number, maximum?: number) =>
  ({
    accepts: (value): value is number =>
      Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= (maximum ?? Infinity),
    problem: `must be a whole number from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`,
    schema: { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) },
    control: 'number',
  }) as const satisfies SettingKind<number>;

/** One of a list. The labels are in the order of the list; a pair is a label with its description. */
export const choiceSetting = <const Id extends string>(
  ids: readonly Id[],
  labels: Readonly<Record<Id, string | readonly [label: string, description: string]>>,
  byDefault: Id,
) =>
  ({
    accepts: (value): value is Id => ids.some((id) => id === value),
    problem: `must be one of ${ids.map(quote).join(', ')}`,
    schema: { enum: [...ids], default: byDefault },
    control: 'select',
    default: byDefault,
    choices: ids.map((id): SettingChoice<Id> => {
      const words: string | readonly [string, string] = labels[id];
      return typeof words === 'string'
        ? { id, label: words }
        : { id, label: words[0], description: words[1] };
    }),
  }) as const satisfies SettingKind<Id>;

export const messageSetting = {
  accepts: (value): value is string =>
    typeof value === 'string' && isCleanText(value) && fitsBytes(value, formLimits.textBytes),
  problem: `must be text of at most ${formatExactBytes(formLimits.textBytes)}`,
  schema: { type: 'string' },
  note: `At most ${formLimits.textBytes} bytes of UTF-8.`,
  control: 'text',
} as const satisfies SettingKind<string>;

const slugPattern = /^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$/;
/** Other paths below `/f/`: the names of routes, and form IDs. */
const reservedSlugs = /^(?:assets|fonts|signed-in|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const slugSetting = {
  accepts: (value: unknown): value is string =>
    typeof value === 'string' && slugPattern.test(value) && !reservedSlugs.test(value),
  problem:
    'must be 3 to 64 lower-case letters, digits and hyphens, with no hyphen at either end, and not "assets", "fonts", "signed-in" or a form ID',
  schema: { type: 'string', pattern: slugPattern.source },
  control: 'line',
} as const satisfies SettingKind<string>;

/** The ID of an element that can be the subject of a submission. */
export const textElementSetting = {
  accepts: (value, form): value is string => typeof value === 'string' && isSubjectElement(value, form),
  problem: 'must be the ID of a text element outside repeatable composites',
  schema: { type: 'string' },
  note: 'The id of the element.',
} as const satisfies SettingKind<string>;

/** What visitors see of their result of a quiz. */
export const quizResultsSetting = choiceSetting(
  ['none', 'score', 'answers'],
  { none: 'Nothing', score: 'Their score', answers: 'Their score and the right answers' },
  'score',
);

export const timestampSetting = {
  accepts: (value): value is string => typeof value === 'string' && toUtcTimestamp(value) !== undefined,
  problem: 'must be a time like 2026-01-31T14:30:00Z or 2026-01-31T15:30:00+01:00',
  tidy: (value: string): string => toUtcTimestamp(value)!,
  schema: { type: 'string', format: 'date-time' },
  control: 'time',
} as const satisfies SettingKind<string>;

/** Returns all problems of a value, each under the name of its part. */
export const settingProblemsOf = (
  field: string,
  { accepts, problem, explain }: SettingKind<unknown>,
  value: unknown,
  form: Form | undefined,
): readonly SettingsError[] =>
  accepts(value, form) ? [] : (explain?.(value, form) ?? [{ field, message: `"${field}" ${problem}.` }]);

/**
 * Returns the problems of texts of settings in other languages. Each text must be a valid value of its
 * setting.
 */
export function findTranslatedProblems(
  input: unknown,
  form: Form | undefined,
  rowOf: (setting: string) => SettingKind<unknown>,
): readonly SettingsError[] {
  const field = 'translations';
  if (!isRecord(input))
    return [{ field, message: '"translations" must be an object with languages as keys.' }];
  return Object.entries(input).flatMap(([language, texts]): readonly SettingsError[] => {
    const problem = form && languageProblem(language, languagesOf(form));
    if (problem) return [{ field, message: `The translations of the settings ${problem}.` }];
    const at = `${field}.${language}`;
    if (!isRecord(texts)) return [{ field: at, message: `"${at}" must be an object whose values are text.` }];
    return Object.entries(texts).flatMap(([name, text]): readonly SettingsError[] => {
      if (!isSettingTextName(name))
        return [
          {
            field: at,
            message: `${quote(name)} is not a setting that can be translated. Use one of these: ${settingTextNames.join(', ')}.`,
          },
        ];
      const where = `${at}.${name}`;
      if (isMissing(text))
        return [{ field: where, message: `"${where}" must not be blank; omit it instead.` }];
      const [setting, part] = name.split('.') as [string, string?];
      const value = part === undefined ? text : { [part]: text };
      return settingProblemsOf(setting, rowOf(setting), value, form).map((each) => ({
        ...each,
        field: where,
      }));
    });
  });
}

/** Returns the JSON Schema with its description: the help text, and the note for developers. */
export function describedSchema({
  schema,
  note,
  help,
  default: byDefault,
}: SettingKind<unknown> & SettingTexts): object {
  const description = [help, typeof byDefault === 'number' && `Default: ${byDefault}.`, note]
    .filter(Boolean)
    .join(' ');
  return description === '' || '$ref' in schema ? schema : { ...schema, description };
}
