import { setImmediate } from 'node:timers/promises';
import type { Given } from '#ast/logic/compare.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Work } from '#ast/work.ts';
import { newId, now } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import { currentTrace } from '#kit/trace.ts';
import { laneOf } from './delivery-job.ts';
import type { EventKind, Snapshot } from './event.ts';
import { type Filtered, meetsFilter } from './meets-filter.ts';
import { insertEvents, selectListeners } from './queries.ts';

/** Something that happened to a submission. */
export type SubmissionEvent = {
  submissionId: string;
  kind: EventKind;
  occurredAt: Date;
  snapshot: Snapshot;
  /** What is recorded and sent in place of the snapshot, which filters still compare. */
  told?: Snapshot;
  /** Of the version that was answered: what filters compare. */
  fields: Filtered['fields'];
};

/**
 * Records an event for every active webhook of the form that asked for its kind and whose filter it meets, and for the
 * feed of the workspace when that is read, in the caller's transaction: the event and the change that it tells of
 * commit together, or not at all. One round trip when nobody listens, two otherwise. For a webhook that was paused
 * because it failed for days, the delivery is written down as Failed, so that it can be replayed. The first delivery of
 * an event has the event's id, by which the feed tells of it, too.
 * @returns how often it will be heard: deliveries to be sent, and events for the feed. When that is not 0, wake the
 * queue after the commit: its announcement also wakes whoever waits for the feed.
 */
export const recordEvent = (
  db: Queryable,
  { workspaceId, formId, ...event }: SubmissionEvent & { workspaceId: string; formId: string },
): Promise<number> => recordEvents(db, workspaceId, formId, [event]);

type Webhook = Awaited<ReturnType<typeof selectListeners>>[number] & { id: string };

/** recordEvent for many events of one form, in the same number of round trips. */
export async function recordEvents(
  db: Queryable,
  workspaceId: string,
  formId: string,
  events: readonly SubmissionEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const listeners = await selectListeners(db, { workspace_id: workspaceId, form_id: formId });
  const webhooks = listeners.filter(({ id }) => id !== null) as Webhook[];
  const isFed = listeners.length > webhooks.length;
  const hearers = await findHearers(webhooks, events);
  const heard = events
    .map((event, index) => ({ ...event, id: newId(), hearers: hearers[index]! }))
    .filter((event) => isFed || event.hearers.length > 0);
  if (heard.length === 0) return 0;

  const deliveries = heard.flatMap((event) =>
    event.hearers.map((webhook, index) => ({
      id: index === 0 ? event.id : newId(),
      event,
      webhookId: webhook.id,
      isSent: webhook.active,
    })),
  );
  await insertEvents(db, {
    workspace_id: workspaceId,
    form_id: formId,
    event_ids: heard.map(({ id }) => id),
    submission_ids: heard.map(({ submissionId }) => submissionId),
    kinds: heard.map(({ kind }) => kind),
    occurred_ats: heard.map(({ occurredAt }) => occurredAt),
    snapshots: heard.map(({ snapshot, told = snapshot }) => JSON.stringify(told)),
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
  return deliveries.filter(({ isSent }) => isSent).length + (isFed ? heard.length : 0);
}

/** So much work is done before others get their turn (work.ts): some 10 ms. */
const turnSteps = 1_000_000;

/**
 * The webhooks that hear of each event. A filter compares at most 100 times; there may be 20 of them, and many events.
 * What was submitted is never refused for that.
 */
async function findHearers(
  webhooks: readonly Webhook[],
  events: readonly SubmissionEvent[],
): Promise<Webhook[][]> {
  const work: Work = { left: Number.MAX_SAFE_INTEGER, kept: new Set() };
  let turnEnds = work.left - turnSteps;
  const hearers: Webhook[][] = [];
  for (const event of events) {
    const given = new Map<string, Given>();
    const heard: Webhook[] = [];
    for (const webhook of webhooks) {
      if (isHeard(webhook, event, given, work)) heard.push(webhook);
      if (work.left > turnEnds) continue;
      await setImmediate();
      turnEnds = work.left - turnSteps;
    }
    hearers.push(heard);
  }
  return hearers;
}

function isHeard(
  { events, filter, time_zone }: Webhook,
  event: SubmissionEvent,
  given: Map<string, Given>,
  work: Work,
): boolean {
  if (!events.includes(event.kind)) return false;
  if (filter === null) return true;
  return meetsFilter(filter, event, { today: todayIn(time_zone ?? 'UTC', now()), work, given });
}
