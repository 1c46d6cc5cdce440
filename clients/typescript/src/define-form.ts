import type { AnswerTypes, CompositeElement, Element, Form, SettingsChange, Step, Structure } from './api.ts';

/** As it is written down: nothing in it changes. */
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
/** An element as it is written: `{ type: 'text', id: 'subject', label: 'Subject' }`; a `composite` has `children`. */
export type WrittenElement = Flat<Exclude<Element, CompositeElement>> | WrittenGroup;
type WrittenStep = Written<NonNullable<Step['attrs']>> & { readonly elements: readonly WrittenElement[] };

/** A form as it is written. */
export type FormDefinition = Written<Structure['attrs']> & {
  /** Of the form that it is on the service; without it, the one of this name. */
  readonly id?: string;
  /** As it is after it was applied: left out, a new form is a draft, and any other stays what it is. */
  readonly status?: Form['status'];
  /** All of them; left out, those of the service stay. */
  readonly settings?: Written<SettingsChange>;
  readonly steps: readonly WrittenStep[];
};

/** A form as the API takes it, with the type of its answers. */
export type DefinedForm<Answers = unknown> = {
  id?: string;
  status?: Form['status'];
  structure: Structure;
  settings?: SettingsChange;
  /** Only for the compiler. */
  readonly answers?: Answers;
};

/** The answers of a form: `AnswersOf<typeof contact>`. */
export type AnswersOf<Defined> = Defined extends DefinedForm<infer Answers> ? Answers : never;

/** What a selection can be answered with. */
export type OptionOf<E> = E extends { options: readonly (infer Option)[] }
  ? E extends { other: true }
    ? IdOf<Option> | (string & {})
    : IdOf<Option>
  : string;

/** What is chosen in each row of a matrix that is answered, by the row. */
export type GridOf<E> = {
  [Row in RowOf<E>]?: E extends { multiple: true } ? OptionOf<E>[] : OptionOf<E>;
};

type RowOf<E> = E extends { rows: readonly (infer Row)[] } ? IdOf<Row> : string;

/** Returns the part of an option that answers store. */
type IdOf<Option> = Option extends { readonly id: infer Id extends string } ? Id : Option & string;

/** Writes a form down, once: its tree, its settings, and the type of its answers. */
export function defineForm<const Definition extends FormDefinition>(
  definition: Definition,
): DefinedForm<AnswersIn<Definition['steps'][number]>> {
  const { id, status, settings, steps, ...attrs }: FormDefinition = definition;
  const children = steps.map(({ elements, ...more }) => ({
    type: 'step',
    attrs: more,
    children: elements.map(nodeOf),
  }));
  // What is written has the types of the tree's own nodes.
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

/** A visitor may not see it. */
type MayHide<Node> = Node extends { show_when: unknown } | { hide_when: unknown } ? true : false;
type Or<A, B> = true extends A | B ? true : false;

/** Each question of an element: the fields of a group stand beside it, the rows of one that repeats within. */
type Questions<E, Hidden> = E extends { type: 'composite'; children: readonly (infer Child)[] }
  ? WrittenElement extends Child
    ? // What is not written down has no end.
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

/** Where a step jumps, any other one may be passed by. */
type StepQuestions<S, Jumps> = S extends { elements: readonly (infer E)[] }
  ? Questions<E, Or<Jumps, MayHide<S>>>
  : never;
type AnswersIn<S> = AnswersOfAll<
  StepQuestions<S, [Extract<S, { jumps: unknown }>] extends [never] ? false : true>
>;
