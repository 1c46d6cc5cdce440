import type { Condition, Jump } from '../basics/condition.ts';
import type { Option } from '../basics/options.ts';
import type { Translations } from '../basics/translation-shapes.ts';
import type { MomentFormat } from '../rules/moments.ts';

/** What each kind of attribute adds to its specification. */
type KindDetails = {
  readonly id: object;
  readonly string: { readonly maxBytes: number };
  readonly boolean: { readonly default: boolean };
  /** `isOpen`: a number above `max` is taken as `max` where it is used. */
  readonly integer: {
    readonly default: number;
    readonly min: number;
    readonly max: number;
    readonly isOpen?: true;
  };
  /** The options of a question: texts, or ids with labels; where they are chosen, with what each counts and how often. */
  readonly options: {
    readonly maxItems: number;
    readonly maxBytes: number;
    readonly areChosen: boolean;
    readonly arePictures?: true;
  };
  /** `isOpen`: another word is kept as it was sent, and means the default. */
  /** `component`: what the schema of the values is called, where generators would make an enum of the attribute's name. */
  readonly 'one-of': {
    readonly default: string;
    readonly values: readonly string[];
    readonly isOpen?: true;
    readonly component?: string;
  };
  /** A whole number that may be missing: then there is no such limit. */
  readonly count: { readonly min: number; readonly max: number };
  /** The most bytes of something, as `count`; people read and write it in MB. */
  readonly bytes: { readonly min: number; readonly max: number };
  readonly number: { readonly isPositive?: true };
  /** A limit for a date or time in the format of its answers; `today+30` where the format has a day. */
  readonly moment: { readonly format: MomentFormat };
  readonly pattern: object;
  readonly 'file-types': object;
  /** The id of an image of the workspace. */
  readonly image: object;
  readonly condition: object;
  readonly jumps: object;
  /** The languages that a form is written in, as BCP-47 tags; the texts themselves are in the first. */
  readonly languages: { readonly maxItems: number };
  /** The texts of a node in the others (translations/shapes.ts). */
  readonly translations: object;
  readonly formula: object;
};

export type AttributeKind = keyof KindDetails;

/**
 * One attribute of a node: its kind, its limits, its default, and a short `title` for the builder and OpenAPI.
 */
export type AttributeSpec<Kind extends AttributeKind = AttributeKind> = {
  [K in Kind]: { readonly kind: K; readonly title: string; readonly required?: true } & KindDetails[K];
}[Kind];

export type AttributeSpecs = Readonly<Record<string, AttributeSpec>>;

/** The type of each kind's value; `one-of` is narrowed to the values of its specification. */
type KindValues = {
  readonly id: string;
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly options: readonly Option[];
  readonly 'one-of': string;
  readonly count: number;
  readonly bytes: number;
  readonly number: number;
  readonly moment: string;
  readonly pattern: string;
  readonly 'file-types': readonly string[];
  readonly image: string;
  readonly condition: Condition;
  readonly jumps: readonly Jump[];
  readonly languages: readonly string[];
  readonly translations: Translations;
  readonly formula: string;
};

type ValueOf<Spec> = Spec extends { kind: 'one-of'; values: readonly (infer Value)[] }
  ? Value
  : Spec extends { kind: infer Kind extends AttributeKind }
    ? KindValues[Kind]
    : never;

/** Names of the attributes that must be present. */
export type RequiredNames<Specs> = {
  [Name in keyof Specs]: Specs[Name] extends { required: true } ? Name : never;
}[keyof Specs];

/** The attributes of a valid node, derived from its specifications. */
export type AttributesOf<Specs> = {
  readonly [Name in RequiredNames<Specs>]: ValueOf<Specs[Name]>;
} & { readonly [Name in Exclude<keyof Specs, RequiredNames<Specs>>]?: ValueOf<Specs[Name]> };
