import { connectionNumber } from '#kit/database.ts';
import { statement, word } from '#kit/statement.ts';

/** Specification, "Submission status". */
export type SubmissionStatus = 'completed' | 'incomplete';

/**
 * The maximum number of rows for the count of a form. With a single row, submissions would wait for each
 * other: each locks it until its commit is on disk, or on a standby. Each connection has its own row, so a
 * form has as many rows as connections write to it at the same time. Only the sum of all slots is meaningful.
 */
const countSlots = 64;
/** The slot of the current connection, or of its process if the session has no number. */
export const ownSlot = `(coalesce(nullif(current_setting('${connectionNumber}', true), '')::integer, pg_backend_pid()) % ${countSlots})::smallint`;

/** Selects the submission with a key: completed, incomplete or spam. */
export const findByKey = statement(
  'find_by_key',
  'workspace_id form_id key:uuid',
  'id version key_digest? completed_at? is_held:boolean',
  `select id, version, key_digest, completed_at, false as is_held from submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   union all
   select id, version, key_digest, created_at, true from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   limit 1`,
);

/**
 * Acquires the form lock until the transaction ends: a form with a response limit or quotas processes one
 * submission at a time.
 */
export const lockFormForSubmit = statement(
  'lock_form_for_submit',
  'form_id',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($form_id::text, 0))`,
);

/**
 * Deletes submissions with their search documents. No submission owns their files then, and the sweep deletes
 * them.
 * @returns the number of counted submissions by status; those in the trash are not counted.
 */
export const deleteSubmissions = statement(
  'delete_submissions',
  'workspace_id ids',
  ['form_id count', { status: word<SubmissionStatus>() }],
  `with gone as (
     delete from submissions where workspace_id = $workspace_id and id = any ($ids) returning form_id, status, trashed_at)
   select form_id, status, count(*) as count from gone where trashed_at is null group by form_id, status`,
);

/** Adds to a form's count, or subtracts from it. */
export const addToCount = statement(
  'add_to_count',
  ['workspace_id form_id change:bigint', { status: word<SubmissionStatus>() }],
  '',
  `with own as materialized (select ${ownSlot} as slot)
   insert into submission_counts (workspace_id, form_id, status, slot, count)
   select $workspace_id, $form_id, $status, slot, $change from own
   on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + excluded.count`,
);
