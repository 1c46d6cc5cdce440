import { queryOptions } from '@tanstack/react-query';
import type { ReplayQuery } from '#webhooks/shapes.ts';
import { operationQuery } from '../api/operations.ts';
import { type EventKind, eventLabel } from './events.ts';
import { toDeliveryLogParameters } from './log-view.ts';
import type { WebhookOwner } from './webhooks-query.ts';

type Form = Pick<WebhookOwner, 'workspace_id'>;

/** The deliveries to send again. Days are in the reader's time zone, `YYYY-MM-DD`, both included. */
export type ReplayDraft = {
  status: 'Failed' | 'Success' | 'any';
  event: EventKind | 'all';
  from: string;
  to: string;
};

/** Converts the draft to the format of the API: days become timestamps. */
export function replayQueryOf({ status, event, from, to }: ReplayDraft): ReplayQuery {
  const days = toDeliveryLogParameters({ ...(from && { from }), ...(to && { to }) });
  return {
    status,
    ...(event !== 'all' && { event }),
    ...(typeof days['from'] === 'string' && days['from'] && { since: days['from'] }),
    ...(typeof days['to'] === 'string' && days['to'] && { until: days['to'] }),
  };
}

/** Describes the filter of a replay: "failed, created, from 3 May". */
export const describeReplayFilter = (
  filter: { status: string | null; event: EventKind | null; since: string | null; until: string | null },
  formatMoment: (at: string) => string,
): string =>
  [
    filter.status === null ? 'delivered or failed' : filter.status === 'Failed' ? 'failed' : 'delivered',
    filter.event && eventLabel(filter.event).toLowerCase(),
    filter.since && `from ${formatMoment(filter.since)}`,
    filter.until && `before ${formatMoment(filter.until)}`,
  ]
    .filter(Boolean)
    .join(', ');

/** Queries recent replays. They are polled more often while one is running. */
export const replaysQuery = (form: Form, webhook: string) =>
  queryOptions({
    ...operationQuery(form.workspace_id, 'listReplays', { params: { id: webhook } }),
    refetchInterval: (found) => (found.state.data?.data[0]?.state === 'running' ? 500 : 5_000),
  });

/** Counts the deliveries that a replay would send. */
export const replayCountQuery = (form: Form, webhook: string, draft: ReplayDraft) =>
  queryOptions(
    operationQuery(form.workspace_id, 'countReplay', {
      params: { id: webhook },
      query: replayQueryOf(draft),
    }),
  );
