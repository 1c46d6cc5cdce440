import { type Comparison, type Condition, endOfForm, holds } from '../basics/condition.ts';
import { isRecord, own } from '../basics/json.ts';
import { spend, type Work } from '../basics/work.ts';
import { countRows, fieldName, type Row, rowAt } from '../form/fields.ts';
import { type FormIndex, indexOf } from '../form/form-index.ts';
import { inputRules } from '../form/input-rules.ts';
import { lateOffers } from '../form/late-offers.ts';
import type { Holds } from '../form/offers.ts';
import { tidyAnswer } from '../form/tidy.ts';
import {
  type Calculation,
  type Composite,
  type Element,
  type Form,
  type InputElement,
  isAsked,
  isCalculation,
  isComposite,
  isInput,
  isQuestion,
  isRepeatable,
  isRequired,
  isSeen,
  kindOf,
  type Step,
} from '../form/tree.ts';
import { type Given, give, isRowTrue, isTrue } from './compare.ts';
import { type Asking, formulaAnswers } from './formula-answers.ts';

/** What conditions and limits know besides the answers. */
export type AnswerContext = {
  /** Values from the form's address. */
  readonly reference: Readonly<Record<string, string>>;
  /** YYYY-MM-DD in the form's time zone (`todayIn`). */
  readonly today: string;
  /** What may be done for the request that asks. */
  readonly work: Work;
  /** Whether each question is a step of its own: it is passed over when only its texts are shown. */
  readonly asksSingly?: boolean | undefined;
};

/** Files by HTML name: stored ones, or those that a page holds. */
export type FilesByName = ReadonlyMap<string, readonly unknown[]>;

/** What a visitor with these answers gets to see. */
export type Shown = {
  /** The indexes of the steps that are on the way and show something, in order; empty when none does. */
  readonly steps: readonly number[];
  /** Elements of a repeatable composite are asked with their row; without one, as in a row that is blank. */
  readonly isShown: (element: Element, row?: Row) => boolean;
  readonly isRequired: (input: InputElement, row?: Row) => boolean;
  readonly holds: Holds;
  /** What a calculation gives; undefined when it is hidden or has no result. */
  readonly calculated: (calculation: Calculation, row?: Row) => number | undefined;
};

const noFiles: FilesByName = new Map();

/**
 * Decides what is shown (docs/decisions/0012). Answers of steps that are not reached and of hidden elements count
 * as not given. Takes raw answers of any shape.
 * @throws TooMuchWork, also from what it returns.
 */
export function evaluate(
  form: Form,
  raw: unknown,
  context: AnswerContext,
  files: FilesByName = noFiles,
): Shown {
  const index = indexOf(form);
  if (!index.hasLogic) {
    const calculated = (): undefined => undefined;
    const isAlways = (): boolean => true;
    return {
      steps: [...form.children.keys()],
      isShown: isAlways,
      isRequired,
      holds: isAlways,
      calculated,
    };
  }
  const visit = startVisit(form, raw, context, files);
  return {
    steps: [...visit.reached].filter((at) => hasSomething(visit, form.children[at]!)),
    isShown: (element, row) => isElementShown(visit, element, row),
    isRequired: (input, row) =>
      isRequired(input) || (isAsked(input) && isMet(visit, input.attrs.require_when, row, false)),
    holds: visit.holds,
    calculated: (calculation, row) => answerOf(visit, calculation, row).value as number | undefined,
  };
}

/**
 * Whether a condition over the whole form holds, of settings for instance: over the answers that count, of any step.
 * @throws TooMuchWork
 */
export const meets = (
  condition: Condition,
  form: Form,
  raw: unknown,
  context: AnswerContext,
  files: FilesByName = noFiles,
): boolean => startVisit(form, raw, context, files).holds(condition, undefined);

function startVisit(form: Form, raw: unknown, context: AnswerContext, files: FilesByName): Visit {
  const visit: Visit = {
    index: indexOf(form),
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

/** Whether a step shows anything: one that shows nothing is passed over, unless it has no elements at all. */
function hasSomething(visit: Visit, { children }: Step): boolean {
  const isThere = (element: Element): boolean =>
    isSeen(element) &&
    isElementShown(visit, element) &&
    (!isComposite(element) || isRepeatable(element) || element.children.some(isThere));
  // One question at a time, texts belong to the question after them, and are something by themselves where none is.
  const last = visit.context.asksSingly ? children.findLastIndex(isQuestion) : -1;
  const counts = (element: Element, at: number): boolean => at >= last || isQuestion(element);
  return children.length === 0 || children.some((element, at) => counts(element, at) && isThere(element));
}

/** What was found out before, by the index of the row; undefined stands for outside of rows, or a blank one. */
type ByRow<Key, Value> = Map<Key, Map<number | undefined, Value>>;

/** What it costs to find one of them out, and to look at a child of a group, in the steps of work.ts. */
const steps = { find: 40, child: 20 } as const;

type Visit = {
  readonly index: FormIndex;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly context: AnswerContext;
  readonly files: FilesByName;
  readonly reached: Set<number>;
  /** Whether an element is shown. */
  readonly decided: ByRow<Element, boolean>;
  /** Whether a composite has an answer. */
  readonly filled: ByRow<Composite, boolean>;
  /** What was answered, as comparisons see it. */
  readonly given: ByRow<InputElement, Given>;
  readonly references: Map<string, Given>;
  readonly holds: Holds;
};

/**
 * Goes through the steps as a visitor does. The elements of a step are decided on the way, so that a later step
 * finds them known: a chain of conditions is followed within one step only, where `limits.logicChain` bounds it.
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
    // Jumps only lead to later steps, so this ends.
    if (jump)
      next = Math.max(
        next,
        steps.findIndex(({ attrs }) => attrs?.id === jump.to),
      );
  }
}

/** Works out what a step has to, in every row that was sent: who names a result later finds it known. */
function calculateStep(visit: Visit, at: number): void {
  for (const { element, group } of visit.index.calculations.get(at) ?? []) {
    if (group === undefined) answerOf(visit, element, undefined);
    else
      for (let index = 0; index < countRows(group, visit.raw, visit.files); index += 1)
        answerOf(visit, element, { group, index });
  }
}

function isElementShown(visit: Visit, element: Element, row?: Row): boolean {
  const place = visit.index.places.get(element);
  if (!place || !visit.reached.has(place.path[0]!)) return place === undefined;
  return recall(visit, visit.decided, element, place.group && row?.index, () => {
    const isInside = place.parent === undefined || isElementShown(visit, place.parent, row);
    return (
      isInside && isOpen(visit, element, row) && (lateOffers.hasOffer?.(element, visit.holds, row) ?? true)
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
  spend(context.work, steps.find);
  const found = find();
  rows.set(row, found);
  return found;
}

function isOpen(visit: Visit, { attrs }: Element | Step, row?: Row): boolean {
  return visit.holds(attrs?.show_when, row) && !isMet(visit, attrs?.hide_when, row, false);
}

function isMet(
  visit: Visit,
  condition: Condition | undefined,
  row: Row | undefined,
  whenAbsent: boolean,
): boolean {
  if (condition === undefined) return whenAbsent;
  return holds(condition, (comparison) => isComparisonTrue(visit, comparison, row));
}

function isComparisonTrue(visit: Visit, comparison: Comparison, row: Row | undefined): boolean {
  const { context } = visit;
  if ('reference' in comparison) {
    const name = comparison.reference;
    const given = visit.references.get(name) ?? give(own(context.reference, name));
    visit.references.set(name, given);
    return isTrue(comparison, given, undefined, context);
  }
  const element = visit.index.byId.get(comparison.element)?.element;
  if (element && isComposite(element)) {
    return isTrue(comparison, give(isFilled(visit, element, row) || undefined), undefined, context);
  }
  if (!element || !isInput(element)) return isTrue(comparison, nothing, undefined, context);
  return isRowTrue(comparison, answerOf(visit, element, row), inputRules[element.type], context);
}

const nothing = give(undefined);

/** The answer that counts: none of what is hidden. Of an upload, its files. */
function answerOf(visit: Visit, input: InputElement, row: Row | undefined): Given {
  if (!isElementShown(visit, input, row)) return nothing;
  const isInRow = visit.index.places.get(input)?.group !== undefined;
  return recall(visit, visit.given, input, isInRow ? row?.index : undefined, () => {
    if (isCalculation(input)) return give(calculate(visit, input, isInRow ? row : undefined));
    if (kindOf(input) === 'files') return give(visit.files.get(fieldName(input, isInRow ? row : undefined)));
    const holder = isInRow ? row && rowAt(visit.raw, row) : visit.raw;
    const sent = isRecord(holder) ? own(holder, input.attrs.id) : undefined;
    const answer = tidyAnswer(input, sent, visit.context.work);
    const { offeredOf } = lateOffers;
    return give(offeredOf ? offeredOf(input, answer, visit.holds, row) : answer);
  });
}

/** Whether a composite has an answer: of any child, in any row. */
function isFilled(visit: Visit, composite: Composite, row: Row | undefined): boolean {
  const isInRow = visit.index.places.get(composite)?.group !== undefined;
  return recall(visit, visit.filled, composite, isInRow ? row?.index : undefined, () =>
    isRepeatable(composite)
      ? rowsOf(visit, composite).next().done !== true
      : hasAnswers(visit, composite, row),
  );
}

/** The rows of a repeatable composite that have an answer. */
function* rowsOf(visit: Visit, group: Composite): Generator<number, void> {
  const rows = countRows(group, visit.raw, visit.files);
  for (let index = 0; index < rows; index += 1) if (hasAnswers(visit, group, { group, index })) yield index;
}

function hasAnswers(visit: Visit, composite: Composite, row: Row | undefined): boolean {
  spend(visit.context.work, composite.children.length * steps.child);
  return composite.children.some((child) =>
    isComposite(child) ? isFilled(visit, child, row) : isAnswered(visit, child, row),
  );
}

/** What nobody is asked for fills no row. */
const isAnswered = (visit: Visit, child: Element, row: Row | undefined): boolean =>
  isInput(child) && isAsked(child) && !answerOf(visit, child, row).isBlank;

/** What a calculation gives with the answers that count. @param row its own, where it stands in one. */
function calculate(visit: Visit, { type, attrs }: Calculation, row: Row | undefined): number | undefined {
  const asking: Asking = {
    index: visit.index,
    row,
    isShown: (element) => isElementShown(visit, element),
    answerOf: (input, place) => answerOf(visit, input, place),
    rowsOf: (group) => rowsOf(visit, group),
  };
  const { today, work } = visit.context;
  return inputRules[type].calculate(attrs, { ...formulaAnswers(asking), today, work });
}
