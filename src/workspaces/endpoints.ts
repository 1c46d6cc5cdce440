import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { seenIn } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { operation, type Scope } from '#kit/operation.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { tagOf } from '#kit/tag-of.ts';
import type { PersonalPermission } from '#rules/permissions.ts';
import { personOf, plans, rateOf, requireWholeWorkspace } from './authenticate.ts';
import { findWorkspace } from './members.ts';
import { closed, nameText, Workspace } from './shapes.ts';
import { nameProblems, refuseProblems } from './users.ts';

/** What is null stays. */
const updateWorkspace = statement(
  'workspaces.update',
  'workspace_id name? second_factor_required? unchanged? now',
  'id',
  `update workspaces set name = coalesce($name, name),
                         second_factor_required = coalesce($second_factor_required, second_factor_required),
                         updated_at = $now
    where id = $workspace_id and ($unchanged is null or updated_at = any ($unchanged)) returning id`,
);

/** The workspace that a request acts in. */
export function workspaceEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, actor }: Scope) => {
    const row = requireRow(
      await findWorkspace(database, { workspace_id: workspaceId, user_id: personOf(actor) }),
    );
    const rate = rateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst });
    const body: Workspace = {
      id: row.id,
      name: row.name,
      plan: row.plan,
      requests_per_minute: rate.perMinute,
      burst: rate.burst,
      signed_webhooks: plans[row.plan].signedWebhooks,
      member_count: row.member_count,
      second_factor_required: row.second_factor_required,
      role: row.role,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    };
    return { body, tag: tagOf(row.updated_at, seenIn(body)) };
  };

  return {
    getWorkspace: operation({
      summary: 'Get workspace',
      description:
        'The workspace of the key, or the one that `X-Workspace-ID` names, with what its plan gives.',
      permission: 'workspace:read',
      reply: { status: 200, description: 'The workspace.', schema: Workspace },
      async run(scope) {
        requireWholeWorkspace(scope.formIds);
        return read(scope);
      },
    }),

    changeWorkspace: operation({
      summary: 'Change workspace',
      description:
        'Its name, and whether it asks a second factor of its members, which is for owners alone to say, and for no key: whoever has none is asked to set one up at their next request. The plan is the matter of whoever runs the service.',
      permission: 'workspace:write',
      audit: { changes: 'getWorkspace' },
      body: Type.Object(
        { name: Type.Optional(nameText), second_factor_required: Type.Optional(Type.Boolean()) },
        closed,
      ),
      example: { body: { name: 'Acme' } },
      isConditional: true,
      reply: { status: 200, description: 'The workspace as it is now.', schema: Workspace },
      async run({ body: { name, second_factor_required }, unchanged, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        if (second_factor_required !== undefined && !scope.may('members:owners' satisfies PersonalPermission))
          throw new ApiError('forbidden', 'Only an owner says whether a second factor is asked for.');
        if (name !== undefined) refuseProblems(nameProblems('name', name));
        if (name !== undefined || second_factor_required !== undefined) {
          const changed = await updateWorkspace(database, {
            workspace_id: scope.workspaceId,
            name: name?.trim() ?? null,
            second_factor_required: second_factor_required ?? null,
            unchanged,
            now: now(),
          });
          if (changed.length === 0) throw new ApiError(unchanged ? 'precondition_failed' : 'not_found');
        }
        return read(scope);
      },
    }),
  };
}
