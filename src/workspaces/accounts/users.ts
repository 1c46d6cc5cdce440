import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { ProblemCode } from '#ast/basics/problem-codes.ts';
import { countCharacters, isCleanText, normalizeText } from '#ast/basics/text.ts';
import { isEmail } from '#ast/rules/text-formats.ts';
import { findInAllCells } from '#cells/across-cells.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { homeOf } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { normalizeAddress, readMailAddress } from '#kit/outbox/address.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { reportPasswordChange } from '../audit/mail-news.ts';
import type { AccountLibrary, Surroundings } from './account-library.ts';
import { passwordProblems } from './passwords.ts';
import { signAnew } from './sessions.ts';
import { strangersFactors } from './strangers-factors.ts';

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

// People ---------------------------------------------------------------------------------------------------

/** A person and the password to sign in with, or nothing when the address is taken. */
export const insertUser = statement(
  'workspaces.insert_user',
  'id:text account_id name email password email_verified:boolean now',
  'id:text',
  `with person as (
     insert into users (id, name, email, email_verified, created_at, updated_at)
     values ($id, $name, $email, $email_verified, $now, $now)
     on conflict (email) do nothing
     returning id
   )
   insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
   select $account_id, id, id, 'credential', $password, $now, $now from person
   returning user_id as id`,
);

const hasPassword = `email = $email and id in (select user_id from accounts where provider_id = 'credential')`;

/**
 * Gives a person a temporary password, confirms their address, and ends all their sessions, and links to choose another
 * password; nothing for an unknown address or one
 * who signs in by a provider alone. Their second factors stay, unless the address was nobody's for certain until
 * now: then they were whoever's had the account before.
 */
const resetPassword = statement(
  'workspaces.reset_password',
  'email password now until:timestamp',
  'id:text',
  `with ${strangersFactors(hasPassword)},
   person as (
     update users set temporary_until = $until, second_factor = second_factor and email_verified,
                      email_verified = true, updated_at = $now
      where ${hasPassword}
     returning id
   ),
   secret as (
     update accounts set password = $password, updated_at = $now
      where user_id in (select id from person) and provider_id = 'credential'
   ),
   ended as (delete from sessions where user_id in (select id from person)),
   resets as (delete from password_resets where user_id in (select id from person))
   select id from person`,
);

/** Name and address of a person, and the names of their workspaces. */
const findWordsOfPerson = statement(
  'workspaces.find_words_of_person',
  'id:text',
  'email name workspaces:texts',
  `/* lookup: across workspaces */
   select u.email, u.name,
          array(select w.name from members m join workspaces w on w.id = m.workspace_id where m.user_id = u.id)
            as workspaces
     from users u where u.id = $id`,
);

/** A person who signs in with email and password. The name defaults to the address before its @. */
type NewUser = {
  email: string;
  password: string;
  name?: string;
  /**
   * Whether it is certain that the address is theirs: they read its mails, or the operator says so. An account that is
   * not confirmed joins no other workspace than the one whose link made it.
   */
  isConfirmed?: boolean;
  /** What else others know of them: the name of the workspace that they join. */
  words?: readonly string[];
};

/** Everything that is wrong with a new person's email, password and name. */
export async function userProblems({ email, password, name, words = [] }: NewUser): Promise<ErrorItem[]> {
  const known = [email, ...(name === undefined ? [] : [name]), ...words];
  const problems = [...emailProblems(email), ...(await passwordProblems('password', password, known))];
  return name === undefined ? problems : [...problems, ...nameProblems('name', name)];
}

/** Returns what is wrong with an address to sign in with: it must be one that emails can be sent to. */
export function emailProblems(email: string): ErrorItem[] {
  if (isEmail(email) && readMailAddress(email)) return [];
  return [
    {
      field: 'email',
      message: 'This is not an email address, such as ada@example.org.',
      code: 'invalid_format',
    },
  ];
}

/**
 * Adds a person in one statement, and so within a caller's transaction where there is one. The library's own
 * sign-up writes its two rows one after the other, outside of any transaction; the rows are the same.
 * @throws ApiError validation_error with every problem; conflict when the address is taken.
 */
export async function createUser(database: Queryable, user: NewUser): Promise<{ id: string }> {
  refuseProblems(await userProblems(user));
  const id = newId();
  const added = await insertUser(homeOf(database), {
    id,
    account_id: newId(),
    name: normalizeText(user.name ?? user.email.split('@', 1)[0]!),
    email: normalizeAddress(user.email),
    password: await hashPassword(user.password),
    email_verified: user.isConfirmed ?? false,
    now: timeOfId(id),
  });
  if (added.length === 0)
    throw new ApiError('conflict', 'There is an account with this email address already.');
  return { id };
}

/** For how long a temporary password opens its own change. */
const temporaryMs = 24 * 3_600_000;

/**
 * Lets a person back in who has lost their password: a temporary one, returned this once, which they have to change at
 * the next sign-in, within a day. Every session of theirs ends, and they are told by mail. Whoever the operator hands it
 * to is who has the address: the account is confirmed.
 * @throws ApiError not_found when there is no account with this address.
 */
export async function resetUserPassword(
  database: Queryable,
  email: string,
): Promise<{ id: string; temporaryPassword: string }> {
  const temporaryPassword = randomBytes(16).toString('base64url');
  const at = now();
  const [person] = await resetPassword(database, {
    email: normalizeAddress(email),
    password: await hashPassword(temporaryPassword),
    now: at,
    until: new Date(at.getTime() + temporaryMs),
  });
  if (!person)
    throw new ApiError('not_found', `There is no account with the address ${email} and a password.`);
  await reportPasswordChange(database, person.id);
  return { id: person.id, temporaryPassword };
}

/** What others know of a person, and so may not be their password: name, address, workspaces. */
export async function wordsOfPerson(database: Queryable, userId: string): Promise<string[]> {
  const found = await findInAllCells(database, (cells) => findWordsOfPerson(cells, { id: userId }), {
    isPartial: true,
  });
  return found.flatMap(({ email, name, workspaces }) => [email, name, ...workspaces]);
}

/** A household or a server gets a whole /64, so counting single IPv6 addresses would count nothing. */
const ipv6Prefix = 64;

/**
 * What requests without a valid API key are counted as (limit.ts): equal for all ways of writing one
 * IPv4 address, `::ffff:1.2.3.4` among them, and for all addresses of one IPv6 /64 (docs/rules.md T29).
 * @param ip the peer's address, or what a trusted proxy names; all that is no address counts as one.
 */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString().split('%', 1)[0]}/${ipv6Prefix}`,
  );
  return `${network.toString()}/${ipv6Prefix}`;
}

/**
 * Accounts of people. Nobody signs up: the library's sign-up is off, and people are made by the set-up link, the CLI
 * or a member. Its API-key plugin is not used (CVE-2025-61928); API keys are ours.
 */
export type Accounts = {
  /** Loaded when a person first comes: it takes 25 MB, and forms and the API do without it. */
  library(): Promise<AccountLibrary>;
  /** See users.ts, which does it without the library. */
  createUser(user: NewUser): Promise<{ id: string }>;
  /** The cookies of a request as the library takes them: see signAnew. */
  readCookies(cookies: string | undefined): string;
};

export function openAccounts(surroundings: Surroundings): Accounts {
  let loading: Promise<AccountLibrary> | undefined;
  const load = async (): Promise<AccountLibrary> => {
    const { openAccountLibrary } = await import('./account-library.ts');
    return openAccountLibrary(surroundings);
  };
  return {
    library: () => (loading ??= load()),
    createUser: (user) => createUser(surroundings.database, user),
    readCookies: (cookies = '') => signAnew(surroundings.vault, cookies),
  };
}
