import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { seenIn } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { nullable, requireRow, statement, word } from '#kit/statement.ts';
import { tagOf } from '#kit/tag-of.ts';
import { changeRole, removeMember } from '../members.ts';
import type { Permission, Role } from '#rules/permissions.ts';
import { requireWholeWorkspace } from '../reach.ts';
import { Member, Removal, RoleChange } from './shapes.ts';
import type { Plan } from '../plans.ts';

/** The workspaces that a person is a member of, by name. */
export const selectWorkspacesOfUser = statement(
  'workspaces.select_workspaces_of_user',
  'user_id',
  ['id name second_factor_required ends_at?', { plan: word<Plan>(), role: word<Role>() }],
  `/* lookup: across workspaces */
   select w.id, w.name, w.plan, m.role, w.second_factor_required, w.ends_at
     from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = $user_id
    order by lower(w.name), w.id`,
);

/** A workspace with what is counted in it, and the role of whoever asks, where that is a member. */
export const findWorkspace = statement(
  'workspaces.find_workspace',
  'workspace_id user_id?',
  [
    'id name rate_limit? burst? created_at updated_at second_factor_required',
    'member_count:bigint',
    { plan: word<Plan>(), role: nullable(word<Role>()) },
  ],
  `select w.id, w.name, w.plan, w.rate_limit, w.burst, w.created_at, w.updated_at, w.second_factor_required,
          (select m.role from members m where m.workspace_id = w.id and m.user_id = $user_id) as role,
          (select count(*) from members m where m.workspace_id = w.id) as member_count
     from workspaces w where w.id = $workspace_id`,
);

/** Owners first, then by name, or one alone; with the number of API keys that each made and that still work. */
const selectMembers = statement(
  'workspaces.select_members',
  'workspace_id user_id? now',
  ['id:text name email created_at updated_at second_factor key_count:bigint', { role: word<Role>() }],
  `select u.id, u.name, u.email, m.role, m.created_at, m.updated_at, u.second_factor,
          (select count(*) from api_keys k
            where k.workspace_id = m.workspace_id and k.created_by = u.id and k.revoked_at is null
              and (k.expires_at is null or k.expires_at > $now)) as key_count
     from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and ($user_id is null or m.user_id = $user_id)
    order by array_position(array['owner', 'admin', 'editor', 'viewer'], m.role), lower(u.name), u.id`,
);

type Reader = Pick<Scope, 'workspaceId' | 'may'>;

export function memberEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, may }: Reader, userId: string | null): Promise<Member[]> => {
    const rows = await selectMembers(database, { workspace_id: workspaceId, user_id: userId, now: now() });
    // Whose password is enough is told to those who can do something about it.
    const tellsFactors = may('members:write' satisfies Permission);
    return rows.map(({ created_at, updated_at, second_factor, ...row }) => ({
      ...row,
      second_factor: tellsFactors ? second_factor : null,
      created_at: created_at.toISOString(),
      updated_at: updated_at.toISOString(),
    }));
  };
  const find = async (reader: Reader, userId: string) => {
    const body = requireRow(await read(reader, userId));
    return { body, tag: tagOf(new Date(body.updated_at), seenIn(body)) };
  };

  return {
    listMembers: operation({
      summary: 'List members',
      description: 'Owners first, then by name.',
      permission: 'members:read',
      reply: { status: 200, description: 'All of them.', schema: Type.Object({ data: Type.Array(Member) }) },
      async run({ workspaceId, formIds, may }) {
        requireWholeWorkspace(formIds);
        return { body: { data: await read({ workspaceId, may }, null) } };
      },
    }),

    getMember: operation({
      summary: 'Get member',
      permission: 'members:read',
      params: idParameter,
      reply: { status: 200, description: 'The member.', schema: Member },
      run({ workspaceId, formIds, params, may }) {
        requireWholeWorkspace(formIds);
        return find({ workspaceId, may }, params.id);
      },
    }),

    changeMember: operation({
      summary: 'Change member',
      description:
        'Gives a member another role. The keys that they made may no more than they do from then on. Owners are the matter of owners alone, and of no key. 409: the last owner stays one.',
      permission: 'members:write',
      params: idParameter,
      body: RoleChange,
      example: { body: { role: 'editor' } },
      errors: ['conflict'],
      isConditional: true,
      reply: { status: 200, description: 'The member as they are now.', schema: Member },
      async run({ workspaceId, formIds, params, body: { role }, unchanged, may }) {
        requireWholeWorkspace(formIds);
        const change = { workspaceId, userId: params.id, keeper: { may }, unchanged };
        if (role !== undefined) await changeRole(database, { ...change, role });
        return find({ workspaceId, may }, params.id);
      },
    }),

    removeMember: operation({
      summary: 'Remove member',
      description:
        'The account stays. The keys that they made are revoked, unless `keys` is `keep`: they were shown the secrets. 409: the last owner stays.',
      permission: 'members:write',
      params: idParameter,
      query: Removal,
      errors: ['conflict'],
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'They are no member any more.' },
      async run({ workspaceId, formIds, params, query, unchanged, may }) {
        requireWholeWorkspace(formIds);
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
