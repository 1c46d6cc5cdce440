import { createHash, randomBytes } from 'node:crypto';
import { normalizeText } from '#ast/basics/text.ts';
import { findInAllCells, newestFirst } from '#cells/across-cells.ts';
import { newId, timeOfId } from '#kit/clock.ts';
import type { WorkspaceCreation } from '#kit/config.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { type Queryable, statement, word } from '#kit/statement.ts';
import { createUser, nameProblems, refuseProblems, userProblems } from './accounts/users.ts';
import { type Plan, rateOf } from './authenticate.ts';
import { addKey } from './keys.ts';
import { addMember } from './members.ts';

// Workspaces -----------------------------------------------------------------------------------------------

const insertWorkspace = statement(
  'workspaces.insert_workspace',
  ['workspace_id name rate_limit? burst? created_at', { plan: word<Plan>() }],
  '',
  `insert into workspaces (id, name, plan, rate_limit, burst, created_at, updated_at)
   values ($workspace_id, $name, $plan, $rate_limit, $burst, $created_at, $created_at)`,
);

/** Newest first. */
const selectWorkspaces = statement(
  'workspaces.select_workspaces',
  '',
  ['id name rate_limit? burst? created_at', { plan: word<Plan>() }],
  `/* operator: across workspaces */
   select id, name, plan, rate_limit, burst, created_at from workspaces order by id desc`,
);

const updatePlan = statement(
  'workspaces.update_plan',
  ['workspace_id rate_limit? burst?', { plan: word<Plan>() }],
  'name',
  `update workspaces set plan = $plan, rate_limit = $rate_limit, burst = $burst
    where id = $workspace_id
   returning name`,
);

const findOwnedWorkspace = statement(
  'workspaces.find_owned_workspace',
  'user_id',
  'id',
  `/* lookup: across workspaces */
   select workspace_id as id from members where user_id = $user_id and role = 'owner' limit 1`,
);

/** Numbers of the workspace's own in place of its plan's: requests per minute, and how many may pass beyond. */
type OwnRate = { rateLimit?: number | undefined; burst?: number | undefined };

/** A workspace as the operator sees it, with the rate that is in force. */
type Workspace = {
  id: string;
  name: string;
  plan: Plan;
  perMinute: number;
  burst: number;
  createdAt: Date;
};

/** @throws ApiError validation_error with every problem. */
export async function createWorkspace(
  database: Queryable,
  { name: givenName, plan, rateLimit, burst }: { name: string; plan: Plan } & OwnRate,
): Promise<{ id: string; name: string; plan: Plan }> {
  const name = normalizeText(givenName);
  refuseProblems([...nameProblems('name', name), ...rateProblems({ rateLimit, burst })]);
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

/** Whether a person may make a workspace: the operator's setting. Owners came to be by the set-up or an invitation. */
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

/** All workspaces, or those of cells that answer, newest first: for the operator only. */
export async function listWorkspaces(
  database: Database,
  { isPartial = false }: { isPartial?: boolean } = {},
): Promise<Workspace[]> {
  const rows = await findInAllCells(database, (cells) => selectWorkspaces(cells, {}), {
    isPartial,
    order: newestFirst,
  });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    plan: row.plan,
    ...rateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst }),
    createdAt: row.created_at,
  }));
}

/**
 * Puts a workspace on a plan, with the plan's numbers unless it gets its own. Acts on requests within a second
 * (the memory of authenticate.ts).
 * @throws ApiError validation_error; not_found when there is no such workspace.
 */
export async function setPlan(
  database: Queryable,
  { workspaceId, plan, rateLimit, burst }: { workspaceId: string; plan: Plan } & OwnRate,
): Promise<{ id: string; name: string; plan: Plan }> {
  refuseProblems(rateProblems({ rateLimit, burst }));
  const [updated] = await updatePlan(database, {
    workspace_id: workspaceId,
    plan,
    rate_limit: rateLimit ?? null,
    burst: burst ?? null,
  });
  if (!updated) throw new ApiError('not_found', 'There is no such workspace.');
  return { id: workspaceId, name: updated.name, plan };
}

const largest = 1_000_000;

function rateProblems({ rateLimit, burst }: OwnRate): ErrorItem[] {
  const within = (number: number | undefined, least: number): boolean =>
    number === undefined || (Number.isInteger(number) && number >= least && number <= largest);
  return [
    ...(within(rateLimit, 1)
      ? []
      : [{ field: 'rate_limit', message: `Requests per minute are 1 to ${largest}.` }]),
    ...(within(burst, 0) ? [] : [{ field: 'burst', message: `A burst is 0 to ${largest} requests.` }]),
  ];
}

// Set-up ---------------------------------------------------------------------------------------------------

/** Puts the hash of this start's token in place, unless there are accounts. */
const offerSetup = statement(
  'workspaces.offer_setup',
  'token_hash',
  'offered:boolean',
  `insert into setup (token_hash)
   select $token_hash where not exists (select from users)
   on conflict (only_row) do update set token_hash = excluded.token_hash
   returning true as offered`,
);

/** Whether anybody has an account here. */
const hasAccounts = statement(
  'workspaces.has_accounts',
  '',
  'has_accounts:boolean',
  `select exists (select from users) as has_accounts`,
);

/**
 * Uses the token up. Of two at once the second waits for the first's transaction, and then finds no row; the
 * look at users also closes a token that a starting process offered while the first account was being made.
 */
const claimSetup = statement(
  'workspaces.claim_setup',
  'token_hash',
  'claimed:boolean',
  `delete from setup where token_hash = $token_hash and not exists (select from users) returning true as claimed`,
);

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * The token of the one-time set-up link, for this start of the service: links of earlier starts end with it. Only its
 * SHA-256 is stored.
 * @returns undefined when there is an account already; there are no default credentials (docs/rules.md C35).
 */
export async function prepareSetup(database: Database): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const offered = await offerSetup(database, { token_hash: hashOf(token) });
  return offered.length > 0 ? token : undefined;
}

/** Whether the instance was set up: somebody has an account. */
export async function isSetUp(database: Database): Promise<boolean> {
  const [row] = await hasAccounts(database, {});
  return row!.has_accounts;
}

/**
 * Makes the first account, its workspace and an API key, and closes the set-up, in one transaction: of two at once one
 * wins, and whatever fails on the way leaves the link as it was.
 * @throws ApiError gone when the link was used or replaced; validation_error with every problem.
 */
export async function completeSetup(
  database: Database,
  first: { token: string; email: string; password: string; workspaceName: string; plan: Plan },
): Promise<{ userId: string; workspaceId: string; apiKey: string }> {
  const { email, password, workspaceName } = first;
  const person = { email, password, isConfirmed: true, words: [workspaceName] };
  // Before the link is held: to judge the first password the list of common ones is loaded, and others would wait for that.
  refuseProblems([...(await userProblems(person)), ...nameProblems('workspace_name', workspaceName)]);
  return transaction(database, async (client) => {
    const claimed = await claimSetup(client, { token_hash: hashOf(first.token) });
    if (claimed.length === 0) {
      throw new ApiError(
        'gone',
        'This set-up link was used already, or a later start of the service replaced it.',
      );
    }
    const user = await createUser(client, person);
    const workspace = await createWorkspace(client, { name: workspaceName, plan: first.plan });
    await addMember(client, { workspaceId: workspace.id, userId: user.id, role: 'owner' });
    const key = await addKey(client, { workspaceId: workspace.id, name: 'First key' });
    return { userId: user.id, workspaceId: workspace.id, apiKey: key.key };
  });
}
