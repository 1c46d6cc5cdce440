import { type FormStatus, submissionCount } from '#forms/queries.ts';
import { bigint, integer, nullable, statement, text, timestamp, uuid, word } from '#kit/statement.ts';
import type { Role } from '#workspaces/roles.ts';
import type { FormOrder } from './shapes.ts';

/** A form that visitors do not see, or never saw, is called what its working copy is called. */
const draftJoin = `left join form_drafts d
     on d.workspace_id = f.workspace_id and d.form_id = f.id and (f.status = 'draft' or f.published_at is null)`;
const shownName = `coalesce(d.name, f.name)`;

const filter = `f.workspace_id = $workspace_id and f.deleted_at is null
     and ($status is null or f.status = $status)
     and ($q is null or strpos(lower(${shownName}), lower($q)) > 0)`;

/** One page of a workspace's forms with what happened to them; ties are newest first. */
export const listFormLines = statement(
  'forms_list.list_form_lines',
  {
    workspace_id: uuid,
    status: nullable(word<FormStatus>()),
    q: nullable(text),
    sort: word<FormOrder>(),
    limit: integer,
    offset: bigint,
  },
  {
    id: uuid,
    name: text,
    description: text,
    status: word<FormStatus>(),
    submission_count: bigint,
    last_submission_at: nullable(timestamp),
    last_activity_at: timestamp,
    created_at: timestamp,
    updated_at: timestamp,
    published_at: nullable(timestamp),
  },
  `select f.id, ${shownName} as name, f.description, f.status, counted.submission_count,
          last.created_at as last_submission_at, greatest(f.updated_at, d.saved_at, last.created_at) as last_activity_at,
          f.created_at, f.updated_at, f.published_at
   from forms f
   ${draftJoin}
   cross join lateral (select ${submissionCount} as submission_count) counted
   left join lateral (
     select s.created_at from submissions s
     where s.workspace_id = f.workspace_id and s.form_id = f.id and s.trashed_at is null order by s.id desc limit 1) last on true
   where ${filter}
   order by case when $sort = 'activity' then greatest(f.updated_at, d.saved_at, last.created_at) end desc,
            case when $sort = 'name' then lower(${shownName}) end,
            case when $sort = 'submissions' then counted.submission_count end desc,
            f.id desc
   limit $limit offset $offset`,
);

export const countFormLines = statement(
  'forms_list.count_form_lines',
  { workspace_id: uuid, status: nullable(word<FormStatus>()), q: nullable(text) },
  { total: bigint },
  `select count(*) as total from forms f ${draftJoin} where ${filter}`,
);

/** A form by its id alone, for whoever is a member of its workspace; nothing for everybody else. */
export const locateForm = statement(
  'forms_list.locate_form',
  { id: uuid, user_id: text },
  {
    workspace_id: uuid,
    id: uuid,
    name: text,
    status: word<FormStatus>(),
    submission_count: bigint,
    published_at: nullable(timestamp),
    role: word<Role>(),
  },
  `/* lookup: across workspaces */
   select f.workspace_id, f.id, ${shownName} as name, f.status, ${submissionCount} as submission_count, f.published_at, m.role
   from form_lookup l
   join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
   join members m on m.workspace_id = f.workspace_id and m.user_id = $user_id
   ${draftJoin}
   where l.form_id = $id and f.deleted_at is null`,
);
