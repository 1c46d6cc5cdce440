import { createHash, randomBytes } from 'node:crypto';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { hashPassword, verifyPassword } from '#kit/password-hash.ts';
import { only, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { passwordProblems } from '../accounts/passwords.ts';
import { type Accounts, refuseProblems, wordsOfPerson } from '../accounts/users.ts';
import { reportPasswordChange } from '../audit/mail-news.ts';
import { countUpTo } from '../authenticate.ts';
import type { RequestCounter } from '../request-counter.ts';

/** However often it is used, a session ends so long after its sign-in; one that is not used ends after a week. */
const longestSessionMs = 30 * 86_400_000;

/** A sign-in whose second step is not taken by then begins anew. */
const secondStepMs = 10 * 60_000;

type Found = {
  session: { createdAt: Date; secondFactorAt?: Date | null | undefined };
  user: { secondFactor?: boolean | null | undefined };
};

/** Whether the second step of the sign-in has yet to be taken. */
export const awaitsSecondStep = ({ session, user }: Found): boolean =>
  user.secondFactor === true && !session.secondFactorAt;

export const isSessionOver = (found: Found): boolean =>
  now().getTime() - found.session.createdAt.getTime() >=
  (awaitsSecondStep(found) ? secondStepMs : longestSessionMs);

/** Until when a person's temporary password opens its own change; undefined where they chose theirs. */
export const temporaryUntil = (user: object): Date | undefined =>
  'temporaryUntil' in user && user.temporaryUntil instanceof Date ? user.temporaryUntil : undefined;

/** Whether it opens nothing any more: neither a sign-in, nor what was signed in to with it. */
export function isTemporaryOver(user: object): boolean {
  const until = temporaryUntil(user);
  return until !== undefined && until <= now();
}

/** The person has chosen a password in place of a temporary one: everything is open again. */
const confirmPassword = statement(
  'workspaces.confirm_password',
  'id:text',
  '',
  `update users set temporary_until = null where id = $id`,
);

/** The person has chosen a password: every session has ended, and links to choose another one. None where `old` is theirs no more. */
export const choosePassword = statement(
  'workspaces.choose_password',
  'user_id old:text password now',
  'user_id',
  `with secret as (
     update accounts set password = $password, updated_at = $now
      where user_id = $user_id and provider_id = 'credential' and password = $old
     returning user_id
   ),
   ended as (delete from sessions where user_id in (select user_id from secret)),
   resets as (delete from password_resets where user_id in (select user_id from secret))
   select user_id from secret`,
);

/** The hash of a person's password; nothing for one who has none. */
export const findPasswordHash = statement(
  'workspaces.find_password_hash',
  'user_id',
  'password',
  `select password from accounts where user_id = $user_id and provider_id = 'credential' and password is not null`,
);

/**
 * Tries of a password in one minute. They are counted before the password is looked at, by a counter that is exact
 * under parallel requests, so that never more are evaluated (docs/rules.md T18, C33). They are counted whether or not
 * there is such an account, so that the wait says nothing of it (T19).
 */
export const signInTries = { ofAccount: 10, ofAddress: 30 } as const;

type Context = { accounts: Accounts; database: Database; vault: Vault; requestCounter: RequestCounter };

/** Who tries: what the address counts as (address-key.ts), the cookies, and the mark of a browser known from before. */
type Attempt = { address: string; headers: Headers; device: string | undefined };

/**
 * Signs a person in with a session of its own; one that the browser had until now ends (docs/rules.md T20).
 * Where the person has a second factor it opens nothing but the second step (second-factor/).
 * @returns the cookies to set, and the mark by which this browser is known from now on (see deviceMark): none before the
 *   second step, since it comes with tries of its own.
 * @throws ApiError unauthorized, the same for a wrong password and an unknown address; rate_limit_exceeded.
 */
export async function signIn(
  context: Context,
  attempt: Attempt,
  given: { email: string; password: string },
): Promise<{ userId: string; cookies: string[]; device?: string }> {
  const email = normalizeAddress(given.email);
  await countAttempt(context, attempt, email);
  const { auth, isRefusal } = await context.accounts.library();
  try {
    const { response: user, headers } = await auth.api.signInByPassword({
      body: { email, password: given.password },
      headers: new Headers({ 'User-Agent': attempt.headers.get('User-Agent') ?? '' }),
      returnHeaders: true,
    });
    await auth.api.signOut({ headers: attempt.headers });
    // The session that was just begun is nobody's: its cookies go nowhere, and it opens nothing (session-end.ts).
    if (isTemporaryOver(user))
      throw new ApiError('unauthorized', 'The time of this temporary password is over. Ask for another.');
    return {
      userId: user.id,
      cookies: headers.getSetCookie(),
      ...(!user.secondFactor && { device: deviceMark(context.vault, email) }),
    };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    throw new ApiError('unauthorized', 'The email address or the password is wrong.', { cause });
  }
}

/**
 * Changes a password, ends every session of the person, and begins a new one for whoever changed it (T20).
 * @returns the cookies of the new session.
 * @throws ApiError validation_error when the current password is wrong or the new one is no password.
 */
export async function changePassword(
  context: Context,
  person: {
    userId: string;
    headers: Headers;
    mustChangePassword: boolean;
    secondFactorAt?: Date | null;
  },
  { current, next }: { current: string; next: string },
): Promise<string[]> {
  refuseProblems(await changeProblems(context.database, person.userId, { current, next }));
  await countTry(context, `password of ${person.userId}`, signInTries.ofAccount);
  const { beginSession } = await context.accounts.library();
  const user_id = person.userId;
  const old = only(await findPasswordHash(context.database, { user_id }))?.password;
  if (old === undefined || !(await verifyPassword(old, current))) throw wrongPassword();
  const change = { user_id, old, password: await hashPassword(next), now: now() };
  await transaction(context.database, async (client) => {
    // Only where it has to be: on a cluster it fails while a node is away, as whatever writes to people.
    if (person.mustChangePassword) await confirmPassword(client, { id: user_id });
    const changed = await choosePassword(client, change);
    // Another one was chosen meanwhile.
    if (changed.length === 0) throw wrongPassword();
  });
  await reportPasswordChange(context.database, user_id);
  return beginSession(user_id, person.secondFactorAt ?? null, person.headers);
}

const wrongPassword = (): ApiError =>
  new ApiError('validation_error', undefined, {
    errors: [{ field: 'current_password', message: 'This is not your current password.', code: 'mismatch' }],
  });

async function changeProblems(
  database: Database,
  userId: string,
  { current, next }: { current: string; next: string },
): Promise<ErrorItem[]> {
  // A temporary password was seen by whoever handed it over.
  if (current === next)
    return [
      {
        field: 'new_password',
        message: 'Choose another password than the current one.',
        code: 'not_allowed',
      },
    ];
  return passwordProblems('new_password', next, await wordsOfPerson(database, userId));
}

/**
 * A browser that has signed in to this account before has tries of its own. Whoever guesses at the account from
 * elsewhere uses up the others, and so cannot keep its owner out of it.
 */
async function countAttempt(context: Context, { address, device }: Attempt, email: string): Promise<void> {
  const known = knownDevice(context.vault, email, device);
  if (known !== undefined) return countTry(context, `sign-in from ${known}`, signInTries.ofAccount);
  await countTry(context, `sign-in from ${address}`, signInTries.ofAddress);
  await countTry(
    context,
    `sign-in to ${createHash('sha256').update(email).digest('base64url')}`,
    signInTries.ofAccount,
  );
}

/**
 * Counts something that may be done `most` times in so many seconds, a minute unless said.
 * @throws ApiError rate_limit_exceeded with the wait.
 */
export const countTry = (
  { requestCounter }: Pick<Context, 'requestCounter'>,
  key: string,
  most: number,
  seconds?: number,
): Promise<void> =>
  countUpTo(requestCounter, key, most, { why: 'Too many tries.', ...(seconds !== undefined && { seconds }) });

/** `<random>.<signature of it and the address>`: proof that this browser has signed in with this address before. */
export function deviceMark(vault: Vault, email: string): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${vault.sign('sessions', ['known device', name, email])}`;
}

/** The name of the browser that shows a mark, where it has signed in with this address before. */
export function knownDevice(vault: Vault, email: string, mark: string | undefined): string | undefined {
  const [name = '', signature] = mark?.split('.', 2) ?? [];
  return signature && vault.verify('sessions', ['known device', name, email], signature) ? name : undefined;
}
