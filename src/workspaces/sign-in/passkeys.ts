import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestSender } from '#kit/operation.ts';
import { onlyRow, requireRow, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { nameProblems, throwProblems } from '../accounts/users.ts';
import {
  type PasskeyAssertion,
  type PasskeyOrigin,
  type PasskeyRegistration,
  passkeyAlgorithms,
  passkeyOriginOf,
  readPasskeyRegistration,
  verifyPasskeyAssertion,
  verifySignedChallenge,
} from './passkey.ts';
import { requirePassword } from './require-password.ts';
import {
  changeFactorsAndNotify,
  type FactorChangeResult,
  type FactorOwner,
  type FactorServices,
} from './second-factor.ts';
import {
  createKnownBrowserToken,
  isTemporaryPasswordExpired,
  limitAttempts,
  signInTries,
} from './sign-in.ts';

const selectPasskeys = statement('user_id', 'id credential_id name created_at last_used_at?')`
  select id, credential_id, name, created_at, last_used_at from passkeys where user_id = $user_id order by id`;

const countPasskeys = statement('user_id', 'count')`
  select count(*) as count from passkeys where user_id = $user_id`;

/** Adds a passkey; no row if an account already has this credential. */
export const insertPasskey = statement(
  'user_id id credential_id public_key algorithm sign_count name now',
  'id',
)`
  insert into passkeys (user_id, id, credential_id, public_key, algorithm, sign_count, name, created_at)
  values ($user_id, $id, $credential_id, $public_key, $algorithm, $sign_count, $name, $now)
  on conflict (credential_id) do nothing
  returning id`;

const renamePasskey = statement('user_id id name', 'id')`
  update passkeys set name = $name where user_id = $user_id and id = $id returning id`;

const deletePasskey = statement('user_id id', 'id')`
  delete from passkeys where user_id = $user_id and id = $id returning id`;

const findPasskey = statement(
  'credential_id',
  'user_id id public_key algorithm email temporary_until:timestamp?',
)`
  select p.user_id, p.id, p.public_key, p.algorithm, u.email, u.temporary_until
    from passkeys p join users u on u.id = p.user_id
   where p.credential_id = $credential_id`;

/**
 * Records a use of a passkey; no row if its count did not grow. Authenticators that do not count always send
 * 0.
 */
export const recordPasskeyUse = statement('user_id id sign_count now', 'id')`
  update passkeys set sign_count = $sign_count, last_used_at = $now
   where user_id = $user_id and id = $id and (sign_count < $sign_count or (sign_count = 0 and $sign_count = 0))
  returning id`;

/** The maximum number of passkeys for a person. */
export const mostPasskeys = 20;

/** How long a challenge to create or use a passkey is valid: five minutes. */
const challengeSeconds = 300;

type PasskeyServices = FactorServices & { config: { publicUrl: string } };

/** The options with which a browser creates a passkey. */
type PasskeyRequest = {
  challenge: string;
  host: string;
  algorithms: readonly number[];
  /** Existing credentials, so that an authenticator does not create a second one. */
  known: string[];
};

/** Returns the origin and host for passkeys. @throws ApiError conflict if passkeys cannot work here. */
function requirePasskeyOrigin({ config }: PasskeyServices): PasskeyOrigin {
  const place = passkeyOriginOf(config.publicUrl);
  if (!ipaddr.isValid(place.host.replaceAll(/[[\]]/g, ''))) return place;
  throw new ApiError('conflict', 'Passkeys require a host name, but PUBLIC_URL contains an IP address.');
}

/** Returns `<random>.<expiry>.<signature>`, so that a challenge need not be stored. */
function newChallenge(vault: Vault, purpose: string): string {
  const until = Math.floor(now().getTime() / 1_000) + challengeSeconds;
  const parts = [randomBytes(16).toString('base64url'), String(until)];
  return [...parts, vault.sign('second factors', [purpose, ...parts])].join('.');
}

/** Accepts a challenge only once. The request counter, which is exact, remembers it until it expires. */
async function redeemChallenge(
  context: FactorServices,
  purpose: string,
  challenge: string,
): Promise<boolean> {
  const [random = '', until = '', signature = ''] = challenge.split('.', 3);
  const isOurs = context.vault.verify('second factors', [purpose, random, until], signature);
  if (!isOurs || Number(until) * 1_000 <= now().getTime()) return false;
  const { requests } = await context.requestCounter.count(`challenge ${random}`, challengeSeconds);
  return requests === 1;
}

/** Lists the passkeys of a person, oldest first. */
export const readPasskeys = (database: Database, userId: string) =>
  selectPasskeys(database, { user_id: userId });

/**
 * Starts adding a passkey.
 * @throws ApiError validation_error for a wrong password; conflict if passkeys cannot work here or there are
 * too many; rate_limit_exceeded.
 */
export async function startPasskeyRegistration(
  context: PasskeyServices,
  { person }: FactorOwner,
  password: string,
): Promise<PasskeyRequest> {
  const { host } = requirePasskeyOrigin(context);
  await requirePassword(context, person, password);
  const known = await readPasskeys(context.database, person.id);
  requirePasskeyCapacity(known.length);
  return {
    challenge: newChallenge(context.vault, `new passkey of ${person.id}`),
    host,
    algorithms: passkeyAlgorithms,
    known: known.map(({ credential_id }) => credential_id),
  };
}

/**
 * Adds the passkey that the browser created.
 * @throws ApiError validation_error for an invalid name; bad_request if the passkey does not belong to this
 * request; conflict if it exists already or there are too many.
 */
export async function addPasskey(
  context: PasskeyServices,
  asker: FactorOwner,
  { name, ...registration }: PasskeyRegistration & { name: string },
): Promise<FactorChangeResult> {
  throwProblems(nameProblems('name', name));
  const place = requirePasskeyOrigin(context);
  const { id: userId } = asker.person;
  const challenge = verifySignedChallenge(registration.client_data, 'webauthn.create', place);
  const isOurs =
    challenge !== undefined && (await redeemChallenge(context, `new passkey of ${userId}`, challenge));
  const passkey = isOurs ? readPasskeyRegistration(registration, place) : undefined;
  if (!passkey) throw new ApiError('bad_request', 'This passkey could not be added. Start again.');
  return changeFactorsAndNotify(context, asker, 'addPasskey', async (client) => {
    const [counted] = await countPasskeys(client, { user_id: userId });
    requirePasskeyCapacity(counted!.count);
    const added = await insertPasskey(client, {
      user_id: userId,
      id: newId(),
      credential_id: passkey.id,
      public_key: passkey.public_key,
      algorithm: passkey.algorithm,
      sign_count: passkey.count,
      name: name.trim(),
      now: now(),
    });
    if (added.length === 0) throw new ApiError('conflict', 'This passkey was already added.');
  });
}

function requirePasskeyCapacity(count: number): void {
  if (count >= mostPasskeys)
    throw new ApiError('conflict', `An account can have at most ${mostPasskeys} passkeys. Remove one first.`);
}

/** Renames a passkey. @throws ApiError validation_error for an invalid name; not_found. */
export async function changePasskeyName(
  database: Database,
  { userId, id, name }: { userId: string; id: string; name: string },
): Promise<void> {
  throwProblems(nameProblems('name', name));
  requireRow(await renamePasskey(database, { user_id: userId, id, name: name.trim() }));
}

/**
 * Removes a passkey. @throws ApiError validation_error for a wrong password; not_found; rate_limit_exceeded.
 */
export async function removePasskey(
  context: FactorServices,
  asker: FactorOwner,
  { id, password }: { id: string; password: string },
): Promise<FactorChangeResult> {
  await requirePassword(context, asker.person, password);
  return changeFactorsAndNotify(context, asker, 'removePasskey', async (client) => {
    requireRow(await deletePasskey(client, { user_id: asker.person.id, id }));
  });
}

/**
 * Returns a challenge for any passkey of this server. It names no account, so it does not reveal who has a
 * passkey.
 * @throws ApiError conflict if passkeys cannot work here; rate_limit_exceeded.
 */
export async function createSignInChallenge(
  context: PasskeyServices,
  { address }: RequestSender,
): Promise<{ challenge: string; host: string }> {
  const { host } = requirePasskeyOrigin(context);
  await limitAttempts(context, `passkey from ${address}`, signInTries.ofAddress);
  return { challenge: newChallenge(context.vault, 'sign-in'), host };
}

/**
 * Signs in with a passkey. The person has the passkey and was verified by it, so two-factor is complete. An
 * existing session of the browser ends.
 * @returns the cookies to set, and the token by which this browser is recognized from now on.
 * @throws ApiError unauthorized, with one message for an unknown passkey and a wrong signature;
 * rate_limit_exceeded.
 */
export async function signInByPasskey(
  context: PasskeyServices,
  visitor: RequestSender,
  shown: PasskeyAssertion,
): Promise<{ userId: string; cookies: string[]; device: string }> {
  const place = requirePasskeyOrigin(context);
  await limitAttempts(context, `passkey from ${visitor.address}`, signInTries.ofAddress);
  const person = await findAssertedPasskey(context, place, shown);
  if (!person) throw new ApiError('unauthorized', 'This passkey is unknown. Sign in with your password.');
  if (isTemporaryPasswordExpired({ temporaryUntil: person.temporary_until }))
    throw new ApiError('unauthorized', 'This temporary password has expired. Ask for a new one.');
  const { auth, beginSession } = await context.accounts.library();
  const cookies = await beginSession(person.user_id, now(), visitor.headers);
  await auth.api.signOut({ headers: visitor.headers });
  return { userId: person.user_id, cookies, device: createKnownBrowserToken(context.vault, person.email) };
}

async function findAssertedPasskey(context: FactorServices, place: PasskeyOrigin, shown: PasskeyAssertion) {
  const challenge = verifySignedChallenge(shown.client_data, 'webauthn.get', place);
  if (challenge === undefined || !(await redeemChallenge(context, 'sign-in', challenge))) return undefined;
  const found = onlyRow(await findPasskey(context.database, { credential_id: shown.id }));
  const count = found && verifyPasskeyAssertion(shown, found, place);
  if (!found || count === undefined) return undefined;
  const { user_id, id } = found;
  // A count that does not grow indicates a copy of the passkey (7.2, step 22).
  const taken = await recordPasskeyUse(context.database, { user_id, id, sign_count: count, now: now() });
  return taken.length > 0 ? found : undefined;
}
