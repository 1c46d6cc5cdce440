import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Visitor } from '#kit/operation.ts';
import { only, requireRow, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { nameProblems, refuseProblems } from '../accounts/users.ts';
import {
  challengeIn,
  type MadePasskey,
  type PasskeyPlace,
  passkeyAlgorithms,
  placeOf,
  readMadePasskey,
  readShownPasskey,
  type ShownPasskey,
} from './passkey.ts';
import { requirePassword } from './password-again.ts';
import { type Added, type Asker, changeFactors, type FactorContext } from './second-factor.ts';
import { countTry, deviceMark, isTemporaryOver, signInTries } from './sign-in.ts';

const selectPasskeys = statement(
  'second_factor.select_passkeys',
  'user_id',
  'id credential_id name created_at last_used_at?',
  `select id, credential_id, name, created_at, last_used_at from passkeys where user_id = $user_id order by id`,
);

const countPasskeys = statement(
  'second_factor.count_passkeys',
  'user_id',
  'count',
  `select count(*) as count from passkeys where user_id = $user_id`,
);

/** Adds nothing, and returns nothing, when anybody has this credential already. */
export const insertPasskey = statement(
  'second_factor.insert_passkey',
  'user_id id credential_id public_key algorithm sign_count name now',
  'id',
  `insert into passkeys (user_id, id, credential_id, public_key, algorithm, sign_count, name, created_at)
   values ($user_id, $id, $credential_id, $public_key, $algorithm, $sign_count, $name, $now)
   on conflict (credential_id) do nothing
   returning id`,
);

const renamePasskey = statement(
  'second_factor.rename_passkey',
  'user_id id name',
  'id',
  `update passkeys set name = $name where user_id = $user_id and id = $id returning id`,
);

const deletePasskey = statement(
  'second_factor.delete_passkey',
  'user_id id',
  'id',
  `delete from passkeys where user_id = $user_id and id = $id returning id`,
);

/** A passkey with whose it is. */
const findPasskey = statement(
  'second_factor.find_passkey',
  'credential_id',
  'user_id id public_key algorithm email temporary_until:timestamp?',
  `select p.user_id, p.id, p.public_key, p.algorithm, u.email, u.temporary_until
     from passkeys p join users u on u.id = p.user_id
    where p.credential_id = $credential_id`,
);

/** Notes that it was used, unless its count did not grow; where it does not count, both are 0. */
export const takePasskeyCount = statement(
  'second_factor.take_passkey_count',
  'user_id id sign_count now',
  'id',
  `update passkeys set sign_count = $sign_count, last_used_at = $now
    where user_id = $user_id and id = $id and (sign_count < $sign_count or (sign_count = 0 and $sign_count = 0))
   returning id`,
);

/** Of one person. */
export const mostPasskeys = 20;

/** What a browser is asked to make or to show a passkey with, for five minutes. */
const challengeSeconds = 300;

type PasskeyContext = FactorContext & { config: { publicUrl: string } };

/** What a browser makes a passkey by. */
type PasskeyRequest = {
  challenge: string;
  host: string;
  algorithms: readonly number[];
  /** Authenticators that have one of these are not asked again. */
  known: string[];
};

/** @throws ApiError conflict where passkeys cannot work. */
function requirePlace({ config }: PasskeyContext): PasskeyPlace {
  const place = placeOf(config.publicUrl);
  if (!ipaddr.isValid(place.host.replaceAll(/[[\]]/g, ''))) return place;
  throw new ApiError(
    'conflict',
    'Passkeys need a name: this service is reached by an address of numbers (PUBLIC_URL).',
  );
}

/** `<random>.<until when>.<signature>`: nothing has to be kept of it before it comes back. */
function newChallenge(vault: Vault, purpose: string): string {
  const until = Math.floor(now().getTime() / 1_000) + challengeSeconds;
  const parts = [randomBytes(16).toString('base64url'), String(until)];
  return [...parts, vault.sign('second factors', [purpose, ...parts])].join('.');
}

/** Takes a challenge, once: it is counted where exact counts are kept, until its time is over anyway. */
async function takeChallenge(context: FactorContext, purpose: string, challenge: string): Promise<boolean> {
  const [random = '', until = '', signature = ''] = challenge.split('.', 3);
  const isOurs = context.vault.verify('second factors', [purpose, random, until], signature);
  if (!isOurs || Number(until) * 1_000 <= now().getTime()) return false;
  const { requests } = await context.requestCounter.count(`challenge ${random}`, challengeSeconds);
  return requests === 1;
}

/** The passkeys of a person, the oldest first. */
export const readPasskeys = (database: Database, userId: string) =>
  selectPasskeys(database, { user_id: userId });

/**
 * Begins to add a passkey.
 * @throws ApiError validation_error for a wrong password; conflict where passkeys cannot work or there are too many;
 *   rate_limit_exceeded.
 */
export async function startPasskey(
  context: PasskeyContext,
  { person }: Asker,
  password: string,
): Promise<PasskeyRequest> {
  const { host } = requirePlace(context);
  await requirePassword(context, person, password);
  const known = await readPasskeys(context.database, person.id);
  refuseMany(known.length);
  return {
    challenge: newChallenge(context.vault, `new passkey of ${person.id}`),
    host,
    algorithms: passkeyAlgorithms,
    known: known.map(({ credential_id }) => credential_id),
  };
}

/**
 * Adds the passkey that the browser made.
 * @throws ApiError validation_error for a bad name; bad_request for what is no passkey of this request; conflict for one that
 *   is there already, or too many.
 */
export async function addPasskey(
  context: PasskeyContext,
  asker: Asker,
  { name, ...made }: MadePasskey & { name: string },
): Promise<Added> {
  refuseProblems(nameProblems('name', name));
  const place = requirePlace(context);
  const { id: userId } = asker.person;
  const challenge = challengeIn(made.client_data, 'webauthn.create', place);
  const isOurs =
    challenge !== undefined && (await takeChallenge(context, `new passkey of ${userId}`, challenge));
  const passkey = isOurs ? readMadePasskey(made, place) : undefined;
  if (!passkey) throw new ApiError('bad_request', 'This passkey was not taken. Begin again.');
  return changeFactors(context, asker, 'addPasskey', async (client) => {
    const [counted] = await countPasskeys(client, { user_id: userId });
    refuseMany(counted!.count);
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
    if (added.length === 0) throw new ApiError('conflict', 'This passkey was added already.');
  });
}

function refuseMany(count: number): void {
  if (count >= mostPasskeys) throw new ApiError('conflict', `A person has at most ${mostPasskeys} passkeys.`);
}

/** @throws ApiError validation_error for a bad name; not_found. */
export async function namePasskey(
  database: Database,
  { userId, id, name }: { userId: string; id: string; name: string },
): Promise<void> {
  refuseProblems(nameProblems('name', name));
  requireRow(await renamePasskey(database, { user_id: userId, id, name: name.trim() }));
}

/** @throws ApiError validation_error for a wrong password; not_found; rate_limit_exceeded. */
export async function removePasskey(
  context: FactorContext,
  asker: Asker,
  { id, password }: { id: string; password: string },
): Promise<Added> {
  await requirePassword(context, asker.person, password);
  return changeFactors(context, asker, 'removePasskey', async (client) => {
    requireRow(await deletePasskey(client, { user_id: asker.person.id, id }));
  });
}

/**
 * What a browser is asked to show any passkey of this service with: whose it is, is found out then, so that the question tells
 * nobody who has one.
 * @throws ApiError conflict where passkeys cannot work; rate_limit_exceeded.
 */
export async function askForPasskey(
  context: PasskeyContext,
  { address }: Visitor,
): Promise<{ challenge: string; host: string }> {
  const { host } = requirePlace(context);
  await countTry(context, `passkey from ${address}`, signInTries.ofAddress);
  return { challenge: newChallenge(context.vault, 'sign-in'), host };
}

/**
 * Signs in whoever shows a passkey: it is something that they have, and it knows them, so it is both steps. A session that the
 * browser had ends.
 * @returns the cookies to set, and the mark by which this browser is known from now on.
 * @throws ApiError unauthorized, in the same words for an unknown passkey and a wrong signature; rate_limit_exceeded.
 */
export async function signInByPasskey(
  context: PasskeyContext,
  visitor: Visitor,
  shown: ShownPasskey,
): Promise<{ userId: string; cookies: string[]; device: string }> {
  const place = requirePlace(context);
  await countTry(context, `passkey from ${visitor.address}`, signInTries.ofAddress);
  const person = await findShown(context, place, shown);
  if (!person)
    throw new ApiError('unauthorized', 'This passkey is not known here. Sign in with your password.');
  if (isTemporaryOver({ temporaryUntil: person.temporary_until }))
    throw new ApiError('unauthorized', 'The time of this temporary password is over. Ask for another.');
  const { auth, beginSession } = await context.accounts.library();
  const cookies = await beginSession(person.user_id, now(), visitor.headers);
  await auth.api.signOut({ headers: visitor.headers });
  return { userId: person.user_id, cookies, device: deviceMark(context.vault, person.email) };
}

async function findShown(context: FactorContext, place: PasskeyPlace, shown: ShownPasskey) {
  const challenge = challengeIn(shown.client_data, 'webauthn.get', place);
  if (challenge === undefined || !(await takeChallenge(context, 'sign-in', challenge))) return undefined;
  const found = only(await findPasskey(context.database, { credential_id: shown.id }));
  const count = found && readShownPasskey(shown, found, place);
  if (!found || count === undefined) return undefined;
  const { user_id, id } = found;
  // A count that does not grow is that of a copy (7.2, step 22).
  const taken = await takePasskeyCount(context.database, { user_id, id, sign_count: count, now: now() });
  return taken.length > 0 ? found : undefined;
}
