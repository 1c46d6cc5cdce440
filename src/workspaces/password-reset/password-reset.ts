import { createHash, randomBytes } from 'node:crypto';
import { newId, now } from '#kit/clock.ts';
import { type Database, transaction, homeOf } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { normalizeAddress } from '#kit/outbox/address.ts';
import { reportPasswordChange, reportToPerson } from '../mail-news.ts';
import { refuseProblems } from '../problems.ts';
import { passwordProblems } from '../passwords.ts';
import { emailProblems, wordsOfPerson } from '../users.ts';
import { findReset, insertReset, setPassword, useReset } from './queries.ts';

/** For how long the link of a mail works. */
export const resetMinutes = 60;
const minuteMs = 60_000;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Asks for a mail with a link to choose another password. Whether anybody has the address is looked up later, by a
 * job: the answer, and the time that it takes, are the same for all (docs/rules.md T19).
 * @throws ApiError validation_error for what is no address.
 */
export async function askForPasswordReset(database: Database, given: string): Promise<void> {
  const email = normalizeAddress(given);
  refuseProblems(emailProblems(email));
  await reportToPerson(database, { kind: 'password_reset_asked', email });
}

/**
 * Begins a reset, in the caller's transaction. Only the SHA-256 of its token is stored.
 * @returns the token; undefined when nobody has the address, or it was asked for too often.
 */
export async function beginPasswordReset(db: Queryable, email: string): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const at = now();
  const begun = await insertReset(homeOf(db), {
    email,
    hash: hashOf(token),
    now: at,
    expires_at: new Date(at.getTime() + resetMinutes * minuteMs),
    since: new Date(at.getTime() - resetMinutes * minuteMs),
  });
  return begun.length > 0 ? token : undefined;
}

/**
 * Sets the password of whoever holds the token, once. Every session of the person ends, and they are told.
 * @returns the address to sign in with.
 * @throws ApiError validation_error for what is no password; gone for a token that was used, replaced or has expired.
 */
export async function finishPasswordReset(
  database: Database,
  { token, password }: { token: string; password: string },
): Promise<{ email: string }> {
  const hash = hashOf(token);
  const owner = only(await findReset(database, { hash, now: now() }));
  if (!owner) throw over();
  const words = await wordsOfPerson(database, owner.user_id);
  refuseProblems(await passwordProblems('password', password, words));
  const hashed = await hashPassword(password);
  return transaction(database, async (client) => {
    const at = now();
    const person = only(await useReset(client, { hash, now: at }));
    if (!person) throw over();
    await setPassword(client, { user_id: person.user_id, account_id: newId(), password: hashed, now: at });
    await reportPasswordChange(client, person.user_id);
    return { email: person.email };
  });
}

const over = (): ApiError =>
  new ApiError('gone', 'This link was used already, or its time is over. Ask for another.');
