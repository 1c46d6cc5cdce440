import { isCleanText } from '#ast/basics/text.ts';
import { ApiError } from '#kit/errors.ts';

/**
 * Reference values as somebody sends them; null stands for one that is taken away.
 * @throws ApiError validation_error, with the name of each that PostgreSQL cannot hold.
 */
export function requireClean(reference: Readonly<Record<string, string | null>>): void {
  const unclean = Object.entries(reference).filter(
    ([name, value]) => !isCleanText(name) || !isCleanText(value ?? ''),
  );
  if (unclean.length === 0) return;
  const message = 'Remove the characters that cannot be stored (NUL, half a surrogate pair).';
  const errors = unclean.map(([field]) => ({ field, message, code: 'not_storable' as const }));
  throw new ApiError('validation_error', message, { errors });
}
