import { attributeDefaults } from '../basics/defaults.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import { allowsOtherChoice, type ChoiceAttributes, optionIdOf, optionLabelOf } from '../basics/options.ts';
import { inputAttributes, optionsLayout, quizAttributes, shuffle } from './shared-attributes.ts';

export const choiceAttributes = {
  ...inputAttributes,
  options: {
    kind: 'options',
    title: 'Options',
    required: true,
    maxItems: formLimits.options,
    maxBytes: formLimits.labelBytes,
    areChosen: true,
  },
  shuffle: shuffle('Shuffle options'),
  other: { kind: 'boolean', title: 'Other answer', default: attributeDefaults.other },
  ...quizAttributes('string'),
} as const;

export const radioAttributes = {
  ...choiceAttributes,
  options_layout: optionsLayout(attributeDefaults.options_layout),
} as const;

export function choiceSchema(attrs: ChoiceAttributes): JsonSchema {
  const options = optionSchema(attrs);
  return allowsOtherChoice(attrs) ? { anyOf: [options, { type: 'string', minLength: 1 }] } : options;
}

/** Returns the schema of an option's stored value, with the label as title if it differs. */
export function optionSchema({ options }: Pick<ChoiceAttributes, 'options'>): JsonSchema {
  return options.every((option) => optionIdOf(option) === optionLabelOf(option))
    ? { enum: options.map(optionIdOf) }
    : { oneOf: options.map((option) => ({ const: optionIdOf(option), title: optionLabelOf(option) })) };
}

export const firstOption = ({ options }: ChoiceAttributes): string[] => options.slice(0, 1).map(optionIdOf);
