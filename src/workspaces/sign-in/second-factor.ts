import type { ClientBase } from 'pg';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Person, RequestSender } from '#kit/operation.ts';
import { normalizeMailAddress } from '#kit/outbox/address.ts';
import { onlyRow, type Queryable, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { endSession } from '../accounts/sessions.ts';
import type { Accounts } from '../accounts/users.ts';
import { type AccountChange, enqueueAccountChangeEmail } from '../audit/email-events.ts';
import { type AccountEvent, accountEventOf, recordAccountEvent } from '../audit/record-account-event.ts';
import { lockAccount } from '../member-invitations/accept.ts';
import type { RequestCounter } from '../request-counter.ts';
import { requirePassword } from './require-password.ts';
import { createKnownBrowserToken, limitAttempts, signInTries, verifyKnownBrowserToken } from './sign-in.ts';
import {
  findStepOfCode,
  issueRecoveryCodes,
  looksLikeTotp,
  newTotpSecret,
  spendRecoveryCode,
  totpSetupUrl,
} from './two-factor-codes.ts';

/** Locks changes of a person's two-factor methods until the transaction ends. */
const lockPerson = statement('user_id', 'email')`
  select email from users where id = $user_id for no key update`;

/** Finds when a person's app was confirmed, and counts their passkeys and remaining recovery codes. */
const findFactors = statement('user_id', 'totp_since:timestamp? passkeys:bigint recovery_codes')`
  select (select confirmed_at from totp_secrets where user_id = $user_id) as totp_since,
         (select count(*) from passkeys where user_id = $user_id) as passkeys,
         (select count(*) from recovery_codes where user_id = $user_id) as recovery_codes`;

/** Stores a new secret; no row if the person already has a confirmed one. */
export const saveTotpSecret = statement('user_id secret now', 'user_id')`
  insert into totp_secrets (user_id, secret, created_at) values ($user_id, $secret, $now)
  on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at, last_step = 0
   where totp_secrets.confirmed_at is null
  returning user_id`;

const findTotp = statement('user_id', 'secret is_confirmed')`
  select secret, confirmed_at is not null as is_confirmed from totp_secrets where user_id = $user_id`;

/** Accepts each code once: a second parallel request gets no row. The first code confirms the secret. */
const claimTotpStep = statement('user_id step:bigint now', 'user_id')`
  update totp_secrets set last_step = $step, confirmed_at = coalesce(confirmed_at, $now)
   where user_id = $user_id and last_step < $step
  returning user_id`;

const deleteTotp = statement('user_id', 'user_id')`
  delete from totp_secrets where user_id = $user_id and confirmed_at is not null returning user_id`;

/**
 * Records whether the person has two-factor after a method was added or removed. Without any method, the
 * recovery codes are deleted. If the result has changed, all sessions end, and the caller begins a new one.
 */
const updateFactorState = statement('user_id', 'second_factor has_changed:boolean recovery_codes')`
  with had as (
    select u.second_factor as before,
           exists (select from totp_secrets where user_id = $user_id and confirmed_at is not null)
             or exists (select from passkeys where user_id = $user_id) as after
      from users u where u.id = $user_id
  ),
  codes as (delete from recovery_codes where user_id = $user_id and not (select after from had)),
  ended as (delete from sessions where user_id = $user_id and (select before <> after from had))
  update users u set second_factor = had.after from had where u.id = $user_id
  returning had.after as second_factor, had.before <> had.after as has_changed,
            (select count(*) from recovery_codes where user_id = $user_id) as recovery_codes`;

/**
 * Removes all two-factor methods from the account with this address and ends its sessions; no row for an
 * unknown address.
 */
const deleteFactors = statement('email', 'id:text had_any:boolean')`
  with person as (select id, second_factor from users where email = $email),
  totp as (delete from totp_secrets where user_id in (select id from person)),
  keys as (delete from passkeys where user_id in (select id from person)),
  codes as (delete from recovery_codes where user_id in (select id from person)),
  ended as (delete from sessions where user_id in (select id from person))
  update users u set second_factor = false from person where u.id = person.id
  returning u.id, person.second_factor as had_any`;

export type FactorServices = {
  accounts: Accounts;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
};

/** The person whose two-factor methods are changed, and their browser. */
export type FactorOwner = { person: Person; visitor: Pick<RequestSender, 'headers' | 'ip'> };

/**
 * The number of app codes that unknown browsers can try for an account in a day. Three of a million codes are
 * valid at a time, so guessing all day succeeds once in thirty years. Recovery codes and passkeys can't be
 * guessed and have no daily limit. An attacker who uses up these attempts therefore does not lock out the
 * owner.
 */
export const codeTriesInDay = 30;
const daySeconds = 86_400;

export const twoFactorMethods = ['totp', 'recovery_code', 'passkey'] as const;
type TwoFactorMethod = (typeof twoFactorMethods)[number];

/** Returns the two-factor methods of a person. `recoveryCodes` is the number of remaining codes. */
export async function readTwoFactorState(
  database: Queryable,
  userId: string,
): Promise<{ totpSince: Date | null; passkeys: number; recoveryCodes: number }> {
  const [found] = await findFactors(database, { user_id: userId });
  return { totpSince: found!.totp_since, passkeys: found!.passkeys, recoveryCodes: found!.recovery_codes };
}

/** Returns the methods with which a person can complete two-factor. */
export async function listTwoFactorMethods(database: Database, userId: string): Promise<TwoFactorMethod[]> {
  const { totpSince, passkeys, recoveryCodes } = await readTwoFactorState(database, userId);
  const open = { totp: totpSince !== null, recovery_code: recoveryCodes > 0, passkey: passkeys > 0 };
  return twoFactorMethods.filter((step) => open[step]);
}

/**
 * Starts setting up an app. Sign-ins do not need it before the person has confirmed it (confirmTotp).
 * @returns the secret in base32, and the URL in the QR code.
 * @throws ApiError validation_error for a wrong password; conflict if there is already an app;
 * rate_limit_exceeded.
 */
export async function startTotpSetup(
  context: FactorServices,
  { person }: FactorOwner,
  given: { password: string; service: string },
): Promise<{ secret: string; address: string }> {
  await requirePassword(context, person, given.password);
  const secret = newTotpSecret();
  const sealed = context.vault.seal('second factors', secret);
  const put = await saveTotpSecret(context.database, { user_id: person.id, secret: sealed, now: now() });
  if (put.length === 0)
    throw new ApiError(
      'conflict',
      'You already have an authenticator app. Remove it before you set up another one.',
    );
  return { secret, address: totpSetupUrl(secret, { service: given.service, email: person.email }) };
}

/** The result of a change: recovery codes if they are the first ones, and cookies. */
export type FactorChangeResult = { recoveryCodes: string[] | null; cookies: string[] };

/**
 * Confirms the app with a code that it shows.
 * @throws ApiError validation_error for a wrong code; conflict if no setup was started; rate_limit_exceeded.
 */
export async function confirmTotp(
  context: FactorServices,
  asker: FactorOwner,
  typed: string,
): Promise<FactorChangeResult> {
  const { person } = asker;
  await limitAttempts(context, `new app of ${person.id}`, signInTries.ofAccount);
  return changeFactorsAndNotify(context, asker, 'addAuthenticatorApp', async (client) => {
    const found = onlyRow(await findTotp(client, { user_id: person.id }));
    if (!found || found.is_confirmed) throw new ApiError('conflict', 'Start again with a new QR code.');
    if (!(await redeemTotpCode(context, client, { userId: person.id, sealed: found.secret, typed })))
      throw wrongCode(
        "This code is wrong. Check that your phone's clock is correct, and enter the current code.",
      );
  });
}

/**
 * Removes the app. @throws ApiError validation_error for a wrong password; not_found; rate_limit_exceeded.
 */
export async function removeTotp(
  context: FactorServices,
  asker: FactorOwner,
  password: string,
): Promise<FactorChangeResult> {
  await requirePassword(context, asker.person, password);
  return changeFactorsAndNotify(context, asker, 'removeAuthenticatorApp', async (client) => {
    const removed = await deleteTotp(client, { user_id: asker.person.id });
    if (removed.length === 0) throw new ApiError('not_found', 'You have no authenticator app.');
  });
}

/**
 * Replaces the recovery codes; the previous ones stop working.
 * @throws ApiError validation_error for a wrong password; conflict without two-factor; rate_limit_exceeded.
 */
export async function renewRecoveryCodes(
  context: FactorServices,
  { person, visitor }: FactorOwner,
  password: string,
): Promise<string[]> {
  await requirePassword(context, person, password);
  return transaction(context.database, async (client) => {
    await lockPerson(client, { user_id: person.id });
    const { totpSince, passkeys } = await readTwoFactorState(client, person.id);
    if (totpSince === null && passkeys === 0)
      throw new ApiError('conflict', 'Recovery codes require two-factor. Set it up first.');
    await reportFactorChange(
      client,
      'renewRecoveryCodes',
      accountEventOf({ person, visitor }, 'renewRecoveryCodes'),
    );
    return issueRecoveryCodes(context.vault, client, person.id);
  });
}

/**
 * Completes two-factor with a code of the app or a recovery code. The pending session ends, and a new one
 * begins.
 * @returns the cookies to set, and the token by which this browser is recognized from now on.
 * @throws ApiError validation_error for a wrong code; conflict if two-factor is not pending;
 * rate_limit_exceeded.
 */
export async function completeTwoFactor(
  context: FactorServices,
  { person, visitor, device }: { person: Person; visitor: RequestSender; device: string | undefined },
  typed: string,
): Promise<{ cookies: string[]; device: string }> {
  if (!person.awaitsSecondStep) throw new ApiError('conflict', 'Sign-in is already complete.');
  const known = verifyKnownBrowserToken(context.vault, person.email, device);
  const tries = known === undefined ? `second step of ${person.id}` : `second step from ${known}`;
  await limitAttempts(context, tries, signInTries.ofAccount);
  const isTotp = looksLikeTotp(typed);
  if (isTotp && known === undefined)
    await limitAttempts(context, `codes of ${person.id}`, codeTriesInDay, daySeconds);
  const isRight = isTotp
    ? await verifyTotp(context, person.id, typed)
    : await redeemRecoveryCode(context, { person, visitor }, typed);
  if (!isRight) throw wrongCode('This code is wrong or was already used. Enter another code.');
  return {
    cookies: await finishSignIn(context, { person, visitor }),
    device: createKnownBrowserToken(context.vault, person.email),
  };
}

/** Ends the pending session and begins one with two-factor completed. */
async function finishSignIn(context: FactorServices, { person, visitor }: FactorOwner): Promise<string[]> {
  await endSession(context.database, { user_id: person.id, id: person.sessionId });
  const { beginSession } = await context.accounts.library();
  return beginSession(person.id, now(), visitor.headers);
}

async function verifyTotp(context: FactorServices, userId: string, typed: string): Promise<boolean> {
  const found = onlyRow(await findTotp(context.database, { user_id: userId }));
  return (
    found?.is_confirmed === true &&
    redeemTotpCode(context, context.database, { userId, sealed: found.secret, typed })
  );
}

/** Whether a code is correct and was not used before. */
async function redeemTotpCode(
  { vault }: FactorServices,
  db: Database | ClientBase,
  { userId, sealed, typed }: { userId: string; sealed: Buffer; typed: string },
): Promise<boolean> {
  const at = now();
  const step = findStepOfCode(vault.unseal('second factors', sealed), typed.replaceAll(/\s/g, ''), at);
  return step !== undefined && (await claimTotpStep(db, { user_id: userId, step, now: at })).length > 0;
}

const redeemRecoveryCode = (
  { database, vault }: FactorServices,
  { person, visitor }: FactorOwner,
  typed: string,
): Promise<boolean> =>
  transaction(database, async (client) => {
    const isUsed = await spendRecoveryCode(vault, client, person.id, typed);
    if (isUsed)
      await reportFactorChange(
        client,
        'useRecoveryCode',
        accountEventOf({ person, visitor }, 'useRecoveryCode'),
      );
    return isUsed;
  });

/**
 * Removes the two-factor methods of a person who has lost all of them. Only the operator can do this, on the
 * command line. Their sessions end, and they are emailed.
 * @returns whether they had any.
 * @throws ApiError not_found if no account has this address.
 */
export function resetFactors(database: Database, email: string): Promise<{ id: string; hadAny: boolean }> {
  return transaction(database, async (client) => {
    const address = { email: normalizeMailAddress(email) };
    // Locks the account first, so that a method that is being added in parallel is removed too: the next
    // statement sees it after the wait.
    await lockAccount(client, address);
    const person = onlyRow(await deleteFactors(client, address));
    if (!person) throw new ApiError('not_found', `There is no account with the email address ${email}.`);
    if (person.had_any)
      await reportFactorChange(client, 'forgetSecondFactors', { who: { userId: person.id }, by: undefined });
    return { id: person.id, hadAny: person.had_any };
  });
}

/**
 * Changes two-factor methods. In one transaction, also emails the person and adds audit entries to each of
 * their workspaces. If the account gains or loses two-factor, all sessions end, and this browser gets a new
 * one.
 */
export async function changeFactorsAndNotify(
  context: FactorServices,
  { person, visitor }: FactorOwner,
  what: AccountChange,
  change: (client: ClientBase) => Promise<void>,
): Promise<FactorChangeResult> {
  const { recoveryCodes, hasOne, hasChanged } = await transaction(context.database, async (client) => {
    await lockPerson(client, { user_id: person.id });
    await change(client);
    const [settled] = await updateFactorState(client, { user_id: person.id });
    await reportFactorChange(client, what, accountEventOf({ person, visitor }, what));
    const needsCodes = settled!.second_factor && settled!.recovery_codes === 0;
    return {
      recoveryCodes: needsCodes ? await issueRecoveryCodes(context.vault, client, person.id) : null,
      hasOne: settled!.second_factor,
      hasChanged: settled!.has_changed,
    };
  });
  if (!hasChanged) return { recoveryCodes, cookies: [] };
  const { beginSession } = await context.accounts.library();
  return { recoveryCodes, cookies: await beginSession(person.id, hasOne ? now() : null, visitor.headers) };
}

/** Reports a change of sign-in methods to the person, and to the audit log of each of their workspaces. */
async function reportFactorChange(
  client: ClientBase,
  what: AccountChange,
  line: Pick<AccountEvent, 'by'> & { who: { userId: string } },
): Promise<void> {
  await recordAccountEvent(client, { ...line, operation: what });
  await enqueueAccountChangeEmail(client, line.who.userId, what);
}

const wrongCode = (message: string): ApiError =>
  new ApiError('validation_error', undefined, { errors: [{ field: 'code', message, code: 'mismatch' }] });
