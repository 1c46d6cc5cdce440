import { isInvisible } from './text.ts';

/** Returns whether an answer is missing, null, invisible or an empty list (docs/rules.md 10). */
export function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return isInvisible(value);
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
