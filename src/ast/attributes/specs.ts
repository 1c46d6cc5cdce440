import type { Condition, Jump } from '../basics/condition.ts';
import type { Option } from '../basics/options.ts';
import type { Translations } from '../basics/translations-schema.ts';
import type { MomentFormat } from '../rules/moments.ts';

/** The additional details in the specification of each kind of attribute. */
type KindDetails = {
  readonly id: object;
  readonly string: { readonly maxBytes: number };
  readonly boolean: { readonly default: boolean };
  /** `isOpen`: a number above `max` is accepted and treated as `max`. */
  readonly integer: {
    readonly default: number;
    readonly min: number;
    readonly max: number;
    readonly isOpen?: true;
  };
  /** The options of a question: texts, or IDs with labels. If chosen, also with points and capacities. */
  readonly options: {
    readonly maxItems: number;
    readonly maxBytes: number;
    readonly areChosen: boolean;
    readonly arePictures?: true;
  };
  /** `isOpen`: an unknown value is stored as sent and treated as the default. */
  /**
   * `component`: the schema name for the values. Without it, generators name the enum after the attribute.
   */
  readonly 'one-of': {
    readonly default: string;
    readonly values: readonly string[];
    readonly isOpen?: true;
    readonly component?: string;
  };
  /** An optional whole number. If it is missing, there is no limit. */
  readonly count: { readonly min: number; readonly max: number };
  /** An optional limit in bytes. People see and enter it in MB. */
  readonly bytes: { readonly min: number; readonly max: number };
  readonly number: { readonly isPositive?: true };
  /** A limit of a date or time, in the format of its answers. Formats with a day also allow `today+30`. */
  readonly moment: { readonly format: MomentFormat };
  readonly pattern: object;
  readonly 'file-types': object;
  /** The ID of an image in the workspace. */
  readonly image: object;
  readonly condition: object;
  readonly jumps: object;
  /** The languages of a form, as BCP 47 tags. The first one is the language of the texts in the nodes. */
  readonly languages: { readonly maxItems: number };
  /** The texts of a node in the other languages (basics/translations-schema.ts). */
  readonly translations: object;
  readonly formula: object;
  /** The right answers to a question. Of a list of options, all are right together; of others, any one is. */
  readonly correct: { readonly answers: 'string' | 'number' | 'boolean'; readonly format?: MomentFormat };
};

export type AttributeKind = keyof KindDetails;

/** An attribute of a node: its kind, limits and default, and a short `title` for the builder and OpenAPI. */
export type AttributeSpec<Kind extends AttributeKind = AttributeKind> = {
  [K in Kind]: { readonly kind: K; readonly title: string; readonly required?: true } & KindDetails[K];
}[Kind];

export type AttributeSpecs = Readonly<Record<string, AttributeSpec>>;

/** The type of the values of each kind. `one-of` is narrowed to the values in its specification. */
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
  readonly correct: readonly (string | number | boolean)[];
};

type ValueOf<Spec> = Spec extends { kind: 'one-of'; values: readonly (infer Value)[] }
  ? Value
  : Spec extends { kind: infer Kind extends AttributeKind }
    ? KindValues[Kind]
    : never;

/** The names of the required attributes. */
export type RequiredNames<Specs> = {
  [Name in keyof Specs]: Specs[Name] extends { required: true } ? Name : never;
}[keyof Specs];

/** The attributes of a valid node, derived from their specifications. */
export type AttributesOf<Specs> = {
  readonly [Name in RequiredNames<Specs>]: ValueOf<Specs[Name]>;
} & { readonly [Name in Exclude<keyof Specs, RequiredNames<Specs>>]?: ValueOf<Specs[Name]> };
