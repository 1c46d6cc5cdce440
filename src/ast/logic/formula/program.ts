/**
 * The functions and operators of formulas. run.ts evaluates them, and check-formula.ts checks their
 * arguments.
 */
export const formulaFunctionNames = [
  'if',
  'and',
  'or',
  'not',
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  'negative',
  'sum',
  'min',
  'max',
  'average',
  'count',
  'round',
  'floor',
  'ceil',
  'abs',
  'length',
  'includes',
  'answered',
  'today',
  'days_between',
  'minutes_between',
  'age',
  'year',
  'month',
  'day',
  'weekday',
] as const;
export type FormulaFunctionName = (typeof formulaFunctionNames)[number];

/** Functions that combine any number of values. For elements in rows, each row adds a value. */
export const aggregateFunctions = ['sum', 'min', 'max', 'average', 'count'] as const;
export type AggregateFunction = (typeof aggregateFunctions)[number];

/** The position of a part of a formula: its first character and the one after its last, from 0. */
export type FormulaSpan = { readonly at: number; readonly end: number };

/** An instruction of a formula. It takes its operands from the stack and pushes its result. */
export type FormulaInstruction = FormulaSpan &
  (
    | { readonly kind: 'value'; readonly value: number | string | boolean }
    /** Reads the answer to an element, or the points of its chosen options. */
    | { readonly kind: 'answer' | 'points'; readonly id: string }
    | {
        readonly kind: 'call';
        readonly name: Exclude<FormulaFunctionName, AggregateFunction>;
        readonly count: number;
      }
    | { readonly kind: 'gather'; readonly name: AggregateFunction; readonly parts: readonly FormulaProgram[] }
  );

/**
 * A formula in postfix order. Checking and evaluating it needs no deeper recursion for longer formulas, so it
 * works even in browsers with a small stack.
 */
export type FormulaProgram = readonly FormulaInstruction[];

/** What is wrong with a formula, as the end of a sentence about the formula, and the position. */
export type FormulaProblem = FormulaSpan & { readonly message: string };

/** Lists the element IDs that a program refers to, including in its nested parts. */
export function elementIdsIn(program: FormulaProgram): string[] {
  return program.flatMap((step) => {
    if (step.kind === 'gather') return step.parts.flatMap(elementIdsIn);
    return step.kind === 'answer' || step.kind === 'points' ? [step.id] : [];
  });
}

/**
 * Returns whether a formula has a result if every question that it names is unanswered: if it names none, or
 * has a function that accepts blank answers.
 */
export const isDefinedWithoutAnswers = (program: FormulaProgram): boolean =>
  elementIdsIn(program).length === 0 || program.some(handlesBlankAnswers);

function handlesBlankAnswers(step: FormulaInstruction): boolean {
  if (step.kind === 'points') return true;
  if (step.kind === 'call') return step.name === 'if' || step.name === 'answered';
  return step.kind === 'gather' && (step.name === 'count' || step.parts.flat().some(handlesBlankAnswers));
}

/** Lists the element IDs that a program refers to outside of its nested parts. */
export const directElementIdsIn = (program: FormulaProgram): string[] =>
  program.flatMap((step) => (step.kind === 'answer' || step.kind === 'points' ? [step.id] : []));
