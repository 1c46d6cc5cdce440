import { defaults } from '../basics/defaults.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import { limits } from '../basics/limits.ts';
import { allowsOther, idOf, labelOf, type Selection } from '../basics/options.ts';
import { inputAttributes, optionsLayout } from './shared-attributes.ts';

export const selectionAttributes = {
  ...inputAttributes,
  options: {
    kind: 'options',
    title: 'Options',
    required: true,
    maxItems: limits.options,
    maxBytes: limits.labelBytes,
    areChosen: true,
  },
  other: { kind: 'boolean', title: 'Other answer', default: defaults.other },
} as const;

export const radioAttributes = {
  ...selectionAttributes,
  options_layout: optionsLayout(defaults.options_layout),
} as const;

export function choiceSchema(attrs: Selection): JsonSchema {
  const options = optionSchema(attrs);
  return allowsOther(attrs) ? { anyOf: [options, { type: 'string', minLength: 1 }] } : options;
}

/** Returns the schema of an option's stored value, with the label as title if it differs. */
export function optionSchema({ options }: Pick<Selection, 'options'>): JsonSchema {
  return options.every((option) => idOf(option) === labelOf(option))
    ? { enum: options.map(idOf) }
    : { oneOf: options.map((option) => ({ const: idOf(option), title: labelOf(option) })) };
}

export const firstOption = ({ options }: Selection): string[] => options.slice(0, 1).map(idOf);
