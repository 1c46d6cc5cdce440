import { orNullSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { ProblemCode } from '../basics/problems.ts';
import { isInvisible } from '../basics/text.ts';
import { attributeKinds } from './kinds.ts';
import type { AttributeKind, AttributeSpec } from './specs.ts';

export { isElementId } from '../basics/element-id.ts';
export type {
  AttributeKind,
  AttributeSpec,
  AttributeSpecs,
  AttributesOf,
  RequiredNames,
} from './specs.ts';

/** Returns whether a value counts as missing. Required attributes must not be blank either. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && isInvisible(value));
}

/** Returns what is wrong with an attribute value, as the end of a sentence: `must be text`. */
export function attributeProblem<Kind extends AttributeKind>(
  spec: AttributeSpec<Kind>,
  value: unknown,
): string | undefined {
  return attributeKinds[spec.kind].problem(spec, value);
}

/** The JSON type of each simple kind. For the other kinds, their parts are checked. */
const jsonTypes: Partial<Record<AttributeKind, 'string' | 'number' | 'boolean'>> = {
  id: 'string',
  string: 'string',
  boolean: 'boolean',
  integer: 'number',
  'one-of': 'string',
  count: 'number',
  bytes: 'number',
  number: 'number',
  moment: 'string',
  pattern: 'string',
  image: 'string',
  formula: 'string',
};

/** Returns the error code of a value that `attributeProblem` rejects. */
export function attributeErrorCode(spec: AttributeSpec, value: unknown): ProblemCode {
  const type = jsonTypes[spec.kind];
  if (type === undefined) return 'invalid';
  if (typeof value !== type) return 'invalid_type';
  if (spec.kind === 'one-of') return 'invalid_choice';
  if (spec.kind === 'string' || (spec.kind === 'id' && String(value).length > formLimits.elementId))
    return 'too_long';
  if (type !== 'number' || !('max' in spec) || !Number.isInteger(value)) return 'invalid_format';
  return Number(value) < spec.min ? 'too_small' : 'too_large';
}

/** Returns the JSON Schema (2020-12) of an attribute. Optional attributes can also be null. */
export function attributeSchema<Kind extends AttributeKind>(spec: AttributeSpec<Kind>): object {
  const schema: Readonly<Record<string, unknown>> = { ...attributeKinds[spec.kind].schema(spec) };
  return { title: spec.title, ...(spec.required ? schema : orNullSchema(schema)) };
}
