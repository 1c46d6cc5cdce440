/** What formulas can do, operators among them; run.ts does it, and check-formula.ts knows what each takes. */
export const functionNames = [
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
export type FunctionName = (typeof functionNames)[number];

/** Those that take together any number of values, and those of every row where they name what is asked in rows. */
export const gathering = ['sum', 'min', 'max', 'average', 'count'] as const;
export type Gathering = (typeof gathering)[number];

/** Where a part of a formula stands, in characters from its beginning: the first, and the one behind the last. */
export type Span = { readonly at: number; readonly end: number };

/** One step of a formula, which leaves a value on the stack and takes those that it works on from there. */
export type Instruction = Span &
  (
    | { readonly kind: 'value'; readonly value: number | string | boolean }
    /** The answer to an element; or the points of its options that are chosen. */
    | { readonly kind: 'answer' | 'points'; readonly id: string }
    | {
        readonly kind: 'call';
        readonly name: Exclude<FunctionName, Gathering>;
        readonly count: number;
      }
    | { readonly kind: 'gather'; readonly name: Gathering; readonly parts: readonly Program[] }
  );

/**
 * A formula as it is worked out: what an operator works on stands before it. So neither the check nor the reckoning goes
 * deeper with a longer formula, in a browser with a small stack too.
 */
export type Program = readonly Instruction[];

/** What is wrong with a formula, as the end of a sentence about it, and where. */
export type FormulaProblem = Span & { readonly message: string };

/** The ids that a program names, those in its parts too. */
export function namedIn(program: Program): string[] {
  return program.flatMap((step) => {
    if (step.kind === 'gather') return step.parts.flatMap(namedIn);
    return step.kind === 'answer' || step.kind === 'points' ? [step.id] : [];
  });
}

/** Those that are named in the program itself, and not in what is gathered within it. */
export const namedDirectly = (program: Program): string[] =>
  program.flatMap((step) => (step.kind === 'answer' || step.kind === 'points' ? [step.id] : []));
