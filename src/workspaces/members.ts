import type { ClientBase } from 'pg';
import { type Static, Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { hashResponse, type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { nullable, onlyRow, type Queryable, requireRow, statement, textEnum } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import type { Permission, PersonalPermission, Role } from '#rules/permissions.ts';
import { notifyKeyChange, revokeKeysOfUser } from './api-key.ts';
import { enqueueEmailEvent } from './audit/email-events.ts';
import { clearKeyCache, type Plan, requireWorkspaceAccess } from './authenticate.ts';
import { role } from './shapes.ts';

/**
 * Finds a member, and whether the workspace requires two-factor; no row if the person is not a member or the
 * workspace does not exist.
 */
export const findMembership = statement('workspace_id user_id', [
  'updated_at second_factor_required ends_at?',
  { role: textEnum<Role>() },
])`
  select m.role, m.updated_at, w.second_factor_required, w.ends_at
    from members m join workspaces w on w.id = m.workspace_id
   where m.workspace_id = $workspace_id and m.user_id = $user_id`;

/**
 * Returns SQL that selects the owners of a workspace, without owners whose accounts are being deleted.
 * @param workspaceId SQL of its id. @param besides SQL of the id of a person to exclude.
 */
export const ownersSql = (workspaceId: string, besides?: string): string =>
  `select from members o join users owner on owner.id = o.user_id and owner.ends_at is null
    where o.workspace_id = ${workspaceId} and o.role = 'owner'${besides === undefined ? '' : ` and o.user_id <> ${besides}`}`;

export const updateUserName = statement('id:text name now', 'id:text')`
  update users set name = $name, updated_at = $now where id = $id returning id`;

/** Adds a member; no row if the workspace does not exist or the person is already a member. */
export const insertMember = statement(['workspace_id user_id now', { role: textEnum<Role>() }], 'user_id')`
  insert into members (workspace_id, user_id, role, created_at, updated_at)
  select id, $user_id, $role, $now, $now from workspaces where id = $workspace_id
  on conflict (workspace_id, user_id) do nothing
  returning user_id`;

/** Locks the members of a workspace against changes until the transaction ends. */
const lockMembers = statement('workspace_id', 'id')`
  select id from workspaces where id = $workspace_id for no key update`;

const hasOtherOwner = statement('workspace_id user_id', 'has_other:boolean')`
  select exists (${ownersSql('$workspace_id', '$user_id')}) as has_other`;

const updateRole = statement(['workspace_id user_id now', { role: textEnum<Role>() }], '')`
  update members set role = $role, updated_at = $now where workspace_id = $workspace_id and user_id = $user_id`;

const deleteMember = statement('workspace_id user_id', 'user_id')`
  delete from members where workspace_id = $workspace_id and user_id = $user_id returning user_id`;

/**
 * Adds a person to a workspace.
 * @throws ApiError conflict if the workspace does not exist or the person is already a member.
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
  if (added.length === 0)
    throw new ApiError('conflict', 'The workspace does not exist, or the person is already a member.');
  await enqueueEmailEvent(database, member.workspaceId, { kind: 'member_added', userId: member.userId });
}

/** A caller who changes members. It decides about owners, which API keys never do (permissions.ts). */
export type MemberManager = Pick<RequestScope, 'may'>;

/**
 * A change of a member: the workspace, the caller, the person, and the version it is based on
 * (kit/conditional.ts).
 */
type MemberChange = { workspaceId: string; keeper: MemberManager; userId: string; unchanged?: IfMatchTimes };

/**
 * Changes the role of a member, which also limits the API keys that they created (authenticate.ts).
 * @throws ApiError not_found; forbidden if an owner is concerned and the caller is not an owner; conflict for
 * the last owner; precondition_failed.
 */
export async function changeRole(database: Database, change: MemberChange & { role: Role }): Promise<void> {
  requireMayManageOwner(change.keeper, change.role);
  await changeMember(database, change, change.role === 'owner', async (client) => {
    await updateRole(client, {
      workspace_id: change.workspaceId,
      user_id: change.userId,
      role: change.role,
      now: now(),
    });
    await notifyKeyChange(client, {});
  });
  clearKeyCache();
}

/** What happens to the API keys whose secret a removed member saw. Keys belong to the workspace. */
export const removedMemberKeyActions = ['revoke', 'keep'] as const;
type RemovedMemberKeyAction = (typeof removedMemberKeyActions)[number];

/**
 * Removes a person from a workspace; the account stays. They know the secrets of the keys that they created,
 * which give access without them. These keys are therefore revoked, unless the caller keeps them.
 * @throws as changeRole.
 */
export async function removeMember(
  database: Database,
  { keys = 'revoke', ...change }: MemberChange & { keys?: RemovedMemberKeyAction },
): Promise<void> {
  const place = { workspace_id: change.workspaceId, user_id: change.userId };
  await changeMember(database, change, false, async (client) => {
    await deleteMember(client, place);
    if (keys === 'revoke') await revokeKeysOfUser(client, { ...place, now: now() });
    await notifyKeyChange(client, {});
  });
  clearKeyCache();
}

/**
 * Leaves a workspace. Every member except the last owner can do this. The API keys of the member are revoked.
 * @throws ApiError conflict, not_found.
 */
export function leaveWorkspace(
  database: Database,
  member: { workspaceId: string; userId: string },
): Promise<void> {
  return removeMember(database, { ...member, keeper: { may: () => true } });
}

/** Changes a member under a lock, so that if two owners remove each other, one of them stays. */
function changeMember(
  database: Database,
  { workspaceId, keeper, userId, unchanged }: MemberChange,
  staysOwner: boolean,
  change: (client: ClientBase) => Promise<void>,
): Promise<void> {
  return transaction(database, async (client) => {
    await lockMembers(client, { workspace_id: workspaceId });
    const member = onlyRow(await findMembership(client, { workspace_id: workspaceId, user_id: userId }));
    if (!member) throw new ApiError('not_found', 'This person is not a member of the workspace.');
    requireMayManageOwner(keeper, member.role);
    requireUnchanged(unchanged, member.updated_at);
    if (member.role === 'owner' && !staysOwner) await requireAnotherOwner(client, workspaceId, userId);
    await change(client);
  });
}

/** Checks that only owners add, change and remove owners (#rules/permissions.ts). */
export function requireMayManageOwner(keeper: MemberManager, concerned: Role): void {
  if (concerned === 'owner' && !keeper.may('members:owners' satisfies PersonalPermission))
    throw new ApiError('forbidden', 'Only an owner can add, change or remove an owner.');
}

async function requireAnotherOwner(client: ClientBase, workspaceId: string, userId: string): Promise<void> {
  const [row] = await hasOtherOwner(client, { workspace_id: workspaceId, user_id: userId });
  if (row!.has_other) return;
  throw new ApiError('conflict', 'This is the last owner. Make another member an owner first.');
}

export const Member = namedObject('Member', {
  id: uuidSchema,
  name: Type.String(),
  email: Type.String(),
  role,
  created_at: timestampSchema,
  updated_at: timestampSchema,
  /**
   * The number of active API keys that the member created or last rotated. A key can do no more than its
   * creator.
   */
  key_count: Type.Integer(),
  second_factor: orNull(
    Type.Boolean({ description: "Whether the member has two-factor; null if you can't change members." }),
  ),
});
export type Member = Static<typeof Member>;

/** What happens to the API keys of a removed member; by default they are revoked. */
export const MemberRemoval = strictObject({ keys: Type.Optional(Type.Enum([...removedMemberKeyActions])) });
export const RoleChange = strictObject({ role: Type.Optional(role) });

export const selectWorkspacesOfUser = statement('user_id', [
  'id name second_factor_required ends_at?',
  { plan: textEnum<Plan>(), role: textEnum<Role>() },
])`
  /* lookup: across workspaces */
  select w.id, w.name, w.plan, m.role, w.second_factor_required, w.ends_at
    from members m join workspaces w on w.id = m.workspace_id
   where m.user_id = $user_id
   order by lower(w.name), w.id`;

/** Finds a workspace with its number of members, and the role of the caller if they are a member. */
export const findWorkspace = statement('workspace_id user_id?', [
  'id name rate_limit? burst? created_at updated_at second_factor_required',
  'member_count:bigint',
  { plan: textEnum<Plan>(), role: nullable(textEnum<Role>()) },
])`
  select w.id, w.name, w.plan, w.rate_limit, w.burst, w.created_at, w.updated_at, w.second_factor_required,
         (select m.role from members m where m.workspace_id = w.id and m.user_id = $user_id) as role,
         (select count(*) from members m where m.workspace_id = w.id) as member_count
    from workspaces w where w.id = $workspace_id`;

/**
 * Lists members, owners first, then by name, or reads one. Includes the number of active API keys of each
 * member.
 */
const selectMembers = statement('workspace_id user_id? now', [
  'id:text name email created_at updated_at second_factor key_count:bigint',
  { role: textEnum<Role>() },
])`
  select u.id, u.name, u.email, m.role, m.created_at, m.updated_at, u.second_factor,
         (select count(*) from api_keys k
           where k.workspace_id = m.workspace_id and k.created_by = u.id and k.revoked_at is null
             and (k.expires_at is null or k.expires_at > $now)) as key_count
    from members m join users u on u.id = m.user_id
   where m.workspace_id = $workspace_id and ($user_id is null or m.user_id = $user_id)
   order by array_position(array['owner', 'admin', 'editor', 'viewer'], m.role), lower(u.name), u.id`;

type Reader = Pick<RequestScope, 'workspaceId' | 'may'>;

export function memberEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, may }: Reader, userId: string | null): Promise<Member[]> => {
    const rows = await selectMembers(database, { workspace_id: workspaceId, user_id: userId, now: now() });
    // Only callers who can change members see who has no two-factor.
    const tellsFactors = may('members:write' satisfies Permission);
    return rows.map(({ second_factor, ...row }) =>
      asWireValue({ ...row, second_factor: tellsFactors ? second_factor : null }),
    );
  };
  const find = async (reader: Reader, userId: string) => {
    const body = requireRow(await read(reader, userId));
    return { body, tag: formatEtag(new Date(body.updated_at), hashResponse(body)) };
  };

  return {
    listMembers: operation({
      summary: 'List members',
      description: 'Returns all members: owners first, then the others by name.',
      permission: 'members:read',
      reply: { status: 200, description: 'All members.', schema: Type.Object({ data: Type.Array(Member) }) },
      async run({ workspaceId, formIds, may }) {
        requireWorkspaceAccess(formIds);
        return { body: { data: await read({ workspaceId, may }, null) } };
      },
    }),

    getMember: operation({
      summary: 'Get member',
      permission: 'members:read',
      params: idParameter,
      reply: { status: 200, description: 'The member.', schema: Member },
      run({ workspaceId, formIds, params, may }) {
        requireWorkspaceAccess(formIds);
        return find({ workspaceId, may }, params.id);
      },
    }),

    changeMember: operation({
      summary: 'Change member',
      description:
        'Changes the role of a member, which also limits the API keys that they created. Only a signed-in owner can change owners, not an API key. 409 if they are the last owner.',
      permission: 'members:write',
      audit: { changes: 'getMember' },
      params: idParameter,
      body: RoleChange,
      example: { body: { role: 'editor' } },
      errors: ['conflict'],
      isConditional: true,
      reply: { status: 200, description: 'The changed member.', schema: Member },
      async run({ workspaceId, formIds, params, body: { role }, unchanged, may }) {
        requireWorkspaceAccess(formIds);
        const change = { workspaceId, userId: params.id, keeper: { may }, unchanged };
        if (role !== undefined) await changeRole(database, { ...change, role });
        return find({ workspaceId, may }, params.id);
      },
    }),

    removeMember: operation({
      summary: 'Remove member',
      description:
        'Removes a member; their account is kept. The API keys that the member created are revoked, because the member knows their secrets, unless `keys` is `keep`. 409 if they are the last owner.',
      permission: 'members:write',
      audit: { changes: 'getMember' },
      params: idParameter,
      query: MemberRemoval,
      errors: ['conflict'],
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The member is removed.' },
      async run({ workspaceId, formIds, params, query, unchanged, may }) {
        requireWorkspaceAccess(formIds);
        await removeMember(database, {
          workspaceId,
          userId: params.id,
          keeper: { may },
          unchanged,
          ...query,
        });
      },
    }),
  };
}
