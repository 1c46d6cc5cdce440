import { endOfForm, operators } from '../basics/condition.ts';
import { limits } from '../basics/limits.ts';

/** Stands for the condition's schema wherever one is taken. */
const conditionReference = { $ref: '#/components/schemas/Condition' };

export const conditionAttribute = {
  ...conditionReference,
  examples: [{ reference: 'plan', is: 'equals', value: 'pro' }],
};

const conditions = { type: 'array', items: conditionReference, minItems: 1 };
const plain = [{ type: 'string' }, { type: 'number' }];

const comparison = (kind: 'element' | 'reference', description: string): object => ({
  type: 'object',
  properties: {
    [kind]: { type: 'string', minLength: 1, description },
    ...(kind === 'element' && {
      row: { type: 'string', minLength: 1, description: 'The id of a row, where the element is a matrix.' },
    }),
    is: { enum: operators },
    value: {
      description: 'Absent for `answered` and `not_answered`, a list for `one_of`.',
      anyOf: [
        ...plain,
        { type: 'boolean' },
        { type: 'array', items: { anyOf: plain }, minItems: 1, maxItems: limits.conditionValues },
      ],
    },
  },
  required: [kind, 'is'],
  additionalProperties: false,
});

const nested = (kind: 'all' | 'any' | 'not', schema: object): object => ({
  type: 'object',
  properties: { [kind]: schema },
  required: [kind],
  additionalProperties: false,
});

/** JSON Schema of a condition; it refers to itself. */
export const conditionSchema = {
  title: 'Condition',
  description: `Over the answers of the same step and of earlier ones, and over reference values; at most ${limits.conditionDepth} deep, with at most ${limits.comparisons} comparisons.`,
  oneOf: [
    nested('all', conditions),
    nested('any', conditions),
    nested('not', conditionReference),
    comparison('element', 'The id of an input, or of a group for `answered` and `not_answered`.'),
    comparison('reference', 'The name of a reference value.'),
  ],
};

/** JSON Schema of a step's jumps. */
export const jumpsSchema = {
  type: 'array',
  minItems: 1,
  maxItems: limits.jumps,
  examples: [[{ to: endOfForm }]],
  items: {
    type: 'object',
    properties: {
      when: conditionReference,
      to: { type: 'string', description: `The id of a later step, or "${endOfForm}".` },
    },
    required: ['to'],
    additionalProperties: false,
  },
};
