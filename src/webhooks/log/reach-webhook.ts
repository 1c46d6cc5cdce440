import type { Scope } from '#kit/operation.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import { requireReach } from '#workspaces/reach.ts';
import type { EventKind } from '../event.ts';
import { findWebhookPlace } from './queries.ts';

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
