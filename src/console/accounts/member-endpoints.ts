import { Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { changeRole, removeMember } from '#workspaces/members.ts';
import { selectMembers } from '#workspaces/members/queries.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { Removal, RoleChange } from './shapes.ts';

const member = Type.Object({ member: Type.String({ format: 'uuid' }) });

/** The people of a workspace. */
export function memberRoutes({ database }: ConsoleServices): readonly ConsoleRoute[] {
  const list = consoleEndpoint({
    role: 'viewer',
    run: async ({ workspaceId }) => ({
      status: 200,
      body: { data: await selectMembers(database, { workspace_id: workspaceId, now: now() }) },
    }),
  });

  const change = consoleEndpoint({
    role: 'admin',
    params: member,
    body: RoleChange,
    async run({ workspaceId, role: actorRole, params, body }) {
      await changeRole(database, { workspaceId, actorRole, userId: params.member, role: body.role });
      return { status: 204 };
    },
  });

  const remove = consoleEndpoint({
    role: 'admin',
    params: member,
    query: Removal,
    async run({ workspaceId, role: actorRole, params, query }) {
      await removeMember(database, { workspaceId, actorRole, userId: params.member, ...query });
      return { status: 204 };
    },
  });

  return [
    ['GET', '/workspaces/:workspace/members', list],
    ['PATCH', '/workspaces/:workspace/members/:member', change],
    ['DELETE', '/workspaces/:workspace/members/:member', remove],
  ];
}
