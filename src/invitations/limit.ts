import { sayNumber } from '#ast/say-number.ts';
import { now } from '#kit/clock.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import type { InvitingContext } from './context.ts';
import { countInvited, lockInviting } from './queries.ts';

const dayMs = 86_400_000;

/**
 * Holds what was invited within a day, the batch that the caller's transaction has just begun included, against the limits
 * of whoever invites and of the workspace. Those who invite at once take turns until the transaction ends.
 * @throws ApiError rate_limit_exceeded with the wait until the oldest batch counts no more.
 */
export async function requireInvitable(
  db: Queryable,
  { config: { limits } }: Pick<InvitingContext, 'config'>,
  { workspaceId, createdBy }: { workspaceId: string; createdBy: string | null },
): Promise<void> {
  await lockInviting(db, { workspace_id: workspaceId });
  const since = new Date(now().getTime() - dayMs);
  const day = { workspace_id: workspaceId, created_by: createdBy, since };
  const { by_person, by_workspace, oldest } = only(await countInvited(db, day))!;
  const isOver = (count: number, most: number): boolean => most > 0 && count > most;
  const wait = Math.max(1, Math.ceil((oldest.getTime() - since.getTime()) / 1_000));
  const say = (most: number): string => `${sayNumber(most)} people to forms within a day`;
  if (isOver(by_person, limits.invitationsPerPerson))
    throw rateLimitExceeded(wait, `You may invite ${say(limits.invitationsPerPerson)}.`);
  if (isOver(by_workspace, limits.invitationsPerWorkspace))
    throw rateLimitExceeded(wait, `A workspace may invite ${say(limits.invitationsPerWorkspace)}.`);
}
