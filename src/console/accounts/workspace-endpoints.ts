import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import { addMember, leaveWorkspace } from '#workspaces/members.ts';
import { findWorkspace, updateWorkspaceName } from '#workspaces/members/queries.ts';
import { plans, rateOf } from '#workspaces/plans.ts';
import { nameProblems, refuseProblems } from '#workspaces/problems.ts';
import type { Role } from '#workspaces/roles.ts';
import { createWorkspace, mayCreateWorkspace } from '#workspaces/workspaces.ts';
import { consoleEndpoint, type ConsoleRoute, personEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { type WorkspaceDetail, WorkspaceName } from './shapes.ts';

/** Workspaces themselves. */
export function workspaceRoutes({ database, config }: ConsoleServices): readonly ConsoleRoute[] {
  const create = personEndpoint({
    body: WorkspaceName,
    async run({ user, body }) {
      if (!(await mayCreateWorkspace(database, config.workspaceCreation, user.id)))
        throw new ApiError('forbidden', 'You may not make workspaces here. Ask whoever runs this server.');
      const made = await transaction(database, async (client) => {
        const workspace = await createWorkspace(client, { name: body.name.trim(), plan: 'free' });
        await addMember(client, { workspaceId: workspace.id, userId: user.id, role: 'owner' });
        return workspace;
      });
      return { status: 201, body: made };
    },
  });

  const read = consoleEndpoint({
    role: 'viewer',
    async run({ workspaceId, role }) {
      const row = only(await findWorkspace(database, { workspace_id: workspaceId }));
      if (!row) throw new ApiError('not_found');
      return { status: 200, body: presentWorkspace(row, role) };
    },
  });

  const rename = consoleEndpoint({
    role: 'admin',
    body: WorkspaceName,
    async run({ workspaceId, body }) {
      refuseProblems(nameProblems('name', body.name));
      const renamed = await updateWorkspaceName(database, {
        workspace_id: workspaceId,
        name: body.name.trim(),
      });
      if (renamed.length === 0) throw new ApiError('not_found');
      return { status: 204 };
    },
  });

  const leave = consoleEndpoint({
    role: 'viewer',
    async run({ workspaceId, user }) {
      await leaveWorkspace(database, { workspaceId, userId: user.id });
      return { status: 204 };
    },
  });

  return [
    ['POST', '/workspaces', create],
    ['GET', '/workspaces/:workspace', read],
    ['PATCH', '/workspaces/:workspace', rename],
    ['DELETE', '/workspaces/:workspace/membership', leave],
  ];
}

type Row = Awaited<ReturnType<typeof findWorkspace>>[number];

function presentWorkspace(row: Row, role: Role): WorkspaceDetail {
  const rate = rateOf(row.plan, { rateLimit: row.rate_limit, burst: row.burst });
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    requests_per_minute: rate.perMinute,
    burst: rate.burst,
    signed_webhooks: plans[row.plan].signedWebhooks,
    member_count: row.member_count,
    role,
    created_at: row.created_at.toISOString(),
  };
}
