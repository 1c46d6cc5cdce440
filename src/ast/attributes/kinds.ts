import { elementIdProblem } from '../basics/element-id.ts';
import { imageIdProblem, isImageId } from '../basics/image-id.ts';
import { isRecord } from '../basics/json.ts';
import { isLanguageTag, languageTagPatternSource } from '../basics/language-tags.ts';
import { formLimits } from '../basics/limits.ts';
import { formatExactBytes, quote } from '../basics/problems.ts';
import { fitsBytes } from '../basics/text.ts';
import { translationsReference } from '../basics/translations-schema.ts';
import { formulaProblem } from '../logic/formula/formula-problem.ts';
import { fileTypesProblem } from '../rules/check-files.ts';
import { isMomentLimit, type MomentFormat } from '../rules/moments.ts';
import { patternProblem } from '../rules/pattern-problem.ts';
import { conditionProblem, jumpsProblem } from './condition-problem.ts';
import { conditionAttributeSchema, jumpsSchema } from './condition-schema.ts';
import { optionsProblem, optionsSchema } from './options-problem.ts';
import type { AttributeKind, AttributeSpec } from './specs.ts';

type KindRules<Kind extends AttributeKind> = {
  /** Returns what is wrong with the value, as the end of a sentence about the attribute. */
  readonly problem: (spec: AttributeSpec<Kind>, value: unknown) => string | undefined;
  readonly schema: (spec: AttributeSpec<Kind>) => object;
};

/** The check and the JSON Schema of each kind of attribute. */
export const attributeKinds: { readonly [Kind in AttributeKind]: KindRules<Kind> } = {
  id: {
    problem: (_spec, value) => elementIdProblem(value),
    // In words: a pattern would need Unicode classes, which many code generators do not support.
    schema: () => ({
      type: 'string',
      minLength: 1,
      maxLength: formLimits.elementId,
      description:
        'Letters and digits of any script, "_", "-", "." and ":". Begins with a letter, a digit or "_". Unique among the elements of a form.',
      examples: ['email'],
    }),
  },
  string: {
    problem: (spec, value) => {
      if (typeof value !== 'string') return 'must be text';
      return fitsBytes(value, spec.maxBytes)
        ? undefined
        : `must have at most ${formatExactBytes(spec.maxBytes)}`;
    },
    // JSON Schema counts characters. A text of n bytes has at most n characters.
    schema: (spec) => ({ type: 'string', maxLength: spec.maxBytes, ...(spec.required && { minLength: 1 }) }),
  },
  boolean: {
    problem: (_spec, value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    schema: (spec) => ({ type: 'boolean', default: spec.default }),
  },
  integer: {
    problem: (spec, value) => {
      if (!spec.isOpen) return wholeNumberProblem(spec, value);
      return Number.isSafeInteger(value) && Number(value) >= spec.min
        ? undefined
        : `must be a whole number from ${spec.min}`;
    },
    schema: (spec) => ({
      type: 'integer',
      minimum: spec.min,
      ...(!spec.isOpen && { maximum: spec.max }),
      default: spec.default,
      ...(spec.isOpen && { description: `Values above ${spec.max} are treated as ${spec.max}.` }),
    }),
  },
  options: { problem: (spec, value) => optionsProblem(spec, value), schema: optionsSchema },
  'one-of': {
    problem: (spec, value) => {
      if (typeof value === 'string' && (spec.isOpen || spec.values.includes(value))) return undefined;
      return spec.isOpen ? 'must be text' : `must be one of ${spec.values.map(quote).join(', ')}`;
    },
    schema: (spec) =>
      spec.isOpen
        ? {
            type: 'string',
            default: spec.default,
            examples: spec.values,
            description: `One of ${spec.values.map(quote).join(', ')}. Any other value is stored as sent, but treated as ${quote(spec.default)}.`,
          }
        : {
            type: 'string',
            enum: spec.values,
            default: spec.default,
            ...(spec.component !== undefined && { 'x-component': spec.component }),
          },
  },
  count: {
    problem: (spec, value) => wholeNumberProblem(spec, value),
    schema: (spec) => ({ type: 'integer', minimum: spec.min, maximum: spec.max }),
  },
  bytes: {
    problem: (spec, value) => wholeNumberProblem(spec, value),
    schema: (spec) => ({
      type: 'integer',
      minimum: spec.min,
      maximum: spec.max,
      description: 'Size in bytes.',
    }),
  },
  number: {
    problem: (spec, value) => {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      return spec.isPositive && value <= 0 ? 'must be more than 0' : undefined;
    },
    schema: (spec) => ({ type: 'number', ...(spec.isPositive && { exclusiveMinimum: 0 }), examples: [1] }),
  },
  moment: {
    problem: ({ format }, value) =>
      typeof value === 'string' && isMomentLimit(format, value) ? undefined : momentProblems[format],
    schema: ({ format }) => ({
      type: 'string',
      description: `It ${momentProblems[format]}.`,
      examples: [momentExamples[format]],
    }),
  },
  pattern: {
    problem: (_spec, value) => (typeof value === 'string' ? patternProblem(value) : 'must be text'),
    schema: () => ({
      type: 'string',
      minLength: 1,
      maxLength: formLimits.patternLength,
      examples: ['[A-Z]{2}\\d{6}'],
      description:
        'A regular expression for the whole answer: characters, classes, groups, alternatives and repeats; no look-around, back references and word edges.',
    }),
  },
  'file-types': {
    problem: (_spec, value) => fileTypesProblem(value),
    schema: () => ({
      type: 'array',
      items: { type: 'string' },
      examples: [['.pdf', 'image/*', 'application/pdf']],
      minItems: 1,
      maxItems: formLimits.fileTypes,
    }),
  },
  image: {
    problem: (_spec, value) => (isImageId(value) ? undefined : imageIdProblem),
    schema: () => ({
      type: 'string',
      format: 'uuid',
      description: 'The ID of an image that was uploaded with `POST /api/v1/images`.',
    }),
  },
  condition: { problem: (_spec, value) => conditionProblem(value), schema: () => conditionAttributeSchema },
  jumps: { problem: (_spec, value) => jumpsProblem(value), schema: () => jumpsSchema },
  languages: {
    problem: (spec, value) => languagesProblem(spec, value),
    schema: (spec) => ({
      type: 'array',
      items: { type: 'string', pattern: languageTagPatternSource },
      minItems: 1,
      maxItems: spec.maxItems,
      uniqueItems: true,
      examples: [['en', 'de', 'pt-BR']],
      description:
        'The first language is the language of the nodes themselves; `translations` contains the others.',
    }),
  },
  // check-translations.ts checks the languages, texts and options against the node and its form.
  translations: {
    problem: (_spec, value) =>
      areTranslations(value)
        ? undefined
        : 'must map each language to an object whose keys are attribute names and whose values are text',
    schema: () => translationsReference,
  },
  formula: {
    problem: (_spec, value) => (typeof value === 'string' ? formulaProblem(value) : 'must be text'),
    schema: () => ({
      type: 'string',
      minLength: 1,
      maxLength: formLimits.formulaCharacters,
      examples: ['round(1.19 * 20, 2)'],
      description:
        'Calculates a number from other answers, which are written as {id}. Supports + - * / %, comparisons, and, or, not, if(), and the functions in docs/form-language.md.',
    }),
  },
  // validate.ts checks that they are answers to the question.
  correct: {
    problem: ({ answers }, value) => {
      const isList = Array.isArray(value) && value.length > 0 && value.length <= formLimits.options;
      if (!isList) return `must be a list of 1 to ${formLimits.options} answers`;
      if (value.some((answer) => typeof answer !== answers))
        return `must contain only values of the type ${answers}`;
      return new Set(value).size < value.length ? 'must not repeat an answer' : undefined;
    },
    schema: ({ answers, format }) => ({
      type: 'array',
      items: { type: answers },
      ...(answers !== 'string' && { examples: [[answers === 'number' ? 42 : true]] }),
      ...(format && { examples: [[momentExamples[format]]] }),
      minItems: 1,
      maxItems: formLimits.options,
      uniqueItems: true,
      description:
        'The right answer, which visitors never receive before they submit. If several options can be chosen, exactly these must be chosen. Otherwise, each of these answers is right; letter case and additional spaces of text are ignored.',
    }),
  },
};

const momentExamples: Readonly<Record<MomentFormat, string>> = {
  date: '2026-01-31',
  datetime: '2026-01-31T14:30',
  time: '14:30',
};

const momentProblems: Readonly<Record<MomentFormat, string>> = {
  date: 'must be a date like 2026-01-31, or relative to today like "today", "today+30", "today-18"',
  datetime:
    'must be a date and time like 2026-01-31T14:30, or relative to today like "today", "today+30", "today-18"',
  time: 'must be a time like 14:30',
};

function wholeNumberProblem({ min, max }: { min: number; max: number }, value: unknown): string | undefined {
  const isWithin = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return isWithin ? undefined : `must be a whole number from ${min} to ${max}`;
}

function areTranslations(value: unknown): boolean {
  const areTexts = (texts: unknown): boolean =>
    isRecord(texts) && Object.values(texts).every((text) => typeof text === 'string' || areLabels(text));
  const areLabels = (labels: unknown): boolean =>
    isRecord(labels) && Object.values(labels).every((label) => typeof label === 'string');
  return isRecord(value) && Object.values(value).every(areTexts);
}

function languagesProblem({ maxItems }: { maxItems: number }, value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must be a list of languages';
  if (value.length > maxItems) return `must have at most ${maxItems} languages`;
  if (new Set(value).size < value.length) return 'must not repeat a language';
  const isTag = (tag: unknown): boolean => typeof tag === 'string' && isLanguageTag(tag);
  return value.every(isTag) ? undefined : 'must be a list of languages like "en", "pt-BR" or "zh-Hant"';
}
