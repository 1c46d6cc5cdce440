import { randomBytes } from 'node:crypto';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { hashPassword } from '#kit/password-hash.ts';
import type { Queryable } from '#kit/statement.ts';
import { reportPasswordChange } from './mail-news.ts';
import { nameProblems, refuseProblems } from './problems.ts';
import { insertUser, resetPassword } from './queries.ts';

/** A person who signs in with email and password. The name defaults to the address before its @. */
export type NewUser = {
  email: string;
  password: string;
  name?: string;
  /** Whether the password is only for the first sign-in. */
  isTemporary?: boolean;
};

/** Characters of a password. Also what accounts.ts tells the library for later changes of it. */
export const passwordLength = { least: 10, most: 128 } as const;

/** The expression that the library checks at sign-in (zod's), so that whoever is let in here can also sign in. */
const emailPattern =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
/** RFC 5321, 4.5.3.1.3. */
const longestEmail = 254;

/** Everything that is wrong with a new person's email, password and name. */
export function userProblems({ email, password, name }: NewUser): ErrorItem[] {
  const problems = [...emailProblems(email), ...passwordProblems('password', password)];
  return name === undefined ? problems : [...problems, ...nameProblems('name', name)];
}

/** What is wrong with an address to sign in with. */
export function emailProblems(email: string): ErrorItem[] {
  if (email.length <= longestEmail && emailPattern.test(email)) return [];
  return [{ field: 'email', message: 'This is not an email address, such as ada@example.org.' }];
}

/** What is wrong with a password that somebody chose. */
export function passwordProblems(field: string, password: string): ErrorItem[] {
  const { least, most } = passwordLength;
  if (password.length >= least && password.length <= most) return [];
  return [{ field, message: `A password has ${least} to ${most} characters.` }];
}

/**
 * Adds a person in one statement, and so within a caller's transaction where there is one. The library's own
 * sign-up writes its two rows one after the other, outside of any transaction; the rows are the same.
 * @throws ApiError validation_error with every problem; conflict when the address is taken.
 */
export async function createUser(database: Queryable, user: NewUser): Promise<{ id: string }> {
  refuseProblems(userProblems(user));
  const id = newId();
  const added = await insertUser(database, {
    id,
    account_id: newId(),
    name: user.name ?? user.email.split('@', 1)[0]!,
    email: user.email.toLowerCase(),
    password: await hashPassword(user.password),
    must_change_password: user.isTemporary ?? false,
    now: timeOfId(id),
  });
  if (added.length === 0)
    throw new ApiError('conflict', 'There is an account with this email address already.');
  return { id };
}

/** A password to hand over, for the next sign-in alone: 96 random bits. */
export const makeTemporaryPassword = (): string => randomBytes(12).toString('base64url');

/**
 * Lets a person back in who has lost their password: a temporary one, returned this once, which they have to change at
 * the next sign-in. Every session of theirs ends, and they are told by mail.
 * @throws ApiError not_found when there is no account with this address.
 */
export async function resetUserPassword(
  database: Queryable,
  email: string,
): Promise<{ id: string; temporaryPassword: string }> {
  const temporaryPassword = makeTemporaryPassword();
  const [person] = await resetPassword(database, {
    email: email.trim().toLowerCase(),
    password: await hashPassword(temporaryPassword),
    now: now(),
  });
  if (!person) throw new ApiError('not_found', `There is no account with the address ${email}.`);
  await reportPasswordChange(database, person.id);
  return { id: person.id, temporaryPassword };
}
