import { idOf, type Option } from '#ast/answers/options.ts';
import { own } from '#ast/json.ts';
import type { Condition, Operator } from '#ast/logic/condition.ts';
import { limits } from '#ast/limits.ts';
import { joined, otherChosen } from '../sketch.ts';
import type { Named } from './reading.ts';

/** What an expression compares with: `['a', 'b']` is a list. */
type Plain = string | number | boolean;
type Value = Plain | readonly Plain[];

/** A name of an expression, as a condition names it; undefined is what conditions cannot ask for. */
type Naming = (name: string) => Named | undefined;

/** Longer ones are read by nobody. */
const longest = 5_000;

const token =
  /\s*(?:\{(?<name>[^{}]*)\}|'(?<one>[^']*)'|"(?<two>[^"]*)"|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|(?<sign>&&|\|\||<=|>=|<>|!=|==|\*=|[=<>!()[\],])|(?<word>[A-Za-z_][\w-]*))/y;

type Token = Partial<Record<'name' | 'one' | 'two' | 'number' | 'sign' | 'word', string>>;

/**
 * A condition as SurveyJS writes one (`{age} >= 18 and {kind} anyof ['a', 'b']`), as one of ours.
 * @returns undefined where it cannot be said here: functions, sums, comparisons of two answers.
 */
export function readExpression(text: string, naming: Naming): Condition | undefined {
  const tokens = split(text);
  if (!tokens) return undefined;
  const reader: Reader = { tokens, at: 0, naming };
  const condition = readAny(reader, 0);
  return reader.at === tokens.length ? condition : undefined;
}

type Reader = { readonly tokens: readonly Token[]; at: number; readonly naming: Naming };

function split(text: string): Token[] | undefined {
  if (text.length > longest) return undefined;
  const tokens: Token[] = [];
  const source = text.trim();
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const found = token.exec(source);
    if (!found) return undefined;
    tokens.push(found.groups!);
  }
  return tokens.length > 0 ? tokens : undefined;
}

/** What a token says without quotes and braces: its sign, or its word in small letters. */
const saidBy = ({ sign, word }: Token = {}): string | undefined => sign ?? word?.toLowerCase();

function take(reader: Reader, ...said: string[]): boolean {
  if (!said.includes(saidBy(reader.tokens[reader.at]) ?? '')) return false;
  reader.at += 1;
  return true;
}

const readAny = (reader: Reader, depth: number): Condition | undefined =>
  readJoined(reader, depth, ['or', '||'], readAll, (parts) => ({ any: parts }));

const readAll = (reader: Reader, depth: number): Condition | undefined =>
  readJoined(reader, depth, ['and', '&&'], readOne, (parts) => ({ all: parts }));

function readJoined(
  reader: Reader,
  depth: number,
  words: string[],
  read: (reader: Reader, depth: number) => Condition | undefined,
  join: (parts: Condition[]) => Condition,
): Condition | undefined {
  const parts: Condition[] = [];
  do {
    const part = read(reader, depth);
    if (!part) return undefined;
    parts.push(part);
  } while (take(reader, ...words));
  return parts.length === 1 ? parts[0] : join(parts);
}

function readOne(reader: Reader, depth: number): Condition | undefined {
  if (depth > limits.conditionDepth) return undefined;
  if (take(reader, '!', 'not')) {
    const part = readOne(reader, depth + 1);
    return part && { not: part };
  }
  if (!take(reader, '(')) return readComparison(reader);
  const inner = readAny(reader, depth + 1);
  return take(reader, ')') ? inner : undefined;
}

/** Their operators; those that a list of choices has otherwise are in `ofChoices`. */
const operators: Readonly<Record<string, Operator>> = {
  '=': 'equals',
  '==': 'equals',
  equal: 'equals',
  '<>': 'not_equals',
  '!=': 'not_equals',
  notequal: 'not_equals',
  '>': 'greater_than',
  greater: 'greater_than',
  '>=': 'at_least',
  greaterorequal: 'at_least',
  '<': 'less_than',
  less: 'less_than',
  '<=': 'at_most',
  lessorequal: 'at_most',
  contains: 'contains',
  contain: 'contains',
  '*=': 'contains',
  notcontains: 'not_contains',
  notcontain: 'not_contains',
  anyof: 'one_of',
  empty: 'not_answered',
  notempty: 'answered',
};
const ofChoices: Readonly<Partial<Record<Operator, Operator>>> = {
  equals: 'contains',
  not_equals: 'not_contains',
};

function readComparison(reader: Reader): Condition | undefined {
  const { name } = reader.tokens[reader.at] ?? {};
  const named = name === undefined ? undefined : reader.naming(name.trim());
  const said = saidBy(reader.tokens[reader.at + 1]) ?? '';
  if (!named || (!Object.hasOwn(operators, said) && said !== 'noneof' && said !== 'allof')) return undefined;
  reader.at += 2;
  const { element } = named;
  const operator = own(operators, said);
  if (operator === 'answered' || operator === 'not_answered') return { element, is: operator };
  const value = readValue(reader);
  if (value === undefined) return undefined;
  const list = typeof value === 'object' ? value : [value];
  if (said === 'noneof') return negated(anyOf(named, list));
  if (said === 'allof') return allOf(named, list);
  if (operator === 'one_of') return anyOf(named, list);
  return operator && typeof value !== 'object' ? compare(named, operator, value) : undefined;
}

const negated = (condition: Condition | undefined): Condition | undefined => condition && { not: condition };

const isSeveral = ({ made: { type } }: Named): boolean =>
  type === 'multiple_choice' || type === 'picture_choice';

function compare(named: Named, operator: Operator, value: Plain): Condition | undefined {
  const { element, made } = named;
  if (isOther(named, value)) {
    if (operator === 'equals') return otherChosen(made);
    return operator === 'not_equals' ? negated(otherChosen(made)) : undefined;
  }
  const fitted = fitting(value, named);
  if (fitted === undefined) return undefined;
  return { element, is: isSeveral(named) ? (ofChoices[operator] ?? operator) : operator, value: fitted };
}

function allOf(named: Named, values: readonly Plain[]): Condition | undefined {
  const all = values.map((value) => compare(named, 'contains', value));
  return all.every((each) => each !== undefined) ? joined('all', all) : undefined;
}

function anyOf(named: Named, values: readonly Plain[]): Condition | undefined {
  const { element, made } = named;
  const told = values.filter((value) => !isOther(named, value)).map((value) => fitting(value, named));
  const fitted = told.filter((value) => value !== undefined);
  const plain = fitted.filter((value) => typeof value !== 'boolean');
  const other = told.length < values.length ? otherChosen(made) : undefined;
  if (fitted.length < told.length || (told.length < values.length && !other)) return undefined;
  return joined('any', [
    ...(plain.length > 0 ? [{ element, is: 'one_of', value: plain } as const] : []),
    ...fitted.flatMap((value) =>
      typeof value === 'boolean' ? [{ element, is: 'equals', value } as const] : [],
    ),
    ...(other ? [other] : []),
  ]);
}

/** Whether a value stands for what is written beside the options. */
const isOther = ({ made: { attrs } }: Named, value: Plain): boolean =>
  value === 'other' &&
  attrs['other'] === true &&
  !((attrs['options'] ?? []) as readonly Option[]).some((option) => idOf(option) === value);

const numbers: readonly string[] = ['number', 'rating', 'scale', 'calculation'];

/**
 * A value as answers of the element are kept: `'3'` is 3 of a rating, and 3 is `'3'` of a choice.
 * @returns undefined for a value that no answer of it can have.
 */
function fitting(value: Plain, { made: { type }, yes, no }: Named): Plain | undefined {
  if (numbers.includes(type)) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }
  if (type !== 'yes_no') return String(value);
  return String(value) === yes ? true : String(value) === no ? false : undefined;
}

function readValue(reader: Reader): Value | undefined {
  if (!take(reader, '[')) return readPlain(reader);
  const values: Plain[] = [];
  while (!take(reader, ']')) {
    const value = readPlain(reader);
    if (value === undefined) return undefined;
    values.push(value);
    take(reader, ',');
  }
  return values;
}

function readPlain(reader: Reader): Plain | undefined {
  const { one, two, number, word } = reader.tokens[reader.at] ?? {};
  reader.at += 1;
  if (number !== undefined) return Number(number);
  if (word?.toLowerCase() === 'true') return true;
  if (word?.toLowerCase() === 'false') return false;
  return one ?? two;
}
