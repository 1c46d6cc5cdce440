import { setImmediate } from 'node:timers/promises';
import type { ProblemCode } from '#ast/basics/problem-codes.ts';
import { normalizeBody } from '#ast/form/normalize-json.ts';
import { ApiError } from './errors.ts';

/** The maximum size of a JSON body, in bytes (docs/rules.md 13). A larger one takes seconds to parse. */
export const jsonBodyLimit = 1024 * 1024;
/** The maximum number of names: six times the field limit of a page. Parsing takes 1 µs for each new name. */
const nameLimit = 30_000;
/** JSON.stringify overflows near 5,000 levels, so a deep tree could be stored but never returned. */
const depthLimit = 64;

/**
 * Parses a JSON body, which must be valid UTF-8 and valid JSON (else 400). It allows at most 64 levels and
 * 30,000 names. It rejects NUL and unpaired surrogates, which PostgreSQL cannot store, and numbers that would
 * change (all 422; docs/rules.md 13, F30 to F33).
 */
export function readJsonBody(bytes: Uint8Array, budget: ValueBudget = { values: Infinity }): unknown {
  return parse(requireKeepable(decode(bytes), budget));
}

/**
 * The remaining number of values in a JSON text: list items, object members, and the lists and objects
 * themselves. Parsing a text reduces it.
 */
export type ValueBudget = { values: number };

/**
 * Parses a larger JSON body, for the few operations that allow one. It may have one long text and only as
 * many values as parse in a few ms, so that other requests are served in between.
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

/** Most bodies match neither alternative, so their values need no normalizing. */
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
 * Returns why a JSON text could not be stored. It checks the text before parsing: a million levels take a
 * second to parse, and rounded numbers look normal afterward. One pass takes a few milliseconds per MB. The
 * parser rejects text that is not JSON.
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
            'A string in the JSON contains a NUL character or an unpaired surrogate, which cannot be stored.',
        };
      at = end;
    } else if (code === codes.colon) {
      names += 1;
      if (names > nameLimit)
        return { code: 'too_many', message: `The JSON contains more than ${nameLimit} names.` };
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
          message: `The JSON contains a number that cannot be stored exactly: ${clip(text.slice(at, end))}`,
        };
      at = end - 1;
    }
  }
  return undefined;
}

const tooManyValues = (most: number): string => `The JSON contains more than ${most} values.`;

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

/** Returns the end of the string, or of the text. Undefined if an escape in it cannot be stored. */
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

/** Matches up to the next quote or escape. The regex engine is ten times as fast as a loop. */
const plain = /[^"\\]*/y;
/** Calling the regex engine costs as much as checking this many characters, and a text may be all escapes. */
const fewCharacters = 16;

function endOfPlain(text: string, start: number): number {
  const few = start + fewCharacters;
  for (let at = start; at < few; at += 1) {
    const code = text.charCodeAt(at);
    // charCodeAt returns NaN after the end of the text.
    if (code === codes.quote || code === codes.backslash || Number.isNaN(code)) return at;
  }
  plain.lastIndex = few;
  plain.test(text);
  return plain.lastIndex;
}

/** Returns whether a `uXXXX` may be NUL or a surrogate (it begins with 0 or D). Most escapes are not. */
function isSuspect(text: string, at: number): boolean {
  const first = text.charCodeAt(at + 1);
  return (
    first === codes.smallD ||
    first === codes.largeD ||
    (first === codes.zero && text.startsWith('0000', at + 1))
  );
}

/** A complete surrogate pair, after its backslash. */
const pair = /u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;

/** Unescaped text was decoded and is well-formed. The parser rejects invalid escapes. */
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

/** Numbers up to this length are always exact, even `9e99`. */
const surelyExact = 4;

/** Returns whether a number is a finite double that, if it is whole, is written back unchanged. */
function isExact(number: string): boolean {
  if (number.length < 16 && !/e/i.test(number)) return true;
  const value = Number(number);
  if (Number.isNaN(value)) return true;
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^e]*[1-9]/i.test(number);
  return !/^-?\d+$/.test(number) || String(value) === number || BigInt(value) === BigInt(number);
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
