import { leastIdAt, now } from '#kit/clock.ts';
import { json, nullable, type Queryable, requireRow, statement, word } from '#kit/statement.ts';
import { type Plan, plans } from '#workspaces/plans.ts';
import type { Webhook } from '../shapes.ts';
import type { Condition } from '#ast/logic/condition.ts';
import type { pausers } from '../record-event.ts';
import { kinds } from '../record-event.ts';
import type { DeliveryStatus } from '../retry-delivery.ts';

type PausedBy = (typeof pausers)[number];

/** The plan that a form's webhooks are under; none when there is no such form. */
const findFormPlan = statement(
  'webhooks.find_form_plan',
  'workspace_id form_id',
  { plan: word<Plan>() },
  `select w.plan from forms f join workspaces w on w.id = f.workspace_id
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`,
);

/**
 * The webhooks of a form (or the one of this id) with their health, newest first. `since` is the least id of a
 * delivery that counts: ids begin with their time, so the log's own index finds the last day.
 */
const selectWebhookHealth = statement(
  'webhooks.select_webhook_health',
  'workspace_id form_id id? since:uuid',
  [
    'id form_id url active has_secret:boolean previous_secret_until:timestamp? header_names',
    'pauses_on_failure failing_since:timestamp? paused_at:timestamp? created_at updated_at',
    'last_at:timestamp? success failed retrying',
    {
      events: kinds,
      filter: nullable(json<Condition>()),
      paused_by: nullable(word<PausedBy>()),
      last_status: nullable(word<DeliveryStatus>()),
    },
  ],
  `select w.id, w.form_id, w.url, w.events, w.active, w.secret is not null as has_secret,
          case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
          w.header_names, w.filter, w.pauses_on_failure, w.failing_since, w.paused_at, w.paused_by, w.created_at, w.updated_at,
          last.status as last_status, last.created_at as last_at, day.success, day.failed, day.retrying
     from webhooks w
     join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id and f.deleted_at is null
     left join lateral (
       select d.status, d.created_at from deliveries d
        where d.workspace_id = w.workspace_id and d.webhook_id = w.id and not d.is_test
        order by d.id desc limit 1) last on true
    cross join lateral (
       select count(*) filter (where d.status = 'Success') as success,
              count(*) filter (where d.status = 'Failed') as failed,
              count(*) filter (where d.status = 'Retrying') as retrying
         from deliveries d
        where d.workspace_id = w.workspace_id and d.webhook_id = w.id and not d.is_test and d.id >= $since) day
    where w.workspace_id = $workspace_id and w.form_id = $form_id and ($id is null or w.id = $id)
    order by w.id desc`,
);

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
