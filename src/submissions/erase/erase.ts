import type { Answers } from '#ast/answers/check-answers.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { type DigestMode, digestModes, type Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { now } from '#kit/clock.ts';
import { deleteMailsAboutSubmissions } from '#kit/outbox.ts';
import { json, jsonb, nullable, onlyRow, type Queryable, statement, textEnum } from '#kit/statement.ts';
import { blankSnapshot } from '#webhooks/event.ts';
import { recordEvent, recordEvents, type SubmissionEvent } from '#webhooks/record-event.ts';
import { deleteEventsOfSubmissions } from '#webhooks/upkeep.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { createChangeEvent, type FormKey } from '../change-event.ts';
import { deleteLockedSubmissions } from '../changes/remove.ts';
import { buildSearchData } from '../columns.ts';
import { listFiles } from '../edited-answers.ts';
import { shareFormLock } from '../quotas.ts';
import { documentColumns, searchTermsSql } from '../submission-record.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import { stripAnswers } from './strip-answers.ts';

/** Locks submissions to erase, in the trash or not, with their answers. Locked in the order of ids. */
const lockToErase = statement('workspace_id form_id ids', [
  'id completed_at? tags language? updated_at is_trashed version form_name',
  {
    status: textEnum<SubmissionStatus>(),
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    respondent: nullable(json<Respondent>()),
    fields: json<Record<string, FieldDescription>>(),
    structure: effectiveFormColumn,
    settings: jsonb<Settings>(),
  },
])`
  select s.id, s.status, s.completed_at, s.answers, s.reference, s.respondent, s.tags, s.language, s.updated_at,
         s.trashed_at is not null as is_trashed, s.version, v.fields, v.name as form_name, v.structure, f.settings
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
  order by s.id for update of s`;

/** Selects the files of submissions, and counts the dependent rows that will be deleted with them. */
const countBelongings = statement('workspace_id ids', 'file_ids notes:bigint changes:bigint links:bigint')`
  select
    array(select id from files where workspace_id = $workspace_id and submission_id = any ($ids) order by id) as file_ids,
    (select count(*) from submission_notes where workspace_id = $workspace_id and submission_id = any ($ids)) as notes,
    (select count(*) from submission_changes where workspace_id = $workspace_id and submission_id = any ($ids)) as changes,
    (select count(*) from submission_links where workspace_id = $workspace_id and submission_id = any ($ids)) as links`;

/** Selects the invitations of submissions: the id of an invitation is the key of its submission. */
const listInvitationsOf = statement('workspace_id submission_ids', 'id')`
  /* includes the trash: trashed_at does not matter */
  select i.id from submissions s
  join invitations i on i.workspace_id = s.workspace_id and i.id = s.key
  where s.workspace_id = $workspace_id and s.id = any ($submission_ids)`;

/**
 * Deletes invitations, their emails, and their batch if no other invitation uses its texts.
 * @returns the number of deleted invitations and emails.
 */
export const deleteInvitations = statement('workspace_id ids', 'invitations:bigint mails:bigint')`
  with gone as (
    delete from invitations where workspace_id = $workspace_id and id = any ($ids)
    returning form_id, batch_id, address_key, email),
  letters as (
    delete from mails m using gone
    where m.workspace_id = $workspace_id and m.form_id = gone.form_id and m.kind in ('invitation', 'reminder')
      and lower(m.recipient) in (gone.address_key, lower(gone.email))
    returning m.id),
  batches as (
    delete from invitation_batches b
    where b.workspace_id = $workspace_id and b.id in (select batch_id from gone)
      and not exists (
        select from invitations i
        where i.workspace_id = b.workspace_id and i.batch_id = b.id and i.id <> all ($ids))
      and not exists (
        select from task_items d where d.workspace_id = b.workspace_id and d.task_id = b.id))
  select (select count(*) from gone) as invitations, (select count(*) from letters) as mails`;

/**
 * Adds submissions to the next digest of their form again, because the digest that listed them is withdrawn.
 * @returns whether this starts a digest, which must then be requested.
 */
const requeueDigestItems = statement(
  ['workspace_id form_id submission_ids', { mode: textEnum<DigestMode>() }],
  'is_new',
)`
  with items as (
    insert into digest_items (workspace_id, form_id, submission_id)
    select workspace_id, form_id, id from submissions
    where workspace_id = $workspace_id and form_id = $form_id and id = any ($submission_ids) and trashed_at is null
    on conflict (workspace_id, form_id, submission_id) do nothing
    returning submission_id),
  digest as (
    insert into digests as d (workspace_id, form_id, mode)
    select $workspace_id, $form_id, $mode from items limit 1
    on conflict (workspace_id, form_id) do update set mode = d.mode
    returning d.xmax = 0 as is_new)
  select is_new from digest`;

/**
 * Keeps only the answers of a submission that do not identify the person, and its search document for them.
 * Deletes its history, notes and links.
 */
const stripSubmission = statement(
  [
    'workspace_id form_id id answers:jsonText has_files kept_files:uuids kept_elements:texts',
    'updated_at',
    documentColumns,
  ],
  '',
)`
  with submission as (
    update submissions
    set answers = $answers, reference = '{}', respondent = null, tags = '{}', verified = null, has_files = $has_files, updated_at = $updated_at,
        key_digest = case when key_digest is not null then '\\x'::bytea end
    where workspace_id = $workspace_id and id = $id
    returning status, tags),
  notes as (
    delete from submission_notes where workspace_id = $workspace_id and submission_id = $id),
  changes as (
    delete from submission_changes where workspace_id = $workspace_id and submission_id = $id),
  links as (
    delete from submission_links where workspace_id = $workspace_id and submission_id = $id),
  freed as (
    delete from taken_answers
    where workspace_id = $workspace_id and submission_id = $id and element_id <> all ($kept_elements)),
  released as (
    update files set submission_id = null
    where workspace_id = $workspace_id and submission_id = $id and id <> all ($kept_files))
  update search_documents set terms = ${searchTermsSql} from submission
  where workspace_id = $workspace_id and submission_id = $id`;

const nothingDeleted = {
  submissions: 0,
  /** The number of submissions of which only identifying answers were deleted. */
  stripped: 0,
  files: 0,
  notes: 0,
  changes: 0,
  links: 0,
  events: 0,
  deliveries: 0,
  mails: 0,
  invitations: 0,
};

/** The number of deleted items of each kind. A receipt shows only these numbers, not the content. */
export type DeletedCounts = typeof nothingDeleted;

/**
 * The result of an erasure: the counts, the files whose bytes must also be deleted, and the number of new
 * deliveries.
 */
export type ErasureOutcome = { gone: DeletedCounts; fileIds: string[]; deliveries: number };

/**
 * Erases submissions, in the trash or not, in the caller's transaction. Also deletes their history, notes,
 * tags, search text, links and invitations, their events with deliveries and attempts, and emails about them,
 * sent or waiting. After that, no submission owns their files: removeMarkedFiles deletes them immediately, or
 * else the sweep within seconds. Sends `submission.deleted` without answers for those that were completed.
 * Call it with at most a few hundred submissions, to keep locks short.
 * @param options.keepsOpenInvitations whether to keep the invitation of an incomplete submission: the person
 * may still answer.
 * @returns the result; if `deliveries` is not 0, wake the queue after the commit.
 */
export async function eraseSubmissions(
  db: Queryable,
  key: FormKey,
  ids: readonly string[],
  options = { keepsOpenInvitations: false },
): Promise<ErasureOutcome> {
  const rows = await lockToErase(db, keyOf(key, ids));
  const traces = await eraseTraces(db, key, rows, options);
  const completed = rows.filter((row) => row.completed_at !== null);
  const deliveries = await recordEvents(
    db,
    key.workspaceId,
    key.formId,
    completed.map((row) => blanked(createChangeEvent('submission.deleted', key, row))),
  );
  await deleteLockedSubmissions(db, key, rows);
  return { ...traces, gone: { ...traces.gone, submissions: rows.length }, deliveries };
}

/**
 * Erases what identifies the person: the answers to identifying elements (#ast/form/identifies.ts), and every
 * answer in which `isMatch` finds the person. Also erases the respondent, all reference values, tags, notes, history, links,
 * events, emails and invitations. Other answers stay, and `submission.updated` is sent with them.
 */
export async function eraseIdentity(
  db: Queryable,
  key: FormKey,
  ids: readonly string[],
  isMatch: (text: string) => boolean,
): Promise<ErasureOutcome> {
  await shareFormLock(db, { workspace_id: key.workspaceId, form_id: key.formId });
  const rows = await lockToErase(db, keyOf(key, ids));
  const traces = await eraseTraces(db, key, rows, { keepsOpenInvitations: false });
  const kept: string[] = [];
  let deliveries = 0;
  for (const row of rows) {
    const answers = stripAnswers(row.structure, row.answers, isMatch);
    const files = listFiles(row.structure, answers).map(({ id }) => id);
    kept.push(...files);
    const stripped = { ...row, answers, reference: {}, respondent: null };
    await stripSubmission(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      id: row.id,
      answers: JSON.stringify(answers),
      has_files: files.length > 0,
      kept_files: files,
      kept_elements: Object.keys(answers),
      updated_at: new Date(Math.max(now().getTime(), row.updated_at.getTime() + 1)),
      ...buildSearchData(row.structure, row.settings, stripped),
    });
    if (row.completed_at === null || row.is_trashed) continue;
    deliveries += await recordEvent(db, {
      ...key,
      ...createChangeEvent('submission.updated', key, stripped),
    });
  }
  const fileIds = traces.fileIds.filter((id) => !kept.includes(id));
  const gone = { ...traces.gone, stripped: rows.length, files: fileIds.length };
  return { gone, fileIds, deliveries };
}

const keyOf = ({ workspaceId, formId }: FormKey, ids: readonly string[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  ids: [...ids],
});

const blanked = (event: SubmissionEvent): SubmissionEvent => ({
  ...event,
  published: blankSnapshot(event.snapshot),
});

type Row = Awaited<ReturnType<typeof lockToErase>>[number];

/** Deletes other records about submissions, and counts their dependent rows. */
async function eraseTraces(
  db: Queryable,
  key: FormKey,
  rows: readonly Row[],
  { keepsOpenInvitations }: { keepsOpenInvitations: boolean },
): Promise<{ gone: DeletedCounts; fileIds: string[] }> {
  const { workspaceId: workspace_id } = key;
  const ids = rows.map(({ id }) => id);
  const belongings = onlyRow(await countBelongings(db, { workspace_id, ids }))!;
  const over = keepsOpenInvitations ? rows.filter((row) => row.completed_at !== null) : rows;
  const invitations = await listInvitationsOf(db, { workspace_id, submission_ids: over.map(({ id }) => id) });
  const invited = onlyRow(
    await deleteInvitations(db, { workspace_id, ids: invitations.map(({ id }) => id) }),
  )!;
  const deletedEvents = onlyRow(await deleteEventsOfSubmissions(db, { workspace_id, submission_ids: ids }))!;
  const letters = await deleteMailsAboutSubmissions(db, { workspace_id, submission_ids: ids });
  const others = new Set(letters.flatMap(({ other_ids }) => other_ids));
  if (others.size > 0) await requeueDigest(db, key, rows[0]!, [...others]);
  const { file_ids: fileIds, ...counts } = belongings;
  return {
    fileIds,
    gone: {
      ...nothingDeleted,
      ...counts,
      ...deletedEvents,
      files: fileIds.length,
      mails: letters.length + invited.mails,
      invitations: invited.invitations,
    },
  };
}

/** Adds the other submissions of a withdrawn digest to the next digest. */
async function requeueDigest(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  { settings }: Row,
  ids: readonly string[],
): Promise<void> {
  const digest = onlyRow(
    await requeueDigestItems(db, {
      workspace_id: workspaceId,
      form_id: formId,
      submission_ids: [...ids],
      mode: settings.notification_digest ?? digestModes[1],
    }),
  );
  if (digest?.is_new) await enqueueEmailEvent(db, workspaceId, { kind: 'digest_due', formId });
}
