import { defaults } from '../attributes/defaults.ts';
import { otherTaken, type Selection } from '../answers/options.ts';
import type { JsonSchema } from '../json-schema.ts';
import { limits } from '../limits.ts';
import { inputAttributes, optionsLayout } from './shared-attributes.ts';

export const selectionAttributes = {
  ...inputAttributes,
  options: {
    kind: 'strings',
    title: 'Options',
    required: true,
    maxItems: limits.options,
    maxBytes: limits.labelBytes,
  },
  other: { kind: 'boolean', title: 'Other answer', default: defaults.other },
} as const;

export const radioAttributes = {
  ...selectionAttributes,
  options_layout: optionsLayout(defaults.options_layout),
} as const;

export function choiceSchema(attrs: Selection): JsonSchema {
  const options: JsonSchema = { enum: attrs.options };
  return otherTaken(attrs) ? { anyOf: [options, { type: 'string', minLength: 1 }] } : options;
}

export const firstOption = ({ options }: Selection): string[] => [options[0]!];
