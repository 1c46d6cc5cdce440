import { attributeDefaults } from '../basics/defaults.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { LengthRules, ProseRules } from '../rules/check-rules.ts';
import { defineInputType } from './definition.ts';
import {
  autocomplete,
  countAttribute,
  id,
  inputAttributes,
  label,
  quizAttributes,
  unique,
  verify,
  visibilityAttributes,
} from './shared-attributes.ts';

const lengthAttributes = {
  ...inputAttributes,
  autocomplete,
  min_length: countAttribute('Minimum length', 0, formLimits.answerBytes),
  max_length: countAttribute('Maximum length', 1, formLimits.answerBytes),
} as const;

const lineAttributes = { ...lengthAttributes, unique } as const;

const proseAttributes = {
  ...lengthAttributes,
  pattern: { kind: 'pattern', title: 'Pattern' },
} as const;

const textSchema = (attrs: LengthRules, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  minLength: Math.max(1, attrs.min_length ?? 1),
  maxLength: attrs.max_length ?? formLimits.answerBytes,
  ...more,
});

/** The author's patterns match whole answers, those of JSON Schema any part. */
const proseSchema = (attrs: ProseRules): JsonSchema =>
  textSchema(attrs, attrs.pattern === undefined ? {} : { pattern: `^(?:${attrs.pattern})$` });

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
function createTextSamples(text: string, { min_length: least, max_length: most }: LengthRules): string[] {
  const filled = text.padEnd(least ?? 0, ' and more');
  return [text, Array.from(filled).slice(0, most).join('').trimEnd(), ...codes];
}

/** Topics of short texts, by words in their ID and label. The first match wins. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/\b(first|given)[ _-]?name\b/i, 'Ada'],
  [/\b(last|family|sur)[ _-]?name\b/i, 'Lovelace'],
  [/\b(company|organi[sz]ation|employer)\b/i, 'Analytical Engines'],
  [/\b(name|who)\b/i, 'Ada Lovelace'],
  [/\b(city|town)\b/i, 'London'],
  [/\bcountry\b/i, 'United Kingdom'],
  [/\b(zip|post(al)?[ _-]?code|postcode)\b/i, 'SW1Y 4JH'],
  [/\b(street|address)\b/i, '12 St James’s Square'],
  [/\b(subject|topic|title)\b/i, 'A question about your service'],
];

/** Returns a sample answer for these words. Underscores and camelCase of IDs are split into words. */
function sampleText(words: string): string {
  const spaced = words.replaceAll('_', ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return topics.find(([pattern]) => pattern.test(spaced))?.[1] ?? 'Sample answer';
}

export const text = defineInputType({
  title: 'Short text',
  icon: 'M3 6.5h14v7H3zM6 9v2',
  words: 'input string name line',
  attrs: { ...proseAttributes, unique, ...quizAttributes('string') },
  summary: 'texts',
  control: 'text',
  schema: proseSchema,
  samples: (attrs) => createTextSamples(sampleText(`${attrs.id} ${attrs.label}`), attrs),
});

export const textarea = defineInputType({
  title: 'Long text',
  icon: 'M3 4h14v12H3zM6 7.5h8M6 10h8M6 12.5h5',
  words: 'message comment multi-line',
  attrs: proseAttributes,
  summary: 'texts',
  columnWidth: 320,
  control: 'textarea',
  schema: proseSchema,
  samples: (attrs) =>
    createTextSamples(`This is a sample answer to “${attrs.label.slice(0, 200)}”.\nIt has two lines.`, attrs),
});

export const email = defineInputType({
  title: 'Email',
  icon: 'M3 5h14v10H3zM3 5.5l7 5.5 7-5.5',
  words: 'mail contact reply',
  attrs: { ...lineAttributes, verify },
  summary: 'texts',
  identifies: true,
  control: 'email',
  schema: (attrs) => textSchema(attrs, { format: 'idn-email' }),
  samples: () => ['ada@example.com', 'ada.lovelace@analytical-engines.example.com', 'a@b.co'],
});

export const phone = defineInputType({
  title: 'Phone',
  icon: 'M6 2.5h8v15H6zM9 15h2',
  words: 'telephone mobile number contact',
  attrs: lineAttributes,
  summary: 'texts',
  identifies: true,
  control: 'tel',
  schema: (attrs) => textSchema(attrs),
  samples: () => ['+1 555 010 0199', '5550100', '+1 (555) 010-0199 0000'],
});

export const url = defineInputType({
  title: 'Website',
  icon: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3l-1 1M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 4.3l1-1',
  words: 'link url web address',
  attrs: lineAttributes,
  summary: 'texts',
  identifies: true,
  control: 'url',
  // The format `uri` allows only ASCII letters, but answers can have others.
  schema: (attrs) => textSchema(attrs, { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$' }),
  samples: () => ['https://example.com/ada', 'https://example.com/people/ada-lovelace', 'https://a.co'],
});

export const hidden = defineInputType({
  title: 'Hidden field',
  icon: 'M3 3l14 14M8 8.2a2.5 2.5 0 0 0 3.6 3.5M5.6 5.9A12 12 0 0 0 2.5 10c1.8 3.2 4.4 5 7.5 5 1.3 0 2.5-.3 3.6-.9M8.6 5.1C9 5 9.5 5 10 5c3.1 0 5.7 1.8 7.5 5-.5.9-1.1 1.7-1.8 2.4',
  words: 'utm source campaign parameter address tracking invisible',
  firstLabel: 'Source',
  attrs: {
    id,
    label,
    max_length: {
      kind: 'integer',
      title: 'Maximum length',
      min: 1,
      max: formLimits.hiddenCharacters,
      default: attributeDefaults.hidden_length,
    },
    ...visibilityAttributes,
  },
  summary: 'options',
  identifies: true,
  schema: (attrs) => textSchema({ max_length: attrs.max_length ?? attributeDefaults.hidden_length }),
  samples: () => ['newsletter'],
});
