import { ApiError } from './errors.ts';

/** JSON bodies are at most this many bytes (docs/rules.md 13): a larger one takes seconds to parse. */
export const jsonBodyLimit = 1024 * 1024;
/** JSON.stringify overflows near 5,000 levels, so a deep tree could be stored and never be returned. */
const depthLimit = 64;

/**
 * Reads a JSON body: valid UTF-8 and valid JSON (else 400), at most 64 levels deep, without NUL or half a surrogate
 * pair in any string, which PostgreSQL cannot store, and without numbers that would come back as others (all 422;
 * docs/rules.md 13, F30 to F33).
 */
export function readJsonBody(bytes: Buffer): unknown {
  const text = decode(bytes);
  const problem = findUnkeepable(text);
  if (problem) throw new ApiError('validation_error', problem);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

const notJson = (cause: unknown): ApiError =>
  new ApiError('bad_request', 'The body is not valid JSON in UTF-8.', { cause });

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notJson(cause);
  }
}

/**
 * What is in a JSON text that could not be kept, as a sentence. Looks at the text and not at the parsed value: a
 * million levels take a second to parse, and a number that JSON.parse rounded shows no trace of it.
 * One pass, a few milliseconds for 1 MB. Text that is not JSON at all is left to the parser to refuse.
 */
function findUnkeepable(text: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') {
      const end = endOfString(text, at);
      if (end === undefined)
        return 'The JSON holds a NUL character or half a surrogate pair in a string, which cannot be stored.';
      at = end;
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > depthLimit) return `The JSON is nested more than ${depthLimit} levels deep.`;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      const [number] = numberAt(text, at);
      if (!isExact(number)) return `The JSON holds a number that cannot be kept as it is: ${clip(number)}`;
      at += number.length - 1;
    }
  }
  return undefined;
}

/** Where the string that begins here ends, or the text; undefined when an escape in it cannot be stored. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at;
    if (text[at] !== '\\') continue;
    const [escape] = escapeAt(text, at);
    if (isUnstorable(escape)) return undefined;
    at += escape.length - 1;
  }
  return text.length;
}

const matchAt =
  (pattern: RegExp) =>
  (text: string, at: number): RegExpExecArray => {
    pattern.lastIndex = at;
    return pattern.exec(text)!;
  };

/** A whole surrogate pair, one `\u` escape, or a backslash and what follows it. */
const escapeAt = matchAt(
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^]?/y,
);
const numberAt = matchAt(/-?[\d.eE+-]*/y);

/** Unescaped text is well-formed already: it was decoded. */
const isUnstorable = (escape: string): boolean => /^\\u(?:0000|[dD][89a-fA-F]..)$/.test(escape);

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
