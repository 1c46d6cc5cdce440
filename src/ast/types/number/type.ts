import type { JsonSchema } from '../../basics/json-schema.ts';
import type { NumberRules } from '../../rules/check-rules.ts';
import { defineInputType } from '../definition.ts';
import { inputAttributes, quizAttributes, unique } from '../shared-attributes.ts';

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
  schema,
  samples: ({ min, max, step = 1 }) =>
    [42, min, max, max === undefined ? undefined : max - (max % step), 0, step].filter(
      (value) => value !== undefined,
    ),
});

/** Validators use binary fractions, so only whole steps from zero become `multipleOf`. */
function schema({ min, max, step }: NumberRules): JsonSchema {
  const isWhole = step !== undefined && Number.isInteger(step) && (min ?? 0) % step === 0;
  return {
    type: 'number',
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(isWhole && { multipleOf: step }),
    ...(step !== undefined && !isWhole && { description: `In steps of ${step} from ${min ?? 0}.` }),
  };
}
