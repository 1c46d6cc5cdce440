import { createHash, randomBytes } from 'node:crypto';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { addKey } from './keys.ts';
import { addMember } from './members.ts';
import type { Plan } from './plans.ts';
import { nameProblems, refuseProblems } from './problems.ts';
import { createUser, userProblems } from './users.ts';
import { createWorkspace } from './workspaces.ts';
import { statement } from '#kit/statement.ts';

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
