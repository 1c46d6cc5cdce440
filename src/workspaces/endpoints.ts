import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { seenIn } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { operation, type Scope } from '#kit/operation.ts';
import { only } from '#kit/statement.ts';
import { tagOf } from '#kit/tag-of.ts';
import { personOf } from './actor.ts';
import { findWorkspace, updateWorkspaceName } from './members/queries.ts';
import { plans, rateOf } from './plans.ts';
import { nameProblems, refuseProblems } from './problems.ts';
import { requireWholeWorkspace } from './reach.ts';
import { closed, nameText, Workspace } from './shapes.ts';

/** The workspace that a request acts in. */
export function workspaceEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, actor }: Scope) => {
    const row = only(await findWorkspace(database, { workspace_id: workspaceId, user_id: personOf(actor) }));
    if (!row) throw new ApiError('not_found');
    const rate = rateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst });
    const body: Workspace = {
      id: row.id,
      name: row.name,
      plan: row.plan,
      requests_per_minute: rate.perMinute,
      burst: rate.burst,
      signed_webhooks: plans[row.plan].signedWebhooks,
      member_count: row.member_count,
      role: row.role,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    };
    return { body, tag: tagOf(row.updated_at, seenIn(body)) };
  };

  return {
    get: operation({
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

    change: operation({
      summary: 'Change workspace',
      description: 'Its name. The plan is the matter of whoever runs the service.',
      permission: 'workspace:write',
      body: Type.Object({ name: Type.Optional(nameText) }, closed),
      example: { body: { name: 'Acme' } },
      isConditional: true,
      reply: { status: 200, description: 'The workspace as it is now.', schema: Workspace },
      async run({ body: { name }, unchanged, ...scope }) {
        requireWholeWorkspace(scope.formIds);
        if (name !== undefined) {
          refuseProblems(nameProblems('name', name));
          const place = { workspace_id: scope.workspaceId, unchanged, now: now() };
          const renamed = await updateWorkspaceName(database, { ...place, name: name.trim() });
          if (renamed.length === 0) throw new ApiError(unchanged ? 'precondition_failed' : 'not_found');
        }
        return read(scope);
      },
    }),
  };
}
