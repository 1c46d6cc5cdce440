import type { JsonSchema } from '../json-schema.ts';
import { limits } from '../limits.ts';
import type { Levels } from './rules.ts';
import { inputAttributes } from './shared-attributes.ts';

const { placeholder: _none, ...asked } = inputAttributes;

/** What a question on a scale says besides its levels. */
export const levelAttributes = {
  ...asked,
  low_label: { kind: 'string', title: 'Words for the lowest', maxBytes: limits.labelBytes },
  high_label: { kind: 'string', title: 'Words for the highest', maxBytes: limits.labelBytes },
} as const;

export const levelSchema = ({ from, to }: Levels): JsonSchema => ({
  type: 'integer',
  minimum: from,
  maximum: to,
});
