import type { AttributesOf, RequiredNames } from '../attributes/attributes.ts';
import { defaults } from '../basics/defaults.ts';
import { factOf } from '../basics/fact-of.ts';
import { type ChoiceOption, optionsById, otherTaken, written } from '../basics/options.ts';
import { type AnswerKind, type InputRules, isChosen } from '../types/rules.ts';
import type { askedAttributes } from '../types/shared-attributes.ts';
import type {
  CompositeType,
  ContentType,
  ElementType,
  elements,
  formAttributes,
  stepAttributes,
} from './elements.ts';
import { type InputType, inputRules, isInputType } from './input-rules.ts';

/** A node as it is sent, before validation. */
export type FormNode = {
  readonly type: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly children?: readonly FormNode[];
};

// A structure is kept exactly as it was sent (docs/rules.md 17), so `attrs` may be absent where nothing is required.
type WithAttributes<Specs> = [RequiredNames<Specs>] extends [never]
  ? { readonly attrs?: AttributesOf<Specs> }
  : { readonly attrs: AttributesOf<Specs> };

type NodeOf<Type extends ElementType> = { readonly type: Type } & WithAttributes<
  (typeof elements)[Type]['attrs']
>;

/** What most inputs say, and a type that has no use for it leaves out. */
type Absent<Type extends InputType> = {
  readonly [Name in Exclude<
    keyof typeof askedAttributes,
    keyof (typeof elements)[Type]['attrs']
  >]?: undefined;
};
type Leaf<Type extends ElementType> = NodeOf<Type> & { readonly children?: readonly [] };

export type InputElement = {
  [Type in InputType]: Leaf<Type> & { readonly attrs: Absent<Type> };
}[InputType];
export type Calculation = Extract<InputElement, { readonly type: 'calculation' }>;
type ContentElement = { [Type in ContentType]: Leaf<Type> }[ContentType];
export type Composite = NodeOf<CompositeType> & { readonly children: readonly Element[] };
export type Element = InputElement | ContentElement | Composite;

export type Step = { readonly type: 'step'; readonly children: readonly Element[] } & WithAttributes<
  typeof stepAttributes
>;

/** The root of a structure that `validateStructure` accepted. It may carry unknown attributes too. */
export type Form = { readonly type: 'form'; readonly children: readonly Step[] } & WithAttributes<
  typeof formAttributes
>;

export function isInput(element: Element): element is InputElement {
  return isInputType(element.type);
}

export function isComposite(element: Element): element is Composite {
  return element.type === 'composite';
}

/** Whether an element has a number that is worked out from other answers. */
export function isCalculation(element: Element): element is Calculation {
  return element.type === 'calculation';
}

/** Whether visitors are asked for the answer: to all but what comes by itself. */
export function isAsked(input: InputElement): boolean {
  return !(inputRules[input.type] as InputRules).isUnasked;
}

/** Whether visitors are asked for an answer, or for several. */
export function isQuestion(element: Element): boolean {
  return isComposite(element) || (isInput(element) && isAsked(element));
}

/** Whether a visitor sees something of the element: all but what comes without being asked for, results aside. */
export function isSeen(element: Element): boolean {
  if (isCalculation(element)) return !(element.attrs.hidden ?? defaults.hidden);
  return !isInput(element) || isAsked(element);
}

/** Whether the composite's answer is a list of rows. */
export function isRepeatable(composite: Composite): boolean {
  return composite.attrs.repeatable ?? defaults.repeatable;
}

/** Whether an answer is always required; `require_when` may require it as well. Nothing is of what nobody is asked for. */
export function isRequired(input: InputElement): boolean {
  return isAsked(input) && (input.attrs.required ?? defaults.required);
}

/** The languages that a form is written in, as BCP-47 tags, the one of its own texts first; none where it does not say. */
export const languagesOf = ({ attrs }: Form): readonly string[] => attrs.languages ?? [];

export function kindOf(input: InputElement): AnswerKind {
  return inputRules[input.type].kind;
}

/** Whether a selection takes one free text besides its options. */
export function takesOther(input: InputElement): boolean {
  return isChosen(kindOf(input)) && otherTaken(input.attrs);
}

/** The options of a selection, in the form's order; empty for every other input. */
export function optionsOf(input: InputElement): readonly ChoiceOption[] {
  return [...optionsIn(input).values()];
}

/** The same by their ids. What another element calls options is kept, and is none. */
export const optionsIn = (element: Element): ReadonlyMap<unknown, ChoiceOption> =>
  isInput(element) && isChosen(kindOf(element)) ? optionsById(element.attrs) : noOptions;

const noOptions: ReadonlyMap<unknown, ChoiceOption> = new Map();

/** Whether a question whose answer is a list of options takes one of them only. */
export function takesOne(input: InputElement): boolean {
  // The table pairs each type with its attributes. A lookup by a union type cannot express this, so the
  // result is cast.
  const { takesOne: takes } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  return takes?.(input.attrs) ?? false;
}

/** The rows of a matrix, in the form's order; none of every other input. */
export function matrixRowsOf({ type, attrs }: InputElement): readonly ChoiceOption[] {
  return type === 'matrix' ? attrs.rows.map(written) : [];
}

/** Whether several options may be chosen in each row of a matrix. */
export function takesSeveralInRow({ type, attrs }: InputElement): boolean {
  return type === 'matrix' && (attrs.multiple ?? defaults.multiple);
}

/** What the empty control of an input shows, where there is one. */
export function placeholderOf({ attrs }: InputElement): string | undefined {
  return 'placeholder' in attrs ? attrs.placeholder : undefined;
}

/** What a question on a scale takes, least first; none for every other input. */
export function levelsOf(input: InputElement): number[] {
  // The table pairs each type with its attributes. A lookup by a union type cannot express this, so the
  // result is cast.
  const { levels } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  if (!levels) return [];
  const { from, to } = levels(input.attrs);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type Layout = NonNullable<Composite['attrs']['layout']>;

export function layoutOf(node: Step | Composite): Layout {
  return node.attrs?.layout ?? defaults.layout;
}

/** How the options of a question stand; where the form does not say so, as its type has them. */
export function optionsLayoutOf({ attrs }: InputElement, usual: Layout = defaults.options_layout): Layout {
  return ('options_layout' in attrs ? attrs.options_layout : undefined) ?? usual;
}

/** How many columns an element spans, at most as many as a grid can have. */
export function columnSpanOf(element: Element): number {
  return Math.min(element.attrs?.col_span ?? defaults.col_span, widestGrid);
}

/** Columns of `grid_4`. */
const widestGrid = 4;

/** An element with its place: the composite around it, and the repeatable one that it lies in, at any depth. */
export type PlacedElement = {
  readonly element: Element;
  readonly path: readonly number[];
  readonly parent?: Composite;
  readonly group?: Composite;
};

/** Every element of a form, in reading order, a composite before its children. */
export function* walkElements(form: Form): Generator<PlacedElement> {
  for (const [index, step] of form.children.entries()) yield* walkChildren(step.children, [index]);
}

function* walkChildren(
  children: readonly Element[],
  above: readonly number[],
  parent?: Composite,
  group?: Composite,
): Generator<PlacedElement> {
  for (const [index, element] of children.entries()) {
    const path = [...above, index];
    yield { element, path, ...(parent && { parent }), ...(group && { group }) };
    if (isComposite(element)) {
      yield* walkChildren(element.children, path, element, isRepeatable(element) ? element : group);
    }
  }
}

/** What can be answered at the top level: an input, or a repeatable composite with the inputs of one row. */
export type Question =
  | { readonly kind: 'input'; readonly element: InputElement }
  | { readonly kind: 'group'; readonly element: Composite; readonly inputs: readonly InputElement[] };

/** The questions of a form in order. Inputs of a plain composite count as top-level ones (docs/rules.md 10). */
export const listQuestions = factOf((form: Form): readonly Question[] => {
  const questions: Question[] = [];
  const rows = new Map<Composite, InputElement[]>();
  for (const { element, group } of walkElements(form)) {
    if (isInput(element)) {
      if (group) rows.get(group)?.push(element);
      else questions.push({ kind: 'input', element });
    } else if (isComposite(element) && isRepeatable(element)) {
      const inputs: InputElement[] = [];
      rows.set(element, inputs);
      questions.push({ kind: 'group', element, inputs });
    }
  }
  return questions;
});
