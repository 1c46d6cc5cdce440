import { connectionNumber } from '#kit/database.ts';
import { columns, nullable, statement, text, word } from '#kit/statement.ts';

/** Specification, "Submission status". */
export type SubmissionStatus = 'completed' | 'incomplete';

/** A submission as a reader sees it; what is pinned (fields, form_name) comes from the version that it answered. */
export const foundColumns = columns(
  'id workspace_id form_id answers:text reference:text fields:text form_name has_files',
  'created_at completed_at?',
  {
    status: word<SubmissionStatus>(),
    /** BCP-47; null where the form names no languages. */
    language: nullable(text),
  },
);

// JSON leaves PostgreSQL as text and is passed on as it is: parsing it in Node costs a third of the list rate.
export const submissionSelection = `s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference, s.language,
  v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at`;

export const findSubmission = statement(
  'find_submission',
  'workspace_id id',
  ['updated_at tags', foundColumns],
  `select ${submissionSelection}, s.updated_at, s.tags
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`,
);

/**
 * The version that each submission `s` of a page answered, as `v`. It is looked up by its whole key: a plan that is made
 * for pages of any length may join all versions of the workspace instead (measured: 0.75 ms for 1,050 of them, not 0.2).
 */
export const answeredVersion = `lateral (
       select fields, name from form_versions
       where workspace_id = s.workspace_id and form_id = s.form_id and version = s.version limit 1) v`;

/**
 * How many rows a form's count may be spread over: one row would serialise its submits, each of which holds it until its commit is
 * on the disk, or on a standby. Each connection has a row of its own, so a form has as many as there are connections that write to
 * it at the same time. Only the sum over the slots means anything.
 */
const countSlots = 64;
/** The slot of the connection that asks; that of its process where a session has no number. */
export const ownSlot = `(coalesce(nullif(current_setting('${connectionNumber}', true), '')::integer, pg_backend_pid()) % ${countSlots})::smallint`;

/** What was sent under a key before: a submission, saved answers, or spam. */
export const findByKey = statement(
  'find_by_key',
  'workspace_id form_id key:uuid',
  'id version key_digest? completed_at? is_spam:boolean',
  `select id, version, key_digest, completed_at, false as is_spam from submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   union all
   select id, version, key_digest, created_at, true from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   limit 1`,
);

/** Lets one submit of this form pass at a time, until its transaction ends: for forms that take so many of something. */
export const lockFormForSubmit = statement(
  'lock_form_for_submit',
  'form_id',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($form_id::text, 0))`,
);

/**
 * Removes submissions and with them their search documents; their files become orphans, which the sweep removes.
 * @returns by status, how many of them counted: those in the trash had left the counts already.
 */
export const deleteSubmissions = statement(
  'delete_submissions',
  'workspace_id ids',
  ['form_id count', { status: word<SubmissionStatus>() }],
  `with gone as (
     delete from submissions where workspace_id = $workspace_id and id = any ($ids) returning form_id, status, trashed_at)
   select form_id, status, count(*) as count from gone where trashed_at is null group by form_id, status`,
);

/** Adds to a form's count, or takes off it. */
export const addToCount = statement(
  'add_to_count',
  ['workspace_id form_id change:bigint', { status: word<SubmissionStatus>() }],
  '',
  `with own as materialized (select ${ownSlot} as slot)
   insert into submission_counts (workspace_id, form_id, status, slot, count)
   select $workspace_id, $form_id, $status, slot, $change from own
   on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + excluded.count`,
);
