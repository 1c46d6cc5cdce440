import { cellForNew } from '#cells/choose-cell.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { noteInWorkspace, originOf } from '#workspaces/audit/note-person.ts';
import { addMember, leaveWorkspace } from '#workspaces/members.ts';
import { createWorkspace, mayCreateWorkspace } from '#workspaces/workspaces.ts';
import type { ConsoleServices } from '../services.ts';
import { MadeWorkspace, WorkspaceName } from './shapes.ts';

/** What is everyone's own matter: to make a workspace, and to leave one. */
export function ownWorkspaceEndpoints({ database, config }: Pick<ConsoleServices, 'database' | 'config'>) {
  return {
    createWorkspace: operation({
      summary: 'Make a workspace',
      caller: 'person',
      body: WorkspaceName,
      reply: { status: 201, description: 'Whoever made it owns it.', schema: MadeWorkspace },
      errors: ['forbidden'],
      async run({ person, visitor, body }) {
        if (!(await mayCreateWorkspace(database, config.workspaceCreation, person.id)))
          throw new ApiError('forbidden', 'You may not make workspaces here. Ask whoever runs this server.');
        const made = await transaction(await cellForNew(database), async (client) => {
          const workspace = await createWorkspace(client, {
            name: body.name.trim(),
            plan: config.defaultPlan,
          });
          await addMember(client, { workspaceId: workspace.id, userId: person.id, role: 'owner' });
          const by = { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) };
          await noteInWorkspace(client, { workspaceId: workspace.id, operation: 'createWorkspace', by });
          return workspace;
        });
        return { body: made };
      },
    }),

    leaveWorkspace: operation({
      summary: 'Leave a workspace',
      caller: 'person',
      params: idParameter,
      reply: { status: 204, description: 'One is no longer a member.' },
      errors: ['conflict'],
      async run({ person, visitor, params }) {
        await leaveWorkspace(database, { workspaceId: params.id, userId: person.id });
        await noteInWorkspace(database, {
          workspaceId: params.id,
          operation: 'leaveWorkspace',
          by: { userId: person.id, sessionId: person.sessionId, origin: originOf(visitor) },
          thingId: person.id,
        });
      },
    }),
  };
}
