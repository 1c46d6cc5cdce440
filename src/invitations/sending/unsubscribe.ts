import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox/queries.ts';
import { only } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { isUnsubscribeLink, readUnsubscribeToken } from '../token.ts';
import { findAddressee, unsubscribeAddress } from './queries.ts';

type Context = { database: Database; vault: Vault };

/** Finds who unsubscribes by a link. @throws ApiError not_found. */
export async function findUnsubscriber(
  { database, vault }: Context,
  { formId, token }: { formId: string; token: string },
): Promise<{ workspaceId: string; addressKey: string }> {
  const read = readUnsubscribeToken(token);
  const found = read && only(await findAddressee(database, { form_id: formId, id: read.id }));
  if (
    !found ||
    !isUnsubscribeLink(vault, read.signature, { workspaceId: found.workspace_id, formId, id: read.id })
  )
    throw new ApiError('not_found', 'This link leads nowhere.');
  return { workspaceId: found.workspace_id, addressKey: found.address_key };
}

/**
 * The person behind a link gets no more invitations and reminders of the workspace, also such as wait to leave. The
 * link itself still opens the form. Doing it again changes nothing.
 * @throws ApiError not_found.
 */
export async function unsubscribe(context: Context, link: { formId: string; token: string }): Promise<void> {
  const { workspaceId, addressKey } = await findUnsubscriber(context, link);
  await transaction(context.database, async (client) => {
    const mails = await unsubscribeAddress(client, {
      workspace_id: workspaceId,
      address_key: addressKey,
      now: now(),
    });
    const ids = mails.flatMap(({ mail_id }) => (mail_id === null ? [] : [mail_id]));
    await cancelMails(client, { workspace_id: workspaceId, ids });
  });
}
