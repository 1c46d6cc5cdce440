import { now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import { eventKinds } from './event.ts';
import { lockWebhook, updateWebhook } from './queries.ts';
import { eventProblems, planProblems, refuse, secretProblems, urlProblems } from './webhook-problems.ts';
import { type CreateWebhookContext, makeSecret } from './webhooks.ts';

/** What is to be different; what is left out stays as it is. */
export type WebhookChange = {
  workspaceId: string;
  webhookId: string;
  url?: string | undefined;
  events?: readonly string[] | undefined;
  /** false pauses: what happens meanwhile is not sent, not even later. */
  active?: boolean | undefined;
  /** A text of 16 to 256 characters, `generate` for one that is made here, null for none from now on. */
  secret?: string | null | undefined;
};

/**
 * Changes a webhook under the rules by which it was created. What waits to be sent goes to the new address, signed
 * with the new secret.
 * @returns the secret when a new one was set: that is shown only here.
 * @throws ApiError validation_error with every problem; not_found.
 */
export async function changeWebhook(
  context: CreateWebhookContext,
  change: WebhookChange,
): Promise<{ secret?: string }> {
  const { workspaceId, webhookId, url, events, active } = change;
  refuse([
    ...(url === undefined ? [] : await urlProblems(context.config, url)),
    ...(events === undefined ? [] : eventProblems(events)),
    ...(typeof change.secret === 'string' ? secretProblems(change.secret) : []),
  ]);
  const secret = change.secret === 'generate' ? makeSecret() : change.secret;
  await transaction(context.database, async (client) => {
    const found = only(await lockWebhook(client, { workspace_id: workspaceId, id: webhookId }));
    if (!found) throw new ApiError('not_found');
    if (typeof secret === 'string') refuse(planProblems(found.plan));
    await updateWebhook(client, {
      workspace_id: workspaceId,
      id: webhookId,
      url: url ?? null,
      events: events ? eventKinds.filter((kind) => events.includes(kind)) : null,
      active: active ?? null,
      changes_secret: secret !== undefined,
      secret: typeof secret === 'string' ? context.vault.seal('webhook secrets', secret) : null,
      now: now(),
    });
  });
  return typeof secret === 'string' ? { secret } : {};
}
