import { columns, statement, word } from '#kit/statement.ts';

/** What a change of a submission was. */
export const changeKinds = ['edited', 'trashed', 'restored', 'note_added', 'note_deleted'] as const;
type ChangeKind = (typeof changeKinds)[number];
/** By which way it was changed: by a member, by a key, by the operator, or by whoever has the submission's own link. */
export const changeThroughs = ['console', 'api', 'cli', 'link'] as const;
export type ChangeThrough = (typeof changeThroughs)[number];

/** Who changed something (changed-by.ts), as parameters and columns. */
export const changedByColumns = columns('changed_by? api_key_id?', { through: word<ChangeThrough>() });

/** Writes down a change, in its transaction. */
export const insertChange = statement(
  'history.insert_change',
  [
    'workspace_id submission_id id bulk_id? changed_at changes:jsonText',
    { kind: word<ChangeKind>() },
    changedByColumns,
  ],
  '',
  `insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
   values ($workspace_id, $submission_id, $id, $kind, $changed_by, $api_key_id, $through, $bulk_id, $changed_at, $changes)`,
);

/** The latest changes of a submission, newest first; a submission of another form has none here. */
export const listChanges = statement(
  'history.list_changes',
  'workspace_id form_id submission_id limit',
  ['id changed_by? changed_at changes:text', { kind: word<ChangeKind>(), through: word<ChangeThrough>() }],
  `select c.id, c.kind, coalesce(u.name, k.name) as changed_by, c.through, c.changed_at, c.changes::text as changes
   from submissions s
   join submission_changes c on c.workspace_id = s.workspace_id and c.submission_id = s.id
   left join users u on u.id = c.changed_by
   left join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $submission_id and s.trashed_at is null
   order by c.id desc limit $limit`,
);

/** When a submission came. */
export const findTimes = statement(
  'view.find_times',
  'workspace_id submission_id',
  'form_id created_at completed_at?',
  `select s.form_id, s.created_at, s.completed_at from submissions s
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
   where s.workspace_id = $workspace_id and s.id = $submission_id and s.trashed_at is null`,
);

/**
 * Whom a submission was told: each delivery when it began, and each time that a person sent it again, alone or
 * with others.
 */
export const listDeliveriesOf = statement(
  'view.list_deliveries_of',
  'workspace_id form_id submission_id limit',
  [
    'at is_resend:boolean event:text webhook_id delivery_id url',
    { status: word<'Success' | 'Failed' | 'Retrying'>() },
  ],
  `with told as (
     select d.workspace_id, d.id, d.kind, d.status, d.webhook_id, d.created_at, w.url
     from events e
     join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id and not d.is_test
     join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
     where e.workspace_id = $workspace_id and e.form_id = $form_id and e.submission_id = $submission_id
     order by d.id desc limit $limit)
   select created_at as at, false as is_resend, kind as event, status, webhook_id, id as delivery_id, url from told
   union all
   select a.started_at, true, told.kind, told.status, told.webhook_id, told.id, told.url
   from told join attempts a on a.workspace_id = told.workspace_id and a.delivery_id = told.id
     and a.trigger in ('manual', 'replay')`,
);
