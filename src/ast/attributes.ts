import { quote, sayBytes } from './problems.ts';
import { fitsBytes } from './text.ts';

/** What each kind of attribute adds to its specification. */
type KindDetails = {
  readonly id: object;
  readonly string: { readonly maxBytes: number };
  readonly boolean: { readonly default: boolean };
  readonly integer: { readonly default: number; readonly min: number; readonly max: number };
  readonly strings: { readonly maxItems: number; readonly maxBytes: number };
  readonly 'one-of': { readonly default: string; readonly values: readonly string[] };
};

export type AttributeKind = keyof KindDetails;

/**
 * One attribute of a node: its kind, its limits, its default, and a short `title` for the builder and OpenAPI.
 */
export type AttributeSpec<Kind extends AttributeKind = AttributeKind> = {
  [K in Kind]: { readonly kind: K; readonly title: string; readonly required?: true } & KindDetails[K];
}[Kind];

export type AttributeSpecs = Readonly<Record<string, AttributeSpec>>;

type ValueOf<Spec> = Spec extends { kind: 'id' | 'string' }
  ? string
  : Spec extends { kind: 'boolean' }
    ? boolean
    : Spec extends { kind: 'integer' }
      ? number
      : Spec extends { kind: 'strings' }
        ? readonly string[]
        : Spec extends { kind: 'one-of'; values: readonly (infer Value)[] }
          ? Value
          : never;

/** Names of the attributes that must be present. */
export type RequiredNames<Specs> = {
  [Name in keyof Specs]: Specs[Name] extends { required: true } ? Name : never;
}[keyof Specs];

/** The attributes of a valid node, derived from its specifications. */
export type AttributesOf<Specs> = {
  readonly [Name in RequiredNames<Specs>]: ValueOf<Specs[Name]>;
} & { readonly [Name in Exclude<keyof Specs, RequiredNames<Specs>>]?: ValueOf<Specs[Name]> };

const idPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const reservedIds: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Whether the text can be an element id (DESIGN 4.13). */
export function isElementId(text: string): boolean {
  return idPattern.test(text) && !reservedIds.includes(text);
}

type KindRules<Kind extends AttributeKind> = {
  /** What is wrong with the value, as the end of a sentence about the attribute. */
  readonly problem: (spec: AttributeSpec<Kind>, value: unknown) => string | undefined;
  readonly schema: (spec: AttributeSpec<Kind>) => object;
};

/** One row per kind of attribute: its check and its JSON Schema. */
const kinds: { readonly [Kind in AttributeKind]: KindRules<Kind> } = {
  id: {
    problem: (_spec, value) => {
      if (typeof value !== 'string') return 'must be text';
      if (isElementId(value)) return undefined;
      return reservedIds.includes(value)
        ? `must not be the reserved word ${quote(value)}`
        : 'must start with a letter and have at most 64 letters, digits, "-" and "_"';
    },
    schema: () => ({ type: 'string', pattern: idPattern.source, not: { enum: reservedIds } }),
  },
  string: {
    problem: (spec, value) => {
      if (typeof value !== 'string') return 'must be text';
      return fitsBytes(value, spec.maxBytes) ? undefined : `must have at most ${sayBytes(spec.maxBytes)}`;
    },
    // JSON Schema counts characters; a text of n bytes never has more than n of them.
    schema: (spec) => ({ type: 'string', maxLength: spec.maxBytes, ...(spec.required && { minLength: 1 }) }),
  },
  boolean: {
    problem: (_spec, value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    schema: (spec) => ({ type: 'boolean', default: spec.default }),
  },
  integer: {
    problem: (spec, value) =>
      Number.isInteger(value) && Number(value) >= spec.min && Number(value) <= spec.max
        ? undefined
        : `must be a whole number from ${spec.min} to ${spec.max}`,
    schema: (spec) => ({ type: 'integer', minimum: spec.min, maximum: spec.max, default: spec.default }),
  },
  strings: {
    problem: (spec, value) => (Array.isArray(value) ? listProblem(spec, value) : 'must be a list of texts'),
    schema: (spec) => ({
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: spec.maxBytes },
      minItems: 1,
      maxItems: spec.maxItems,
      uniqueItems: true,
    }),
  },
  'one-of': {
    problem: (spec, value) =>
      typeof value === 'string' && spec.values.includes(value)
        ? undefined
        : `must be one of ${spec.values.map(quote).join(', ')}`,
    schema: (spec) => ({ type: 'string', enum: spec.values, default: spec.default }),
  },
};

function listProblem(spec: AttributeSpec<'strings'>, list: readonly unknown[]): string | undefined {
  if (list.length === 0) return 'must have at least one entry';
  if (list.length > spec.maxItems) return `must have at most ${spec.maxItems} entries`;
  const seen = new Set<string>();
  for (const entry of list) {
    if (typeof entry !== 'string') return 'must be a list of texts';
    // A line break would come back from an HTML form as CRLF and match no option any more.
    if (entry.trim() === '' || /[\r\n]/.test(entry))
      return 'must not have an entry that is blank or has line breaks';
    if (!fitsBytes(entry, spec.maxBytes)) return `must not have an entry over ${sayBytes(spec.maxBytes)}`;
    if (seen.has(entry)) return `must not repeat ${quote(entry)}`;
    seen.add(entry);
  }
  return undefined;
}

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
