import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { LengthRules, MomentRules, ProseRules } from '../rules/check-rules.ts';
import { addDays, type MomentFormat, toComparableMoments } from '../rules/moments.ts';
import {
  autocomplete,
  countAttribute,
  inputAttributes,
  quizAttributes,
  unique,
} from './shared-attributes.ts';

const lengthAttributes = {
  ...inputAttributes,
  autocomplete,
  min_length: countAttribute('Minimum length', 0, formLimits.answerBytes),
  max_length: countAttribute('Maximum length', 1, formLimits.answerBytes),
} as const;

export const lineAttributes = { ...lengthAttributes, unique } as const;

export const proseAttributes = {
  ...lengthAttributes,
  pattern: { kind: 'pattern', title: 'Pattern' },
} as const;

export const momentAttributes = <Format extends MomentFormat>(format: Format) =>
  ({
    ...inputAttributes,
    unique,
    min: { kind: 'moment', title: 'Earliest', format },
    max: { kind: 'moment', title: 'Latest', format },
    ...quizAttributes('string', format),
  }) as const;

export const textSchema = (attrs: LengthRules, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  minLength: Math.max(1, attrs.min_length ?? 1),
  maxLength: attrs.max_length ?? formLimits.answerBytes,
  ...more,
});

/** The author's patterns match whole answers, those of JSON Schema any part. */
export const proseSchema = (attrs: ProseRules): JsonSchema =>
  textSchema(attrs, attrs.pattern === undefined ? {} : { pattern: `^(?:${attrs.pattern})$` });

/** JSON Schema has no minimum and maximum for dates and times, so the description states them. */
export function momentSchema({ min, max }: MomentRules, more: JsonSchema): JsonSchema {
  const words = [min && `Not before ${min}.`, max && `Not after ${max}.`].filter(Boolean);
  return { type: 'string', ...more, ...(words.length > 0 && { description: words.join(' ') }) };
}

/** Texts that common patterns match: a code, numbers of usual lengths, a handle. */
const codes = [
  'A',
  'ABC',
  'AB12',
  'AB-123',
  'AB123456',
  '12',
  '1234',
  '12345',
  '123456',
  '12345678',
  'sample',
];

/** Returns a text, and versions of it that fit the length limits. */
export function createTextSamples(
  text: string,
  { min_length: least, max_length: most }: LengthRules,
): string[] {
  const filled = text.padEnd(least ?? 0, ' and more');
  return [text, Array.from(filled).slice(0, most).join('').trimEnd(), ...codes];
}

/** Returns a typical date or time, and the limits themselves. */
export function momentSamples(
  format: MomentFormat,
  usual: string,
  { min, max }: MomentRules,
  today: string,
): string[] {
  const edges = [min, max]
    .filter((edge) => edge !== undefined)
    .map((edge) => toComparableMoments('', edge, today)[1]);
  const complete = (edge: string): string => (format === 'datetime' ? `${edge}T14:30`.slice(0, 16) : edge);
  return [usual, ...edges.map(complete), ...(format === 'time' ? [] : [complete(addDays(today, 1))])];
}
