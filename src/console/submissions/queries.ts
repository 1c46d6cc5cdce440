import type { Settings } from '#ast/settings.ts';
import type { Form } from '#ast/tree.ts';
import {
  bigint,
  boolean,
  integer,
  json,
  jsonb,
  nullable,
  statement,
  text,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';

/** The form whose submissions are looked at; nothing for one that is gone. */
export const findViewedForm = statement(
  'view.find_viewed_form',
  { workspace_id: uuid, form_id: uuid },
  { name: text, settings: jsonb<Settings>() },
  `select name, settings from forms
   where workspace_id = $workspace_id and id = $form_id and deleted_at is null`,
);

/**
 * The versions that submissions answered, and the live one, newest first. A form of one version is not asked; for
 * the others this reads every submission's number (measured: 35 ms at 100,000), so the browser keeps the answer.
 */
export const findAnsweredVersions = statement(
  'view.find_answered_versions',
  { workspace_id: uuid, form_id: uuid },
  { structure: json<Form>() },
  `select v.structure from form_versions v
   join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id
   where v.workspace_id = $workspace_id and v.form_id = $form_id
     and (v.version = f.version or v.version in (
       select s.version from submissions s
       where s.workspace_id = $workspace_id and s.form_id = $form_id group by s.version))
   order by v.version desc limit 200`,
);

/** A row of the table; every column is null where the page is empty. */
const rowColumns = {
  id: nullable(uuid),
  status: nullable(word<SubmissionStatus>()),
  version: nullable(integer),
  answers: nullable(text),
  reference: nullable(text),
  created_at: nullable(timestamp),
  updated_at: nullable(timestamp),
  completed_at: nullable(timestamp),
} as const;

const rowSelection = `s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
  s.created_at, s.updated_at, s.completed_at`;

/** What every statement on a view without a search is given: times are given as the ids that were made then. */
const viewParameters = {
  workspace_id: uuid,
  form_id: uuid,
  status: nullable(word<SubmissionStatus>()),
  from_id: uuid,
  to_id: uuid,
} as const;

/** Two statements for each question, as in src/submissions/queries.ts: with a status another index answers. */
const byStatus = <Declared>(name: string, declare: (name: string, viewed: string) => Declared) => {
  const viewed = `p.workspace_id = $workspace_id and p.form_id = $form_id and p.id >= $from_id and p.id < $to_id`;
  return {
    any: declare(`view.${name}`, `${viewed} and $status is null`),
    one: declare(`view.${name}_by_status`, `${viewed} and p.status = $status`),
  };
};

/** A page of the view, newest first, with the exact total in each row; at least one row. */
export const listView = byStatus('list_view', (name, viewed) =>
  statement(
    name,
    { ...viewParameters, is_dated: boolean, limit: integer, offset: bigint },
    { total: bigint, ...rowColumns },
    `select count.total, ${rowSelection}
     from (
       select case when $is_dated then (select count(*) from submissions p where ${viewed})
              else (select coalesce(sum(c.count), 0)::bigint from submission_counts c
                    where c.workspace_id = $workspace_id and c.form_id = $form_id and ($status is null or c.status = $status))
              end as total) count
     left join lateral (
       select p.id from submissions p where ${viewed} order by p.id desc limit $limit offset $offset) page on true
     left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
     order by s.id desc`,
  ),
);

/** The submissions above and below one in the view. */
export const findNeighbours = byStatus('find_neighbours', (name, viewed) =>
  statement(
    name,
    { ...viewParameters, id: uuid },
    { previous_id: nullable(uuid), next_id: nullable(uuid) },
    `select (select p.id from submissions p where ${viewed} and p.id > $id order by p.id limit 1) as previous_id,
            (select p.id from submissions p where ${viewed} and p.id < $id order by p.id desc limit 1) as next_id`,
  ),
);

/** Every id of the view, newest first, up to one more than is allowed. */
export const listViewIds = byStatus('list_view_ids', (name, viewed) =>
  statement(
    name,
    { ...viewParameters, limit: integer },
    { ids: uuids },
    `select coalesce(array_agg(id order by id desc), '{}') as ids from (
       select p.id from submissions p where ${viewed} order by p.id desc limit $limit) page`,
  ),
);

const exportedColumns = {
  id: uuid,
  status: word<SubmissionStatus>(),
  answers: json<object>(),
  reference: json<object>(),
  created_at: timestamp,
  completed_at: nullable(timestamp),
} as const;

/** The next rows of an export, newest first, from `to_id` downwards. */
export const readViewDown = byStatus('read_view_down', (name, viewed) =>
  statement(
    name,
    { ...viewParameters, limit: integer },
    exportedColumns,
    `select p.id, p.status, p.answers, p.reference, p.created_at, p.completed_at
     from submissions p where ${viewed} order by p.id desc limit $limit`,
  ),
);

/** These submissions of the form, in the order of the list; what is gone by now is left out. */
export const readListed = statement(
  'view.read_listed',
  { workspace_id: uuid, form_id: uuid, ids: uuids },
  exportedColumns,
  `select s.id, s.status, s.answers, s.reference, s.created_at, s.completed_at
   from unnest($ids) with ordinality as listed (id, place)
   join submissions s on s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = listed.id
   order by listed.place`,
);

/** One submission with the version that it answered. */
export const findViewedSubmission = statement(
  'view.find_viewed_submission',
  { workspace_id: uuid, form_id: uuid, id: uuid },
  {
    ...rowColumns,
    fields: text,
    has_files: boolean,
    form_name: text,
    structure: json<Form>(),
    is_live_version: boolean,
  },
  `select ${rowSelection}, v.fields::text as fields, s.has_files, v.name as form_name, v.structure,
          v.version = f.version as is_live_version
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $id and f.deleted_at is null`,
);

/** A file of a submission. */
export const findSubmissionFile = statement(
  'view.find_submission_file',
  { workspace_id: uuid, form_id: uuid, submission_id: uuid, id: uuid },
  { filename: text, content_type: text, size: bigint },
  `select file.filename, file.content_type, file.size from files file
   join forms f on f.workspace_id = file.workspace_id and f.id = file.form_id and f.deleted_at is null
   where file.workspace_id = $workspace_id and file.form_id = $form_id
     and file.submission_id = $submission_id and file.id = $id`,
);
