import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { hashResponse } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { operation, type RequestScope } from '#kit/operation.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import type { PersonalPermission } from '#rules/permissions.ts';
import { nameProblems, throwProblems } from './accounts/users.ts';
import { personIdOf, plans, requestRateOf, requireWorkspaceAccess } from './authenticate.ts';
import { findWorkspace } from './members.ts';
import { nameText, Workspace } from './shapes.ts';

/** Updates a workspace; null values keep the current ones. */
const updateWorkspace = statement('workspace_id name? second_factor_required? unchanged? now', 'id')`
  update workspaces set name = coalesce($name, name),
                        second_factor_required = coalesce($second_factor_required, second_factor_required),
                        updated_at = $now
   where id = $workspace_id and ($unchanged is null or updated_at = any ($unchanged)) returning id`;

/** Operations on the workspace of the request. */
export function workspaceEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, actor }: RequestScope) => {
    const {
      rate_limit: rateLimit,
      burst,
      ...found
    } = requireRow(await findWorkspace(database, { workspace_id: workspaceId, user_id: personIdOf(actor) }));
    const rate = requestRateOf(found.plan, { rateLimit, burst });
    const body: Workspace = asWireValue({
      ...found,
      requests_per_minute: rate.perMinute,
      burst: rate.burst,
      signed_webhooks: plans[found.plan].signedWebhooks,
    });
    return { body, tag: formatEtag(found.updated_at, hashResponse(body)) };
  };

  return {
    getWorkspace: operation({
      summary: 'Get workspace',
      description:
        'Returns the workspace of the API key, or the one in `X-Workspace-ID`, with the limits of its plan.',
      permission: 'workspace:read',
      reply: { status: 200, description: 'The workspace.', schema: Workspace },
      async run(scope) {
        requireWorkspaceAccess(scope.formIds);
        return read(scope);
      },
    }),

    changeWorkspace: operation({
      summary: 'Change workspace',
      description:
        'Changes the name, and whether two-factor is required. Only a signed-in owner can change the latter, not an API key. Members without two-factor must set it up at their next request. Only the operator can change the plan.',
      permission: 'workspace:write',
      audit: { changes: 'getWorkspace' },
      body: strictObject({
        name: Type.Optional(nameText),
        second_factor_required: Type.Optional(Type.Boolean()),
      }),
      example: { body: { name: 'Acme' } },
      isConditional: true,
      reply: { status: 200, description: 'The changed workspace.', schema: Workspace },
      async run({ body: { name, second_factor_required }, unchanged, ...scope }) {
        requireWorkspaceAccess(scope.formIds);
        if (second_factor_required !== undefined && !scope.may('members:owners' satisfies PersonalPermission))
          throw new ApiError('forbidden', 'Only an owner can change whether two-factor is required.');
        if (name !== undefined) throwProblems(nameProblems('name', name));
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
