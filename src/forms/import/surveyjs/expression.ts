import { own } from '#ast/json.ts';
import type { Condition, Operator } from '#ast/logic/condition.ts';
import { limits } from '#ast/limits.ts';

/** What an expression compares with: `['a', 'b']` is a list. */
type Value = string | number | boolean | readonly (string | number | boolean)[];

/** A name of an expression, as a condition names it; undefined is what conditions cannot ask for. */
type Naming = (name: string) => { element: string; type: string } | undefined;

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
  const { element, type } = named;
  const operator = own(operators, said);
  if (operator === 'answered' || operator === 'not_answered') return { element, is: operator };
  const value = readValue(reader);
  if (value === undefined) return undefined;
  const list = (typeof value === 'object' ? value : [value]).filter((each) => typeof each !== 'boolean');
  if (said === 'noneof') return { not: { element, is: 'one_of', value: list } };
  if (said === 'allof')
    return { all: list.map((each) => ({ element, is: 'contains', value: String(each) })) };
  if (operator === 'one_of')
    return { element, is: 'one_of', value: list.map((each) => fitting(each, type)) as string[] };
  if (!operator || typeof value === 'object') return undefined;
  const is =
    type === 'multiple_choice' || type === 'picture_choice' ? (ofChoices[operator] ?? operator) : operator;
  return { element, is, value: fitting(value, type) };
}

const numbers: readonly string[] = ['number', 'rating', 'scale', 'calculation'];

/** A value as answers of the type are kept: `'3'` is 3 of a rating, and 3 is `'3'` of a choice. */
function fitting(value: string | number | boolean, type: string): string | number | boolean {
  if (numbers.includes(type)) return typeof value === 'string' && value !== '' ? Number(value) : value;
  if (type === 'yes_no') return typeof value === 'string' ? value.toLowerCase() === 'true' : value;
  return String(value);
}

function readValue(reader: Reader): Value | undefined {
  if (!take(reader, '[')) return readPlain(reader);
  const values: (string | number | boolean)[] = [];
  while (!take(reader, ']')) {
    const value = readPlain(reader);
    if (value === undefined) return undefined;
    values.push(value);
    take(reader, ',');
  }
  return values;
}

function readPlain(reader: Reader): string | number | boolean | undefined {
  const { one, two, number, word } = reader.tokens[reader.at] ?? {};
  reader.at += 1;
  if (number !== undefined) return Number(number);
  if (word?.toLowerCase() === 'true') return true;
  if (word?.toLowerCase() === 'false') return false;
  return one ?? two;
}
