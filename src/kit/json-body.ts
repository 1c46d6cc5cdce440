import { setImmediate } from 'node:timers/promises';
import type { ProblemCode } from '#ast/basics/problems.ts';
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
/** `JSON.stringify` escapes unpaired surrogates and writes pairs as they are. The backslash is not escaped. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d)/;

function parse(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
  if (!mayNeedNormalizing.test(text)) return body;
  if (text.includes('\\u') && unstorable.test(JSON.stringify(body)))
    throw unkeepable({
      code: 'not_storable',
      message:
        'A string in the JSON contains a NUL character or an unpaired surrogate, which cannot be stored.',
    });
  return normalizeBody(body);
}

/** @throws ApiError validation_error */
function requireKeepable(text: string, budget: ValueBudget): string {
  const problem = findUnkeepable(text, budget);
  if (problem) throw unkeepable(problem);
  return text;
}

const unkeepable = (problem: Unkeepable): ApiError =>
  new ApiError('validation_error', problem.message, { errors: [{ field: 'body', ...problem }] });

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
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if (character === ':') names += 1;
    else if (character === ',') budget.values -= 1;
    else if (character === '[' || character === '{') {
      depth += 1;
      budget.values -= 1;
    } else if (character === ']' || character === '}') depth -= 1;
    else if (character === '-' || (character >= '0' && character <= '9')) {
      numberPattern.lastIndex = at;
      const number = numberPattern.exec(text)![0];
      if (!isExact(number))
        return {
          code: 'not_storable',
          message: `The JSON contains a number that cannot be stored exactly: ${clip(number)}`,
        };
      at += number.length - 1;
    }
    if (names > nameLimit)
      return { code: 'too_many', message: `The JSON contains more than ${nameLimit} names.` };
    if (budget.values < 0)
      return { code: 'too_many', message: `The JSON contains more than ${most} values.` };
    if (depth > depthLimit)
      return { code: 'too_deep', message: `The JSON is nested more than ${depthLimit} levels deep.` };
  }
  return undefined;
}

const numberPattern = /[-\d][\d.eE+-]*/y;

/** Returns the position of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return text.length;
}

const [quote, backslash] = [34, 92];

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
