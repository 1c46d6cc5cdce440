import { leastIdAt, now } from '#kit/clock.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import { type Plan, plans } from '#workspaces/plans.ts';
import { findFormPlan, selectWebhookHealth } from './queries.ts';
import type { Webhook } from '../shapes.ts';

const dayMs = 24 * 60 * 60 * 1_000;

type FormPlace = { workspaceId: string; formId: string };

/**
 * The webhooks of a form with their health, newest first, and whether the plan lets them be signed.
 * @throws ApiError not_found.
 */
export async function readWebhooks(
  db: Queryable,
  { workspaceId, formId, webhookId }: FormPlace & { webhookId?: string },
): Promise<{ webhooks: Webhook[]; secretsAllowed: boolean }> {
  const form = { workspace_id: workspaceId, form_id: formId };
  const found = requireRow(await findFormPlan(db, form));
  const since = leastIdAt(new Date(now().getTime() - dayMs));
  const rows = await selectWebhookHealth(db, { ...form, id: webhookId ?? null, since });
  const webhooks = rows.map(
    ({ last_status, last_at, success, failed, retrying, created_at, updated_at, ...webhook }) => ({
      ...webhook,
      previous_secret_until: webhook.previous_secret_until?.toISOString() ?? null,
      failing_since: webhook.failing_since?.toISOString() ?? null,
      paused_at: webhook.paused_at?.toISOString() ?? null,
      created_at: created_at.toISOString(),
      updated_at: updated_at.toISOString(),
      last_delivery: last_status && last_at && { status: last_status, created_at: last_at.toISOString() },
      day: { success, failed, retrying },
    }),
  );
  return { webhooks, secretsAllowed: mayHaveSecrets(found.plan) };
}

const mayHaveSecrets = (plan: Plan): boolean => plans[plan].signedWebhooks;
