import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { laneOfMail, type MailKind, mailPaces } from '#kit/outbox/kinds.ts';
import { findLoggedMail, requeueMail } from './queries.ts';

/**
 * Lets a failed mail of a workspace leave once more.
 * @throws ApiError not_found when it is not in the workspace's log, conflict when it has not failed or is about an invitation that
 *   was revoked, whose address wants no mails, or about which another mail was written since.
 */
export async function retryMail(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  const kinds = Object.keys(mailPaces) as MailKind[];
  const again = await requeueMail(database, {
    workspace_id: workspaceId,
    id,
    kinds,
    lanes: kinds.map(laneOfMail),
    invitation_kinds: ['invitation', 'reminder'] satisfies MailKind[],
  });
  if (again.length === 0 && (await findLoggedMail(database, { workspace_id: workspaceId, id })).length === 0)
    throw new ApiError('not_found');
  if (again.length === 0)
    throw new ApiError('conflict', 'Only a mail that failed, and that is still wanted, can be sent again.');
  wakeQueue();
}
