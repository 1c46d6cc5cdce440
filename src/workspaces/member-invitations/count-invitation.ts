import { createHash } from 'node:crypto';
import { countUpTo } from '../limit.ts';
import type { RequestCounter } from '../request-counter.ts';

const hour = 3_600;

/**
 * Counts an invitation before it is written, so that nobody fills inboxes by inviting, and nobody finds out much by it:
 * for the member who invites, the workspace, and the address, whoever invites it.
 * @throws ApiError rate_limit_exceeded with the wait and its reason.
 */
export async function countInvitation(
  counter: RequestCounter,
  { inviterId, workspaceId, email }: { inviterId: string; workspaceId: string; email: string },
): Promise<void> {
  const address = createHash('sha256').update(email).digest('base64url');
  const limits = [
    [`invitations by ${inviterId}`, 20, hour, 'You have invited 20 people within an hour.'],
    [`invitations to ${workspaceId}`, 50, hour, 'This workspace has invited 50 people within an hour.'],
    [`invitations of ${address}`, 5, 24 * hour, 'This address was invited five times within a day.'],
  ] as const;
  for (const [key, most, seconds, why] of limits) await countUpTo(counter, key, most, { seconds, why });
}
