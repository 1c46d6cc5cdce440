import { comparisonOperators, endOfForm } from '../basics/condition.ts';
import { formLimits } from '../basics/limits.ts';

/** The reference to the schema of conditions. */
const conditionReference = { $ref: '#/components/schemas/Condition' };

export const conditionAttributeSchema = {
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
      row: { type: 'string', minLength: 1, description: 'The ID of a row if the element is a matrix.' },
      other: {
        type: 'string',
        minLength: 1,
        description: 'The ID of the question to compare with, instead of `value`. Not with `one_of`.',
      },
    }),
    is: { enum: comparisonOperators },
    value: {
      description: 'Absent for `answered` and `not_answered`, and with `other`. A list for `one_of`.',
      anyOf: [
        ...plain,
        { type: 'boolean' },
        { type: 'array', items: { anyOf: plain }, minItems: 1, maxItems: formLimits.conditionValues },
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

/** The JSON Schema of a condition. It refers to itself. */
export const conditionSchema = {
  title: 'Condition',
  description: `Can use answers from the current and earlier steps, and reference values. At most ${formLimits.conditionDepth} levels deep, with at most ${formLimits.comparisons} comparisons.`,
  oneOf: [
    nested('all', conditions),
    nested('any', conditions),
    nested('not', conditionReference),
    comparison('element', 'The ID of an input, or of a group for `answered` and `not_answered`.'),
    comparison('reference', 'The name of a reference value.'),
  ],
};

/** The JSON Schema of a step's jumps. */
export const jumpsSchema = {
  type: 'array',
  minItems: 1,
  maxItems: formLimits.jumps,
  examples: [[{ to: endOfForm }]],
  items: {
    type: 'object',
    properties: {
      when: conditionReference,
      to: { type: 'string', description: `The ID of a later step, or "${endOfForm}".` },
    },
    required: ['to'],
    additionalProperties: false,
  },
};
