import { createHash, randomBytes } from 'node:crypto';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { normalizeMailAddress } from '#kit/outbox/address.ts';
import { hashPassword, verifyPassword } from '#kit/password-hash.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { passwordProblems } from '../accounts/passwords.ts';
import { type Accounts, listForbiddenPasswordWords, throwProblems } from '../accounts/users.ts';
import { enqueuePasswordChangeEmail } from '../audit/email-events.ts';
import { enforceRateLimit } from '../authenticate.ts';
import type { RequestCounter } from '../request-counter.ts';

/** A session ends this long after its sign-in, even if it is used. An unused one ends after a week. */
const longestSessionMs = 30 * 86_400_000;

/** The time to complete two-factor before the person must sign in again. */
const twoFactorMs = 10 * 60_000;

type Found = {
  session: { createdAt: Date; secondFactorAt?: Date | null | undefined };
  user: { secondFactor?: boolean | null | undefined };
};

/** Whether two-factor is pending for a session. */
export const awaitsTwoFactor = ({ session, user }: Found): boolean =>
  user.secondFactor === true && !session.secondFactorAt;

export const isSessionOver = (found: Found): boolean =>
  now().getTime() - found.session.createdAt.getTime() >=
  (awaitsTwoFactor(found) ? twoFactorMs : longestSessionMs);

/** Returns the expiry of a person's temporary password; undefined if they chose their own password. */
export const temporaryPasswordExpiry = (user: object): Date | undefined =>
  'temporaryUntil' in user && user.temporaryUntil instanceof Date ? user.temporaryUntil : undefined;

/** Whether a temporary password has expired, which also ends the sessions it began. */
export function isTemporaryPasswordExpired(user: object): boolean {
  const until = temporaryPasswordExpiry(user);
  return until !== undefined && until <= now();
}

/** Records that the temporary password was replaced, which restores full access. */
const confirmPassword = statement('id:text', '')`
  update users set temporary_until = null where id = $id`;

/**
 * Sets a chosen password and ends all sessions and reset links. No row if `old` is no longer the password.
 */
export const updatePasswordHash = statement('user_id old:text password now', 'user_id')`
  with secret as (
    update accounts set password = $password, updated_at = $now
     where user_id = $user_id and provider_id = 'credential' and password = $old
    returning user_id
  ),
  ended as (delete from sessions where user_id in (select user_id from secret)),
  resets as (delete from password_resets where user_id in (select user_id from secret))
  select user_id from secret`;

/** Finds the hash of a person's password; no row if they have none. */
export const findPasswordHash = statement('user_id', 'password')`
  select password from accounts where user_id = $user_id and provider_id = 'credential' and password is not null`;

/**
 * The number of password attempts allowed in a minute. Attempts are counted before the password is checked.
 * The counter is exact under parallel requests, so the limit is never exceeded (docs/rules.md T18, C33).
 * Attempts for unknown accounts count too, so that rate limiting reveals nothing (T19).
 */
export const signInTries = { ofAccount: 10, ofAddress: 30 } as const;

type SignInServices = {
  accounts: Accounts;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
};

/**
 * A sign-in attempt: the key of its IP address (addressKey in users.ts), the cookies, and the token of a
 * known browser.
 */
type Attempt = { address: string; headers: Headers; device: string | undefined };

/**
 * Signs a person in with a new session; an existing session of the browser ends (docs/rules.md T20). If the
 * person has two-factor, the session can only be used to complete it (second-factor.ts).
 * @returns the cookies to set, and the token by which this browser is recognized from now on (see
 * createKnownBrowserToken). Before two-factor there is no token, because it grants separate attempts.
 * @throws ApiError unauthorized, with one message for a wrong password and an unknown address;
 * rate_limit_exceeded.
 */
export async function signIn(
  context: SignInServices,
  attempt: Attempt,
  given: { email: string; password: string },
): Promise<{ userId: string; cookies: string[]; device?: string }> {
  const email = normalizeMailAddress(given.email);
  await countAttempt(context, attempt, email);
  const { auth, isRefusal } = await context.accounts.library();
  try {
    const { response: user, headers } = await auth.api.signInByPassword({
      body: { email, password: given.password },
      headers: new Headers({ 'User-Agent': attempt.headers.get('User-Agent') ?? '' }),
      returnHeaders: true,
    });
    await auth.api.signOut({ headers: attempt.headers });
    // The new session is unusable: its cookies are not sent, and findPerson() also rejects it.
    if (isTemporaryPasswordExpired(user))
      throw new ApiError('unauthorized', 'This temporary password has expired. Ask for a new one.');
    return {
      userId: user.id,
      cookies: headers.getSetCookie(),
      ...(!user.secondFactor && { device: createKnownBrowserToken(context.vault, email) }),
    };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    throw new ApiError('unauthorized', 'The email address or password is wrong.', { cause });
  }
}

/**
 * Changes a password, ends all sessions of the person, and begins a new one for this browser (T20).
 * @returns the cookies of the new session.
 * @throws ApiError validation_error if the current password is wrong or the new one is invalid.
 */
export async function changePassword(
  context: SignInServices,
  person: { userId: string; headers: Headers; mustChangePassword: boolean; secondFactorAt?: Date | null },
  { current, next }: { current: string; next: string },
): Promise<string[]> {
  throwProblems(await changeProblems(context.database, person.userId, { current, next }));
  await limitAttempts(context, `password of ${person.userId}`, signInTries.ofAccount);
  const { beginSession } = await context.accounts.library();
  const user_id = person.userId;
  const old = onlyRow(await findPasswordHash(context.database, { user_id }))?.password;
  if (old === undefined || !(await verifyPassword(old, current))) throw wrongPassword();
  const change = { user_id, old, password: await hashPassword(next), now: now() };
  await transaction(context.database, async (client) => {
    // Only if necessary: on a cluster, every change of a person fails while a node is unavailable.
    if (person.mustChangePassword) await confirmPassword(client, { id: user_id });
    const changed = await updatePasswordHash(client, change);
    // Another password was set in the meantime.
    if (changed.length === 0) throw wrongPassword();
  });
  await enqueuePasswordChangeEmail(context.database, user_id);
  return beginSession(user_id, person.secondFactorAt ?? null, person.headers);
}

const wrongPassword = (): ApiError =>
  new ApiError('validation_error', undefined, {
    errors: [{ field: 'current_password', message: 'The current password is wrong.', code: 'mismatch' }],
  });

async function changeProblems(
  database: Database,
  userId: string,
  { current, next }: { current: string; next: string },
): Promise<ErrorItem[]> {
  // The person who handed over the temporary password knows it.
  if (current === next)
    return [
      {
        field: 'new_password',
        message: 'Choose a password that differs from the current one.',
        code: 'not_allowed',
      },
    ];
  return passwordProblems('new_password', next, await listForbiddenPasswordWords(database, userId));
}

/**
 * Counts an attempt. A browser that has signed in to this account before has separate attempts, so that
 * guesses from elsewhere can't lock out the owner.
 */
async function countAttempt(
  context: SignInServices,
  { address, device }: Attempt,
  email: string,
): Promise<void> {
  const known = verifyKnownBrowserToken(context.vault, email, device);
  if (known !== undefined) return limitAttempts(context, `sign-in from ${known}`, signInTries.ofAccount);
  await limitAttempts(context, `sign-in from ${address}`, signInTries.ofAddress);
  await limitAttempts(
    context,
    `sign-in to ${createHash('sha256').update(email).digest('base64url')}`,
    signInTries.ofAccount,
  );
}

/**
 * Counts an attempt at an action that is allowed `most` times in a number of seconds, by default a minute.
 * @throws ApiError rate_limit_exceeded with the time to wait.
 */
export const limitAttempts = (
  { requestCounter }: Pick<SignInServices, 'requestCounter'>,
  key: string,
  most: number,
  seconds?: number,
): Promise<void> =>
  enforceRateLimit(requestCounter, key, most, {
    why: 'Too many attempts.',
    ...(seconds !== undefined && { seconds }),
  });

/**
 * Returns `<random>.<signature with the address>`, which proves that this browser has signed in with this
 * address before.
 */
export function createKnownBrowserToken(vault: Vault, email: string): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${vault.sign('sessions', ['known device', name, email])}`;
}

/** Returns the random name in a browser's token if it has signed in with this address before. */
export function verifyKnownBrowserToken(
  vault: Vault,
  email: string,
  mark: string | undefined,
): string | undefined {
  const [name = '', signature] = mark?.split('.', 2) ?? [];
  return signature && vault.verify('sessions', ['known device', name, email], signature) ? name : undefined;
}
