import { setImmediate } from 'node:timers/promises';
import type { ProblemCode } from '#ast/basics/problem-codes.ts';
import { normalizeBody } from '#ast/form/normalize-json.ts';
import { ApiError } from './errors.ts';

/** JSON bodies are at most this many bytes (docs/rules.md 13): a larger one takes seconds to parse. */
export const jsonBodyLimit = 1024 * 1024;
/**
 * Names in one body: six times as many as a page may send fields. The parser takes a microsecond for each that it has
 * not seen before.
 */
const nameLimit = 30_000;
/** JSON.stringify overflows near 5,000 levels, so a deep tree could be stored and never be returned. */
const depthLimit = 64;

/**
 * Reads a JSON body: valid UTF-8 and valid JSON (else 400), at most 64 levels deep and 30,000 names, without NUL or half a surrogate
 * pair in any string, which PostgreSQL cannot store, and without numbers that would come back as others (all 422;
 * docs/rules.md 13, F30 to F33).
 */
export function readJsonBody(bytes: Uint8Array, budget: ValueBudget = { values: Infinity }): unknown {
  return parse(requireKeepable(decode(bytes), budget));
}

/** How many values a JSON text may still have: items of lists, members of objects, and the lists and objects themselves. Reading a text uses it up. */
export type ValueBudget = { values: number };

/**
 * The same for the few operations whose bodies may be larger: one long text in them, and no more values than a parser
 * reads in a few ms. Others are served in between.
 */
export async function readLargeJsonBody(bytes: Uint8Array): Promise<unknown> {
  const text = decode(bytes);
  await setImmediate();
  requireKeepable(text, { values: nameLimit });
  await setImmediate();
  const body = parse(text);
  await setImmediate();
  return body;
}

/** Most bodies have no such character and no escape of one, and are not walked through. */
const mayNeedNormalizing = /[\u0300-\uffff]|\\u/;

function parse(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return mayNeedNormalizing.test(text) ? normalizeBody(body) : body;
  } catch (cause) {
    throw notJson(cause);
  }
}

/** @throws ApiError validation_error */
function requireKeepable(text: string, budget: ValueBudget): string {
  const problem = findUnkeepable(text, budget);
  if (problem)
    throw new ApiError('validation_error', problem.message, { errors: [{ field: 'body', ...problem }] });
  return text;
}

const notJson = (cause: unknown): ApiError =>
  new ApiError('bad_request', 'The body is not valid JSON in UTF-8.', { cause });

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notJson(cause);
  }
}

type Unkeepable = { readonly code: ProblemCode; readonly message: string };

/**
 * What is in a JSON text that could not be kept, as a sentence. Looks at the text and not at the parsed value: a
 * million levels take a second to parse, and a number that JSON.parse rounded shows no trace of it.
 * One pass, a few milliseconds for 1 MB. Text that is not JSON at all is left to the parser to refuse.
 */
function findUnkeepable(text: string, budget: ValueBudget): Unkeepable | undefined {
  const most = budget.values;
  let [depth, names] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === codes.quote) {
      const end = endOfString(text, at);
      if (end === undefined)
        return {
          code: 'not_storable',
          message:
            'The JSON holds a NUL character or half a surrogate pair in a string, which cannot be stored.',
        };
      at = end;
    } else if (code === codes.colon) {
      names += 1;
      if (names > nameLimit)
        return { code: 'too_many', message: `The JSON holds more than ${nameLimit} names.` };
    } else if (code === codes.comma) {
      budget.values -= 1;
      if (budget.values < 0) return { code: 'too_many', message: tooManyValues(most) };
    } else if (code === codes.bracket || code === codes.brace) {
      depth += 1;
      budget.values -= 1;
      if (budget.values < 0) return { code: 'too_many', message: tooManyValues(most) };
      if (depth > depthLimit)
        return { code: 'too_deep', message: `The JSON is nested more than ${depthLimit} levels deep.` };
    } else if (code === codes.closingBracket || code === codes.closingBrace) {
      depth -= 1;
    } else if (code === codes.minus || isDigit(code)) {
      const end = endOfNumber(text, at);
      if (end - at > surelyExact && !isExact(text.slice(at, end)))
        return {
          code: 'not_storable',
          message: `The JSON holds a number that cannot be kept as it is: ${clip(text.slice(at, end))}`,
        };
      at = end - 1;
    }
  }
  return undefined;
}

const tooManyValues = (most: number): string => `The JSON holds more than ${most} values.`;

const codeOf = (character: string): number => character.charCodeAt(0);
const codes = {
  quote: codeOf('"'),
  backslash: codeOf('\\'),
  colon: codeOf(':'),
  comma: codeOf(','),
  bracket: codeOf('['),
  closingBracket: codeOf(']'),
  brace: codeOf('{'),
  closingBrace: codeOf('}'),
  minus: codeOf('-'),
  plus: codeOf('+'),
  point: codeOf('.'),
  u: codeOf('u'),
  smallE: codeOf('e'),
  largeE: codeOf('E'),
  smallD: codeOf('d'),
  largeD: codeOf('D'),
  zero: codeOf('0'),
} as const;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Where the string that begins here ends, or the text; undefined when an escape in it cannot be stored. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    at = endOfPlain(text, at);
    if (text.charCodeAt(at) !== codes.backslash) return at;
    at += 1;
    if (text.charCodeAt(at) !== codes.u || !isSuspect(text, at)) continue;
    pair.lastIndex = at;
    if (pair.test(text)) at = pair.lastIndex - 1;
    else if (unstorable.test(text.slice(at, at + 5))) return undefined;
  }
  return text.length;
}

/** What stands in a string up to its end or its next escape; the engine looks through it ten times as fast as a loop. */
const plain = /[^"\\]*/y;
/** To ask the engine takes as long as so many characters by hand: a text may be nothing but escapes. */
const fewCharacters = 16;

function endOfPlain(text: string, start: number): number {
  const few = start + fewCharacters;
  for (let at = start; at < few; at += 1) {
    const code = text.charCodeAt(at);
    // Beyond the end of the text it is no number.
    if (code === codes.quote || code === codes.backslash || Number.isNaN(code)) return at;
  }
  plain.lastIndex = few;
  plain.test(text);
  return plain.lastIndex;
}

/** Whether a `uXXXX` may be NUL or half of a pair: it begins with 0 or D. A body may be full of others. */
function isSuspect(text: string, at: number): boolean {
  const first = text.charCodeAt(at + 1);
  return (
    first === codes.smallD ||
    first === codes.largeD ||
    (first === codes.zero && text.startsWith('0000', at + 1))
  );
}

/** A whole surrogate pair, behind a backslash. */
const pair = /u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;

/** Unescaped text is well-formed already: it was decoded. What is no escape at all is left to the parser to refuse. */
const unstorable = /^u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})$/;

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) if (!isOfNumber(text.charCodeAt(at))) break;
  return at;
}

const isOfNumber = (code: number): boolean =>
  isDigit(code) ||
  code === codes.point ||
  code === codes.minus ||
  code === codes.plus ||
  code === codes.smallE ||
  code === codes.largeE;

/** A number of so few characters is kept, whatever they are: `9e99`. */
const surelyExact = 4;

/** Whether a number is a finite double and, when it is whole, goes out again as the one that came in. */
function isExact(number: string): boolean {
  if (number.length < 16 && !/e/i.test(number)) return true;
  const value = Number(number);
  if (Number.isNaN(value)) return true;
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^e]*[1-9]/i.test(number);
  return !/^-?\d+$/.test(number) || String(value) === number || BigInt(value) === BigInt(number);
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
