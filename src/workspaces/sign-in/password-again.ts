import { now } from '#kit/clock.ts';
import { type Database, homeOf } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Person } from '#kit/operation.ts';
import { verifyPassword } from '#kit/password-hash.ts';
import { only } from '#kit/statement.ts';
import type { RequestCounter } from '../request-counter.ts';
import { countTry, findPasswordHash, signInTries } from './sign-in.ts';

/**
 * Asks for the password again before what decides about the sign-in changes: a browser that was left open is not enough.
 * @throws ApiError validation_error; forbidden where there is none and the sign-in was long ago; rate_limit_exceeded.
 */
export async function requirePassword(
  context: { database: Database; requestCounter: RequestCounter },
  person: Person,
  password: string,
): Promise<void> {
  await countTry(context, `password of ${person.id}`, signInTries.ofAccount);
  const found = only(await findPasswordHash(homeOf(context.database), { user_id: person.id }));
  if (!found) return requireNewSession(person);
  if (await verifyPassword(found.password, password)) return;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'password', message: 'This is not your password.', code: 'mismatch' }],
  });
}

/** Whoever signs in by a provider alone has shown who they are when they have done so just now. */
function requireNewSession({ signedInAt }: Person): void {
  if (now().getTime() - signedInAt.getTime() < newSessionMs) return;
  throw new ApiError(
    'forbidden',
    'Sign out and in again first: this takes a sign-in of the last ten minutes.',
  );
}
const newSessionMs = 10 * 60_000;

/** Whether a person has a password here. */
export const hasPassword = async (database: Database, userId: string): Promise<boolean> =>
  (await findPasswordHash(homeOf(database), { user_id: userId })).length > 0;
