import type { EventKind } from './event.ts';
import type { DeliveryStatus } from './retry-delivery.ts';

/** What a delivery may be that is sent again: neither of those on their way. */
export const replayStatuses = ['Failed', 'Success'] as const satisfies readonly DeliveryStatus[];

/** Which deliveries are sent again; null: whichever. Times are ISO 8601. */
export type ReplayFilter = {
  status: (typeof replayStatuses)[number] | null;
  event: EventKind | null;
  /** Inclusive. */
  since: string | null;
  /** Exclusive. */
  until: string | null;
};

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** A filter as the statements take it. @param id that of the replay. */
export const meant = (
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
