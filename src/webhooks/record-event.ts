import { setImmediate } from 'node:timers/promises';
import { type Condition, evaluateCondition } from '#ast/basics/condition.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { WorkBudget } from '#ast/basics/work.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { inputRules, isInputType, takesFiles } from '#ast/form/input-rules.ts';
import {
  type ComparedValue,
  testComparison,
  testRowComparison,
  toComparedValue,
} from '#ast/logic/compare.ts';
import { todayIn } from '#ast/rules/today.ts';
import { isFeedOnSql } from '#forms/live-form.ts';
import { newId, now } from '#kit/clock.ts';
import { currentTrace } from '#kit/log.ts';
import { maximumId, minimumId } from '#kit/pagination.ts';
import { insertJobsSql } from '#kit/queue.ts';
import {
  json,
  nullable,
  type Queryable,
  type StatementColumn,
  statement,
  text,
  textEnum,
  texts,
} from '#kit/statement.ts';
import type { Plan } from '#workspaces/authenticate.ts';
import { deliverJobKind, laneOf, type Trigger } from './delivery-job.ts';
import type { EventKind, Snapshot } from './event.ts';
import type { WebhookFormat } from './format-body.ts';
import { templateColumn } from './template.ts';

/** What a filter reads: the submission in the event, and the fields of the version that was answered. */
type Filtered = { snapshot: Snapshot; fields: Readonly<Record<string, Pick<FieldDescription, 'type'>>> };

/**
 * The context of an event for its filters: the remaining work, and the values that earlier filters have read.
 */
type FilterContext = {
  /** Today's date in the form's time zone, YYYY-MM-DD. */
  readonly today: string;
  readonly work: WorkBudget;
  /** Values by the name in a comparison: the id of an element, or `?` and the name of a reference value. */
  readonly given: Map<string, ComparedValue>;
};

/**
 * Returns whether an event meets a webhook's filter (docs/decisions/0025). Questions that are not in the
 * version that was answered count as unanswered. @throws TooMuchWork
 */
export function meetsFilter(
  filter: Condition,
  { snapshot, fields }: Filtered,
  context: FilterContext,
): boolean {
  const { responses, file_uploads: uploads, reference_data: reference } = snapshot.submission;
  const recall = (name: string, find: () => unknown): ComparedValue => {
    const given = context.given.get(name) ?? toComparedValue(find());
    context.given.set(name, given);
    return given;
  };
  return evaluateCondition(filter, (comparison) => {
    if ('reference' in comparison) {
      const name = comparison.reference;
      return testComparison(
        comparison,
        recall(`?${name}`, () => getProperty(reference, name)),
        undefined,
        context,
      );
    }
    const { element, other } = comparison;
    const type = getProperty(fields, element)?.type;
    // Files in rows belong to those rows, but a filter compares answers outside rows. A group has a list of
    // rows, and a filter only checks whether the group is answered.
    const input = type !== undefined && isInputType(type) ? inputRules[type] : undefined;
    if (takesFiles(type)) {
      const files = recall(element, () =>
        getProperty(uploads, element)?.filter(({ row }) => row === undefined),
      );
      return testComparison(comparison, files, input, context);
    }
    const answerTo = (id: string) => recall(id, () => getProperty(fields, id) && getProperty(responses, id));
    const compared = other === undefined ? undefined : answerTo(other);
    return testRowComparison(comparison, answerTo(element), input, context, compared);
  });
}

/** What paused a webhook. */
export const pausers = ['person', 'failure'] as const;

export const eventKindsColumn: StatementColumn<EventKind[]> = { pg: texts.pg };

export const conditionColumn = json<Condition>();

const booleans: StatementColumn<boolean[]> = { pg: 'boolean[]' };

const timestamps: StatementColumn<Date[]> = { pg: 'timestamp with time zone[]' };

/** SQL condition on `webhooks`: the webhook belongs to the workspace, or its form is not deleted. */
export const hasLiveFormSql = `not exists (
     select from forms where forms.workspace_id = webhooks.workspace_id and forms.id = webhooks.form_id
        and forms.deleted_at is not null)`;

/**
 * SQL condition: the id of a form is the webhook's form, or any id for a webhook of the workspace. A range, so that
 * an index finds the one form.
 */
export const isFormOfSql = (formId: string, webhook: string): string =>
  `${formId} between coalesce(${webhook}.form_id, '${minimumId}') and coalesce(${webhook}.form_id, '${maximumId}')`;

/** Locks a webhook whose form is not deleted, and returns the plan of its workspace. */
export const lockWebhook = statement('workspace_id id', [
  'form_id? url headers? header_names active updated_at',
  { plan: textEnum<Plan>(), format: textEnum<WebhookFormat>(), template: nullable(templateColumn) },
])`
  select webhooks.form_id, workspaces.plan, webhooks.url, webhooks.headers, webhooks.header_names, webhooks.active,
         webhooks.format, webhooks.template, webhooks.updated_at
    from webhooks
    join workspaces on workspaces.id = webhooks.workspace_id
   where webhooks.workspace_id = $workspace_id and webhooks.id = $id and ${hasLiveFormSql}
     for no key update of webhooks`;

/**
 * Finds the webhooks of a form and of its workspace that may receive an event, oldest first. For a webhook that was paused after
 * failures, events are recorded for a replay. The webhooks are locked until the transaction ends, so that
 * none is deleted before its deliveries are inserted. A row without an id is the workspace's event feed,
 * which receives all events. The time zone is read only if a webhook has a filter.
 */
const selectActiveWebhooks = statement('workspace_id form_id', [
  'id? active time_zone?',
  { events: eventKindsColumn, filter: nullable(conditionColumn) },
])`
  with listener as (
    select id, events, active, filter,
           case when filter is not null then (
             select settings ->> 'time_zone' from forms where workspace_id = $workspace_id and id = $form_id)
           end as time_zone
      from webhooks
     where workspace_id = $workspace_id and (form_id = $form_id or form_id is null)
       and (active or paused_by = 'failure')
       for key share
  )
  select id, events, active, filter, time_zone from listener
  union all
  select null, '{}', true, null, null from feeds where feeds.workspace_id = $workspace_id and ${isFeedOnSql}
   order by id`;

/**
 * Inserts events with their deliveries and the jobs that send them, in one round trip. The arrays of each
 * group correspond by index. A delivery refers to its event by an id in `event_ids`.
 */
export const insertEvents = statement(
  [
    'workspace_id form_id event_ids:uuids submission_ids delivery_ids:uuids',
    'delivery_events:uuids webhook_ids:uuids lanes',
    {
      kinds: eventKindsColumn,
      occurred_ats: timestamps,
      snapshots: texts,
      delivery_kinds: eventKindsColumn,
      /** Whether the delivery is sent, or only recorded as Failed. */
      are_sent: booleans,
      trigger: textEnum<Trigger>(),
      /** The trace that their jobs belong to (`currentTrace` in kit/log.ts). */
      traceparent: nullable(text),
      /** The URL of a test, if it differs from the webhook's. */
      test_url: nullable(text),
    },
  ],
  '',
)`
  with event as (
    insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot, is_test)
    select $workspace_id, id, $form_id, submission_id, kind, occurred_at, snapshot::json, $trigger = 'test'
      from unnest($event_ids, $submission_ids, $kinds, $occurred_ats, $snapshots)
        as event (id, submission_id, kind, occurred_at, snapshot)
  ),
  queued as materialized (
    select queued.*, now() as at from unnest($delivery_ids, $delivery_events, $delivery_kinds, $webhook_ids, $lanes, $are_sent)
      as queued (id, event_id, kind, webhook_id, lane, is_sent)
  ),
  delivery as (
    insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, is_test, test_url,
                            next_attempt_at, created_at)
    select $workspace_id, id, $form_id, webhook_id, event_id, kind, case when is_sent then 'Retrying' else 'Failed' end,
           $trigger = 'test', $test_url, case when is_sent then queued.at end, queued.at
      from queued
  ),
  job as materialized (
    select $workspace_id as workspace_id, id, '${deliverJobKind}' as kind, lane,
           jsonb_strip_nulls(jsonb_build_object('trigger', $trigger, 'traceparent', $traceparent)) as payload,
           queued.at as run_at, queued.at
      from queued
     where is_sent
  ),
  put as (${insertJobsSql('job')})
  select`;

/** A creation, update or deletion of a submission. */
export type SubmissionEvent = {
  submissionId: string;
  kind: EventKind;
  occurredAt: Date;
  snapshot: Snapshot;
  /** Recorded and sent in place of the snapshot. Filters still compare the snapshot. */
  published?: Snapshot;
  /** The fields of the version that was answered, which filters compare. */
  fields: Filtered['fields'];
};

/**
 * Records an event for each active webhook that receives its kind and whose filter it meets, and for the
 * event feed if it is on. It runs in the caller's transaction, so that the event and its cause commit
 * together. It takes one round trip if nothing receives the event, and two otherwise. If a webhook was paused
 * after days of failures, the delivery is recorded as Failed, so that it can be replayed. The first delivery
 * of an event has the event's id, which the feed uses too.
 * @returns the number of deliveries to send and of events for the feed. If it is not 0, wake the queue after
 * the commit: its announcement also wakes readers of the feed.
 */
export const recordEvent = (
  db: Queryable,
  { workspaceId, formId, ...event }: SubmissionEvent & { workspaceId: string; formId: string },
): Promise<number> => recordEvents(db, workspaceId, formId, [event]);

type Webhook = Awaited<ReturnType<typeof selectActiveWebhooks>>[number] & { id: string };

/** Records many events of one form, with as many round trips as recordEvent. */
export async function recordEvents(
  db: Queryable,
  workspaceId: string,
  formId: string,
  events: readonly SubmissionEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const listeners = await selectActiveWebhooks(db, { workspace_id: workspaceId, form_id: formId });
  const webhooks = listeners.filter(({ id }) => id !== null) as Webhook[];
  const isFed = listeners.length > webhooks.length;
  const receivers = await findReceivingWebhooks(webhooks, events);
  const received = events
    .map((event, index) => ({ ...event, id: newId(), receivers: receivers[index]! }))
    .filter((event) => isFed || event.receivers.length > 0);
  if (received.length === 0) return 0;

  const deliveries = received.flatMap((event) =>
    event.receivers.map((webhook, index) => ({
      id: index === 0 ? event.id : newId(),
      event,
      webhookId: webhook.id,
      isSent: webhook.active,
    })),
  );
  await insertEvents(db, {
    workspace_id: workspaceId,
    form_id: formId,
    event_ids: received.map(({ id }) => id),
    submission_ids: received.map(({ submissionId }) => submissionId),
    kinds: received.map(({ kind }) => kind),
    occurred_ats: received.map(({ occurredAt }) => occurredAt),
    snapshots: received.map(({ snapshot, published = snapshot }) => JSON.stringify(published)),
    delivery_ids: deliveries.map(({ id }) => id),
    delivery_events: deliveries.map(({ event }) => event.id),
    delivery_kinds: deliveries.map(({ event }) => event.kind),
    webhook_ids: deliveries.map(({ webhookId }) => webhookId),
    lanes: deliveries.map(({ webhookId }) => laneOf(webhookId)),
    are_sent: deliveries.map(({ isSent }) => isSent),
    trigger: 'schedule',
    traceparent: currentTrace() ?? null,
    test_url: null,
  });
  return deliveries.filter(({ isSent }) => isSent).length + (isFed ? received.length : 0);
}

/** The work that is done before other requests are served, in steps (work.ts): about 10 ms. */
const stepsBeforeYield = 1_000_000;

/**
 * Returns the webhooks that receive each event. A filter makes at most 100 comparisons, but there may be 20
 * webhooks and many events. A submission is never rejected because of this work.
 */
async function findReceivingWebhooks(
  webhooks: readonly Webhook[],
  events: readonly SubmissionEvent[],
): Promise<Webhook[][]> {
  const work: WorkBudget = { left: Number.MAX_SAFE_INTEGER, kept: new Set() };
  let turnEnds = work.left - stepsBeforeYield;
  const receivers: Webhook[][] = [];
  for (const event of events) {
    const given = new Map<string, ComparedValue>();
    const receiving: Webhook[] = [];
    for (const webhook of webhooks) {
      if (receivesEvent(webhook, event, given, work)) receiving.push(webhook);
      if (work.left > turnEnds) continue;
      await setImmediate();
      turnEnds = work.left - stepsBeforeYield;
    }
    receivers.push(receiving);
  }
  return receivers;
}

function receivesEvent(
  { events, filter, time_zone }: Webhook,
  event: SubmissionEvent,
  given: Map<string, ComparedValue>,
  work: WorkBudget,
): boolean {
  if (!events.includes(event.kind)) return false;
  if (filter === null) return true;
  return meetsFilter(filter, event, { today: todayIn(time_zone ?? 'UTC', now()), work, given });
}
