import { ApiError } from '#kit/errors.ts';
import { listChanges } from '#submissions/history/queries.ts';
import { consoleEndpoint } from '../../endpoint.ts';
import type { ConsoleServices } from '../../services.ts';
import { findTimes, listDeliveriesOf } from '../queries.ts';
import { SubmissionPath, type TimelineEntry } from '../shapes.ts';

/** What happened to a submission: when it came, who changed what, and whom it was told. Newest first. */
export const timelineEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: SubmissionPath,
    async run({ workspaceId, params }) {
      const key = { workspace_id: workspaceId, form_id: params.form, submission_id: params.submission };
      const [[times], changes, deliveries] = await Promise.all([
        findTimes(database, key),
        listChanges(database, key),
        listDeliveriesOf(database, key),
      ]);
      if (!times) throw new ApiError('not_found');
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
      return { status: 200, body: { data } };
    },
  });

function begun(times: { created_at: Date; completed_at: Date | null }): TimelineEntry[] {
  const at = times.created_at.toISOString();
  const completed = times.completed_at?.toISOString();
  return [
    { kind: 'created', at },
    ...(completed === undefined || completed === at ? [] : [{ kind: 'completed' as const, at: completed }]),
  ];
}
