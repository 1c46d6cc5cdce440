import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox/queries.ts';
import { hashOfToken } from '#submissions/links/token.ts';
import { findByHash } from '../admission/queries.ts';
import { unsubscribeAddress } from './queries.ts';

/** Whether the token of an unsubscribe link is one. @throws ApiError not_found. */
export async function findUnsubscriber(
  database: Database,
  { formId, token }: { formId: string; token: string },
): Promise<{ workspaceId: string; addressKey: string }> {
  const [found] = await findByHash(database, { form_id: formId, hash: hashOfToken(token), now: now() });
  if (!found) throw new ApiError('not_found', 'This link leads nowhere.');
  return { workspaceId: found.workspace_id, addressKey: found.address_key };
}

/**
 * The person behind a link gets no more invitations and reminders of the workspace, also such as wait to leave. The
 * link itself still opens the form. Doing it again changes nothing.
 * @throws ApiError not_found.
 */
export async function unsubscribe(
  database: Database,
  link: { formId: string; token: string },
): Promise<void> {
  const { workspaceId, addressKey } = await findUnsubscriber(database, link);
  await transaction(database, async (client) => {
    const mails = await unsubscribeAddress(client, {
      workspace_id: workspaceId,
      address_key: addressKey,
      now: now(),
    });
    const ids = mails.flatMap(({ mail_id }) => (mail_id === null ? [] : [mail_id]));
    await cancelMails(client, { workspace_id: workspaceId, ids });
  });
}
