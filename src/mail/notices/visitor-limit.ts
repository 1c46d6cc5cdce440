import type { Queryable } from '#kit/statement.ts';
import { countMailsTo, lockRecipient, visitorKinds } from './queries.ts';

/** Mails of a workspace to one address that only a visitor entered, in a day. */
const mostADay = 5;
const secondsOfDay = 86_400;

/**
 * Whether an address that a visitor entered may be written to once more: a public form is not for filling somebody
 * else's inbox. Exact for mails that are told of at the same time, within the transaction that adds them.
 */
export async function maySendToVisitor(
  db: Queryable,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  await lockRecipient(db, { workspace_id: workspaceId, recipient: address });
  const [counted] = await countMailsTo(db, {
    workspace_id: workspaceId,
    recipient: address,
    kinds: [...visitorKinds],
    seconds: secondsOfDay,
  });
  return counted!.count < mostADay;
}
