import type { ProblemCode } from '#ast/problem-codes.ts';
import { countCharacters, isCleanText } from '#ast/text.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';

/** In characters. */
export const longestName = 100;

/**
 * What is wrong with the name of a workspace, key or person: 1 to 100 characters, not only blanks, and text that
 * PostgreSQL can hold (docs/rules.md 13).
 * @param field how the caller calls it.
 */
export function nameProblems(field: string, name: string): ErrorItem[] {
  const problem = (code: ProblemCode, message: string): ErrorItem[] => [{ field, message, code }];
  if (name.trim() === '') return problem('required', 'A name is required.');
  if (countCharacters(name) > longestName)
    return problem('too_long', `A name has at most ${longestName} characters.`);
  if (!isCleanText(name)) return problem('not_storable', 'The name holds a NUL or half of a surrogate pair.');
  return [];
}

/** @throws ApiError validation_error with all of them, when there are any. */
export function refuseProblems(problems: readonly ErrorItem[]): void {
  if (problems.length > 0) throw new ApiError('validation_error', undefined, { errors: problems });
}
