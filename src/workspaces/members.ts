import type { ClientBase } from 'pg';
import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { requireUnchanged, type Unchanged } from '#kit/conditional.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { only, type Queryable, statement, word } from '#kit/statement.ts';
import { forgetKeys } from './authenticate.ts';
import { revokeKeysOf, tellOfKeys } from './keys/key-rows.ts';
import { reportNews } from './mail-news.ts';
import type { PersonalPermission, Role } from '#rules/permissions.ts';
import { findMembership, ownersOf } from './members/membership.ts';

/** Adds nothing, and returns nothing, when the workspace does not exist or the person is a member already. */
export const insertMember = statement(
  'workspaces.insert_member',
  ['workspace_id user_id now', { role: word<Role>() }],
  'user_id',
  `insert into members (workspace_id, user_id, role, created_at, updated_at)
   select id, $user_id, $role, $now, $now from workspaces where id = $workspace_id
   on conflict (workspace_id, user_id) do nothing
   returning user_id`,
);

/** Makes changes of one workspace's members take turns, until the transaction ends. */
const lockMembers = statement(
  'workspaces.lock_members',
  'workspace_id',
  'id',
  `select id from workspaces where id = $workspace_id for no key update`,
);

/** Whether somebody else owns a workspace too. */
const hasOtherOwner = statement(
  'workspaces.has_other_owner',
  'workspace_id user_id',
  'has_other:boolean',
  `select exists (${ownersOf('$workspace_id', '$user_id')}) as has_other`,
);

const updateRole = statement(
  'workspaces.update_role',
  ['workspace_id user_id now', { role: word<Role>() }],
  '',
  `update members set role = $role, updated_at = $now where workspace_id = $workspace_id and user_id = $user_id`,
);

const deleteMember = statement(
  'workspaces.delete_member',
  'workspace_id user_id',
  'user_id',
  `delete from members where workspace_id = $workspace_id and user_id = $user_id returning user_id`,
);

/**
 * Lets a person into a workspace.
 * @throws ApiError conflict when there is no such workspace, or the person is a member already.
 */
export async function addMember(
  database: Queryable,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  const added = await insertMember(database, {
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role,
    now: now(),
  });
  if (added.length === 0) {
    throw new ApiError('conflict', 'There is no such workspace, or the person is a member of it already.');
  }
  await reportNews(database, member.workspaceId, { kind: 'member_added', userId: member.userId });
}

/** Whoever changes members, as far as it decides about owners: no key ever does (permissions.ts). */
export type Keeper = Pick<Scope, 'may'>;

/** What a change of members is about: who makes it, where, to whom, and on what it was made (kit/conditional.ts). */
type MemberChange = {
  workspaceId: string;
  keeper: Keeper;
  userId: string;
  unchanged?: Unchanged;
};

/**
 * Gives a member another role. The keys that they made may no more than they do from then on (authenticate.ts).
 * @throws ApiError not_found; forbidden when an owner is concerned and the keeper is none; conflict for the last owner;
 *   precondition_failed.
 */
export async function changeRole(database: Database, change: MemberChange & { role: Role }): Promise<void> {
  requireOwner(change.keeper, change.role);
  await changeMember(database, change, change.role === 'owner', async (client) => {
    await updateRole(client, {
      workspace_id: change.workspaceId,
      user_id: change.userId,
      role: change.role,
      now: now(),
    });
    await tellOfKeys(client, {});
  });
  forgetKeys();
}

/** What becomes of the API keys whose secret a person who goes was shown: keys belong to the workspace. */
export const keyFates = ['revoke', 'keep'] as const;
type KeyFate = (typeof keyFates)[number];

/**
 * Takes a person out of a workspace; the account stays. They knew the secrets of the keys that they made, which reach the
 * data without them: these are revoked, unless whoever removes them says otherwise.
 * @throws as changeRole.
 */
export async function removeMember(
  database: Database,
  { keys = 'revoke', ...change }: MemberChange & { keys?: KeyFate },
): Promise<void> {
  const place = { workspace_id: change.workspaceId, user_id: change.userId };
  await changeMember(database, change, false, async (client) => {
    await deleteMember(client, place);
    if (keys === 'revoke') await revokeKeysOf(client, { ...place, now: now() });
    await tellOfKeys(client, {});
  });
  forgetKeys();
}

/**
 * Leaves a workspace, which everyone may but its last owner. Their API keys end.
 * @throws ApiError conflict, not_found.
 */
export function leaveWorkspace(
  database: Database,
  member: { workspaceId: string; userId: string },
): Promise<void> {
  return removeMember(database, { ...member, keeper: { may: () => true } });
}

/** Changes take turns, so that of two owners who remove each other at once one stays. */
function changeMember(
  database: Database,
  { workspaceId, keeper, userId, unchanged }: MemberChange,
  staysOwner: boolean,
  change: (client: ClientBase) => Promise<void>,
): Promise<void> {
  return transaction(database, async (client) => {
    await lockMembers(client, { workspace_id: workspaceId });
    const member = only(await findMembership(client, { workspace_id: workspaceId, user_id: userId }));
    if (!member) throw new ApiError('not_found', 'This person is not a member of the workspace.');
    requireOwner(keeper, member.role);
    requireUnchanged(unchanged, member.updated_at);
    if (member.role === 'owner' && !staysOwner) await requireAnotherOwner(client, workspaceId, userId);
    await change(client);
  });
}

/** Only owners make, change and remove owners (roles.ts). */
export function requireOwner(keeper: Keeper, concerned: Role): void {
  if (concerned === 'owner' && !keeper.may('members:owners' satisfies PersonalPermission)) {
    throw new ApiError('forbidden', 'Only an owner may add, change or remove an owner.');
  }
}

async function requireAnotherOwner(client: ClientBase, workspaceId: string, userId: string): Promise<void> {
  const [asked] = await hasOtherOwner(client, { workspace_id: workspaceId, user_id: userId });
  if (asked!.has_other) return;
  throw new ApiError('conflict', 'This is the last owner. Make somebody else an owner first.');
}
