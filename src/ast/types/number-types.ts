import { attributeDefaults } from '../basics/defaults.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { NumberRules } from '../rules/check-rules.ts';
import { defineInputType } from './definition.ts';
import { ratingRules, scaleRules } from './eager-rules.ts';
import type { Levels } from './rules.ts';
import {
  countAttribute,
  id,
  inputAttributes,
  label,
  questionAttributes,
  quizAttributes,
  translations,
  unique,
  visibilityAttributes,
} from './shared-attributes.ts';

export const number = defineInputType({
  title: 'Number',
  icon: 'M8 3.5 6.5 16.5M13.5 3.5 12 16.5M4 7.5h13M3 12.5h13',
  words: 'integer decimal amount',
  attrs: {
    ...inputAttributes,
    unique,
    min: { kind: 'number', title: 'Minimum' },
    max: { kind: 'number', title: 'Maximum' },
    step: { kind: 'number', title: 'Increment', isPositive: true },
    ...quizAttributes('number'),
  },
  summary: 'numbers',
  columnWidth: 120,
  control: 'text',
  schema: numberSchema,
  samples: ({ min, max, step = 1 }) =>
    [42, min, max, max === undefined ? undefined : max - (max % step), 0, step].filter(
      (value) => value !== undefined,
    ),
});

/** Validators use binary fractions, so only whole steps from zero become `multipleOf`. */
function numberSchema({ min, max, step }: NumberRules): JsonSchema {
  const isWhole = step !== undefined && Number.isInteger(step) && (min ?? 0) % step === 0;
  return {
    type: 'number',
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(isWhole && { multipleOf: step }),
    ...(step !== undefined && !isWhole && { description: `In steps of ${step} from ${min ?? 0}.` }),
  };
}

/** The attributes of a question on a scale besides its levels. */
const levelAttributes = {
  ...questionAttributes,
  low_label: { kind: 'string', title: 'Label of the lowest level', maxBytes: formLimits.labelBytes },
  high_label: { kind: 'string', title: 'Label of the highest level', maxBytes: formLimits.labelBytes },
} as const;

const levelSchema = ({ from, to }: Levels): JsonSchema => ({
  type: 'integer',
  minimum: from,
  maximum: to,
});

export const rating = defineInputType({
  title: 'Rating',
  icon: 'M10 3l2.1 4.5 4.9.6-3.6 3.4.9 4.9L10 14l-4.3 2.4.9-4.9L3 8.1l4.9-.6z',
  words: 'stars hearts smileys faces score satisfaction csat review',
  palette: 'choice',
  firstLabel: 'How did you like it?',
  attrs: {
    ...levelAttributes,
    levels: { kind: 'integer', title: 'Levels', min: 2, max: 10, default: attributeDefaults.levels },
    symbol: {
      kind: 'one-of',
      title: 'Symbol',
      values: ['stars', 'hearts', 'smileys', 'numbers'],
      default: attributeDefaults.symbol,
      // An enum named like a TypeScript type does not compile.
      component: 'RatingSymbol',
    },
  },
  summary: 'levels',
  columnWidth: 120,
  schema: (attrs) => levelSchema(ratingRules.levels(attrs)),
  samples: (attrs) => [ratingRules.levels(attrs).to],
});

export const scale = defineInputType({
  title: 'Scale',
  icon: 'M3 7h14v6H3zM6.5 7v6M10 7v6M13.5 7v6',
  words: 'nps net promoter recommend likely likert opinion score numbers slider range',
  palette: 'choice',
  firstLabel: 'How likely are you to recommend us?',
  attrs: {
    ...levelAttributes,
    from: { kind: 'integer', title: 'From', min: 0, max: 1, default: attributeDefaults.from },
    to: { kind: 'integer', title: 'To', min: 2, max: 10, default: attributeDefaults.to },
    display: {
      kind: 'one-of',
      title: 'Display',
      values: ['numbers', 'slider'],
      default: attributeDefaults.display,
    },
  },
  summary: 'recommendation',
  columnWidth: 120,
  schema: (attrs) => levelSchema(scaleRules.levels(attrs)),
  samples: (attrs) => [scaleRules.levels(attrs).to],
});

/** Visitors do not answer it, so it cannot be required. */
const {
  error_message: _error,
  required: _required,
  require_when: _when,
  valid_when: _rule,
  ...calculationAttributes
} = questionAttributes;

/** The text before or after a number, such as a currency or a unit. */
const affix = <Title extends string>(title: Title) =>
  ({ kind: 'string', title, maxBytes: formLimits.affixBytes }) as const;

export const calculation = defineInputType({
  title: 'Calculation',
  icon: 'M4.5 2.5h11v15h-11zM7 5.5h6M7 10h1M12 10h1M7 14h1M12 14h1',
  words: 'formula total sum score price points result computed',
  palette: 'content',
  firstLabel: 'Total',
  attrs: {
    ...calculationAttributes,
    formula: { kind: 'formula', title: 'Formula', required: true },
    decimals: countAttribute('Decimals', 0, 10),
    prefix: affix('Prefix'),
    suffix: affix('Suffix'),
    hidden: { kind: 'boolean', title: 'Hidden from visitors', default: attributeDefaults.hidden },
  },
  summary: 'numbers',
  columnWidth: 120,
  schema: () => ({ type: 'number' }),
  samples: () => [42],
});

export const score = defineInputType({
  title: 'Quiz score',
  icon: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15M6.5 10l2.5 2.5 4.5-5',
  words: 'points result test exam pass mark grade',
  palette: 'content',
  firstLabel: 'Score',
  attrs: {
    id,
    label,
    counts: {
      kind: 'one-of',
      title: 'Questions',
      values: ['form', 'section'],
      default: attributeDefaults.counts,
    },
    pass_mark: countAttribute('Pass mark', 1, formLimits.points),
    ...visibilityAttributes,
    translations,
  },
  summary: 'numbers',
  columnWidth: 160,
  schema: () => ({ type: 'number' }),
  samples: () => [8],
});
