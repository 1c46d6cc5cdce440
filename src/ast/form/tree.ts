import type { AttributesOf, RequiredNames } from '../attributes/attributes.ts';
import { attributeDefaults } from '../basics/defaults.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { allowsOtherChoice, type ChoiceOption, optionsById, toChoiceOption } from '../basics/options.ts';
import type { NumberFormat } from '../rules/written-numbers.ts';
import { type AnswerKind, type InputRules, isChoiceKind } from '../types/rules.ts';
import type { questionAttributes } from '../types/shared-attributes.ts';
import type {
  CompositeType,
  ContentType,
  ElementType,
  elementDefinitions,
  formAttributes,
  stepAttributes,
} from './elements.ts';
import { type InputType, inputRules, isInputType } from './input-rules.ts';

/** A node before validation. */
export type FormNode = {
  readonly type: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly children?: readonly FormNode[];
};

// A structure is stored exactly as sent (docs/rules.md 17), so optional `attrs` can be absent.
type WithAttributes<Specs> = [RequiredNames<Specs>] extends [never]
  ? { readonly attrs?: AttributesOf<Specs> }
  : { readonly attrs: AttributesOf<Specs> };

type NodeOf<Type extends ElementType> = { readonly type: Type } & WithAttributes<
  (typeof elementDefinitions)[Type]['attrs']
>;

/** Attributes that most inputs have but this type does not. */
type Absent<Type extends InputType> = {
  readonly [Name in Exclude<
    keyof typeof questionAttributes,
    keyof (typeof elementDefinitions)[Type]['attrs']
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

/** The root of a structure that `validateStructure` accepted. It can also have unknown attributes. */
export type Form = { readonly type: 'form'; readonly children: readonly Step[] } & WithAttributes<
  typeof formAttributes
>;

export function isInput(element: Element): element is InputElement {
  return isInputType(element.type);
}

export function isComposite(element: Element): element is Composite {
  return element.type === 'composite';
}

/** Returns whether an element's value is calculated from other answers. */
export function isCalculation(element: Element): element is Calculation {
  return element.type === 'calculation';
}

/** Returns whether an answer follows from the others: a calculation or a score. Sent values are ignored. */
export function isDerived({ type }: Element): boolean {
  return type === 'calculation' || type === 'score';
}

/** Returns whether visitors are asked for the answer: false for calculations and hidden values. */
export function isAnsweredByVisitor(input: InputElement): boolean {
  return !(inputRules[input.type] as InputRules).isUnasked;
}

/** Returns whether visitors are asked for one or more answers. */
export function isQuestion(element: Element): boolean {
  return isComposite(element) || (isInput(element) && isAnsweredByVisitor(element));
}

/**
 * Returns whether visitors see the element: false for hidden values, hidden calculations and skipped questions.
 */
export function isVisibleToVisitors(element: Element): boolean {
  if (isCalculation(element)) return !(element.attrs.hidden ?? attributeDefaults.hidden);
  return !isInput(element) || (isAnsweredByVisitor(element) && !isSkipped(element));
}

/** Returns whether a page marked a question as answered by its URL (`settings.skip_prefilled`). */
export const isSkipped = ({ attrs }: InputElement): boolean =>
  (attrs as { isSkipped?: unknown }).isSkipped === true;

/** Returns whether the answer to a group is a list of rows. */
export function isRepeatable(composite: Composite): boolean {
  return composite.attrs.repeatable ?? attributeDefaults.repeatable;
}

/** Returns whether an answer is always required. It can also be required by `require_when`. */
export function isRequired(input: InputElement): boolean {
  return isAnsweredByVisitor(input) && (input.attrs.required ?? attributeDefaults.required);
}

/**
 * The languages of a form as BCP 47 tags, with the original language first. Empty if the form does not
 * specify any.
 */
export const languagesOf = ({ attrs }: Form): readonly string[] => attrs.languages ?? [];

export function answerKindOf(input: InputElement): AnswerKind {
  return inputRules[input.type].kind;
}

/** Returns whether a selection accepts free text in addition to its options. */
export function inputAllowsOther(input: InputElement): boolean {
  return isChoiceKind(answerKindOf(input)) && allowsOtherChoice(input.attrs);
}

/** Returns the options of a selection in form order. Empty for other inputs. */
export function optionsOf(input: InputElement): readonly ChoiceOption[] {
  return [...inputOptionsById(input).values()];
}

/** Returns the options of a selection by ID. Empty for other elements. */
export const inputOptionsById = (element: Element): ReadonlyMap<unknown, ChoiceOption> =>
  isInput(element) && isChoiceKind(answerKindOf(element)) ? optionsById(element.attrs) : noOptions;

const noOptions: ReadonlyMap<unknown, ChoiceOption> = new Map();

/** Returns whether a question whose answer is a list accepts only one option. */
export function acceptsOneOption(input: InputElement): boolean {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const { takesOne: takes } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  return takes?.(input.attrs) ?? false;
}

/** Returns the rows of a matrix in form order. Empty for other inputs. */
export function matrixRowsOf({ type, attrs }: InputElement): readonly ChoiceOption[] {
  return type === 'matrix' ? attrs.rows.map(toChoiceOption) : [];
}

/** Returns whether several options can be chosen in each row of a matrix. */
export function takesSeveralInRow({ type, attrs }: InputElement): boolean {
  return type === 'matrix' && (attrs.multiple ?? attributeDefaults.multiple);
}

/** Returns the placeholder of an input, if it has one. */
export function placeholderOf({ attrs }: InputElement): string | undefined {
  return 'placeholder' in attrs ? attrs.placeholder : undefined;
}

/** Returns what a column knows of its numbers: the format of a calculation, or the pass mark of a score. */
export function numberDetailsOf({ type, attrs }: InputElement): {
  number_format?: NumberFormat;
  pass_mark?: number;
} {
  if (type === 'score') return attrs.pass_mark === undefined ? {} : { pass_mark: attrs.pass_mark };
  if (type !== 'calculation') return {};
  const { decimals, prefix, suffix } = attrs;
  return {
    number_format: {
      ...(decimals !== undefined && { decimals }),
      ...(prefix !== undefined && { prefix }),
      ...(suffix !== undefined && { suffix }),
    },
  };
}

/** Lists the levels of a question on a scale, lowest first. Empty for other inputs. */
export function scaleLevelsOf(input: InputElement): number[] {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const { levels } = inputRules[input.type] as InputRules<InputElement['attrs']>;
  if (!levels) return [];
  const { from, to } = levels(input.attrs);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type Layout = NonNullable<Composite['attrs']['layout']>;

export function layoutOf(node: Step | Composite): Layout {
  return node.attrs?.layout ?? attributeDefaults.layout;
}

/** Returns the layout of a question's options. By default, it is the layout of the type. */
export function optionsLayoutOf(
  { attrs }: InputElement,
  usual: Layout = attributeDefaults.options_layout,
): Layout {
  return ('options_layout' in attrs ? attrs.options_layout : undefined) ?? usual;
}

/** Returns how many columns an element spans, up to the widest grid. */
export function columnSpanOf(element: Element): number {
  return Math.min(element.attrs?.col_span ?? attributeDefaults.col_span, widestGrid);
}

/** The number of columns of `grid_4`. */
const widestGrid = 4;

/** An element with the innermost group around it and the repeatable group around it, at any depth. */
export type PlacedElement = {
  readonly element: Element;
  readonly path: readonly number[];
  readonly parent?: Composite;
  readonly group?: Composite;
};

/** Yields every element of a form in reading order, a group before its children. */
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
    if (isComposite(element))
      yield* walkChildren(element.children, path, element, isRepeatable(element) ? element : group);
  }
}

/** A top-level question: an input, or a repeatable group with the inputs of one row. */
export type Question =
  | { readonly kind: 'input'; readonly element: InputElement }
  | { readonly kind: 'group'; readonly element: Composite; readonly inputs: readonly InputElement[] };

/** Lists the questions of a form in order. Inputs of a plain group count as top-level (docs/rules.md 10). */
export const listQuestions = memoizeByObject((form: Form): readonly Question[] => {
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
