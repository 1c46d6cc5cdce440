import { now } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Person } from '#kit/operation.ts';
import { verifyPassword } from '#kit/password-hash.ts';
import { onlyRow } from '#kit/statement.ts';
import type { RequestCounter } from '../request-counter.ts';
import { findPasswordHash, limitAttempts, signInTries } from './sign-in.ts';

/**
 * Checks the password before a change of sign-in methods, because the browser may have been left unattended.
 * @throws ApiError validation_error; forbidden if there is no password and the sign-in was too long ago;
 * rate_limit_exceeded.
 */
export async function requirePassword(
  context: { database: Database; requestCounter: RequestCounter },
  person: Person,
  password: string,
): Promise<void> {
  await limitAttempts(context, `password of ${person.id}`, signInTries.ofAccount);
  const found = onlyRow(await findPasswordHash(sharedDatabaseOf(context.database), { user_id: person.id }));
  if (!found) return requireNewSession(person);
  if (await verifyPassword(found.password, password)) return;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'password', message: 'The password is wrong.', code: 'mismatch' }],
  });
}

/** For people who only sign in with a provider, a recent sign-in replaces the password. */
function requireNewSession({ signedInAt }: Person): void {
  if (now().getTime() - signedInAt.getTime() < newSessionMs) return;
  throw new ApiError(
    'forbidden',
    'You must have signed in within the last ten minutes to do this. Sign out, sign in again, and retry.',
  );
}
const newSessionMs = 10 * 60_000;

export const hasPassword = async (database: Database, userId: string): Promise<boolean> =>
  (await findPasswordHash(sharedDatabaseOf(database), { user_id: userId })).length > 0;
