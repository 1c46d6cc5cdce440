import type { EventKind } from './event.ts';
import type { DeliveryStatus } from './retry-delivery.ts';

/** The statuses of deliveries that can be replayed. Those still being sent or retried cannot. */
export const replayStatuses = ['Failed', 'Success'] as const satisfies readonly DeliveryStatus[];

/** Selects the deliveries to send again; null matches all. Times are ISO 8601. */
export type ReplayFilter = {
  status: (typeof replayStatuses)[number] | null;
  event: EventKind | null;
  /** The start of the range, inclusive. */
  since: string | null;
  /** The end of the range, exclusive. */
  until: string | null;
};

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** Returns a filter as parameters of the statements. @param id the id of the replay. */
export const toReplayParameters = (
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  { status, event, since, until }: ReplayFilter,
  id: string,
) => ({
  workspace_id: workspaceId,
  webhook_id: webhookId,
  id,
  status,
  event,
  since: dateOf(since),
  until: dateOf(until),
});
