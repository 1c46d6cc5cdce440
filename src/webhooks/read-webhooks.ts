import type { Condition } from '#ast/basics/condition.ts';
import { leastIdAt, now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import type { RequestScope } from '#kit/operation.ts';
import { finishPage, mostPerPage, type PageRequest, upperIdBound } from '#kit/pagination.ts';
import {
  columns,
  json,
  nullable,
  type Queryable,
  requireRow,
  statement,
  textEnum,
  uuids,
} from '#kit/statement.ts';
import { type Plan, plans, requireFormAccess } from '#workspaces/authenticate.ts';
import type { EventKind } from './event.ts';
import type { WebhookFormat } from './format-body.ts';
import { eventKindsColumn, hasLiveFormSql, type pausers } from './record-event.ts';
import type { DeliveryStatus } from './retry-delivery.ts';
import type { Webhook } from './shapes.ts';
import { templateColumn } from './template.ts';

/** Finds the form, URL and events of a webhook whose form is not deleted. */
const findWebhookForm = statement('workspace_id id', ['form_id? url', { events: eventKindsColumn }])`
  select form_id, url, events from webhooks
   where workspace_id = $workspace_id and id = $id and ${hasLiveFormSql}`;

/** A webhook that a request names, with its form, URL and events. */
type WebhookLocation = {
  workspaceId: string;
  /** Null for a webhook of the workspace. */
  formId: string | null;
  webhookId: string;
  url: string;
  events: readonly EventKind[];
};

/**
 * Finds the webhook that a request names, if its form exists and the caller can use it.
 * @throws ApiError not_found, also for a webhook of the workspace if the key is limited to certain forms.
 */
export async function requireWebhook(
  db: Queryable,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  webhookId: string,
): Promise<WebhookLocation> {
  const { form_id, ...found } = requireRow(
    await findWebhookForm(db, { workspace_id: workspaceId, id: webhookId }),
  );
  if (form_id !== null) requireFormAccess(formIds, form_id);
  else if (formIds !== null) throw new ApiError('not_found');
  return { workspaceId, formId: form_id, webhookId, ...found };
}

type PausedBy = (typeof pausers)[number];

/** Finds the plan of a workspace. Returns no row if the form is given and does not exist. */
const findPlan = statement('workspace_id form_id?', { plan: textEnum<Plan>() })`
  select plan from workspaces
   where id = $workspace_id
     and ($form_id is null or exists (
       select from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null))`;

const webhookFilter = columns('workspace_id id?', {
  /** The forms that the caller can access; null for all, with the webhooks of the workspace. */
  form_ids: nullable(uuids),
});

const isListedSql = `webhooks.workspace_id = $workspace_id and ($id is null or webhooks.id = $id)
     and ($form_ids is null or webhooks.form_id = any($form_ids)) and ${hasLiveFormSql}`;

const countListed = statement(webhookFilter, 'count')`
  select count(*) as count from webhooks where ${isListedSql}`;

/**
 * Lists webhooks with their health, newest first. `since` is the smallest id of the deliveries to count: ids
 * begin with their time, so the index of the log finds the last day.
 */
const selectWebhookHealth = statement(
  ['below_id limit offset since:uuid', webhookFilter],
  [
    'id form_id? form_name? url active has_secret:boolean previous_secret_until:timestamp? header_names',
    'pauses_on_failure failing_since:timestamp? paused_at:timestamp? created_at updated_at',
    'last_at:timestamp? success failed retrying',
    {
      events: eventKindsColumn,
      filter: nullable(json<Condition>()),
      format: textEnum<WebhookFormat>(),
      template: nullable(templateColumn),
      paused_by: nullable(textEnum<PausedBy>()),
      last_status: nullable(textEnum<DeliveryStatus>()),
    },
  ],
)`
  select w.id, w.form_id, f.name as form_name, w.url, w.events, w.active, w.secret is not null as has_secret,
         case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
         w.header_names, w.filter, w.format, w.template, w.pauses_on_failure, w.failing_since, w.paused_at, w.paused_by,
         w.created_at, w.updated_at,
         last.status as last_status, last.created_at as last_at, day.success, day.failed, day.retrying
    from (select * from webhooks where ${isListedSql} and webhooks.id < $below_id
           order by webhooks.id desc limit $limit offset $offset) w
    left join forms f on f.workspace_id = w.workspace_id and f.id = w.form_id
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
   order by w.id desc`;

const dayMs = 24 * 60 * 60 * 1_000;

type WebhooksToRead = {
  workspaceId: string;
  /** Only webhooks of this form. */
  formId?: string | null;
  /** Only webhooks of these forms; null for all webhooks. */
  formIds?: readonly string[] | null;
  webhookId?: string;
};

const wholeList = { limit: mostPerPage, offset: 0, after: null };

/**
 * Returns webhooks with their health, newest first, and whether the plan allows secrets.
 * @throws ApiError not_found if the form does not exist.
 */
export async function readWebhooks(
  db: Queryable,
  { workspaceId, formId = null, formIds = null, webhookId }: WebhooksToRead,
  page: Pick<PageRequest, 'limit' | 'offset' | 'after'> = wholeList,
): Promise<{ webhooks: Webhook[]; secretsAllowed: boolean }> {
  const found = requireRow(await findPlan(db, { workspace_id: workspaceId, form_id: formId }));
  const rows = await selectWebhookHealth(db, {
    workspace_id: workspaceId,
    id: webhookId ?? null,
    form_ids: formId === null ? formIds && [...formIds] : [formId],
    below_id: upperIdBound(page),
    limit: page.limit,
    offset: page.offset,
    since: leastIdAt(new Date(now().getTime() - dayMs)),
  });
  const webhooks = rows.map(
    ({ last_status, last_at, success, failed, retrying, filter, template, ...webhook }): Webhook => ({
      ...asWireValue(webhook),
      filter,
      template,
      last_delivery: asWireValue(last_status && last_at && { status: last_status, created_at: last_at }),
      day: { success, failed, retrying },
    }),
  );
  return { webhooks, secretsAllowed: plans[found.plan].signedWebhooks };
}

/** Returns a page of all webhooks that the caller can access, of forms and of the workspace. */
export async function listWorkspaceWebhooks(
  db: Queryable,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  page: PageRequest,
) {
  const filter = { workspace_id: workspaceId, id: null, form_ids: formIds && [...formIds] };
  const [{ webhooks, secretsAllowed }, total] = await Promise.all([
    readWebhooks(db, { workspaceId, formIds }, page),
    page.total ?? countListed(db, filter).then(([found]) => found!.count),
  ]);
  const { rows, ends } = finishPage(page, webhooks, total);
  return { data: [...rows], secretsAllowed, ends };
}
