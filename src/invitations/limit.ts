import { sayNumber } from '#ast/say-number.ts';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import { only, type Queryable } from '#kit/statement.ts';
import type { InvitingContext } from './context.ts';
import { countAccountEmails, countInvited, lockInviting } from './queries.ts';

const dayMs = 86_400_000;

/**
 * Checks the limits of a day before so many invitations or reminders are queued. Every one of them counts, reminders and
 * repeated mails too, by when it was queued or sent: what an invitation says of its past does not matter. Lines of an
 * import that have not become invitations yet count as well. Locks the workspace's counts until the transaction ends.
 * Mails that leave are checked once more (src/mail/sending/quota.ts).
 * @param accountId whose limit it is, in all workspaces; null for a key that the operator made.
 * @throws ApiError rate_limit_exceeded with the wait until the oldest of them counts no more.
 */
export async function throttleEmail(
  db: Queryable,
  { config: { limits } }: Pick<InvitingContext, 'config'>,
  { workspaceId, accountId }: { workspaceId: string; accountId: string | null },
  count: number,
): Promise<void> {
  await lockInviting(db, { workspace_id: workspaceId });
  const since = new Date(now().getTime() - dayMs);
  const ofWorkspace = only(
    await countInvited(db, { workspace_id: workspaceId, created_by: accountId, since }),
  )!;
  const elsewhere =
    accountId === null
      ? undefined
      : only(await countAccountEmails(db, { account_id: accountId, workspace_id: workspaceId, since }));
  const oldest = elsewhere && elsewhere.oldest < ofWorkspace.oldest ? elsewhere.oldest : ofWorkspace.oldest;
  const wait = Math.max(1, Math.ceil((oldest.getTime() - since.getTime()) / 1_000));
  const say = (most: number): string => `${sayNumber(most)} invitations and reminders a day`;
  const isOver = (counted: number, most: number): boolean => most > 0 && counted + count > most;
  if (elsewhere && isOver(ofWorkspace.by_person + elsewhere.count, limits.invitationsPerPerson))
    throw rateLimitExceeded(wait, `You may send ${say(limits.invitationsPerPerson)}.`);
  if (isOver(ofWorkspace.by_workspace, limits.invitationsPerWorkspace))
    throw rateLimitExceeded(wait, `A workspace may send ${say(limits.invitationsPerWorkspace)}.`);
}
