import type { Configuration, IDToken } from 'openid-client';
import type { ClientBase } from 'pg';
import { normalizeText } from '#ast/basics/text.ts';
import { cellOfWorkspace, isAway } from '#cells/across-cells.ts';
import { cellsOf } from '#cells/cells.ts';
import { newId, now } from '#kit/clock.ts';
import type { IdentityProviderConfig } from '#kit/config/sections.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Visitor } from '#kit/operation.ts';
import { normalizeAddress, toAsciiDomain } from '#kit/outbox/address.ts';
import { hashPassword } from '#kit/password-hash.ts';
import { columns, only, statement } from '#kit/statement.ts';
import { newKey, type Vault } from '#kit/vault.ts';
import { type Role, roleNames } from '#rules/permissions.ts';
import { setPassword } from '../accounts/password-reset.ts';
import { type Accounts, emailProblems, longestName } from '../accounts/users.ts';
import { reportNews } from '../audit/mail-news.ts';
import { changeRole, findMembership, insertMember } from '../members.ts';
import type { RequestCounter } from '../request-counter.ts';
import { countTry, isTemporaryOver, signInTries } from './sign-in.ts';

const person = columns('id:text email is_confirmed is_linked:boolean temporary_until:timestamp?');

/** Whom a provider means: whoever it signed in before, or else whoever has the address. */
const findSignedIn = statement(
  'identity_provider.find',
  'identity email',
  person,
  `select u.id, u.email, u.email_verified as is_confirmed, a.id is not null as is_linked, u.temporary_until
     from users u left join accounts a on a.user_id = u.id and a.provider_id = 'oidc' and a.account_id = $identity
    where a.id is not null or u.email = $email
    order by a.id is not null desc
    limit 1`,
);

/** A person without a password; nothing when the address is taken. */
const insertPerson = statement(
  'identity_provider.insert_person',
  'id:text name email now',
  'id:text',
  `insert into users (id, name, email, email_verified, created_at, updated_at)
   values ($id, $name, $email, true, $now, $now)
   on conflict (email) do nothing
   returning id`,
);

/** From now on the provider signs this person in, whatever address it tells. */
const insertIdentity = statement(
  'identity_provider.insert_identity',
  'id:text user_id identity now',
  '',
  `insert into accounts (id, user_id, account_id, provider_id, created_at, updated_at)
   values ($id, $user_id, $identity, 'oidc', $now, $now)
   on conflict (account_id) where provider_id = 'oidc' do nothing`,
);

type Context = {
  accounts: Accounts;
  database: Database;
  vault: Vault;
  requestCounter: RequestCounter;
  config: { publicUrl: string; identityProvider: IdentityProviderConfig | undefined };
};

/** What the browser keeps, sealed, from the question to the answer. */
type Asked = { verifier: string; state: string; nonce: string; until: number };

/** For how long a person may take at the provider. */
export const providerSeconds = 600;
/** The provider has so long to answer us. */
const timeoutSeconds = 10;

/** Where the provider sends the browser back to: a screen of the console, which hands its address over. */
const returnUrl = ({ config }: Context): string => `${config.publicUrl}/app/signed-in`;

/** What is known of the provider, read when it is first needed, and again after a failure. */
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
    throw new ApiError('service_unavailable', `${provider.name} does not answer. Try again.`, {
      retryAfter: 5,
      cause,
    });
  }
}

function requireProvider({ config }: Context): IdentityProviderConfig {
  if (config.identityProvider) return config.identityProvider;
  throw new ApiError('conflict', 'No provider of identities is set up here.');
}

/**
 * Begins a sign-in at the provider: code flow with PKCE, state and nonce.
 * @returns where to send the browser, and what it keeps for the answer.
 * @throws ApiError conflict where there is no provider; service_unavailable; rate_limit_exceeded.
 */
export async function askProvider(
  context: Context,
  { address }: Visitor,
): Promise<{ url: string; kept: string }> {
  const provider = requireProvider(context);
  await countTry(context, `question to the provider from ${address}`, signInTries.ofAddress);
  const { client, configuration } = await discover(provider);
  const asked: Asked = {
    verifier: client.randomPKCECodeVerifier(),
    state: client.randomState(),
    nonce: client.randomNonce(),
    until: now().getTime() + providerSeconds * 1_000,
  };
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: returnUrl(context),
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(asked.verifier),
    code_challenge_method: 'S256',
    state: asked.state,
    nonce: asked.nonce,
  });
  const kept = context.vault.seal('sessions', JSON.stringify(asked)).toString('base64url');
  return { url: url.href, kept };
}

/**
 * Signs in whom the provider means. A session that the browser had ends.
 * @param answer the query of the address that the provider sent the browser back to.
 * @returns the cookies to set. Where the provider says that it asked for several factors (`amr`, RFC 8176), both steps are
 *   taken; else a second factor that the person has here is asked for.
 * @throws ApiError unauthorized for an answer that is not to our question; forbidden for whom it may not sign in.
 */
export async function signInByProvider(
  context: Context,
  visitor: Visitor,
  { answer, kept }: { answer: string; kept: string | undefined },
): Promise<{ userId: string; cookies: string[] }> {
  const provider = requireProvider(context);
  await countTry(context, `answer of the provider from ${visitor.address}`, signInTries.ofAddress);
  const claims = await readClaims(context, provider, answer, readKept(context.vault, kept));
  const person = await findOrMakePerson(context, provider, claims);
  await giveRoles(context.database, provider, person.id, claims);
  const { auth, beginSession } = await context.accounts.library();
  const isManyFactors = Array.isArray(claims['amr']) && claims['amr'].includes('mfa');
  const cookies = await beginSession(person.id, isManyFactors ? now() : null, visitor.headers);
  await auth.api.signOut({ headers: visitor.headers });
  return { userId: person.id, cookies };
}

function readKept(vault: Vault, kept: string | undefined): Asked {
  try {
    const asked = JSON.parse(vault.unseal('sessions', Buffer.from(kept ?? '', 'base64url'))) as Asked;
    if (asked.until > now().getTime()) return asked;
  } catch (cause) {
    throw new ApiError('unauthorized', begunElsewhere, { cause });
  }
  throw new ApiError('unauthorized', begunElsewhere);
}

const begunElsewhere = 'This sign-in was not begun in this browser, or its time is over. Begin again.';

async function readClaims(
  context: Context,
  provider: IdentityProviderConfig,
  answer: string,
  { verifier, state, nonce }: Asked,
): Promise<IDToken> {
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
    // Some keep the ID token small, and tell the rest when they are asked.
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  } catch (cause) {
    throw new ApiError('unauthorized', `${provider.name} did not sign you in. Begin again.`, { cause });
  }
}

async function findOrMakePerson(
  { database }: Context,
  provider: IdentityProviderConfig,
  claims: IDToken,
): Promise<{ id: string }> {
  const email = typeof claims['email'] === 'string' ? normalizeAddress(claims['email']) : '';
  const isAllowed =
    emailProblems(email).length === 0 && provider.domains.includes(toAsciiDomain(email).split('@')[1]!);
  const isConfirmed = claims['email_verified'] ?? provider.trustsEmail;
  if (!isAllowed || isConfirmed !== true)
    throw new ApiError(
      'forbidden',
      'This account of yours has no confirmed address of a domain that is let in here. Ask whoever runs this service.',
    );
  const identity = `${claims.iss} ${claims.sub}`;
  return transaction(database, async (client) => {
    const found = only(await findSignedIn(client, { identity, email }));
    if (found && isTemporaryOver({ temporaryUntil: found.temporary_until }))
      throw new ApiError('unauthorized', 'The time of your temporary password is over. Ask for another.');
    if (found?.is_linked) return found;
    const at = now();
    // Whoever made the account never showed that the address is theirs: what they had of it ends.
    if (found && !found.is_confirmed)
      await setPassword(client, {
        user_id: found.id,
        account_id: newId(),
        password: await hashPassword(newKey()),
        now: at,
      });
    const id = found?.id ?? (await makePerson(client, email, claims, at));
    await insertIdentity(client, { id: newId(), user_id: id, identity, now: at });
    return { id };
  });
}

async function makePerson(client: ClientBase, email: string, claims: IDToken, at: Date): Promise<string> {
  const id = newId();
  const said =
    typeof claims['name'] === 'string' ? normalizeText(claims['name']).trim().slice(0, longestName) : '';
  const added = await insertPerson(client, { id, email, name: said || email.split('@', 1)[0]!, now: at });
  if (added.length === 0)
    throw new ApiError('conflict', 'Somebody else began with this address. Begin again.');
  return id;
}

/**
 * Makes a person what the provider says, at each sign-in: the most of what the values of the claim give. Owners stay, and what it
 * says nothing of stays too.
 */
async function giveRoles(
  database: Database,
  { roleClaim, roles }: IdentityProviderConfig,
  userId: string,
  claims: IDToken,
): Promise<void> {
  const said = claims[roleClaim];
  const values = new Set<unknown>(Array.isArray(said) ? said : [said]);
  const given = Map.groupBy(
    roles.filter(({ value }) => values.has(value)),
    ({ workspaceId }) => workspaceId,
  );
  // Side by side: a silent node is waited for once.
  await Promise.all(
    Array.from(given, async ([workspaceId, rules]) => {
      const role = roleNames.find((name) => rules.some((each) => each.role === name));
      if (role) await giveRoleThere(database, { workspaceId, userId, role });
    }),
  );
}

/** A workspace whose node is away keeps nobody out of the others; the role is given at the next sign-in. */
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
    if (!mayBeAway || !isAway(error)) throw error;
  }
};

async function giveRole(
  database: Database,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  const { workspaceId: workspace_id, userId: user_id, role } = member;
  const present = only(await findMembership(database, { workspace_id, user_id }));
  if (!present) return joinWorkspace(database, member);
  if (present.role !== 'owner' && present.role !== role)
    await changeRole(database, { ...member, keeper: { may: () => false } });
}

/** A workspace that is gone, and still named in the settings, keeps nobody out of the others. */
const joinWorkspace = (
  database: Database,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role },
): Promise<void> =>
  transaction(database, async (client) => {
    const member = { workspace_id: workspaceId, user_id: userId, role, now: now() };
    const added = await insertMember(client, member);
    if (added.length > 0) await reportNews(client, workspaceId, { kind: 'member_added', userId });
  });
