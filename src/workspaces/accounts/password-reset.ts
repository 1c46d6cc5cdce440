import { createHash, randomBytes } from 'node:crypto';
import { newId, now } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { isBareAddress, normalizeMailAddress } from '#kit/outbox/address.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { enqueueAccountEmail, enqueuePasswordChangeEmail } from '../audit/email-events.ts';
import { passwordProblems } from './passwords.ts';
import {
  deleteUnconfirmedFactorsSql,
  emailProblems,
  listForbiddenPasswordWords,
  throwProblems,
} from './users.ts';

export const deleteExpiredResets = statement('before', '')`
  delete from password_resets where expires_at < $before`;

/**
 * Adds a password reset for the account with an email address. Returns no row if there is no such account, or
 * after three resets within an hour.
 */
const insertReset = statement('email hash now expires_at since:timestamp', 'user_id')`
  insert into password_resets (hash, user_id, created_at, expires_at)
  select $hash, u.id, $now, $expires_at
    from users u
   where u.email = $email
     and (select count(*) from password_resets r where r.user_id = u.id and r.created_at > $since) < 3
  returning user_id`;

const findReset = statement('hash now', 'user_id')`
  select user_id from password_resets where hash = $hash and expires_at > $now`;

/** Deletes a reset when it is used: of two parallel requests, the second finds none. */
const useReset = statement('hash now', 'user_id email')`
  with used as (
    delete from password_resets where hash = $hash and expires_at > $now returning user_id
  )
  select u.id as user_id, u.email from used join users u on u.id = used.user_id`;

/**
 * Sets a password that was chosen through an emailed link, which proves the address. All sessions and other
 * reset links end. Two-factor methods stay, unless the address was unconfirmed until now. An account that
 * only had a provider gets a password sign-in (`account_id`).
 */
export const setPasswordByReset = statement('user_id account_id password now', '')`
  with ${deleteUnconfirmedFactorsSql('id = $user_id')},
  person as (
    update users set temporary_until = null, second_factor = second_factor and email_verified,
                     email_verified = true, updated_at = $now
     where id = $user_id
  ),
  resets as (delete from password_resets where user_id = $user_id),
  secret as (
    update accounts set password = $password, updated_at = $now
     where user_id = $user_id and provider_id = 'credential'
    returning id
  ),
  first as (
    insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
    select $account_id, $user_id, $user_id, 'credential', $password, $now, $now where not exists (select from secret)
  )
  delete from sessions where user_id = $user_id`;

/** The number of minutes for which a reset link works. */
export const resetMinutes = 60;
const minuteMs = 60_000;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Requests an email with a reset link. A job later checks whether the address has an account, so the response
 * and its timing are the same for all addresses (docs/rules.md T19).
 * @throws ApiError validation_error for an invalid address.
 */
export async function requestPasswordReset(database: Database, given: string): Promise<void> {
  const email = normalizeMailAddress(given);
  // Older accounts can have an address that is no longer accepted, such as one without a full domain.
  if (!isBareAddress(email)) throwProblems(emailProblems(email));
  await enqueueAccountEmail(database, { kind: 'password_reset_asked', email });
}

/**
 * Creates a reset in the caller's transaction. Only the SHA-256 of its token is stored.
 * @returns the token; undefined if the address has no account, or after too many requests.
 */
export async function createPasswordReset(db: Queryable, email: string): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const at = now();
  const begun = await insertReset(sharedDatabaseOf(db), {
    email,
    hash: hashOf(token),
    now: at,
    expires_at: new Date(at.getTime() + resetMinutes * minuteMs),
    since: new Date(at.getTime() - resetMinutes * minuteMs),
  });
  return begun.length > 0 ? token : undefined;
}

/**
 * Sets the password of the account that a token belongs to. The token works once. All sessions of the person
 * end, and they are emailed.
 * @returns the address to sign in with.
 * @throws ApiError validation_error for an invalid password; gone if the token was used or replaced or has
 * expired.
 */
export async function completePasswordReset(
  database: Database,
  { token, password }: { token: string; password: string },
): Promise<{ email: string }> {
  const hash = hashOf(token);
  const owner = onlyRow(await findReset(database, { hash, now: now() }));
  if (!owner) throw invalidLinkError();
  const words = await listForbiddenPasswordWords(database, owner.user_id);
  throwProblems(await passwordProblems('password', password, words));
  const hashed = await hashPassword(password);
  return transaction(database, async (client) => {
    const at = now();
    const person = onlyRow(await useReset(client, { hash, now: at }));
    if (!person) throw invalidLinkError();
    await setPasswordByReset(client, {
      user_id: person.user_id,
      account_id: newId(),
      password: hashed,
      now: at,
    });
    await enqueuePasswordChangeEmail(client, person.user_id);
    return { email: person.email };
  });
}

const invalidLinkError = (): ApiError =>
  new ApiError('gone', 'This link was already used, or it has expired. Request a new one.');
