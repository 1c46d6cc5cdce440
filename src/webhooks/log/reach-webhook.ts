import type { Scope } from '#kit/operation.ts';
import { type Queryable, requireRow, statement } from '#kit/statement.ts';
import { requireReach } from '#workspaces/reach.ts';
import type { EventKind } from '../event.ts';
import { kinds } from '../record-event.ts';

/** Of which form a webhook is, when that is still there; where it leads, and of what it hears. */
const findWebhookPlace = statement(
  'webhooks.find_webhook_place',
  'workspace_id id',
  ['form_id url', { events: kinds }],
  `select w.form_id, w.url, w.events from webhooks w
     join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id and f.deleted_at is null
    where w.workspace_id = $workspace_id and w.id = $id`,
);

/** A webhook that somebody names: where it is and leads, and of what it hears. */
type WebhookPlace = {
  workspaceId: string;
  formId: string;
  webhookId: string;
  url: string;
  events: readonly EventKind[];
};

/**
 * Finds the webhook that a request names, of a form that is still there and within its reach.
 * @throws ApiError not_found.
 */
export async function reachWebhook(
  db: Queryable,
  { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
  webhookId: string,
): Promise<WebhookPlace> {
  const found = requireRow(await findWebhookPlace(db, { workspace_id: workspaceId, id: webhookId }));
  requireReach(formIds, found.form_id);
  return { workspaceId, formId: found.form_id, webhookId, url: found.url, events: found.events };
}
