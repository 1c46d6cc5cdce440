import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { columns, json, jsonb, statement, word } from '#kit/statement.ts';
import { changedByColumns } from '../history/queries.ts';
import { searchWords, type SubmissionStatus } from '../queries.ts';
import { formTree } from '#forms/structure-columns.ts';

/**
 * Lays submissions of a form into the trash: nothing but the trash finds them any more, and what they took is free. In the order of ids, so that
 * two at once cannot deadlock.
 * @returns how many of each status there were, to be taken off the counts.
 */
export const trashSubmissions = statement(
  'trash.trash_submissions',
  ['workspace_id form_id ids change_ids bulk_id? now', changedByColumns],
  ['count', { status: word<SubmissionStatus>() }],
  `with listed as (
     select * from unnest($ids, $change_ids) as listed (id, change_id)),
   held as (
     select id from submissions
     where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and trashed_at is null
     order by id for update),
   trashed as (
     update submissions s set trashed_at = $now, trashed_by = $changed_by from held join listed on listed.id = held.id
     where s.workspace_id = $workspace_id and s.id = held.id
     returning s.workspace_id, s.id, s.status, listed.change_id),
   documents as (
     delete from search_documents d using trashed
     where d.workspace_id = $workspace_id and d.submission_id = trashed.id),
   freed as (
     delete from taken_answers t using trashed
     where t.workspace_id = $workspace_id and t.submission_id = trashed.id),
   changes as (
     insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, bulk_id, changed_at, changes)
     select workspace_id, id, change_id, 'trashed', $changed_by, $api_key_id, $through, $bulk_id, $now, '[]' from trashed)
   select status, count(*) as count from trashed group by status`,
);

/** Submissions of the trash that are about to come back, with what they are found by. In the order of ids, locked. */
export const lockTrashed = statement(
  'trash.lock_trashed',
  'workspace_id form_id ids',
  [
    'id language?',
    {
      status: word<SubmissionStatus>(),
      answers: json<Answers>(),
      reference: json<Record<string, string>>(),
      structure: formTree,
      settings: jsonb<Settings>(),
    },
  ],
  `select s.id, s.status, s.answers, s.reference, s.language, v.structure, f.settings
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
     and s.trashed_at is not null and f.deleted_at is null
   order by s.id for update of s`,
);

/** Takes a submission out of the trash, with its search text. */
export const restoreSubmission = statement(
  'trash.restore_submission',
  'workspace_id form_id id language subject body',
  '',
  `with submission as (
     update submissions set trashed_at = null, trashed_by = null
     where workspace_id = $workspace_id and form_id = $form_id and id = $id
     returning workspace_id, id, form_id, status, tags),
   language as (
     insert into search_languages (workspace_id, language) select workspace_id, $language from submission on conflict do nothing),
   ${searchWords()},
   document as (
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select workspace_id, id, form_id, terms from words)
   select`,
);

/** What lies in a form's trash, as the trash shows it: the last that was laid in first. */
export const listTrashed = statement(
  'trash.list_trashed',
  'workspace_id form_id below_at:timestamp below_id limit offset',
  [
    'id created_at completed_at? trashed_at:timestamp trashed_by:text?',
    { status: word<SubmissionStatus>(), answers: json<Answers>() },
  ],
  `select s.id, s.status, s.answers, s.created_at, s.completed_at, s.trashed_at, coalesce(u.name, trasher.name) as trashed_by
   from submissions s
   left join users u on u.id = s.trashed_by
   left join lateral (
     select k.name from submission_changes c
     join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
     where s.trashed_by is null and c.workspace_id = s.workspace_id and c.submission_id = s.id and c.kind = 'trashed'
     order by c.id desc limit 1) trasher on true
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is not null
     and (s.trashed_at, s.id) < ($below_at, $below_id)
   order by s.trashed_at desc, s.id desc limit $limit offset $offset`,
);

/** How many lie in a form's trash. */
export const countTrashed = statement(
  'trash.count_trashed',
  'workspace_id form_id',
  'total',
  `select count(*) as total from submissions
   where workspace_id = $workspace_id and form_id = $form_id and trashed_at is not null`,
);

/** Of these, or of all without `ids`, those that lie in the form's trash, up to one more than is allowed. */
export const listTrashedIds = statement(
  'trash.list_trashed_ids',
  'workspace_id form_id ids? limit',
  'ids',
  `select coalesce(array_agg(id), '{}') as ids from (
     select id from submissions
     where workspace_id = $workspace_id and form_id = $form_id and trashed_at is not null
       and ($ids is null or id = any ($ids))
     order by trashed_at desc, id desc limit $limit) page`,
);

/** What every event tells of a submission of the trash; in the order of ids, locked. */
const snapshotOfTrashed = columns('id completed_at? form_name', {
  status: word<SubmissionStatus>(),
  answers: json<Answers>(),
  reference: json<Record<string, string>>(),
  fields: json<Record<string, FieldDescription>>(),
});

/** These submissions, as far as they still lie in the trash: what was restored meanwhile is not removed. */
export const lockTrashedForRemoval = statement(
  'trash.lock_trashed_for_removal',
  'workspace_id form_id ids',
  snapshotOfTrashed,
  `select s.id, s.status, s.completed_at, s.answers, s.reference, v.fields, v.name as form_name
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids) and s.trashed_at is not null
   order by s.id for update of s`,
);
