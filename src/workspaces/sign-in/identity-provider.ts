import type { Configuration, IDToken } from 'openid-client';
import type { ClientBase } from 'pg';
import { normalizeText } from '#ast/basics/text.ts';
import { cellOfWorkspace, isCellUnavailable } from '#cells/across-cells.ts';
import { cellsOf } from '#cells/cells.ts';
import { newId, now } from '#kit/clock.ts';
import type { IdentityProviderConfig } from '#kit/config/sections.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestSender } from '#kit/operation.ts';
import { asciiDomainOf, isBareAddress, normalizeMailAddress } from '#kit/outbox/address.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { columns, onlyRow, statement } from '#kit/statement.ts';
import { generateInstanceKey, type Vault } from '#kit/vault.ts';
import { type Role, roleNames } from '#rules/permissions.ts';
import { setPasswordByReset } from '../accounts/password-reset.ts';
import { type Accounts, longestName } from '../accounts/users.ts';
import { enqueueEmailEvent } from '../audit/email-events.ts';
import { changeRole, findMembership, insertMember } from '../members.ts';
import type { RequestCounter } from '../request-counter.ts';
import { isTemporaryPasswordExpired, limitAttempts, signInTries } from './sign-in.ts';

const person = columns('id:text email is_confirmed is_linked:boolean temporary_until:timestamp?');

/** Finds the account for a provider identity: the one it signed in to before, or the one with its address. */
const findSignedIn = statement('identity email', person)`
  select u.id, u.email, u.email_verified as is_confirmed, a.id is not null as is_linked, u.temporary_until
    from users u left join accounts a on a.user_id = u.id and a.provider_id = 'oidc' and a.account_id = $identity
   where a.id is not null or u.email = $email
   order by a.id is not null desc
   limit 1`;

/** Adds a person without a password; no row if an account already has the address. */
const insertPerson = statement('id:text name email now', 'id:text')`
  insert into users (id, name, email, email_verified, created_at, updated_at)
  values ($id, $name, $email, true, $now, $now)
  on conflict (email) do nothing
  returning id`;

/**
 * Links the provider identity to the account, so that it signs this person in even if its address changes.
 */
const insertIdentity = statement('id:text user_id identity now', '')`
  insert into accounts (id, user_id, account_id, provider_id, created_at, updated_at)
  values ($id, $user_id, $identity, 'oidc', $now, $now)
  on conflict (account_id) where provider_id = 'oidc' do nothing`;

type ProviderServices = {
  accounts: Accounts;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  config: { publicUrl: string; identityProvider: IdentityProviderConfig | undefined };
};

/** What asking the provider needs. */
export type AskProviderServices = Pick<ProviderServices, 'vault' | 'requestCounter' | 'config'>;

/** The sealed state that the browser keeps during the sign-in. */
type ProviderSignInState = { verifier: string; state: string; nonce: string; until: number };

/** The time that a person has to sign in at the provider. */
export const providerSignInSeconds = 600;
const timeoutSeconds = 10;

/**
 * Returns the URL to which the provider redirects the browser: a screen of the console, which passes the
 * query on.
 */
const returnUrl = ({ config }: AskProviderServices): string => `${config.publicUrl}/app/signed-in`;

/** The provider's metadata, by configuration. It is read on first use, and again after a failure. */
const discovered = new WeakMap<IdentityProviderConfig, Promise<Configuration>>();

async function discover(provider: IdentityProviderConfig) {
  const client = await import('openid-client');
  const known = discovered.get(provider);
  if (known) return { client, configuration: await known };
  const { issuer, clientId, clientSecret } = provider;
  const isPlain = issuer.startsWith('http:');
  const found = client.discovery(
    new URL(issuer),
    clientId,
    clientSecret,
    clientSecret === undefined ? client.None() : undefined,
    { timeout: timeoutSeconds, ...(isPlain && { execute: [client.allowInsecureRequests] }) },
  );
  discovered.set(provider, found);
  try {
    return { client, configuration: await found };
  } catch (cause) {
    discovered.delete(provider);
    throw new ApiError('service_unavailable', `${provider.name} does not respond. Try again.`, {
      retryAfter: 5,
      cause,
    });
  }
}

/** @throws ApiError conflict if there is none. */
export function requireProvider({ config }: AskProviderServices): IdentityProviderConfig {
  if (config.identityProvider) return config.identityProvider;
  throw new ApiError('conflict', 'No identity provider is set up on this server.');
}

/**
 * Starts a sign-in at the provider: code flow with PKCE, state and nonce.
 * @returns the URL for the browser, and the value of its state cookie.
 * @throws ApiError conflict if there is no provider; service_unavailable; rate_limit_exceeded.
 */
export async function startProviderSignIn(
  context: ProviderServices,
  { address }: RequestSender,
): Promise<{ url: string; cookie: string }> {
  requireProvider(context);
  await limitAttempts(context, `question to the provider from ${address}`, signInTries.ofAddress);
  const { url, signIn } = await askProvider(context);
  const cookie = context.vault.seal('sessions', JSON.stringify(signIn)).toString('base64url');
  return { url, cookie };
}

/** Returns the URL of a sign-in at the provider, and its state to seal. `prefix` begins the OAuth state. */
export async function askProvider(
  context: AskProviderServices,
  prefix = '',
): Promise<{ url: string; signIn: ProviderSignInState }> {
  const { client, configuration } = await discover(requireProvider(context));
  const signIn: ProviderSignInState = {
    verifier: client.randomPKCECodeVerifier(),
    state: `${prefix}${client.randomState()}`,
    nonce: client.randomNonce(),
    until: now().getTime() + providerSignInSeconds * 1_000,
  };
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: returnUrl(context),
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(signIn.verifier),
    code_challenge_method: 'S256',
    state: signIn.state,
    nonce: signIn.nonce,
  });
  return { url: url.href, signIn };
}

/**
 * Signs in the person that the provider identifies. An existing session of the browser ends.
 * @param answer the query string with which the provider redirected the browser.
 * @returns the cookies to set. If the provider reports several factors (`amr`, RFC 8176), two-factor is
 * complete. Otherwise the person must complete their own two-factor, if they have it.
 * @throws ApiError unauthorized if the response does not belong to our request; forbidden for people who may
 * not sign in.
 */
export async function signInByProvider(
  context: ProviderServices,
  visitor: RequestSender,
  { answer, cookie }: { answer: string; cookie: string | undefined },
): Promise<{ userId: string; cookies: string[] }> {
  const provider = requireProvider(context);
  await limitAttempts(context, `answer of the provider from ${visitor.address}`, signInTries.ofAddress);
  const claims = await readClaims(context, provider, answer, readSignInState(context.vault, cookie));
  const person = await findOrMakePerson(context, provider, claims);
  await giveRoles(context.database, provider, person.id, claims);
  const { auth, beginSession } = await context.accounts.library();
  const isManyFactors = Array.isArray(claims['amr']) && claims['amr'].includes('mfa');
  const cookies = await beginSession(person.id, isManyFactors ? now() : null, visitor.headers);
  await auth.api.signOut({ headers: visitor.headers });
  return { userId: person.id, cookies };
}

function readSignInState(vault: Vault, cookie: string | undefined): ProviderSignInState {
  try {
    const signIn = JSON.parse(
      vault.unseal('sessions', Buffer.from(cookie ?? '', 'base64url')),
    ) as ProviderSignInState;
    return signIn;
  } catch (cause) {
    throw new ApiError('unauthorized', begunElsewhere, { cause });
  }
}

/** Whether sealed data has not expired. */
export const isFresh = ({ until }: { until: number }): boolean => until > now().getTime();

const begunElsewhere = 'This sign-in was not started in this browser, or it has expired. Start again.';

/**
 * Reads the claims of the person from the provider's answer.
 * @throws ApiError unauthorized if the answer does not belong to a sign-in that began in this browser.
 */
export async function readClaims(
  context: AskProviderServices,
  provider: IdentityProviderConfig,
  answer: string,
  signIn: ProviderSignInState | undefined,
): Promise<IDToken> {
  if (!signIn || !isFresh(signIn)) throw new ApiError('unauthorized', begunElsewhere);
  const { verifier, state, nonce } = signIn;
  const { client, configuration } = await discover(provider);
  const url = new URL(returnUrl(context));
  url.search = answer;
  try {
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    if (claims['email'] !== undefined) return claims;
    // Some providers keep the ID token small and return the rest from the userinfo endpoint.
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  } catch (cause) {
    throw new ApiError('unauthorized', `${provider.name} did not sign you in. Start again.`, { cause });
  }
}

/** Returns the email address of a person who may sign in. @throws ApiError forbidden. */
export function requireAllowedEmail(provider: IdentityProviderConfig, claims: IDToken): string {
  const email = typeof claims['email'] === 'string' ? normalizeMailAddress(claims['email']) : '';
  const isAllowed = isBareAddress(email) && provider.domains.includes(asciiDomainOf(email));
  const isConfirmed = claims['email_verified'] ?? provider.trustsEmail;
  if (!isAllowed || isConfirmed !== true)
    throw new ApiError(
      'forbidden',
      'Your account has no confirmed email address in an allowed domain. Ask the operator of this server.',
    );
  return email;
}

async function findOrMakePerson(
  { database }: ProviderServices,
  provider: IdentityProviderConfig,
  claims: IDToken,
): Promise<{ id: string }> {
  const email = requireAllowedEmail(provider, claims);
  const identity = `${claims.iss} ${claims.sub}`;
  return transaction(database, async (client) => {
    const found = onlyRow(await findSignedIn(client, { identity, email }));
    if (found && isTemporaryPasswordExpired({ temporaryUntil: found.temporary_until }))
      throw new ApiError('unauthorized', 'Your temporary password has expired. Ask for a new one.');
    if (found?.is_linked) return found;
    const at = now();
    // The creator of this account never confirmed its address, so their password and sessions end.
    if (found && !found.is_confirmed)
      await setPasswordByReset(client, {
        user_id: found.id,
        account_id: newId(),
        password: await hashPassword(generateInstanceKey()),
        now: at,
      });
    const id = found?.id ?? (await makePerson(client, email, claims, at));
    await insertIdentity(client, { id: newId(), user_id: id, identity, now: at });
    return { id };
  });
}

/** Returns the name of a person, or else the beginning of their address. */
export function personNameOf(claims: IDToken, email: string): string {
  const name =
    typeof claims['name'] === 'string' ? normalizeText(claims['name']).trim().slice(0, longestName) : '';
  return name || email.split('@', 1)[0]!;
}

async function makePerson(client: ClientBase, email: string, claims: IDToken, at: Date): Promise<string> {
  const id = newId();
  const added = await insertPerson(client, { id, email, name: personNameOf(claims, email), now: at });
  if (added.length === 0)
    throw new ApiError(
      'conflict',
      'Another sign-in with this email address was started at the same time. Start again.',
    );
  return id;
}

/**
 * Sets the person's roles from the claim at each sign-in. If several values match, the highest role counts.
 * Owners do not change, nor do workspaces without a matching value.
 */
async function giveRoles(
  database: Database,
  { roleClaim, roles }: IdentityProviderConfig,
  userId: string,
  claims: IDToken,
): Promise<void> {
  const claim = claims[roleClaim];
  const values = new Set<unknown>(Array.isArray(claim) ? claim : [claim]);
  const given = Map.groupBy(
    roles.filter(({ value }) => values.has(value)),
    ({ workspaceId }) => workspaceId,
  );
  // In parallel, so that several unresponsive nodes cost only one timeout.
  await Promise.all(
    Array.from(given, async ([workspaceId, rules]) => {
      const role = roleNames.find((name) => rules.some((each) => each.role === name));
      if (role) await giveRoleThere(database, { workspaceId, userId, role });
    }),
  );
}

/**
 * Sets the role in one workspace. If its node is unavailable, the sign-in continues, and the role is set at
 * the next one.
 */
const giveRoleThere = async (
  database: Database,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> => {
  let cell: Database | undefined;
  try {
    cell = await cellOfWorkspace(database, member.workspaceId);
    await giveRole(cell, member);
  } catch (error) {
    const mayBeAway = cellsOf(database).some(({ place, database: own }) => place && (!cell || own === cell));
    if (!mayBeAway || !isCellUnavailable(error)) throw error;
  }
};

async function giveRole(
  database: Database,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  const { workspaceId: workspace_id, userId: user_id, role } = member;
  const present = onlyRow(await findMembership(database, { workspace_id, user_id }));
  if (!present) return joinWorkspace(database, member);
  if (present.role !== 'owner' && present.role !== role)
    await changeRole(database, { ...member, keeper: { may: () => false } });
}

/** Adds the person to a workspace. A deleted workspace that the settings still name is ignored. */
const joinWorkspace = (
  database: Database,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role },
): Promise<void> =>
  transaction(database, async (client) => {
    const member = { workspace_id: workspaceId, user_id: userId, role, now: now() };
    const added = await insertMember(client, member);
    if (added.length > 0) await enqueueEmailEvent(client, workspaceId, { kind: 'member_added', userId });
  });
