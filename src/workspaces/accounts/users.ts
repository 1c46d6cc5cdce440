import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { ProblemCode } from '#ast/basics/problems.ts';
import { countCharacters, isCleanText, normalizeText } from '#ast/basics/text.ts';
import { isEmail } from '#ast/rules/text-formats.ts';
import { findInAllCells } from '#cells/across-cells.ts';
import { newId, now, timeOfId } from '#kit/clock.ts';
import { sharedDatabaseOf } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { normalizeMailAddress, readEnteredAddress, wrongAddressMessage } from '#kit/outbox/address.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { enqueuePasswordChangeEmail } from '../audit/email-events.ts';
import type { AccountLibrary, AccountServices } from './account-library.ts';
import { passwordProblems } from './passwords.ts';
import { renewCookieSignatures } from './sessions.ts';

/** The maximum length of a name, in characters. */
export const longestName = 100;

/**
 * Returns the problems with the name of a workspace, key or person. It must have 1 to 100 characters, not
 * consist only of spaces, and be text that PostgreSQL can store (docs/rules.md 13).
 * @param field the name of the field in the request.
 */
export function nameProblems(field: string, name: string): ErrorItem[] {
  const problem = (code: ProblemCode, message: string): ErrorItem[] => [{ field, message, code }];
  if (name.trim() === '') return problem('required', 'A name is required.');
  if (countCharacters(name) > longestName)
    return problem('too_long', `A name must have at most ${longestName} characters.`);
  if (!isCleanText(name))
    return problem('not_storable', 'The name contains a NUL character or an unpaired surrogate. Remove it.');
  return [];
}

/** Throws if there are problems. @throws ApiError validation_error with all of them. */
export function throwProblems(problems: readonly ErrorItem[]): void {
  if (problems.length > 0) throw new ApiError('validation_error', undefined, { errors: problems });
}

// People ---------------------------------------------------------------------------------------------------

/** Adds a person with a password. Returns no row if the address already has an account. */
export const insertUser = statement(
  'id:text account_id name email password email_verified:boolean now',
  'id:text',
)`
  with person as (
    insert into users (id, name, email, email_verified, created_at, updated_at)
    values ($id, $name, $email, $email_verified, $now, $now)
    on conflict (email) do nothing
    returning id
  )
  insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
  select $account_id, id, id, 'credential', $password, $now, $now from person
  returning user_id as id`;

const hasPassword = `email = $email and id in (select user_id from accounts where provider_id = 'credential')`;

/**
 * Sets a temporary password, confirms the address, and ends all sessions and reset links. Returns no row for
 * an unknown address or an account that only has a provider. Two-factor methods stay, unless the address was
 * unconfirmed until now: a stranger may have set them up.
 */
const resetPassword = statement('email password now until:timestamp', 'id:text')`
  with ${deleteUnconfirmedFactorsSql(hasPassword)},
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
  select id from person`;

/** Finds the name and email address of a person, and the names of their workspaces. */
const findWordsOfPerson = statement('id:text', 'email name workspaces:texts')`
  /* lookup: across workspaces */
  select u.email, u.name,
         array(select w.name from members m join workspaces w on w.id = m.workspace_id where m.user_id = u.id)
           as workspaces
    from users u where u.id = $id`;

/**
 * A new person who signs in with email and password. The name defaults to the local part of the email
 * address.
 */
type NewUser = {
  email: string;
  password: string;
  name?: string;
  /**
   * Whether the address is confirmed, either by an email that the person read or by the operator. An
   * unconfirmed account can only join the workspace whose link created it.
   */
  isConfirmed?: boolean;
  /** Other words known about the person: the name of the workspace that they join. */
  words?: readonly string[];
};

/** Returns the problems with a new person's email, password and name. */
export async function userProblems({ email, password, name, words = [] }: NewUser): Promise<ErrorItem[]> {
  const known = [email, ...(name === undefined ? [] : [name]), ...words];
  const problems = [...emailProblems(email), ...(await passwordProblems('password', password, known))];
  return name === undefined ? problems : [...problems, ...nameProblems('name', name)];
}

/** Returns what is wrong with a sign-in address: it must be able to receive emails. */
export function emailProblems(email: string): ErrorItem[] {
  if (isEmail(email) && readEnteredAddress(email)) return [];
  return [{ field: 'email', message: wrongAddressMessage, code: 'invalid_format' }];
}

/**
 * Adds a person in one statement, and so within the caller's transaction, if there is one. The library's own
 * sign-up writes equal rows, but one after another and outside transactions.
 * @throws ApiError validation_error with all problems; conflict if the address already has an account.
 */
export async function createUser(database: Queryable, user: NewUser): Promise<{ id: string }> {
  throwProblems(await userProblems(user));
  const id = newId();
  const added = await insertUser(sharedDatabaseOf(database), {
    id,
    account_id: newId(),
    name: normalizeText(user.name ?? user.email.split('@', 1)[0]!),
    email: normalizeMailAddress(user.email),
    password: await hashPassword(user.password),
    email_verified: user.isConfirmed ?? false,
    now: timeOfId(id),
  });
  if (added.length === 0)
    throw new ApiError('conflict', 'An account with this email address already exists.');
  return { id };
}

/** How long a temporary password can be used to set a new one. */
const temporaryMs = 24 * 3_600_000;

/**
 * Returns a temporary password for a person who has lost theirs. They must change it at the next sign-in,
 * within a day. All their sessions end, and they are emailed. The operator vouches for the recipient, so the
 * account is confirmed.
 * @throws ApiError not_found if no account has this address.
 */
export async function setTemporaryPassword(
  database: Queryable,
  email: string,
): Promise<{ id: string; temporaryPassword: string }> {
  const temporaryPassword = randomBytes(16).toString('base64url');
  const at = now();
  const [person] = await resetPassword(database, {
    email: normalizeMailAddress(email),
    password: await hashPassword(temporaryPassword),
    now: at,
    until: new Date(at.getTime() + temporaryMs),
  });
  if (!person)
    throw new ApiError('not_found', `There is no account with a password and the email address ${email}.`);
  await enqueuePasswordChangeEmail(database, person.id);
  return { id: person.id, temporaryPassword };
}

/**
 * Returns the words known about a person (name, address, workspaces). A password must not consist of them.
 */
export async function listForbiddenPasswordWords(database: Queryable, userId: string): Promise<string[]> {
  const found = await findInAllCells(database, (cells) => findWordsOfPerson(cells, { id: userId }), {
    isPartial: true,
  });
  return found.flatMap(({ email, name, workspaces }) => [email, name, ...workspaces]);
}

/** A household or server gets a whole /64, so limits for single IPv6 addresses would be useless. */
const ipv6Prefix = 64;

/**
 * Returns the key under which requests from an IP address are counted. It is the same for all spellings of an
 * IPv4 address, including `::ffff:1.2.3.4`, and for all addresses in an IPv6 /64 (docs/rules.md T29).
 * @param ip the peer's address, or the address that a trusted proxy reports. All invalid ones share one key.
 */
export function ipRateLimitKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString().split('%', 1)[0]}/${ipv6Prefix}`,
  );
  return `${network.toString()}/${ipv6Prefix}`;
}

/**
 * Accounts of people. There is no public sign-up: the library's sign-up is off, and the setup link, the CLI
 * or a member's invitation creates accounts. The library's API-key plugin is not used (CVE-2025-61928),
 * because we have our own API keys.
 */
export type Accounts = {
  /** Loads the library on first use: it takes 25 MB, and forms and the API do not need it. */
  library(): Promise<AccountLibrary>;
  /** Does not need the library: see createUser in users.ts. */
  createUser(user: NewUser): Promise<{ id: string }>;
  /** Returns the cookies of a request in a form that the library accepts: see renewCookieSignatures. */
  readCookies(cookies: string | undefined): string;
};

export function openAccounts(surroundings: AccountServices): Accounts {
  let loading: Promise<AccountLibrary> | undefined;
  const load = async (): Promise<AccountLibrary> => {
    const { openAccountLibrary } = await import('./account-library.ts');
    return openAccountLibrary(surroundings);
  };
  return {
    library: () => (loading ??= load()),
    createUser: (user) => createUser(surroundings.database, user),
    readCookies: (cookies = '') => renewCookieSignatures(surroundings.vault, cookies),
  };
}

/**
 * Returns SQL for the `with` clause of a statement that confirms an address. It removes the two-factor
 * methods of an unconfirmed account, because a stranger may have set them up.
 * @param account a condition on `users`.
 */
export function deleteUnconfirmedFactorsSql(account: string): string {
  return `stranger as (select id from users where ${account} and not email_verified),
   strange_totp as (delete from totp_secrets where user_id in (select id from stranger)),
   strange_keys as (delete from passkeys where user_id in (select id from stranger)),
   strange_codes as (delete from recovery_codes where user_id in (select id from stranger))`;
}
