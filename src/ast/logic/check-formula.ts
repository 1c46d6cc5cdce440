import { havePoints, optionsById, otherTaken } from '../basics/options.ts';
import { quote } from '../basics/problems.ts';
import { type InputType, inputRules } from '../form/input-rules.ts';
import { isDate, isDateTime, isTime } from '../rules/text-formats.ts';
import type { AnswerKind } from '../types/rules.ts';
import {
  type FormulaProblem,
  type FunctionName,
  type Gathering,
  type Instruction,
  namedDirectly,
  type Program,
  type Span,
} from './formula/program.ts';

/** What a value is, as far as a formula can go by it. A day may have a time. */
export type ValueType =
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

/** An element that a formula names, with the id of the group in whose rows it is asked, if that is not the formula's own. */
export type NamedElement = {
  readonly type: InputType | 'composite';
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly group?: string | undefined;
};

/** Finds an element by its id, or says what keeps a formula from naming it, as the end of a sentence. */
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

/** What the answer to an element is to a formula. */
export function valueTypeOf(type: InputType | 'composite'): ValueType {
  if (type === 'composite') return 'rows';
  return type === 'time' ? 'time' : typeOfKind[inputRules[type].kind];
}

const called: Readonly<Record<ValueType, string>> = {
  number: 'a number',
  text: 'a text',
  truth: 'a comparison or a yes or no',
  day: 'a date',
  time: 'a time',
  choices: 'several choices',
  rows: 'rows',
  grid: 'rows of a matrix',
  consent: 'a consent',
  files: 'files',
};

/** What a function takes, each value by itself; `optional` of the last may be missing. */
type Signature = {
  readonly takes: readonly (readonly ValueType[])[];
  readonly optional?: number;
  /** From this one on, the values must be of one type. */
  readonly alikeFrom?: number;
  /** The type of the result, or of the values that are alike. */
  readonly gives: ValueType | 'alike';
};

const number: readonly ValueType[] = ['number'];
const truth: readonly ValueType[] = ['truth'];
const day: readonly ValueType[] = ['day'];
const plain: readonly ValueType[] = ['number', 'text', 'truth', 'day', 'time'];
const ordered: readonly ValueType[] = ['number', 'day', 'time'];
const anything: readonly ValueType[] = [...plain, 'choices', 'rows', 'files', 'grid'];

const reckons = { takes: [number, number], gives: 'number' } as const;
const compares = { takes: [ordered, ordered], alikeFrom: 0, gives: 'truth' } as const;
const equates = { takes: [plain, plain], alikeFrom: 0, gives: 'truth' } as const;
const joins = { takes: [truth, truth], gives: 'truth' } as const;
const changes = { takes: [number], gives: 'number' } as const;
const partOfDay = { takes: [day], gives: 'number' } as const;

const signatures: Readonly<Record<Exclude<FunctionName, Gathering>, Signature>> = {
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
  '+': reckons,
  '-': reckons,
  '*': reckons,
  '/': reckons,
  '%': reckons,
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

/** What is on the stack: its type, where it stands, and the text where it is one that is written there. */
type Typed = Span & { readonly type: ValueType; readonly text?: string; readonly named?: NamedElement };

/** Where a formula is looked at, and whether it goes through rows there. */
type Looking = { readonly find: FindElement; readonly group: string | undefined };

/**
 * The first thing that is wrong with what a formula names, or with what its functions are given; and, at the end, that it
 * gives something else than a number.
 */
export function checkFormula(program: Program, find: FindElement): FormulaProblem | undefined {
  const found = typeOf(program, { find, group: undefined });
  if ('message' in found) return found;
  return found.type === 'number'
    ? undefined
    : problemAt(found, `gives ${called[found.type]}, and not a number`);
}

const problemAt = ({ at, end }: Span, message: string): FormulaProblem => ({ message, at, end });

function typeOf(program: Program, looking: Looking): Typed | FormulaProblem {
  const stack: Typed[] = [];
  for (const step of program) {
    const typed = typeOfStep(step, stack, looking);
    if ('message' in typed) return typed;
    stack.push(typed);
  }
  return stack.pop()!;
}

function typeOfStep(step: Instruction, stack: Typed[], looking: Looking): Typed | FormulaProblem {
  const { at, end } = step;
  if (step.kind === 'gather') return typeOfGathered(step, looking);
  if (step.kind === 'call') return typeOfCall(step, stack.splice(stack.length - step.count));
  if (step.kind !== 'value') return typeOfNamed(step, looking);
  if (typeof step.value === 'string') return { type: 'text', text: step.value, at, end };
  return { type: typeof step.value === 'number' ? 'number' : 'truth', at, end };
}

function typeOfNamed(
  step: Extract<Instruction, { readonly id: string }>,
  { find, group }: Looking,
): Typed | FormulaProblem {
  const { id, at, end } = step;
  const named = find(id);
  if (typeof named === 'string') return problemAt(step, `names ${quote(id)}, ${named}`);
  if (named.group !== group && named.group !== undefined) {
    const hint = `which has an answer in each row of ${quote(named.group)}: take them together by sum(), min(), max(), average() or count()`;
    return problemAt(step, `names ${quote(id)}, ${hint}`);
  }
  if (step.kind === 'answer') return { type: valueTypeOf(named.type), named, at, end };
  if (!havePoints(named.attrs))
    return problemAt(step, `asks for the points of ${quote(id)}, whose options have none`);
  return { type: 'number', at, end };
}

/** Each part stands for itself, or for all rows of the one group whose questions it names. */
function typeOfGathered(
  step: Extract<Instruction, { readonly kind: 'gather' }>,
  looking: Looking,
): Typed | FormulaProblem {
  const { name, at, end } = step;
  for (const part of step.parts) {
    const groups = new Set(namedDirectly(part).flatMap((id) => groupOf(looking.find(id)) ?? []));
    if (groups.size > 1) {
      const names = [...groups].map(quote).join(' and ');
      return problemAt(
        step,
        `takes together in ${name}() what is asked in rows of ${names}: name one of them only`,
      );
    }
    const [group] = groups;
    if (group !== undefined && looking.group !== undefined)
      return problemAt(step, `goes through rows of ${quote(group)} within rows`);
    const typed = typeOf(part, { ...looking, group: group ?? looking.group });
    if ('message' in typed) return typed;
    if (name !== 'count' && typed.type !== 'number') return mismatch(typed, name, number);
  }
  return { type: 'number', at, end };
}

const groupOf = (named: NamedElement | string): string | undefined =>
  typeof named === 'string' ? undefined : named.group;

function typeOfCall(
  step: Extract<Instruction, { readonly kind: 'call' }>,
  given: readonly Typed[],
): Typed | FormulaProblem {
  const { name, at, end } = step;
  const { takes, optional = 0, alikeFrom = takes.length, gives } = signatures[name];
  if (given.length > takes.length || given.length < takes.length - optional)
    return problemAt(
      step,
      `gives ${name}() ${given.length} values; it takes ${sayCount(takes.length, optional)}`,
    );
  const likes = given.slice(alikeFrom);
  // A day or a time is written as a text.
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

const isEquation = (name: FunctionName): boolean => name === '=' || name === '!=' || name === 'includes';

/** A text that is compared with a choice and is none of its options can only be a slip. */
function strayOption(given: readonly Typed[]): FormulaProblem | undefined {
  const attrs = given.find(({ named }) => named && 'options' in named.attrs)?.named?.attrs;
  const text = given.find((one) => one.text !== undefined);
  if (!attrs || text?.text === undefined || otherTaken(attrs) || optionsById(attrs).has(text.text))
    return undefined;
  return problemAt(text, `compares with ${quote(text.text)}, which is none of the options`);
}

function isOf(one: Typed, type: ValueType): boolean {
  if (one.type === type) return true;
  if (one.text === undefined) return false;
  return type === 'day' ? isDate(one.text) || isDateTime(one.text) : type === 'time' && isTime(one.text);
}

function mismatch(one: Typed, name: FunctionName, wanted: readonly ValueType[]): FormulaProblem {
  const where =
    /^\w/.test(name) && name !== 'and' && name !== 'or' && name !== 'not' ? `${name}()` : quote(name);
  const names = wanted.map((type) => called[type]);
  const list = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ');
  const written = one.text !== undefined && (wanted.includes('day') || wanted.includes('time'));
  const hint = written ? ', like "2026-01-31" or "14:30"' : '';
  return problemAt(
    one,
    `has ${called[one.type]} where ${name === 'negative' ? '"-"' : where} takes ${list}${hint}`,
  );
}

function sayCount(most: number, optional: number): string {
  return optional === 0 ? String(most) : `${most - optional} to ${most}`;
}
