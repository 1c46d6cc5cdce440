import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox.ts';
import { only, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { isUnsubscribeLink, readUnsubscribeToken } from './admission.ts';
import { wishOf } from './links-file.ts';

/** Who was invited to this form by the invitation of an unsubscribe link; the workspace is found by the form. */
const findAddressee = statement(
  'invitations.find_addressee',
  'form_id id',
  'workspace_id address_key',
  `select i.workspace_id, i.address_key
     from form_lookup f
     join invitations i on i.workspace_id = f.workspace_id and i.id = $id and i.form_id = f.form_id
    where f.form_id = $form_id`,
);

/** An address wants no more mails of this workspace. @returns the mails to it that may not have left. */
const unsubscribeAddress = statement(
  'invitations.unsubscribe_address',
  'workspace_id address_key now',
  'mail_id?',
  `with unsubscribed as (
     insert into unsubscribed_addresses (workspace_id, address_key, created_at)
     values ($workspace_id, ${wishOf('$address_key')}, $now) on conflict do nothing)
   select i.mail_id from invitations i
    where i.workspace_id = $workspace_id and i.address_key = $address_key and i.mail_id is not null`,
);

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
