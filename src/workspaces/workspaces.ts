import { createHash, randomBytes } from 'node:crypto';
import { normalizeText } from '#ast/basics/text.ts';
import { findInAllCells, newestFirst } from '#cells/across-cells.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import type { WorkspaceCreation } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { type Queryable, statement, textEnum } from '#kit/statement.ts';
import { createUser, nameProblems, throwProblems, userProblems } from './accounts/users.ts';
import { type Plan, requestRateOf } from './authenticate.ts';
import { createKeyInTransaction } from './keys.ts';
import { addMember } from './members.ts';

// Workspaces -----------------------------------------------------------------------------------------------

const insertWorkspace = statement(
  ['workspace_id name rate_limit? burst? created_at', { plan: textEnum<Plan>() }],
  '',
)`
  insert into workspaces (id, name, plan, rate_limit, burst, created_at, updated_at)
  values ($workspace_id, $name, $plan, $rate_limit, $burst, $created_at, $created_at)`;

const selectWorkspaces = statement('', ['id name rate_limit? burst? created_at', { plan: textEnum<Plan>() }])`
  /* operator: across workspaces */
  select id, name, plan, rate_limit, burst, created_at from workspaces order by id desc`;

const updatePlan = statement(['workspace_id rate_limit? burst?', { plan: textEnum<Plan>() }], 'name')`
  update workspaces set plan = $plan, rate_limit = $rate_limit, burst = $burst
   where id = $workspace_id
  returning name`;

const findOwnedWorkspace = statement('user_id', 'id')`
  /* lookup: across workspaces */
  select workspace_id as id from members where user_id = $user_id and role = 'owner' limit 1`;

/** A workspace's own limits, which override those of its plan: requests per minute, and the burst. */
type RateOverride = { rateLimit?: number | undefined; burst?: number | undefined };

/** Creates a workspace. @throws ApiError validation_error with all problems. */
export async function createWorkspace(
  database: Queryable,
  { name: givenName, plan, rateLimit, burst }: { name: string; plan: Plan } & RateOverride,
): Promise<{ id: string; name: string; plan: Plan }> {
  const name = normalizeText(givenName);
  throwProblems([...nameProblems('name', name), ...rateProblems({ rateLimit, burst })]);
  const id = newId();
  await insertWorkspace(database, {
    workspace_id: id,
    name,
    plan,
    rate_limit: rateLimit ?? null,
    burst: burst ?? null,
    created_at: timeOfId(id),
  });
  return { id, name, plan };
}

/**
 * Whether the operator's setting lets a person create a workspace. With `owners`, only people who already own
 * one can; they got it from the setup or an invitation.
 */
export async function mayCreateWorkspace(
  database: Database,
  setting: WorkspaceCreation,
  userId: string,
): Promise<boolean> {
  if (setting !== 'owners') return setting === 'everyone';
  const owned = await findInAllCells(database, (cells) => findOwnedWorkspace(cells, { user_id: userId }), {
    isPartial: true,
  });
  return owned.length > 0;
}

/**
 * Lists all workspaces, or only those in available cells, newest first, with the rates that apply. For the
 * operator only.
 */
export async function listWorkspaces(
  database: Database,
  { isPartial = false }: { isPartial?: boolean } = {},
) {
  const rows = await findInAllCells(database, (cells) => selectWorkspaces(cells, {}), {
    isPartial,
    order: newestFirst,
  });
  return rows.map(({ id, name, plan, rate_limit, burst: own, created_at }) => {
    const { perMinute, burst } = requestRateOf(plan, { rateLimit: rate_limit, burst: own });
    return { id, name, plan, rate_limit: perMinute, burst, created_at };
  });
}

/**
 * Sets the plan of a workspace, and its own limits if given. The change applies to requests within a second
 * (the cache of authenticate.ts).
 * @throws ApiError validation_error; not_found if the workspace does not exist.
 */
export async function setPlan(
  database: Queryable,
  { workspaceId, plan, rateLimit, burst }: { workspaceId: string; plan: Plan } & RateOverride,
): Promise<{ id: string; name: string; plan: Plan }> {
  throwProblems(rateProblems({ rateLimit, burst }));
  const [updated] = await updatePlan(database, {
    workspace_id: workspaceId,
    plan,
    rate_limit: rateLimit ?? null,
    burst: burst ?? null,
  });
  if (!updated) throw new ApiError('not_found', 'This workspace does not exist.');
  return { id: workspaceId, name: updated.name, plan };
}

const largest = 1_000_000;

function rateProblems({ rateLimit, burst }: RateOverride): ErrorItem[] {
  const within = (number: number | undefined, least: number): boolean =>
    number === undefined || (Number.isInteger(number) && number >= least && number <= largest);
  return [
    ...(within(rateLimit, 1)
      ? []
      : [{ field: 'rate_limit', message: `Requests per minute must be between 1 and ${largest}.` }]),
    ...(within(burst, 0)
      ? []
      : [{ field: 'burst', message: `The burst must be between 0 and ${largest} requests.` }]),
  ];
}

// Setup ----------------------------------------------------------------------------------------------------

/** Stores the hash of the setup token for this start, unless there are accounts. */
const offerSetup = statement('token_hash', 'offered:boolean')`
  insert into setup (token_hash)
  select $token_hash where not exists (select from users)
  on conflict (only_row) do update set token_hash = excluded.token_hash
  returning true as offered`;

const hasAccounts = statement('', 'has_accounts:boolean')`
  select exists (select from users) as has_accounts`;

/**
 * Deletes the token when it is used. Of two parallel requests, the second waits for the transaction of the
 * first and finds no row. The check for users also rejects a token that a starting process offered while the
 * first account was being created.
 */
const claimSetup = statement('token_hash', 'claimed:boolean')`
  delete from setup where token_hash = $token_hash and not exists (select from users) returning true as claimed`;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Returns the token of the one-time setup link for this start of the server; links from earlier starts stop
 * working. Only its SHA-256 is stored.
 * @returns undefined if there is already an account; there are no default credentials (docs/rules.md C35).
 */
export async function createSetupToken(database: Database): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const offered = await offerSetup(database, { token_hash: hashOf(token) });
  return offered.length > 0 ? token : undefined;
}

/** Whether the instance is set up, which means that it has an account. */
export async function isSetUp(database: Database): Promise<boolean> {
  const [row] = await hasAccounts(database, {});
  return row!.has_accounts;
}

/**
 * Creates the first account, its workspace and an API key, and ends the setup, in one transaction. Of two
 * parallel requests one wins, and a failure leaves the link usable.
 * @throws ApiError gone if the link was used or replaced; validation_error with all problems.
 */
export async function completeSetup(
  database: Database,
  first: { token: string; email: string; password: string; workspaceName: string; plan: Plan },
): Promise<{ userId: string; workspaceId: string; apiKey: string }> {
  const { email, password, workspaceName } = first;
  const person = { email, password, isConfirmed: true, words: [workspaceName] };
  // Checked before the link is locked, because loading the list of common passwords would make other requests
  // wait.
  throwProblems([...(await userProblems(person)), ...nameProblems('workspace_name', workspaceName)]);
  return transaction(database, async (client) => {
    const claimed = await claimSetup(client, { token_hash: hashOf(first.token) });
    if (claimed.length === 0)
      throw new ApiError(
        'gone',
        'This setup link was already used, or was replaced when the server restarted. Use the link that the server printed when it last started.',
      );
    const user = await createUser(client, person);
    const workspace = await createWorkspace(client, { name: workspaceName, plan: first.plan });
    await addMember(client, { workspaceId: workspace.id, userId: user.id, role: 'owner' });
    const key = await createKeyInTransaction(client, { workspaceId: workspace.id, name: 'First key' });
    return { userId: user.id, workspaceId: workspace.id, apiKey: key.key };
  });
}
