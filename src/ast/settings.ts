import { isElementId } from './attributes.ts';
import { isRecord, own } from './json.ts';
import { isLanguage } from './languages.ts';
import { limits } from './limits.ts';
import { quote, sayBytes } from './problems.ts';
import { subjectCandidates } from './searchable.ts';
import { fitsBytes, isCleanText } from './text.ts';
import { isDate, isEmail } from './text-formats.ts';
import type { Form } from './tree.ts';

/** One setting: what it accepts, and the end of the sentence about a value that it does not. */
type Setting<Value> = {
  readonly accepts: (value: unknown, form: Form | undefined) => value is Value;
  readonly problem: string;
};

/** Who may fill in a form. The specification leaves the values open; DESIGN 4.15 names them. */
export const accessModes = ['public', 'invited', 'password', 'closed'] as const;
export type AccessMode = (typeof accessModes)[number];

const timestamp: Setting<string> = {
  accepts: (value): value is string => typeof value === 'string' && isTimestamp(value),
  problem: 'must be a timestamp in UTC like 2026-01-31T14:30:00Z',
};

/** Every settings key (specification, "Form"; DESIGN 4.15): a new one is a row here. */
const table = {
  access: {
    accepts: (value): value is AccessMode => accessModes.some((mode) => mode === value),
    problem: `must be one of ${accessModes.map(quote).join(', ')}`,
  },
  confirmation_message: {
    accepts: (value): value is string =>
      typeof value === 'string' && isCleanText(value) && fitsBytes(value, limits.textBytes),
    problem: `must be text of at most ${sayBytes(limits.textBytes)}`,
  },
  notification_email: {
    accepts: (value): value is string => typeof value === 'string' && isEmail(value),
    problem: 'must be an email address like name@example.com',
  },
  editing: {
    accepts: (value): value is boolean => typeof value === 'boolean',
    problem: 'must be true or false',
  },
  subject_element: {
    accepts: (value, form): value is string => typeof value === 'string' && isSubject(value, form),
    problem: 'must be the id of a text element outside repeatable composites',
  },
  language: {
    accepts: isLanguage,
    problem: 'must be a language that search knows, like "english" or "simple"',
  },
  opens_at: timestamp,
  closes_at: timestamp,
  max_submissions: {
    accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= 1,
    problem: 'must be a whole number from 1',
  },
} as const satisfies Record<string, Setting<unknown>>;

type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
export type SettingName = keyof typeof table;
export type Settings = { readonly [Name in SettingName]?: ValueOf<(typeof table)[Name]> };

export type SettingsError = { readonly field: string; readonly message: string };
export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly errors: readonly SettingsError[] };

/**
 * Checks the settings of a form; `form` is its structure, when there is one, for the keys that point into it.
 * A key with the value null is left out, which is how a client clears it. Unknown keys are refused by name.
 * Reports every problem, never throws.
 */
export function checkSettings(input: unknown, form: Form | undefined): SettingsResult {
  if (!isRecord(input)) {
    return { ok: false, errors: [{ field: 'settings', message: 'The settings must be an object.' }] };
  }
  const names = Object.keys(table) as SettingName[];
  const known: ReadonlySet<string> = new Set(names);
  const settings: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const field of names) {
    const value = own(input, field) ?? null;
    if (value === null) continue;
    const { accepts, problem } = table[field];
    if (accepts(value, form)) settings[field] = value;
    else errors.push({ field, message: `"${field}" ${problem}.` });
  }
  errors.push(...checkPeriod(settings));
  const unknown = Object.keys(input).filter((key) => !known.has(key));
  for (const field of unknown.slice(0, limits.structureErrors)) {
    errors.push({ field, message: `There is no setting ${quote(field)}. Settings: ${names.join(', ')}.` });
  }
  return errors.length === 0 ? { ok: true, settings } : { ok: false, errors };
}

function checkPeriod({ opens_at: opens, closes_at: closes }: Settings): SettingsError[] {
  if (!opens || !closes || Date.parse(closes) > Date.parse(opens)) return [];
  return [{ field: 'closes_at', message: '"closes_at" must be later than "opens_at".' }];
}

/** ISO 8601 in UTC, as every timestamp of the specification. */
function isTimestamp(text: string): boolean {
  return (
    isDate(text.slice(0, 10)) && /^T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/.test(text.slice(10))
  );
}

function isSubject(id: string, form: Form | undefined): boolean {
  return form ? subjectCandidates(form).some((input) => input.attrs.id === id) : isElementId(id);
}
