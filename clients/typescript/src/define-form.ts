import type { AnswerTypes, CompositeElement, Element, Form, SettingsChange, Step, Structure } from './api.ts';

/** Makes the type of a definition deeply read-only. */
type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Written<T[K]> }
    : T;

/** A node of the tree with its attributes beside its type. */
type Flat<Node> = Node extends { type: infer Type; attrs?: infer Attributes }
  ? { readonly type: Type } & Written<NonNullable<Attributes>>
  : never;
type WrittenGroup = Flat<CompositeElement> & { readonly children: readonly WrittenElement[] };
/**
 * An element of a definition: `{ type: 'text', id: 'subject', label: 'Subject' }`. A `composite` has
 * `children`.
 */
export type WrittenElement = Flat<Exclude<Element, CompositeElement>> | WrittenGroup;
type WrittenStep = Written<NonNullable<Step['attrs']>> & { readonly elements: readonly WrittenElement[] };

/** The definition of a form. */
export type FormDefinition = Written<Structure['attrs']> & {
  /** The form's id on the service. By default, the form with this name is used. */
  readonly id?: string;
  /** The status after `apply()`. By default, a new form is a draft, and an existing one keeps its status. */
  readonly status?: Form['status'];
  /** All settings of the form. By default, the service keeps its settings. */
  readonly settings?: Written<SettingsChange>;
  readonly steps: readonly WrittenStep[];
};

/** A form in the API's format, with the type of its answers. */
export type DefinedForm<Answers = unknown> = {
  id?: string;
  status?: Form['status'];
  structure: Structure;
  settings?: SettingsChange;
  /** Exists only for the type checker. */
  readonly answers?: Answers;
};

/** The type of a form's answers: `AnswersOf<typeof contact>`. */
export type AnswersOf<Defined> = Defined extends DefinedForm<infer Answers> ? Answers : never;

/** The possible answers of a selection. */
export type OptionOf<E> = E extends { options: readonly (infer Option)[] }
  ? E extends { other: true }
    ? IdOf<Option> | (string & {})
    : IdOf<Option>
  : string;

/** The chosen options of a matrix, by row. */
export type GridOf<E> = {
  [Row in RowOf<E>]?: E extends { multiple: true } ? OptionOf<E>[] : OptionOf<E>;
};

type RowOf<E> = E extends { rows: readonly (infer Row)[] } ? IdOf<Row> : string;

/** Returns the part of an option that answers store. */
type IdOf<Option> = Option extends { readonly id: infer Id extends string } ? Id : Option & string;

/** Defines a form in one place: its structure, its settings and the type of its answers. */
export function defineForm<const Definition extends FormDefinition>(
  definition: Definition,
): DefinedForm<AnswersIn<Definition['steps'][number]>> {
  const { id, status, settings, steps, ...attrs }: FormDefinition = definition;
  const children = steps.map(({ elements, ...more }) => ({
    type: 'step',
    attrs: more,
    children: elements.map(nodeOf),
  }));
  // The types of a definition's nodes are those of the structure.
  const form: unknown = { ...(id && { id }), ...(status && { status }), ...(settings && { settings }) };
  return {
    ...(form as DefinedForm<never>),
    structure: { type: 'form', attrs, children } as unknown as Structure,
  };
}

function nodeOf(element: WrittenElement): object {
  const { type, ...attrs } = element;
  if (!('children' in attrs)) return { type, attrs, children: [] };
  const { children, ...own } = attrs;
  return { type, attrs: own, children: children.map(nodeOf) };
}

// The types of answers ------------------------------------------------------------------------------------------

/** Whether the node may be hidden from a visitor. */
type MayHide<Node> = Node extends { show_when: unknown } | { hide_when: unknown } ? true : false;
type Or<A, B> = true extends A | B ? true : false;

/**
 * The questions of an element. The fields of a group count as its siblings, except those of a repeatable
 * group.
 */
type Questions<E, Hidden> = E extends { type: 'composite'; children: readonly (infer Child)[] }
  ? WrittenElement extends Child
    ? // A definition without literal types would cause endless recursion.
      never
    : E extends { repeatable: true; id: infer Id }
      ? { id: Id; answer: AnswersOfAll<Questions<Child, false>>[]; isGiven: false }
      : Questions<Child, Or<Hidden, MayHide<E>>>
  : E extends { type: infer Type extends keyof AnswerTypes<E>; id: infer Id }
    ? {
        id: Id;
        answer: AnswerTypes<E>[Type];
        isGiven: E extends { required: true } ? (Or<Hidden, MayHide<E>> extends true ? false : true) : false;
      }
    : never;

type Question = { id: unknown; answer: unknown; isGiven: boolean };
type AnswersOfAll<Q extends Question> = Simple<
  { [One in Q as One['isGiven'] extends true ? Named<One> : never]: One['answer'] } & {
    [One in Q as One['isGiven'] extends true ? never : Named<One>]?: One['answer'];
  }
>;
type Named<Q extends Question> = Q['id'] extends string ? Q['id'] : never;
type Simple<T> = { [K in keyof T]: T[K] };

/** If any step has jumps, a visitor may skip every other step. */
type StepQuestions<S, Jumps> = S extends { elements: readonly (infer E)[] }
  ? Questions<E, Or<Jumps, MayHide<S>>>
  : never;
type AnswersIn<S> = AnswersOfAll<
  StepQuestions<S, [Extract<S, { jumps: unknown }>] extends [never] ? false : true>
>;
