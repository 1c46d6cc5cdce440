import { enqueuePromotion } from '#forms/enqueue-promotion.ts';
import { connectionNumberSetting } from '#kit/database.ts';
import { columns, nullable, type Queryable, statement, text, textEnum } from '#kit/statement.ts';
import { firstStageIdSql, stageIdSql } from '#workspaces/stages.ts';

/** The status of a submission. Specification, "Submission status". */
export type SubmissionStatus = 'completed' | 'incomplete' | 'waiting';

/**
 * The columns of a submission for readers. `fields` and `form_name` are those of the version that was
 * answered.
 */
export const foundColumns = columns(
  'id workspace_id form_id answers:text reference:text respondent:text? fields:text form_name has_files',
  'created_at completed_at? verified:text? stage_id:text first_stage_id:text assignee_id:text?',
  {
    status: textEnum<SubmissionStatus>(),
    /** A BCP 47 tag; null if the form has no languages. */
    language: nullable(text),
  },
);

// JSON arrives as text and is passed on unparsed: parsing it in Node costs a third of the list rate.
export const submissionSelection = `s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference, s.respondent::text as respondent, s.language,
  v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at, s.verified::text as verified,
  ${stageIdSql('s')} as stage_id, ${firstStageIdSql} as first_stage_id, s.assignee_id`;

export const findSubmission = statement('workspace_id id', ['updated_at tags', foundColumns])`
  select ${submissionSelection}, s.updated_at, s.tags
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`;

/**
 * Selects the version answered by each submission `s` of a page, as `v`. It is looked up by its whole key:
 * otherwise a plan for pages of any length may join all versions of the workspace (measured: 0.75 ms for
 * 1,050 of them, instead of 0.2 ms).
 */
export const answeredVersionSql = `lateral (
       select fields, name from form_versions
       where workspace_id = s.workspace_id and form_id = s.form_id and version = s.version limit 1) v`;

/**
 * The maximum number of rows that store the count of a form. With a single row, submissions would wait for
 * each other: each locks the row until its commit is on disk, or on a standby. Each connection has its own
 * row, so a form has as many rows as connections that write to it at the same time. Only the sum of all slots
 * is meaningful.
 */
const countSlots = 64;
/** The slot of the current connection, or of its database process if the session has no number. */
export const countSlotSql = `(coalesce(nullif(current_setting('${connectionNumberSetting}', true), '')::integer, pg_backend_pid()) % ${countSlots})::smallint`;

/** Finds what was sent under a key before: a submission, saved answers, or spam. */
export const findSubmissionByKey = statement('workspace_id form_id key:uuid', [
  'id version key_digest? completed_at? is_spam:boolean',
  { status: textEnum<SubmissionStatus>() },
])`
  select id, version, key_digest, completed_at, status, false as is_spam from submissions
  where workspace_id = $workspace_id and form_id = $form_id and key = $key
  union all
  select id, version, key_digest, created_at, 'completed', true from held_submissions
  where workspace_id = $workspace_id and form_id = $form_id and key = $key
  limit 1`;

/**
 * Acquires the form lock until the transaction ends: a form with a response limit or quotas processes one
 * submission at a time.
 */
export const lockFormForSubmit = statement('form_id', '')`
  select from pg_advisory_xact_lock(hashtextextended($form_id::text, 0))`;

/**
 * Deletes submissions with their search documents. After that, no submission owns their files, and the sweep
 * deletes them.
 * @returns the number of counted submissions by status; those in the trash are not counted.
 */
export const deleteSubmissions = statement('workspace_id ids', [
  'form_id count',
  { status: textEnum<SubmissionStatus>() },
])`
  with gone as (
    delete from submissions where workspace_id = $workspace_id and id = any ($ids) returning form_id, status, trashed_at)
  select form_id, status, count(*) as count from gone where trashed_at is null group by form_id, status`;

const addToCount = statement(
  ['workspace_id form_id change:bigint', { status: textEnum<SubmissionStatus>() }],
  '',
)`
  with own as materialized (select ${countSlotSql} as slot)
  insert into submission_counts (workspace_id, form_id, status, slot, count)
  select $workspace_id, $form_id, $status, slot, $change from own
  on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + excluded.count`;

type CountChange = { workspace_id: string; form_id: string; status: SubmissionStatus; change: number };

/**
 * Adds to a form's count, or subtracts from it. If that may have freed a place, or another submission waits
 * for one, it enqueues the promotion of waiting submissions.
 */
export async function addToSubmissionCount(db: Queryable, row: CountChange): Promise<void> {
  await addToCount(db, row);
  const { status, change } = row;
  if (status === 'completed' ? change < 0 : status === 'waiting' && change > 0)
    await enqueuePromotion(db, row);
}

/** Moves a submission between the counts. `from` is undefined if it was not counted. */
export async function moveSubmissionCount(
  db: Queryable,
  form: Pick<CountChange, 'workspace_id' | 'form_id'>,
  { from, to }: { from: SubmissionStatus | undefined; to: SubmissionStatus },
): Promise<void> {
  // A fixed order, so that two changes in opposite directions cannot deadlock.
  for (const status of [from, to].filter((each) => each !== undefined).toSorted())
    await addToSubmissionCount(db, { ...form, status, change: status === to ? 1 : -1 });
}
