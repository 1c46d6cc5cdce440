import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { cancelMails } from '#kit/outbox.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { readUnsubscribeToken, verifyUnsubscribeSignature } from './admission.ts';
import { unsubscribedHashSql } from './links-file.ts';

/** Finds the address behind an unsubscribe link of this form; the form's id identifies its workspace. */
const findAddressee = statement('form_id id', 'workspace_id address_key')`
  select i.workspace_id, i.address_key
    from form_lookup f
    join invitations i on i.workspace_id = f.workspace_id and i.id = $id and i.form_id = f.form_id
   where f.form_id = $form_id`;

/** Unsubscribes an address from the workspace's emails. @returns its emails, which may still be queued. */
const unsubscribeAddress = statement('workspace_id address_key now', 'mail_id?')`
  with unsubscribed as (
    insert into unsubscribed_addresses (workspace_id, address_key, created_at)
    values ($workspace_id, ${unsubscribedHashSql('$address_key')}, $now) on conflict do nothing)
  select i.mail_id from invitations i
   where i.workspace_id = $workspace_id and i.address_key = $address_key and i.mail_id is not null`;

type Context = { database: Database; vault: Vault };

/** Finds the address that an unsubscribe link belongs to. @throws ApiError not_found. */
export async function findUnsubscriber(
  { database, vault }: Context,
  { formId, token }: { formId: string; token: string },
): Promise<{ workspaceId: string; addressKey: string }> {
  const parsed = readUnsubscribeToken(token);
  const found = parsed && onlyRow(await findAddressee(database, { form_id: formId, id: parsed.id }));
  if (
    !found ||
    !verifyUnsubscribeSignature(vault, parsed.signature, {
      workspaceId: found.workspace_id,
      formId,
      id: parsed.id,
    })
  )
    throw new ApiError('not_found', 'This link is not valid.');
  return { workspaceId: found.workspace_id, addressKey: found.address_key };
}

/**
 * Stops invitations and reminders of the workspace to the person behind a link, including queued ones. The
 * invitation link still opens the form. Repeating it changes nothing.
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
