import { nullable, statement, word } from '#kit/statement.ts';
import { formColumns, type FormStatus, submissionCount } from '../queries.ts';
import type { FormOrder } from '../shapes.ts';

/** A form that visitors do not see, or never saw, is called what its working copy is called. */
export const draftJoin = `left join form_drafts d
     on d.workspace_id = f.workspace_id and d.form_id = f.id and (f.status = 'draft' or f.published_at is null)`;
export const shownName = `coalesce(d.name, f.name)`;

const filter = `f.workspace_id = $workspace_id and f.deleted_at is null
     and ($form_ids is null or f.id = any ($form_ids))
     and ($status is null or f.status = $status)
     and ($q is null or strpos(lower(${shownName}), lower($q)) > 0)`;

/** One page of a workspace's forms with what happened to them; ties are newest first. */
export const listFormLines = statement(
  'list_form_lines',
  [
    'workspace_id form_ids? q? below_id limit offset',
    { status: nullable(word<FormStatus>()), sort: word<FormOrder>() },
  ],
  ['submission_count last_submission_at:timestamp? last_activity_at:timestamp', formColumns],
  `select f.id, f.workspace_id, ${shownName} as name, f.description, f.status, f.created_at, f.updated_at,
          f.published_at, counted.submission_count, last.created_at as last_submission_at,
          greatest(f.updated_at, d.saved_at, last.created_at) as last_activity_at
   from forms f
   ${draftJoin}
   cross join lateral (select ${submissionCount} as submission_count) counted
   left join lateral (
     select s.created_at from submissions s
     where s.workspace_id = f.workspace_id and s.form_id = f.id and s.trashed_at is null order by s.id desc limit 1) last on true
   where ${filter} and f.id < $below_id
   order by case when $sort = 'activity' then greatest(f.updated_at, d.saved_at, last.created_at) end desc,
            case when $sort = 'name' then lower(${shownName}) end,
            case when $sort = 'submissions' then counted.submission_count end desc,
            f.id desc
   limit $limit offset $offset`,
);

export const countFormLines = statement(
  'count_form_lines',
  ['workspace_id form_ids? q?', { status: nullable(word<FormStatus>()) }],
  'total',
  `select count(*) as total from forms f ${draftJoin} where ${filter}`,
);
