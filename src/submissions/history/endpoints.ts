import type { Static } from 'typebox';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { jsonList, type JsonText, jsonText } from '#kit/wire.ts';
import { requireReach } from '#workspaces/reach.ts';
import { Timeline, type TimelineEntry } from '../shapes.ts';
import { findTimes, listChanges, listDeliveriesOf } from './queries.ts';

/** So many changes, and so many deliveries. */
const mostOfKind = 200;

/** What happened to a submission. */
export const historyEndpoints = ({ database }: { database: Database }) => ({
  getSubmissionTimeline: operation({
    summary: 'Get timeline of a submission',
    description: `When it came, who changed what, and, for who may read webhooks, whom it was told. Newest first: the latest ${mostOfKind} changes and the latest ${mostOfKind} deliveries.`,
    permission: 'submissions:read',
    params: idParameter,
    reply: { status: 200, description: 'What happened.', schema: Timeline },
    async run({ workspaceId, formIds, params, may }) {
      const submission = { workspace_id: workspaceId, submission_id: params.id };
      const times = requireRow(await findTimes(database, submission));
      requireReach(formIds, times.form_id);
      // One more of each than is shown says that there are more.
      const key = { ...submission, form_id: times.form_id, limit: mostOfKind + 1 };
      const [allChanges, allDeliveries] = await Promise.all([
        listChanges(database, key),
        may('webhooks:read') ? listDeliveriesOf(database, key) : [],
      ]);
      const changes = allChanges.slice(0, mostOfKind);
      const told = new Set(
        allDeliveries
          .map(({ delivery_id }) => delivery_id)
          .sort()
          .slice(-mostOfKind),
      );
      const deliveries = allDeliveries.filter(({ delivery_id }) => told.has(delivery_id));
      const is_cut = allChanges.length > changes.length || allDeliveries.length > deliveries.length;
      const entries: Entry[] = [
        ...begun(times),
        // What changed is JSON already, and may be long: it holds answers as they were and as they are.
        ...changes.map(({ kind, changed_at, changed_by: by, through, changes: differences }) =>
          entryOf({ kind, at: changed_at, by, through }, `"changes":${differences}`),
        ),
        ...deliveries.map(({ is_resend, ...delivery }) =>
          entryOf({ kind: is_resend ? 'resend' : 'delivery', ...delivery }),
        ),
      ];
      // Sorting keeps what came in the same millisecond in this order: a submission before what it led to.
      const data = entries.toSorted((a, b) => a.at.getTime() - b.at.getTime()).toReversed();
      return {
        json: jsonList<Static<typeof Timeline>>(
          data.map(({ json }) => json),
          { is_cut },
        ),
      };
    },
  }),
});

/** An entry as JSON text, and when it was. */
type Entry = { at: Date; json: JsonText<TimelineEntry> };

function entryOf(
  facts: { kind: TimelineEntry['kind']; at: Date } & Readonly<Record<string, unknown>>,
  more?: string,
): Entry {
  const text = JSON.stringify(facts);
  return { at: facts.at, json: jsonText(more === undefined ? text : `${text.slice(0, -1)},${more}}`) };
}

function begun({ created_at, completed_at }: { created_at: Date; completed_at: Date | null }): Entry[] {
  const isAtOnce = completed_at === null || completed_at.getTime() === created_at.getTime();
  return [
    entryOf({ kind: 'created', at: created_at }),
    ...(isAtOnce ? [] : [entryOf({ kind: 'completed', at: completed_at })]),
  ];
}
