import { type Condition, comparisonsOf } from '#ast/basics/condition.ts';
import { getProperty } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import {
  combineConditions,
  createComparisonCondition,
  mapOperators,
  negateCondition,
  type PlainValue,
  type ReferencedElement,
} from './imported-conditions.ts';
import { type FormImportContext, leftOutReasons } from './importer-table.ts';
import { addJump, addNode, createNode, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

export type SurveyImportContext = FormImportContext & {
  /** Element ids by SurveyJS names, for texts. */
  readonly ids: Map<string, string>;
  /** Callbacks that run once every element is known. */
  readonly later: (() => void)[];
  /** The matrix whose columns are being read. It has the defaults of the columns. */
  readonly matrix?: SourcePart;
};

/** Finds what an expression names. Returns undefined if no condition can refer to it. */
type Naming = (name: string) => ReferencedElement | undefined;

/** Maximum lengths in characters. Longer expressions are left out. */
const longest = { condition: 5_000, formula: 2_000 } as const;

const token =
  /\s*(?:\{(?<name>[^{}]*)\}|'(?<one>[^']*)'|"(?<two>[^"]*)"|(?<number>\d+(?:\.\d+)?)(?![\w.])|(?<sign>&&|\|\||<=|>=|<>|!=|==|\*=|[-+*/%=<>!()[\],])|(?<word>[A-Za-z_][\w-]*))/y;

type Token = Partial<Record<'name' | 'one' | 'two' | 'number' | 'sign' | 'word', string>>;

function split(text: string, most: number): Token[] {
  const tokens: Token[] = [];
  const source = text.trim();
  if (source.length > most) return [];
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const found = token.exec(source);
    if (!found) return [];
    tokens.push(found.groups!);
  }
  return tokens;
}

type Reader = { readonly tokens: readonly Token[]; at: number; readonly naming: Naming };

/**
 * Reads a condition of SurveyJS (`{age} >= 18 and {kind} anyof ['a', 'b']`).
 * @returns undefined if it has no equivalent: functions, sums, comparisons of two answers.
 */
function readExpression(text: string, naming: Naming): Condition | undefined {
  const reader: Reader = { tokens: split(text, longest.condition), at: 0, naming };
  const condition = readAny(reader, 0);
  return reader.at === reader.tokens.length ? condition : undefined;
}

/** Returns a token's sign, or its word in lower case. Tokens in quotes or braces have neither. */
const wordOf = ({ sign, word }: Token = {}): string | undefined => sign ?? word?.toLowerCase();

function skip(reader: Reader, ...words: string[]): boolean {
  if (!words.includes(wordOf(reader.tokens[reader.at]) ?? '')) return false;
  reader.at += 1;
  return true;
}

const readAny = (reader: Reader, depth: number): Condition | undefined =>
  readJoined(reader, 'any', ['or', '||'], () =>
    readJoined(reader, 'all', ['and', '&&'], () => readOne(reader, depth)),
  );

function readJoined(
  reader: Reader,
  kind: 'all' | 'any',
  words: string[],
  read: () => Condition | undefined,
): Condition | undefined {
  const parts = [read()];
  while (parts.at(-1) && skip(reader, ...words)) parts.push(read());
  return combineConditions(kind, parts);
}

function readOne(reader: Reader, depth: number): Condition | undefined {
  if (depth > formLimits.conditionDepth) return undefined;
  if (skip(reader, '!', 'not')) return negateCondition(readOne(reader, depth + 1));
  if (!skip(reader, '(')) return readComparison(reader);
  const inner = readAny(reader, depth + 1);
  return skip(reader, ')') ? inner : undefined;
}

const operators = mapOperators({
  equals: '= == equal',
  not_equals: '<> != notequal',
  contains: 'contains contain *=',
  not_contains: 'notcontains notcontain',
  one_of: 'anyof',
  greater_than: '> greater',
  at_least: '>= greaterorequal',
  less_than: '< less',
  at_most: '<= lessorequal',
  answered: 'notempty',
  not_answered: 'empty',
});

function readComparison(reader: Reader): Condition | undefined {
  const { name = '' } = reader.tokens[reader.at] ?? {};
  const named = reader.naming(name.trim());
  const word = wordOf(reader.tokens[reader.at + 1]) ?? '';
  const is = getProperty(operators, word);
  if (!named || (!is && word !== 'noneof' && word !== 'allof')) return undefined;
  reader.at += 2;
  if (is === 'answered' || is === 'not_answered') return createComparisonCondition(named, is, []);
  const isList = skip(reader, '[');
  const values = isList ? readList(reader) : [readPlain(reader)];
  const plain = values.filter((value) => value !== undefined);
  if (plain.length < values.length) return undefined;
  if (word === 'noneof') return negateCondition(createComparisonCondition(named, 'one_of', plain));
  if (word === 'allof')
    return combineConditions(
      'all',
      plain.map((value) => createComparisonCondition(named, 'contains', [value])),
    );
  return is && (is === 'one_of' || !isList) ? createComparisonCondition(named, is, plain) : undefined;
}

function readList(reader: Reader): (PlainValue | undefined)[] {
  const values = [readPlain(reader)];
  while (skip(reader, ',')) values.push(readPlain(reader));
  return skip(reader, ']') ? values : [undefined];
}

function readPlain(reader: Reader): PlainValue | undefined {
  const isNegative = skip(reader, '-');
  const { one, two, number, word } = reader.tokens[reader.at] ?? {};
  reader.at += 1;
  if (number !== undefined) return isNegative ? -Number(number) : Number(number);
  if (isNegative) return undefined;
  if (word?.toLowerCase() === 'true') return true;
  if (word?.toLowerCase() === 'false') return false;
  return one ?? two;
}

const sameWords = 'true false sum min max round today age year month day'.split(' ');

/** The formula equivalents of an expression's signs and words. */
const formulaWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(sameWords.map((word) => [word, word])),
  iif: 'if',
  avg: 'average',
  '==': '=',
  '<>': '!=',
  '&&': ' and ',
  and: ' and ',
  '||': ' or ',
  or: ' or ',
  '!': ' not ',
  not: ' not ',
};

/**
 * Converts a calculated expression (`{price} * iif({members} > 3, 0.9, 1)`) to a formula.
 * @returns undefined if a part of it has no equivalent, or names an unknown element.
 */
export function convertToFormula(text: string, naming: Naming): string | undefined {
  const parts = split(text, longest.formula).map((token) => {
    const { name, one, two = one, number, sign } = token;
    if (name !== undefined) {
      const { node, yes = 'true', no = 'false' } = naming(name.trim()) ?? {};
      return node && yes === 'true' && no === 'false' ? `{${String(node.attrs['id'])}}` : undefined;
    }
    if (two !== undefined) return /["{}]/.test(two) ? undefined : `"${two}"`;
    const isForeign = sign === '*=' || sign === '[' || sign === ']';
    return getProperty(formulaWords, wordOf(token) ?? '') ?? (isForeign ? undefined : (sign ?? number));
  });
  return parts.length === 0 || parts.includes(undefined) ? undefined : parts.join('').trim();
}

const logic = { visibleIf: 'show_when', requiredIf: 'require_when' } as const;

/** Reads the conditions of a part, after every element is known. */
export function readSurveyLogic(part: SourcePart, node: SketchNode, reading: SurveyImportContext): void {
  for (const [name, attribute] of Object.entries(logic))
    if (part.part(name).isThere)
      reading.later.push(() => {
        const condition = readCondition(part.part(name), reading);
        if (condition) node.attrs[attribute] = condition;
      });
}

export function readCondition(part: SourcePart, { named }: SurveyImportContext): Condition | undefined {
  const text = part.text();
  const condition = text === undefined ? undefined : readExpression(text, (name) => named.get(name));
  if (text !== undefined && !condition) part.leaveOut('This expression has no equivalent condition.');
  return condition;
}

/** Reads the two triggers that become jumps: skip to a question, and end. */
export function readTriggers(
  root: SourcePart,
  reading: SurveyImportContext,
  steps: ReadonlyMap<string, SketchNode>,
): void {
  const { sketch, named } = reading;
  const places = new Map(
    sketch.form.children.flatMap((step) => idsIn(step).map((id) => [id, step] as const)),
  );
  for (const trigger of root.list('triggers')) {
    const type = trigger.text('type');
    const goto = trigger.text('gotoName') ?? '';
    const skipped = steps.get(goto) ?? places.get(String(named.get(goto)?.node.attrs['id']));
    const target = type === 'complete' ? 'end' : type === 'skip' ? skipped : undefined;
    const condition = readCondition(trigger.part('expression'), reading);
    const from = condition && lastNamed(condition, places, sketch.form.children);
    const id = from && addJump(sketch, from, target, condition);
    if (id === undefined) trigger.leaveOut(leftOutReasons.jump);
    else trigger.map(`jump to "${id}"`);
    if (id !== undefined && id !== 'end' && !steps.has(goto))
      trigger.change('The jump leads to the step of that question.');
  }
}

/** Turns each calculated value into a hidden calculation after all questions. */
export function readCalculatedValues(root: SourcePart, { sketch, named }: SurveyImportContext): void {
  const last = sketch.form.children.at(-1);
  for (const part of root.list('calculatedValues')) {
    const name = part.text('name') ?? '';
    const formula = convertToFormula(part.text('expression') ?? '', (each) => named.get(each));
    if (formula === undefined || !last) {
      part.leaveOut('This expression has no equivalent formula.');
      continue;
    }
    if (part.flag('includeIntoResult') !== true) part.change('The result is stored with the answers.');
    const id = sketch.newId(name, name);
    const node = createNode('calculation', { id, label: name || 'Calculation', formula, hidden: true });
    addNode(sketch, last, node, part);
    if (!named.has(name)) named.set(name, { node });
  }
}

const idsIn = ({ attrs, children }: SketchNode): string[] => [
  ...(typeof attrs['id'] === 'string' ? [attrs['id']] : []),
  ...children.flatMap(idsIn),
];

/** Returns the last step that has an element named in a condition. */
function lastNamed(
  condition: Condition,
  places: ReadonlyMap<string, SketchNode>,
  steps: readonly SketchNode[],
): SketchNode | undefined {
  const named = [...comparisonsOf(condition)].flatMap((each) =>
    'element' in each ? (places.get(each.element) ?? []) : [],
  );
  return steps.findLast((step) => named.includes(step));
}
