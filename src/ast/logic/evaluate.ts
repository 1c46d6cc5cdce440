import {
  type Comparison,
  type Condition,
  elementIdsOf,
  endOfForm,
  evaluateCondition,
} from '../basics/condition.ts';
import { getProperty, isRecord } from '../basics/json.ts';
import { spendWork, type WorkBudget } from '../basics/work.ts';
import type { ConditionTest } from '../form/conditional-options.ts';
import { countRows, fieldName, type GroupRow, rawAnswersOfRow } from '../form/fields.ts';
import { type FormIndex, formIndexOf } from '../form/form-index.ts';
import { inputRules } from '../form/input-rules.ts';
import { lazyConditionalOptionFunctions } from '../form/lazy-conditional-options.ts';
import { tidyAnswer } from '../form/tidy.ts';
import {
  answerKindOf,
  type Calculation,
  type Composite,
  type Element,
  type Form,
  type InputElement,
  isAnsweredByVisitor,
  isCalculation,
  isComposite,
  isInput,
  isQuestion,
  isRepeatable,
  isRequired,
  isVisibleToVisitors,
  type Step,
} from '../form/tree.ts';
import { type ComparedValue, testComparison, testRowComparison, toComparedValue } from './compare.ts';
import { createFormulaAnswers, type FormulaContext } from './formula-answers.ts';

/** The context, other than the answers, in which conditions and limits are evaluated. */
export type EvaluationContext = {
  /** Values from the URL of the form. */
  readonly reference: Readonly<Record<string, string>>;
  /** YYYY-MM-DD in the form's time zone (`todayIn`). */
  readonly today: string;
  /** The work budget of the request. */
  readonly work: WorkBudget;
  /** Whether each question is a separate step. A step that shows only texts is then skipped. */
  readonly asksSingly?: boolean | undefined;
};

/** Files by HTML name: stored files, or files that are selected in a page. */
export type FilesByName = ReadonlyMap<string, readonly unknown[]>;

/** The parts of a form that a visitor with these answers sees. */
export type VisibleParts = {
  /** The indexes of the steps that are reached and show something, in order. Can be empty. */
  readonly steps: readonly number[];
  /** For elements of a repeatable group, pass the row. Without it, the row counts as blank. */
  readonly isShown: (element: Element, row?: GroupRow) => boolean;
  readonly isRequired: (input: InputElement, row?: GroupRow) => boolean;
  /** Whether an answered question meets its rule (`valid_when`). `step`: the step that is checked alone. */
  readonly isValid: (input: InputElement, row?: GroupRow, step?: number) => boolean;
  readonly holds: ConditionTest;
  /** The result of a calculation. Undefined if it is hidden or has no result. */
  readonly calculated: (calculation: Calculation, row?: GroupRow) => number | undefined;
};

const noFiles: FilesByName = new Map();

/**
 * Evaluates which parts of a form are shown (docs/decisions/0012). Answers of unreached steps and hidden
 * elements do not count. Accepts raw answers of any type.
 * @throws TooMuchWork, also from the returned functions.
 */
export function evaluateVisibility(
  form: Form,
  raw: unknown,
  context: EvaluationContext,
  files: FilesByName = noFiles,
): VisibleParts {
  const index = formIndexOf(form);
  if (!index.hasLogic) {
    const calculated = (): undefined => undefined;
    const isAlways = (): boolean => true;
    const steps = [...form.children.keys()];
    return { steps, isShown: isAlways, isRequired, isValid: isAlways, holds: isAlways, calculated };
  }
  const visit = startVisit(form, raw, context, files);
  return {
    steps: [...visit.reached].filter((at) => hasSomething(visit, form.children[at]!)),
    isShown: (element, row) => isElementShown(visit, element, row),
    isRequired: (input, row) =>
      isRequired(input) || (isAnsweredByVisitor(input) && isMet(visit, input.attrs.require_when, row, false)),
    isValid: (input, row, step = form.children.length) => isValid(visit, input, row, step),
    holds: visit.holds,
    calculated: (calculation, row) => answerOf(visit, calculation, row).value as number | undefined,
  };
}

/**
 * Returns whether a condition over the whole form is true, such as one in the settings. It can use visible
 * answers of any step.
 * @throws TooMuchWork
 */
export const meetsCondition = (
  condition: Condition,
  form: Form,
  raw: unknown,
  context: EvaluationContext,
  files: FilesByName = noFiles,
): boolean => startVisit(form, raw, context, files).holds(condition, undefined);

function startVisit(form: Form, raw: unknown, context: EvaluationContext, files: FilesByName): Visit {
  const visit: Visit = {
    index: formIndexOf(form),
    raw: isRecord(raw) ? raw : {},
    context,
    files,
    reached: new Set(),
    decided: new Map(),
    filled: new Map(),
    given: new Map(),
    references: new Map(),
    holds: (condition, row) => isMet(visit, condition, row, true),
  };
  reachSteps(visit, form);
  return visit;
}

/** Returns whether a step shows anything. If not, it is skipped, unless it has no elements. */
function hasSomething(visit: Visit, { children }: Step): boolean {
  const isThere = (element: Element): boolean =>
    isVisibleToVisitors(element) &&
    isElementShown(visit, element) &&
    (!isComposite(element) || isRepeatable(element) || element.children.some(isThere));
  // If each question is a separate step, only texts after the last question count as content.
  const last = visit.context.asksSingly ? children.findLastIndex(isQuestion) : -1;
  const counts = (element: Element, at: number): boolean => at >= last || isQuestion(element);
  return children.length === 0 || children.some((element, at) => counts(element, at) && isThere(element));
}

/** Cached results by row index. The index is undefined outside of rows, and for a blank row. */
type ByRow<Key, Value> = Map<Key, Map<number | undefined, Value>>;

/** The cost of computing a result, and of each child of a group, in steps of work (work.ts). */
const steps = { find: 40, child: 20 } as const;

type Visit = {
  readonly index: FormIndex;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly context: EvaluationContext;
  readonly files: FilesByName;
  readonly reached: Set<number>;
  /** Whether each element is shown. */
  readonly decided: ByRow<Element, boolean>;
  /** Whether each group has an answer. */
  readonly filled: ByRow<Composite, boolean>;
  /** Answers that are prepared for comparisons. */
  readonly given: ByRow<InputElement, ComparedValue>;
  readonly references: Map<string, ComparedValue>;
  readonly holds: ConditionTest;
};

/**
 * Walks through the steps as a visitor does and evaluates their elements on the way, so that later steps find
 * them cached. A chain of conditions is therefore followed only within one step, where `limits.logicChain`
 * limits it.
 */
function reachSteps(visit: Visit, { children: steps }: Form): void {
  let next = 0;
  for (const [at, step] of steps.entries()) {
    if (at < next) continue;
    next = at + 1;
    if (!isOpen(visit, step)) continue;
    visit.reached.add(at);
    for (const element of step.children) isElementShown(visit, element);
    calculateStep(visit, at);
    const jump = step.attrs?.jumps?.find(({ when }) => visit.holds(when, undefined));
    if (jump?.to === endOfForm) return;
    // This ends, because jumps lead only to later steps.
    if (jump)
      next = Math.max(
        next,
        steps.findIndex(({ attrs }) => attrs?.id === jump.to),
      );
  }
}

/** Calculates the results of a step in every row that was sent, so that later steps find them cached. */
function calculateStep(visit: Visit, at: number): void {
  for (const { element, group } of visit.index.calculations.get(at) ?? [])
    if (group === undefined) answerOf(visit, element, undefined);
    else
      for (let index = 0; index < countRows(group, visit.raw, visit.files); index += 1)
        answerOf(visit, element, { group, index });
}

function isElementShown(visit: Visit, element: Element, row?: GroupRow): boolean {
  const place = visit.index.places.get(element);
  if (!place || !visit.reached.has(place.path[0]!)) return place === undefined;
  return recall(visit, visit.decided, element, place.group && row?.index, () => {
    const isInside = place.parent === undefined || isElementShown(visit, place.parent, row);
    return (
      isInside &&
      isOpen(visit, element, row) &&
      (lazyConditionalOptionFunctions.hasOffer?.(element, visit.holds, row) ?? true)
    );
  });
}

function recall<Key, Value>(
  { context }: Visit,
  known: ByRow<Key, Value>,
  key: Key,
  row: number | undefined,
  find: () => Value,
): Value {
  const rows = known.get(key) ?? new Map<number | undefined, Value>();
  known.set(key, rows);
  const before = rows.get(row);
  if (before !== undefined) return before;
  spendWork(context.work, steps.find);
  const found = find();
  rows.set(row, found);
  return found;
}

function isOpen(visit: Visit, { attrs }: Element | Step, row?: GroupRow): boolean {
  return visit.holds(attrs?.show_when, row) && !isMet(visit, attrs?.hide_when, row, false);
}

function isMet(
  visit: Visit,
  condition: Condition | undefined,
  row: GroupRow | undefined,
  whenAbsent: boolean,
): boolean {
  if (condition === undefined) return whenAbsent;
  return evaluateCondition(condition, (comparison) => isComparisonTrue(visit, comparison, row));
}

/**
 * A rule is not broken while it depends on a comparison with a blank answer under `other`, or on a step after
 * the one that is checked.
 */
function isValid(visit: Visit, input: InputElement, row: GroupRow | undefined, step: number): boolean {
  const { valid_when: rule }: { valid_when?: Condition | undefined } = input.attrs;
  if (!rule || !isAnsweredByVisitor(input)) return true;
  let waits = false;
  const isTrue = evaluateCondition(rule, (comparison) => {
    const mustWait =
      otherAnswerOf(visit, comparison, row)?.isBlank ||
      elementIdsOf(comparison).some((id) => visit.index.byId.get(id)!.path[0]! > step);
    waits ||= mustWait;
    return !mustWait && isComparisonTrue(visit, comparison, row);
  });
  return isTrue || waits;
}

/** Returns the answer to the question under `other`, if the comparison has one. */
function otherAnswerOf(
  visit: Visit,
  comparison: Comparison,
  row: GroupRow | undefined,
): ComparedValue | undefined {
  if ('reference' in comparison || comparison.other === undefined) return undefined;
  const other = visit.index.byId.get(comparison.other)?.element;
  return other && isInput(other) ? answerOf(visit, other, row) : undefined;
}

function isComparisonTrue(visit: Visit, comparison: Comparison, row: GroupRow | undefined): boolean {
  const { context } = visit;
  if ('reference' in comparison) {
    const name = comparison.reference;
    const given = visit.references.get(name) ?? toComparedValue(getProperty(context.reference, name));
    visit.references.set(name, given);
    return testComparison(comparison, given, undefined, context);
  }
  const element = visit.index.byId.get(comparison.element)?.element;
  if (element && isComposite(element))
    return testComparison(
      comparison,
      toComparedValue(isFilled(visit, element, row) || undefined),
      undefined,
      context,
    );
  if (!element || !isInput(element)) return testComparison(comparison, nothing, undefined, context);
  const answer = answerOf(visit, element, row);
  const other = otherAnswerOf(visit, comparison, row);
  return testRowComparison(comparison, answer, inputRules[element.type], context, other);
}

const nothing = toComparedValue(undefined);

/** Returns the answer that counts: blank for hidden elements, and the files of an upload. */
function answerOf(visit: Visit, input: InputElement, row: GroupRow | undefined): ComparedValue {
  if (!isElementShown(visit, input, row)) return nothing;
  const isInRow = visit.index.places.get(input)?.group !== undefined;
  return recall(visit, visit.given, input, isInRow ? row?.index : undefined, () => {
    if (isCalculation(input)) return toComparedValue(calculate(visit, input, isInRow ? row : undefined));
    if (answerKindOf(input) === 'files')
      return toComparedValue(visit.files.get(fieldName(input, isInRow ? row : undefined)));
    const holder = isInRow ? row && rawAnswersOfRow(visit.raw, row) : visit.raw;
    const sent = isRecord(holder) ? getProperty(holder, input.attrs.id) : undefined;
    const answer = tidyAnswer(input, sent, visit.context.work);
    const { offeredOf } = lazyConditionalOptionFunctions;
    return toComparedValue(offeredOf ? offeredOf(input, answer, visit.holds, row) : answer);
  });
}

/** Returns whether a group has an answer in any child or row. */
function isFilled(visit: Visit, composite: Composite, row: GroupRow | undefined): boolean {
  const isInRow = visit.index.places.get(composite)?.group !== undefined;
  return recall(visit, visit.filled, composite, isInRow ? row?.index : undefined, () =>
    isRepeatable(composite)
      ? rowsOf(visit, composite).next().done !== true
      : hasAnswers(visit, composite, row),
  );
}

/** Yields the answered rows of a repeatable group. */
function* rowsOf(visit: Visit, group: Composite): Generator<number, void> {
  const rows = countRows(group, visit.raw, visit.files);
  for (let index = 0; index < rows; index += 1) if (hasAnswers(visit, group, { group, index })) yield index;
}

function hasAnswers(visit: Visit, composite: Composite, row: GroupRow | undefined): boolean {
  spendWork(visit.context.work, composite.children.length * steps.child);
  return composite.children.some((child) =>
    isComposite(child) ? isFilled(visit, child, row) : isAnswered(visit, child, row),
  );
}

/** Elements that visitors are not asked for do not make a row answered. */
const isAnswered = (visit: Visit, child: Element, row: GroupRow | undefined): boolean =>
  isInput(child) && isAnsweredByVisitor(child) && !answerOf(visit, child, row).isBlank;

/**
 * Runs a calculation on the answers that count.
 * @param row the row that contains the calculation, if any.
 */
function calculate(
  visit: Visit,
  { type, attrs }: Calculation,
  row: GroupRow | undefined,
): number | undefined {
  const asking: FormulaContext = {
    index: visit.index,
    row,
    isShown: (element) => isElementShown(visit, element),
    answerOf: (input, place) => answerOf(visit, input, place),
    rowsOf: (group) => rowsOf(visit, group),
  };
  const { today, work } = visit.context;
  return inputRules[type].calculate(attrs, { ...createFormulaAnswers(asking), today, work });
}
