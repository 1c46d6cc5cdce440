import { newId } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import { laneOf } from './delivery-job.ts';
import type { EventKind, Snapshot } from './event.ts';
import { insertEvents, selectListeners } from './queries.ts';

/** Something that happened to a submission. */
export type SubmissionEvent = {
  submissionId: string;
  kind: EventKind;
  occurredAt: Date;
  snapshot: Snapshot;
};

/**
 * Records an event for every active webhook of the form that asked for its kind, in the caller's transaction: the
 * event and the change that it tells of commit together, or not at all. One round trip when nobody listens, two
 * otherwise. Wake the queue after the commit when the answer is not 0.
 * @returns how many deliveries will be made.
 */
export const recordEvent = (
  db: Queryable,
  { workspaceId, formId, ...event }: SubmissionEvent & { workspaceId: string; formId: string },
): Promise<number> => recordEvents(db, workspaceId, formId, [event]);

/** recordEvent for many events of one form, in the same number of round trips. */
export async function recordEvents(
  db: Queryable,
  workspaceId: string,
  formId: string,
  events: readonly SubmissionEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const listeners = await selectListeners(db, { workspace_id: workspaceId, form_id: formId });
  const heard = events
    .map((event) => ({ ...event, id: newId() }))
    .filter(({ kind }) => listeners.some((webhook) => webhook.events.includes(kind)));
  if (heard.length === 0) return 0;

  const deliveries = heard.flatMap((event) =>
    listeners
      .filter((webhook) => webhook.events.includes(event.kind))
      .map((webhook) => ({ id: newId(), event, webhookId: webhook.id })),
  );
  await insertEvents(db, {
    workspace_id: workspaceId,
    form_id: formId,
    event_ids: heard.map(({ id }) => id),
    submission_ids: heard.map(({ submissionId }) => submissionId),
    kinds: heard.map(({ kind }) => kind),
    occurred_ats: heard.map(({ occurredAt }) => occurredAt),
    snapshots: heard.map(({ snapshot }) => JSON.stringify(snapshot)),
    delivery_ids: deliveries.map(({ id }) => id),
    delivery_events: deliveries.map(({ event }) => event.id),
    delivery_kinds: deliveries.map(({ event }) => event.kind),
    webhook_ids: deliveries.map(({ webhookId }) => webhookId),
    lanes: deliveries.map(({ webhookId }) => laneOf(webhookId)),
    trigger: 'schedule',
  });
  return deliveries.length;
}
