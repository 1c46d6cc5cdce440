import { isCleanText } from '#ast/basics/text.ts';
import { ApiError } from '#kit/errors.ts';

/**
 * Rejects reference values that PostgreSQL cannot store; null stands for a removed value.
 * @throws ApiError validation_error, with the name of each invalid value.
 */
export function requireStorableReference(reference: Readonly<Record<string, string | null>>): void {
  const unclean = Object.entries(reference).filter(
    ([name, value]) => !isCleanText(name) || !isCleanText(value ?? ''),
  );
  if (unclean.length === 0) return;
  const message = 'Remove the characters that cannot be stored (NUL, unpaired surrogates).';
  const errors = unclean.map(([field]) => ({ field, message, code: 'not_storable' as const }));
  throw new ApiError('validation_error', message, { errors });
}
