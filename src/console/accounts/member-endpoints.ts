import { Type } from 'typebox';
import { addPerson, changeRole, removeMember } from '#workspaces/members.ts';
import { selectMembers } from '#workspaces/members/queries.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { type AddedMember, NewMember, RoleChange } from './shapes.ts';

const member = Type.Object({ member: Type.String({ format: 'uuid' }) });

/** The people of a workspace. */
export function memberRoutes({ database }: ConsoleServices): readonly ConsoleRoute[] {
  const list = consoleEndpoint({
    role: 'viewer',
    run: async ({ workspaceId }) => ({
      status: 200,
      body: { data: await selectMembers(database, { workspace_id: workspaceId }) },
    }),
  });

  const add = consoleEndpoint({
    role: 'admin',
    body: NewMember,
    async run({ workspaceId, role: actorRole, body }) {
      const added = await addPerson(database, { workspaceId, actorRole, ...body });
      const reply: AddedMember = { id: added.id, temporary_password: added.temporaryPassword ?? null };
      return { status: 201, body: reply };
    },
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
    async run({ workspaceId, role: actorRole, params }) {
      await removeMember(database, { workspaceId, actorRole, userId: params.member });
      return { status: 204 };
    },
  });

  return [
    ['GET', '/workspaces/:workspace/members', list],
    ['POST', '/workspaces/:workspace/members', add],
    ['PATCH', '/workspaces/:workspace/members/:member', change],
    ['DELETE', '/workspaces/:workspace/members/:member', remove],
  ];
}
