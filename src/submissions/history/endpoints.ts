import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/reach.ts';
import { Timeline, type TimelineEntry } from '../shapes.ts';
import { findTimes, listChanges, listDeliveriesOf } from './queries.ts';

/** What happened to a submission. */
export const historyEndpoints = ({ database }: { database: Database }) => ({
  timeline: operation({
    summary: 'Get timeline of a submission',
    description:
      'When it came, who changed what, and, for who may read webhooks, whom it was told. Newest first.',
    permission: 'submissions:read',
    params: idParameter,
    reply: { status: 200, description: 'What happened.', schema: Timeline },
    async run({ workspaceId, formIds, params, may }) {
      const submission = { workspace_id: workspaceId, submission_id: params.id };
      const [times] = await findTimes(database, submission);
      if (!times) throw new ApiError('not_found');
      requireReach(formIds, times.form_id);
      const key = { ...submission, form_id: times.form_id };
      const [changes, deliveries] = await Promise.all([
        listChanges(database, key),
        may('webhooks:read') ? listDeliveriesOf(database, key) : [],
      ]);
      const entries: TimelineEntry[] = [
        ...begun(times),
        ...changes.map(({ kind, changed_at, changed_by: by, through, changes: differences }) => ({
          at: changed_at.toISOString(),
          kind,
          by,
          through,
          changes: differences,
        })),
        ...deliveries.map(({ at, is_resend, ...delivery }) => ({
          at: at.toISOString(),
          kind: is_resend ? ('resend' as const) : ('delivery' as const),
          ...delivery,
        })),
      ];
      // Sorting keeps what came in the same millisecond in this order: a submission before what it led to.
      const data = entries.toSorted((a, b) => a.at.localeCompare(b.at)).toReversed();
      return { body: { data } };
    },
  }),
});

function begun(times: { created_at: Date; completed_at: Date | null }): TimelineEntry[] {
  const at = times.created_at.toISOString();
  const completed = times.completed_at?.toISOString();
  return [
    { kind: 'created', at },
    ...(completed === undefined || completed === at ? [] : [{ kind: 'completed' as const, at: completed }]),
  ];
}
