import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { insertMember } from './queries.ts';
import type { Role } from './roles.ts';

/**
 * Lets a person into a workspace.
 * @throws ApiError conflict when there is no such workspace, or the person is a member already.
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
  if (added.length === 0) {
    throw new ApiError('conflict', 'There is no such workspace, or the person is a member of it already.');
  }
}
