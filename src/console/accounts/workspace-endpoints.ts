import { Type } from 'typebox';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { addMember, leaveWorkspace } from '#workspaces/members.ts';
import { createWorkspace, mayCreateWorkspace } from '#workspaces/workspaces.ts';
import { type ConsoleRoute, personEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { WorkspaceName } from './shapes.ts';

/** What is everyone's own matter: to make a workspace, and to leave one. */
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

  const leave = personEndpoint({
    params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
    async run({ user, params }) {
      await leaveWorkspace(database, { workspaceId: params.id, userId: user.id });
      return { status: 204 };
    },
  });

  return [
    ['POST', '/workspaces', create],
    ['DELETE', '/memberships/:id', leave],
  ];
}
