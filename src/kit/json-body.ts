import { ApiError } from './errors.ts';

/** JSON bodies are at most this many bytes (DESIGN 4.13): a larger one takes seconds to parse. */
export const jsonBodyLimit = 1024 * 1024;
/** JSON.stringify overflows near 5,000 levels, so a deep tree could be stored and never be returned. */
const depthLimit = 64;

/**
 * Reads a JSON body: valid UTF-8 (else 400), valid JSON (else 400), at most 64 levels deep, and no NUL or lone
 * surrogate in any string, which PostgreSQL cannot store and no answer could return (422; DESIGN 4.13).
 */
export function readJsonBody(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ApiError('bad_request', 'The body is not valid JSON in UTF-8.', { cause });
  }
  refuseUnstorable(value);
  return value;
}

/** Walks without recursion: the depth is the caller's. */
function refuseUnstorable(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthLimit) {
      throw new ApiError('validation_error', `The JSON is nested more than ${depthLimit} levels deep.`);
    }
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string') refuseText(item);
      else if (Array.isArray(item)) for (const child of item) next.push(child);
      else if (typeof item === 'object' && item !== null) {
        for (const [key, child] of Object.entries(item)) {
          refuseText(key);
          next.push(child);
        }
      }
    }
    level = next;
  }
}

function refuseText(text: string): void {
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw new ApiError('validation_error', 'The JSON holds a NUL character or half a surrogate pair in a string, which cannot be stored.');
  }
}
