import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { Levels } from './rules.ts';
import { questionAttributes } from './shared-attributes.ts';

/** The attributes of a question on a scale besides its levels. */
export const levelAttributes = {
  ...questionAttributes,
  low_label: { kind: 'string', title: 'Label of the lowest level', maxBytes: formLimits.labelBytes },
  high_label: { kind: 'string', title: 'Label of the highest level', maxBytes: formLimits.labelBytes },
} as const;

export const levelSchema = ({ from, to }: Levels): JsonSchema => ({
  type: 'integer',
  minimum: from,
  maximum: to,
});
