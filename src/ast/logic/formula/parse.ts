import { elementIdPatternSource } from '../../basics/element-id.ts';
import { answerLimits } from '../../basics/limits.ts';
import {
  type AggregateFunction,
  aggregateFunctions,
  type FormulaFunctionName,
  type FormulaInstruction,
  type FormulaProblem,
  type FormulaProgram,
  type FormulaSpan,
  formulaFunctionNames,
} from './program.ts';

type ParseResult =
  | { readonly ok: true; readonly program: FormulaProgram }
  | { readonly ok: false; readonly problem: FormulaProblem };

/** A token of a formula. `end` is the index after its last character. */
type Token = FormulaSpan & {
  readonly kind: 'number' | 'text' | 'id' | 'word' | 'sign' | 'end';
  readonly text: string;
};

/** Thrown at the first problem. Reporting later problems would be guessing. */
class Fault extends Error {
  override readonly name = 'Fault';
  readonly problem: FormulaProblem;

  constructor(message: string, { at, end }: FormulaSpan) {
    super(message);
    this.problem = { message, at, end };
  }
}

// Cached, because forms never change and each answer needs their formulas.
const known = new Map<string, ParseResult>();
const mostKnown = 2_000;

/**
 * Parses a formula such as `round({price} * {people}, 2)`. `checkFormula` then checks the names against a
 * form. Linear in the text; never throws.
 */
export function parseFormula(text: string): ParseResult {
  const before = known.get(text);
  if (before) return before;
  const parsed = read(text);
  if (known.size >= mostKnown) known.clear();
  known.set(text, parsed);
  return parsed;
}

/** Returns the positions of element names in a formula, or an empty list if it has invalid tokens. */
export function findFormulaNames(text: string): readonly (FormulaSpan & { readonly id: string })[] {
  try {
    return tokensOf(text).flatMap(({ kind, text: name, at, end }) =>
      kind === 'id' ? [{ id: idOf(name), at, end }] : [],
    );
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** Returns a formula in which elements are renamed. */
export function renameInFormula(text: string, rename: (id: string) => string): string {
  const names = findFormulaNames(text);
  if (names.every(({ id }) => rename(id) === id)) return text;
  const parts = names.map(
    ({ id, at }, index) => `${text.slice(names[index - 1]?.end ?? 0, at)}{${rename(id)}}`,
  );
  return `${parts.join('')}${text.slice(names.at(-1)!.end)}`;
}

function read(text: string): ParseResult {
  try {
    return { ok: true, program: readTokens(tokensOf(text)) };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, problem: error.problem };
    throw error;
  }
}

const forms = {
  number: /\d+(?:\.\d+)?/y,
  text: /"[^"]*"|'[^']*'/y,
  id: new RegExp(String.raw`\{ ?${elementIdPatternSource} ?\}`, 'uy'),
  word: /[A-Za-z_]+/y,
  sign: /[<>!]=|[-+*/%=<>(),]/y,
} as const;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const blank = /\s*/y;
  for (let at = 0; ; ) {
    blank.lastIndex = at;
    at += blank.exec(text)![0].length;
    if (at === text.length) return [...tokens, { kind: 'end', text: '', at, end: at }];
    const token = tokenAt(text, at);
    tokens.push(token);
    at = token.end;
  }
}

function tokenAt(text: string, at: number): Token {
  for (const kind of Object.keys(forms) as (keyof typeof forms)[]) {
    const form = forms[kind];
    form.lastIndex = at;
    const found = form.exec(text)?.[0];
    if (found !== undefined) return { kind, text: found, at, end: at + found.length };
  }
  const sign = String.fromCodePoint(text.codePointAt(at)!);
  const here = { at, end: at + sign.length };
  if (sign === '"' || sign === "'") throw new Fault(`has quoted text without a closing ${sign}`, here);
  if (sign === '{') throw new Fault('has a "{" without an element ID, like {price}', here);
  throw new Fault(`has ${JSON.stringify(sign)}, which is not valid in a formula`, here);
}

/** The precedence of operators. */
const closeness: Readonly<Partial<Record<string, number>>> = {
  or: 1,
  and: 2,
  '=': 4,
  '!=': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};
const ofNot = 3;
const ofNegative = 7;

/** Parses by operator precedence and puts each instruction after its operands. */
function readTokens(tokens: readonly Token[]): FormulaProgram {
  let at = 0;
  let depth = 0;
  let program: FormulaInstruction[] = [];
  const next = (): Token => tokens[at]!;
  const take = (): Token => {
    const token = next();
    if (token.kind !== 'end') at += 1;
    return token;
  };
  const isNext = (sign: string): boolean => next().kind === 'sign' && next().text === sign;
  const expect = (sign: string): Token => {
    if (isNext(sign)) return take();
    throw unexpected(next(), `"${sign}"`);
  };
  const call = (name: Exclude<FormulaFunctionName, AggregateFunction>, count: number, from: number): void => {
    program.push({ kind: 'call', name, count, at: from, end: tokens[at - 1]!.end });
  };

  const expression = (least: number): void => {
    depth += 1;
    if (depth > answerLimits.formulaNesting)
      throw new Fault(`must be nested at most ${answerLimits.formulaNesting} levels deep`, next());
    const from = next().at;
    operand();
    for (;;) {
      const name = nameOf(next());
      const close = closeness[name];
      if (close === undefined || close < least) break;
      take();
      expression(close + 1);
      call(name as Exclude<FormulaFunctionName, AggregateFunction>, 2, from);
    }
    depth -= 1;
  };
  const operand = (): void => {
    const token = take();
    const { kind, text, at: from, end } = token;
    if (kind === 'number') program.push({ kind: 'value', value: Number(text), at: from, end });
    else if (kind === 'text') program.push({ kind: 'value', value: text.slice(1, -1), at: from, end });
    else if (kind === 'id') program.push({ kind: 'answer', id: idOf(text), at: from, end });
    else if (kind === 'word') word(token);
    else if (text === '-') {
      expression(ofNegative);
      call('negative', 1, from);
    } else if (text === '(') {
      expression(0);
      expect(')');
    } else throw unexpected(token, 'a value');
  };
  const word = (token: Token): void => {
    const name = token.text.toLowerCase();
    if (name === 'true' || name === 'false') {
      program.push({ kind: 'value', value: name === 'true', at: token.at, end: token.end });
    } else if (name === 'not') {
      expression(ofNot);
      call('not', 1, token.at);
    } else if (name === 'points') points(token.at);
    else if (aggregateFunctions.some((each) => each === name)) gather(name as AggregateFunction, token.at);
    else if (formulaFunctionNames.some((each) => each === name) && closeness[name] === undefined) {
      call(
        name as Exclude<FormulaFunctionName, AggregateFunction>,
        list(token, () => expression(0)),
        token.at,
      );
    } else {
      const hint = isNext('(')
        ? 'is not a function'
        : 'is not a value; write elements in braces, like {price}';
      throw new Fault(`has ${JSON.stringify(token.text)}, which ${hint}`, token);
    }
  };
  /** Reads the arguments of a function and returns their number. */
  const list = (name: Token, each: () => void): number => {
    if (!isNext('(')) throw unexpected(next(), `"(" after ${JSON.stringify(name.text)}`);
    take();
    let count = 0;
    while (!(count === 0 && isNext(')'))) {
      each();
      count += 1;
      if (isNext(')')) break;
      expect(',');
    }
    take();
    return count;
  };
  const points = (from: number): void => {
    expect('(');
    const token = take();
    if (token.kind !== 'id') throw unexpected(token, 'an element in braces, like {satisfaction},');
    program.push({ kind: 'points', id: idOf(token.text), at: from, end: expect(')').end });
  };
  const gather = (name: AggregateFunction, from: number): void => {
    const around = program;
    const parts: FormulaProgram[] = [];
    const each = (): void => {
      program = [];
      expression(0);
      parts.push(program);
    };
    const count = list(tokens[at - 1]!, each);
    program = around;
    const end = tokens[at - 1]!.end;
    if (count === 0) throw new Fault(`has ${name}() without values`, { at: from, end });
    program.push({ kind: 'gather', name, parts, at: from, end });
  };

  expression(0);
  if (next().kind !== 'end') throw unexpected(next(), 'an operator or the end of the formula');
  return program;
}

const idOf = (text: string): string => text.slice(1, -1).trim();

/** Returns the name of an operator. `closeness` contains only operators, not other tokens. */
const nameOf = ({ kind, text }: Token): string =>
  kind === 'sign' ? text : kind === 'word' ? text.toLowerCase() : '';

function unexpected(token: Token, wanted: string): Fault {
  return token.kind === 'end'
    ? new Fault(`ends where ${wanted} is expected`, token)
    : new Fault(`has ${JSON.stringify(token.text)} where ${wanted} is expected`, token);
}
