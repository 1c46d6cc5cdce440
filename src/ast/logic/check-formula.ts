import { allowsOtherChoice, havePoints, optionsById } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import { type InputType, inputRules } from '../form/input-rules.ts';
import { isDate, isDateTime, isTime } from '../rules/text-formats.ts';
import type { AnswerKind } from '../types/rules.ts';
import {
  type AggregateFunction,
  directElementIdsIn,
  type FormulaFunctionName,
  type FormulaInstruction,
  type FormulaProblem,
  type FormulaProgram,
  type FormulaSpan,
} from './formula/program.ts';

/** The types of values in formulas. A day can include a time. */
type ValueType =
  | 'number'
  | 'text'
  | 'truth'
  | 'day'
  | 'time'
  | 'choices'
  | 'rows'
  | 'files'
  | 'grid'
  | 'consent';

/** An element that a formula names, with the ID of its group if it is asked in rows of another group. */
type NamedElement = {
  readonly type: InputType | 'composite';
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly group?: string | undefined;
};

/** Finds an element by ID, or returns why a formula cannot refer to it, as the end of a sentence. */
export type FindElement = (id: string) => NamedElement | string;

const typeOfKind: Readonly<Record<AnswerKind, ValueType>> = {
  text: 'text',
  moment: 'day',
  number: 'number',
  boolean: 'truth',
  choice: 'text',
  choices: 'choices',
  order: 'choices',
  files: 'files',
  grid: 'grid',
  consent: 'consent',
};

/** Returns the type of an element's answer in formulas. */
function valueTypeOf(type: InputType | 'composite'): ValueType {
  if (type === 'composite') return 'rows';
  return type === 'time' ? 'time' : typeOfKind[inputRules[type].kind];
}

const called: Readonly<Record<ValueType, string>> = {
  number: 'a number',
  text: 'a text',
  truth: 'true or false',
  day: 'a date',
  time: 'a time',
  choices: 'several choices',
  rows: 'rows',
  grid: 'rows of a matrix',
  consent: 'a consent',
  files: 'files',
};

/** The parameters of a function. The last `optional` arguments can be omitted. */
type Signature = {
  readonly takes: readonly (readonly ValueType[])[];
  readonly optional?: number;
  /** From this index on, all arguments must have the same type. */
  readonly alikeFrom?: number;
  /** The type of the result. `alike` is the type of the arguments from `alikeFrom` on. */
  readonly gives: ValueType | 'alike';
};

const number: readonly ValueType[] = ['number'];
const truth: readonly ValueType[] = ['truth'];
const day: readonly ValueType[] = ['day'];
const plain: readonly ValueType[] = ['number', 'text', 'truth', 'day', 'time'];
const ordered: readonly ValueType[] = ['number', 'day', 'time'];
const anything: readonly ValueType[] = [...plain, 'choices', 'rows', 'files', 'grid'];

const arithmeticSignature = { takes: [number, number], gives: 'number' } as const;
const compares = { takes: [ordered, ordered], alikeFrom: 0, gives: 'truth' } as const;
const equates = { takes: [plain, plain], alikeFrom: 0, gives: 'truth' } as const;
const joins = { takes: [truth, truth], gives: 'truth' } as const;
const changes = { takes: [number], gives: 'number' } as const;
const partOfDay = { takes: [day], gives: 'number' } as const;

const signatures: Readonly<Record<Exclude<FormulaFunctionName, AggregateFunction>, Signature>> = {
  if: { takes: [truth, plain, plain], alikeFrom: 1, gives: 'alike' },
  and: joins,
  or: joins,
  not: { takes: [truth], gives: 'truth' },
  '=': equates,
  '!=': equates,
  '<': compares,
  '<=': compares,
  '>': compares,
  '>=': compares,
  '+': arithmeticSignature,
  '-': arithmeticSignature,
  '*': arithmeticSignature,
  '/': arithmeticSignature,
  '%': arithmeticSignature,
  negative: changes,
  round: { takes: [number, number], optional: 1, gives: 'number' },
  floor: changes,
  ceil: changes,
  abs: changes,
  length: { takes: [['text']], gives: 'number' },
  includes: { takes: [['choices', 'text'], ['text']], gives: 'truth' },
  answered: { takes: [anything], gives: 'truth' },
  today: { takes: [], gives: 'day' },
  days_between: { takes: [day, day], gives: 'number' },
  minutes_between: {
    takes: [
      ['day', 'time'],
      ['day', 'time'],
    ],
    alikeFrom: 0,
    gives: 'number',
  },
  age: { takes: [day, day], optional: 1, gives: 'number' },
  year: partOfDay,
  month: partOfDay,
  day: partOfDay,
  weekday: partOfDay,
};

/** A value on the stack: its type and position, and its text if it is a text literal. */
type Typed = FormulaSpan & {
  readonly type: ValueType;
  readonly text?: string;
  readonly named?: NamedElement;
};

/** The context of a check, with the group whose rows the formula currently iterates over. */
type FormulaCheckContext = { readonly find: FindElement; readonly group: string | undefined };

/**
 * Returns the first problem in a formula: in its names, in the arguments of its functions, or in its result,
 * which must be a number.
 */
export function checkFormula(program: FormulaProgram, find: FindElement): FormulaProblem | undefined {
  const found = typeOf(program, { find, group: undefined });
  if ('message' in found) return found;
  return found.type === 'number'
    ? undefined
    : problemAt(found, `returns ${called[found.type]} instead of a number`);
}

const problemAt = ({ at, end }: FormulaSpan, message: string): FormulaProblem => ({ message, at, end });

function typeOf(program: FormulaProgram, looking: FormulaCheckContext): Typed | FormulaProblem {
  const stack: Typed[] = [];
  for (const step of program) {
    const typed = typeOfStep(step, stack, looking);
    if ('message' in typed) return typed;
    stack.push(typed);
  }
  return stack.pop()!;
}

function typeOfStep(
  step: FormulaInstruction,
  stack: Typed[],
  looking: FormulaCheckContext,
): Typed | FormulaProblem {
  const { at, end } = step;
  if (step.kind === 'gather') return typeOfAggregated(step, looking);
  if (step.kind === 'call') return typeOfCall(step, stack.splice(stack.length - step.count));
  if (step.kind !== 'value') return typeOfNamed(step, looking);
  if (typeof step.value === 'string') return { type: 'text', text: step.value, at, end };
  return { type: typeof step.value === 'number' ? 'number' : 'truth', at, end };
}

function typeOfNamed(
  step: Extract<FormulaInstruction, { readonly id: string }>,
  { find, group }: FormulaCheckContext,
): Typed | FormulaProblem {
  const { id, at, end } = step;
  const named = find(id);
  if (typeof named === 'string') return problemAt(step, `names ${quote(id)}, ${named}`);
  if (named.group !== group && named.group !== undefined) {
    const hint = `which has an answer in each row of ${quote(named.group)}; combine the answers with sum(), min(), max(), average() or count()`;
    return problemAt(step, `names ${quote(id)}, ${hint}`);
  }
  if (step.kind === 'answer') return { type: valueTypeOf(named.type), named, at, end };
  if (!havePoints(named.attrs))
    return problemAt(step, `uses the points of ${quote(id)}, whose options have no points`);
  if (named.attrs['correct'] !== undefined)
    return problemAt(step, `uses the points of ${quote(id)}, which would reveal its right answer`);
  return { type: 'number', at, end };
}

/** Each part has one value, or one for each row of the only group that it refers to. */
function typeOfAggregated(
  step: Extract<FormulaInstruction, { readonly kind: 'gather' }>,
  looking: FormulaCheckContext,
): Typed | FormulaProblem {
  const { name, at, end } = step;
  for (const part of step.parts) {
    const groups = new Set(directElementIdsIn(part).flatMap((id) => groupOf(looking.find(id)) ?? []));
    if (groups.size > 1) {
      const names = [...groups].map(quote).join(' and ');
      return problemAt(step, `combines answers from rows of ${names} in ${name}(); use only one group`);
    }
    const [group] = groups;
    if (group !== undefined && looking.group !== undefined)
      return problemAt(step, `combines rows of ${quote(group)} inside a function that already combines rows`);
    const typed = typeOf(part, { ...looking, group: group ?? looking.group });
    if ('message' in typed) return typed;
    if (name !== 'count' && typed.type !== 'number') return mismatch(typed, name, number);
  }
  return { type: 'number', at, end };
}

const groupOf = (named: NamedElement | string): string | undefined =>
  typeof named === 'string' ? undefined : named.group;

function typeOfCall(
  step: Extract<FormulaInstruction, { readonly kind: 'call' }>,
  given: readonly Typed[],
): Typed | FormulaProblem {
  const { name, at, end } = step;
  const { takes, optional = 0, alikeFrom = takes.length, gives } = signatures[name];
  if (given.length > takes.length || given.length < takes.length - optional)
    return problemAt(
      step,
      `passes ${given.length} values to ${name}(); it needs ${formatArgumentCount(takes.length, optional)}`,
    );
  const likes = given.slice(alikeFrom);
  // Days and times in a formula are written as text literals.
  const like = likes.find(({ text }) => text === undefined) ?? likes[0];
  for (const [index, one] of given.entries()) {
    const wanted = takes[index]!;
    const expected = index >= alikeFrom && like ? [like.type] : wanted;
    const isFitting = expected.some((type) => isOf(one, type)) && wanted.some((type) => isOf(one, type));
    if (!isFitting) return mismatch(one, name, wanted.some((type) => isOf(one, type)) ? expected : wanted);
  }
  const stray = isEquation(name) ? strayOption(given) : undefined;
  if (stray) return stray;
  return { type: gives === 'alike' ? like!.type : gives, at, end };
}

const isEquation = (name: FormulaFunctionName): boolean =>
  name === '=' || name === '!=' || name === 'includes';

/**
 * Rejects a text that is compared with a choice but is not one of its options, because it is probably a typo.
 */
function strayOption(given: readonly Typed[]): FormulaProblem | undefined {
  const attrs = given.find(({ named }) => named && 'options' in named.attrs)?.named?.attrs;
  const text = given.find((one) => one.text !== undefined);
  if (!attrs || text?.text === undefined || allowsOtherChoice(attrs) || optionsById(attrs).has(text.text))
    return undefined;
  return problemAt(text, `compares with ${quote(text.text)}, which is not one of the options`);
}

function isOf(one: Typed, type: ValueType): boolean {
  if (one.type === type) return true;
  if (one.text === undefined) return false;
  return type === 'day' ? isDate(one.text) || isDateTime(one.text) : type === 'time' && isTime(one.text);
}

function mismatch(one: Typed, name: FormulaFunctionName, wanted: readonly ValueType[]): FormulaProblem {
  const where =
    /^\w/.test(name) && name !== 'and' && name !== 'or' && name !== 'not' ? `${name}()` : quote(name);
  const names = wanted.map((type) => called[type]);
  const list = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ');
  const written = one.text !== undefined && (wanted.includes('day') || wanted.includes('time'));
  const hint = written ? ', like "2026-01-31" or "14:30"' : '';
  return problemAt(
    one,
    `has ${called[one.type]} where ${name === 'negative' ? '"-"' : where} needs ${list}${hint}`,
  );
}

function formatArgumentCount(most: number, optional: number): string {
  return optional === 0 ? String(most) : `${most - optional} to ${most}`;
}
