import { kinds } from './attributes/kinds.ts';
import type { AttributeKind, AttributeSpec } from './attributes/specs.ts';

export { isElementId } from './attributes/kinds.ts';
export type {
  AttributeKind,
  AttributesOf,
  AttributeSpec,
  AttributeSpecs,
  RequiredNames,
} from './attributes/specs.ts';

/** Whether the value stands for "not there": required attributes must not be blank either. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** What is wrong with a present value, as the end of a sentence about the attribute: `must be text`. */
export function attributeProblem<Kind extends AttributeKind>(
  spec: AttributeSpec<Kind>,
  value: unknown,
): string | undefined {
  return kinds[spec.kind].problem(spec, value);
}

/** JSON Schema (2020-12) of one attribute. */
export function attributeSchema<Kind extends AttributeKind>(spec: AttributeSpec<Kind>): object {
  return { title: spec.title, ...kinds[spec.kind].schema(spec) };
}
