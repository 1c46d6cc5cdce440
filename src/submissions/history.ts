import type { Static } from 'typebox';
import type { Database } from '#kit/database.ts';
import { type JsonText, markJsonList, markJsonText } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { columns, requireRow, statement, textEnum } from '#kit/statement.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import type { ChangeOrigin, changeKinds } from './differences.ts';
import { Timeline, type TimelineEntry } from './shapes.ts';

type ChangeKind = (typeof changeKinds)[number];

/** The author of a change (differences.ts), as parameters and columns. */
export const changedByColumns = columns('changed_by? api_key_id?', { through: textEnum<ChangeOrigin>() });

/** Records a change, in the transaction that makes it. */
export const insertChange = statement(
  [
    'workspace_id submission_id id bulk_id? changed_at changes:jsonText',
    { kind: textEnum<ChangeKind>() },
    changedByColumns,
  ],
  '',
)`
  insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
  values ($workspace_id, $submission_id, $id, $kind, $changed_by, $api_key_id, $through, $bulk_id, $changed_at, $changes)`;

/** Selects the latest changes of a submission, newest first; none if it belongs to another form. */
const listChanges = statement('workspace_id form_id submission_id limit', [
  'id changed_by? changed_at changes:text',
  { kind: textEnum<ChangeKind>(), through: textEnum<ChangeOrigin>() },
])`
  select c.id, c.kind, coalesce(u.name, k.name) as changed_by, c.through, c.changed_at, c.changes::text as changes
  from submissions s
  join submission_changes c on c.workspace_id = s.workspace_id and c.submission_id = s.id
  left join users u on u.id = c.changed_by
  left join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $submission_id and s.trashed_at is null
  order by c.id desc limit $limit`;

/** Selects the times at which a submission was started and completed. */
const findTimes = statement('workspace_id submission_id', 'form_id created_at completed_at?')`
  select s.form_id, s.created_at, s.completed_at from submissions s
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
  where s.workspace_id = $workspace_id and s.id = $submission_id and s.trashed_at is null`;

/** Selects the deliveries of a submission with their start, and each manual or replayed attempt. */
const listDeliveriesOf = statement('workspace_id form_id submission_id limit', [
  'at is_resend:boolean event:text webhook_id delivery_id url',
  { status: textEnum<'Success' | 'Failed' | 'Retrying'>() },
])`
  with recent as (
    select d.workspace_id, d.id, d.kind, d.status, d.webhook_id, d.created_at, w.url
    from events e
    join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id and not d.is_test
    join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
    where e.workspace_id = $workspace_id and e.form_id = $form_id and e.submission_id = $submission_id
    order by d.id desc limit $limit)
  select created_at as at, false as is_resend, kind as event, status, webhook_id, id as delivery_id, url from recent
  union all
  select a.started_at, true, recent.kind, recent.status, recent.webhook_id, recent.id, recent.url
  from recent join attempts a on a.workspace_id = recent.workspace_id and a.delivery_id = recent.id
    and a.trigger in ('manual', 'replay')`;

/** The maximum number of changes, and of deliveries, in the timeline. */
const mostOfKind = 200;

/** Operation that reads the timeline of a submission. */
export const historyEndpoints = ({ database }: { database: Database }) => ({
  getSubmissionTimeline: operation({
    summary: 'Get timeline of a submission',
    description: `Returns when the submission arrived, its changes and, with permission to read webhooks, its deliveries. Newest first: the latest ${mostOfKind} changes and the latest ${mostOfKind} deliveries.`,
    permission: 'submissions:read',
    params: idParameter,
    reply: { status: 200, description: 'The timeline.', schema: Timeline },
    async run({ workspaceId, formIds, params, may }) {
      const submission = { workspace_id: workspaceId, submission_id: params.id };
      const times = requireRow(await findTimes(database, submission));
      requireFormAccess(formIds, times.form_id);
      // Reads one entry more of each kind than is shown, to detect whether there are more.
      const key = { ...submission, form_id: times.form_id, limit: mostOfKind + 1 };
      const [allChanges, allDeliveries] = await Promise.all([
        listChanges(database, key),
        may('webhooks:read') ? listDeliveriesOf(database, key) : [],
      ]);
      const changes = allChanges.slice(0, mostOfKind);
      const shownIds = new Set(
        allDeliveries
          .map(({ delivery_id }) => delivery_id)
          .sort()
          .slice(-mostOfKind),
      );
      const deliveries = allDeliveries.filter(({ delivery_id }) => shownIds.has(delivery_id));
      const is_cut = allChanges.length > changes.length || allDeliveries.length > deliveries.length;
      const entries: Entry[] = [
        ...begun(times),
        // The changes are stored as JSON, and may be long: they contain previous and current answers.
        ...changes.map(({ kind, changed_at, changed_by: by, through, changes: differences }) =>
          entryOf({ kind, at: changed_at, by, through }, `"changes":${differences}`),
        ),
        ...deliveries.map(({ is_resend, ...delivery }) =>
          entryOf({ kind: is_resend ? 'resend' : 'delivery', ...delivery }),
        ),
      ];
      // Sorting is stable: within a millisecond, a submission stays before its changes and deliveries.
      const data = entries.toSorted((a, b) => a.at.getTime() - b.at.getTime()).toReversed();
      return {
        json: markJsonList<Static<typeof Timeline>>(
          data.map(({ json }) => json),
          { is_cut },
        ),
      };
    },
  }),
});

/** An entry as JSON text, with its time. */
type Entry = { at: Date; json: JsonText<TimelineEntry> };

function entryOf(
  facts: { kind: TimelineEntry['kind']; at: Date } & Readonly<Record<string, unknown>>,
  more?: string,
): Entry {
  const text = JSON.stringify(facts);
  return { at: facts.at, json: markJsonText(more === undefined ? text : `${text.slice(0, -1)},${more}}`) };
}

function begun({ created_at, completed_at }: { created_at: Date; completed_at: Date | null }): Entry[] {
  const isAtOnce = completed_at === null || completed_at.getTime() === created_at.getTime();
  return [
    entryOf({ kind: 'created', at: created_at }),
    ...(isAtOnce ? [] : [entryOf({ kind: 'completed', at: completed_at })]),
  ];
}
