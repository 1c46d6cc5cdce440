import { createHash } from 'node:crypto';
import type { Answers } from '#ast/answers/fill.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { editDaysOf } from '#ast/settings.ts';
import { claimFiles } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { leastIdAt, newId, now, timeOfId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import {
  columns,
  integer,
  jsonText,
  nullable,
  type Queryable,
  statement,
  text,
  textEnum,
} from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { searchRules } from '#rules/search-rules.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import { buildSearchData } from './columns.ts';
import { listFiles } from './edited-answers.ts';
import { createOrExtendLink, signSubmissionLinkToken } from './links.ts';
import { mapAnswersOfKind, mapFiles } from './present.ts';
import { countSlotSql, type SubmissionStatus } from './submission-rows.ts';
import type { SubmitRequest } from './submit-request.ts';
import { formatVerified } from './verified.ts';

/**
 * The number of documents in a segment of the search index before the next one is opened
 * (docs/decisions/0021). Searching a segment takes 6 µs, or up to 10 ms for a word in all of its documents.
 */
export const documentsPerSegment = 16_384;

/**
 * The first character of terms in the search index that are not words: no language and no code of a segment
 * contains it.
 */
export const searchMarks = { notCompleted: '-', waiting: '+', tag: '#' } as const;

/** The parameters of a search document (search-text/document.ts). */
export const documentColumns = columns(
  'language subject subject_folded:text subject_terms:texts body body_folded:text body_terms:texts',
);

/**
 * Returns the terms of a submission, each prefixed with the code of its segment: a term for its form, a term
 * or two if it is not completed, a term for each tag (`searchMarks`), and its words. A word is preceded by its language
 * and a space; words of the subject are repeated after a `!`. Spellings without accents begin with `~`. For
 * statements with the parameters workspace_id, id, form_id and documentColumns.
 */
const termsOf = (status: string, tagMarks = ''): string => `(
  select array_to_tsvector(
    array[segment.code || 'f' || $form_id]
    || case when ${status} <> 'completed' then array[segment.code || '${searchMarks.notCompleted}'] end
    || case when ${status} = 'waiting' then array[segment.code || '${searchMarks.waiting}'] end
    ${tagMarks}
    || ${marked(`${lexemesOf('$body')} || $body_terms`, ' ')}
    || ${marked(`${lexemesOf('$subject')} || $subject_terms`, '!')}
    || case when $body_folded <> '' then ${marked(lexemesOf('$body_folded'), ' ~')} end
    || case when $subject_folded <> '' then ${marked(lexemesOf('$subject_folded'), '!~')} end)
  from (
    select g.code from search_segments g where g.workspace_id = $workspace_id and g.first_id <= $id
    order by g.first_id desc limit 1) segment)`;

/** The terms of a row `submission` with its status and tags. */
export const searchTermsSql = termsOf(
  'submission.status',
  `|| array(select segment.code || '${searchMarks.tag}' || tag from unnest(submission.tags) as tag)`,
);

/** Selects the search documents of the rows of `submission`, as `words`, for an insert. */
export const searchDocumentsSql = (condition = ''): string =>
  `words as materialized (select workspace_id, id, form_id, ${searchTermsSql} as terms from submission ${condition})`;

function lexemesOf(words: string): string {
  return `tsvector_to_array(to_tsvector($language::regconfig, ${words}))`;
}

/**
 * Returns terms, each preceded by the sign. They are built as one string, which costs a tenth of building one
 * row per word.
 */
function marked(lexemes: string, sign: ' ' | '!' | ' ~' | '!~'): string {
  const mark = `segment.code || left($language, 3) || '${sign}'`;
  return `string_to_array(${mark} || array_to_string(${lexemes}, chr(1) || ${mark}), chr(1))`;
}

const insertedSubmission = columns(
  'workspace_id id form_id version answers:jsonText reference:jsonText respondent:jsonText? has_files created_at',
  'completed_at?',
  documentColumns,
  {
    /**
     * The version that must be live, because the answers were checked against its limits. Null allows every
     * version.
     */
    live_version: nullable(integer),
    status: textEnum<SubmissionStatus>(),
    /** The form language that the visitor read, as a BCP 47 tag; `language` is the language for stemming. */
    form_language: nullable(text),
    verified: nullable(jsonText),
  },
);

/**
 * Returns the SQL of an insert. The search document is built from the parameters, not from the inserted row,
 * and without tags, which a new row does not have. That saves PostgreSQL a twentieth of its work.
 * @param keyed what an insert under a key adds: columns, their values, and what happens if the key is used.
 */
const insertText = ({ columns, values, conflict } = { columns: '', values: '', conflict: '' }): string =>
  `with live as materialized (select live_version_in_turn($workspace_id, $form_id) as version, ${countSlotSql} as slot),
   submission as (
     insert into submissions (workspace_id, id, form_id, version, status, answers, reference, respondent, has_files, language, verified, created_at, updated_at, completed_at${columns})
     select $workspace_id, $id, $form_id, $version, $status, $answers, $reference, $respondent, $has_files, $form_language, $verified, $created_at, $created_at, $completed_at${values}
     from live
     where live.version = coalesce($live_version, live.version)
     ${conflict}
     returning id),
   counted as (
     insert into submission_counts (workspace_id, form_id, status, slot, count)
     select $workspace_id, $form_id, $status, live.slot, 1 from submission cross join live
     on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + 1),
   words as materialized (select ${termsOf('$status')} as terms from submission),
   document as (
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select $workspace_id, $id, $form_id, terms from words)
   select id from submission`;

/**
 * Inserts a submission, its count and its search document in one statement. Without files and webhooks, a
 * submit is therefore one round trip and one commit. It acquires the shared form lock. Returns no row if the
 * form was deleted or published since the request began, which may be minutes ago if an upload is slow.
 */
export const insertSubmission = statement(insertedSubmission, 'id')`${insertText()}`;

/**
 * Inserts a submission under a key, which can be used once: of many parallel inserts, one succeeds, and the
 * others wait for its commit. Returns no row if the key is used, or the form was deleted or published.
 */
const insertKeyedSubmission = statement(['key:uuid key_digest?', insertedSubmission], 'id')`
  ${insertText({
    columns: ', key, key_digest',
    values: ', $key, $key_digest',
    conflict: 'on conflict (workspace_id, key) where key is not null do nothing',
  })}`;

/** Opens the next segment of the search index, starting at this id, if the newest one is full. */
export const openNextSegment = statement('workspace_id first_id', '')`
  insert into search_segments (workspace_id, first_id, rules)
  select $workspace_id, $first_id, ${searchRules}
  where ${documentsPerSegment} = (
    select count(*) from (
      select from search_documents d
      where d.workspace_id = $workspace_id and d.submission_id >= (
        select g.first_id from search_segments g where g.workspace_id = $workspace_id
        order by g.first_id desc limit 1)
      limit ${documentsPerSegment}) full_segment)
  on conflict do nothing`;

/**
 * The share of submissions that check whether the newest segment of the search index is full, because the
 * check takes some ms.
 */
const segmentCheckShare = 1 / 512;
/**
 * A segment starts this many milliseconds after it is opened. Each process then knows the segment before it
 * inserts an id in it, unless its clock is off by more than this.
 */
const segmentLeadMs = 10_000;

/** The version of a form that was answered, with its settings. */
type RecordForm = Pick<
  LiveForm,
  'workspaceId' | 'id' | 'name' | 'settings' | 'version' | 'hasListeners' | 'form' | 'written' | 'fields'
>;

/** Checked answers to store, with the id for a new submission. */
export type SubmissionRecord = Pick<
  SubmitRequest,
  'reference' | 'key' | 'locale' | 'verified' | 'respondent'
> & {
  language?: string | null | undefined;
  live: RecordForm;
  id: string;
  createdAt: Date;
  /** The time of completion, if it is later than the creation. */
  completedAt?: Date;
  answers: Answers;
  fileIds: readonly string[];
  /** Whether this submission checks if the newest segment of the search index is full. */
  opensSegment?: boolean;
};

export function prepareRecord(
  { live, reference, respondent, key, locale, language, verified, files }: Omit<SubmitRequest, 'raw'>,
  answers: Answers,
): SubmissionRecord {
  const id = newId();
  // Only the files of visible questions: the sweep deletes the others.
  const fileIds = files.size === 0 ? [] : listFiles(live.form, answers).map((file) => file.id);
  const createdAt = timeOfId(id);
  const stamped = stampConsents(live.form, answers, { version: live.version, at: createdAt });
  const opensSegment = Math.random() < segmentCheckShare;
  const known = { live, reference, respondent, key, locale, language, verified };
  return { ...known, id, createdAt, answers: stamped, fileIds, opensSegment };
}

/** Returns the columns for the sent answers. */
export const storedColumns = ({
  live,
  answers,
  reference,
  respondent,
  fileIds,
  verified,
  language = null,
}: SubmissionRecord) => ({
  workspace_id: live.workspaceId,
  form_id: live.id,
  version: live.version,
  answers: JSON.stringify(answers),
  reference: JSON.stringify(reference),
  respondent: respondent ? JSON.stringify(respondent) : null,
  has_files: fileIds.length > 0,
  form_language: language,
  verified: formatVerified(verified, answers),
  ...buildSearchData(live.written ?? live.form, live.settings, { answers, reference, language }),
});

/**
 * Inserts a submission, its count and its search document. Needs a transaction if `opensSegment` is set.
 * @param liveVersion the version of the form that must be live. Null allows every version.
 * @returns whether it was inserted: its key is unused, and its form exists in this version.
 */
export async function insertRecord(
  db: Queryable,
  record: SubmissionRecord,
  status: SubmissionStatus,
  liveVersion: number | null = null,
): Promise<boolean> {
  const { live, id, createdAt, completedAt = createdAt, answers, key } = record;
  const isSubmitted = status !== 'incomplete';
  const row = {
    ...storedColumns(record),
    id,
    live_version: liveVersion,
    status,
    created_at: createdAt,
    completed_at: isSubmitted ? completedAt : null,
  };
  const inserted =
    key === undefined
      ? await insertSubmission(db, row)
      : await insertKeyedSubmission(db, {
          ...row,
          key,
          key_digest: isSubmitted ? digestAnswers(answers, live.fields) : null,
        });
  if (inserted.length === 0) return false;
  if (record.opensSegment) {
    const first_id = leastIdAt(new Date(now().getTime() + segmentLeadMs));
    await openNextSegment(db, { workspace_id: live.workspaceId, first_id });
  }
  return true;
}

/**
 * Claims files for a submission. @throws ApiError conflict if a file belongs to another submission, or was
 * swept.
 */
export async function claimAllFiles(
  db: Queryable,
  { live, id }: { live: Pick<LiveForm, 'workspaceId' | 'id'>; id: string },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const claimed = await claimFiles(db, {
    workspace_id: live.workspaceId,
    form_id: live.id,
    submission_id: id,
    ids: [...ids],
  });
  if (claimed.length !== ids.length)
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
}

/**
 * Releases the files that an edit left out. They then belong to no submission, and the sweep deletes them.
 */
export const releaseFiles = statement('workspace_id submission_id kept:uuids', '')`
  update files set submission_id = null
  where workspace_id = $workspace_id and submission_id = $submission_id and id <> all ($kept)`;

/**
 * Returns a digest that stays the same when the same answers are sent again. In that case a file is another
 * row with the same content, and a consent has another time.
 */
export function digestAnswers(answers: Answers, fields: Readonly<Record<string, FieldDescription>>): Buffer {
  const consented = mapAnswersOfKind('consent', answers, fields, () => 'yes');
  const compared = mapFiles(consented, fields, (file) => ({ ...file, id: '' }));
  return createHash('sha256').update(JSON.stringify(compared)).digest();
}

/** Whether a form sends emails about its submissions. */
export const sendsSubmissionEmails = (settings: LiveForm['settings']): boolean =>
  settings.notification_email !== undefined ||
  settings.receipt_email_element !== undefined ||
  settings.waiting_list === true ||
  settings.notifications !== undefined;

/**
 * Enqueues the emails about a first completion: notifications to the form's addresses, and a receipt.
 * @returns the number of jobs.
 */
export async function enqueueCompletionEmails(
  db: Queryable,
  { live, id, locale }: Editable & Pick<SubmissionRecord, 'locale'>,
): Promise<number> {
  if (!sendsSubmissionEmails(live.settings)) return 0;
  await enqueueEmailEvent(db, live.workspaceId, { kind: 'submission_completed', submissionId: id, locale });
  return 1;
}

/**
 * Records the event of a new completed or waiting submission and enqueues the emails about it. @returns the
 * number of jobs.
 */
export async function recordSubmissionCreated(
  db: Queryable,
  record: SubmissionRecord,
  { status, at, occurredAt = at }: { status: SubmissionStatus; at: Date; occurredAt?: Date },
): Promise<number> {
  const { live, id, answers, reference, respondent } = record;
  const mails = await enqueueCompletionEmails(db, record);
  if (!live.hasListeners) return mails;
  const deliveries = await recordEvent(db, {
    workspaceId: live.workspaceId,
    formId: live.id,
    submissionId: id,
    kind: 'submission.created',
    occurredAt,
    fields: live.fields,
    snapshot: snapshotOf({
      form: { id: live.id, name: live.name, workspaceId: live.workspaceId },
      submission: { id, submittedAt: at, status, reference, respondent, answers },
      fields: live.fields,
    }),
  });
  return deliveries + mails;
}

/** What an edit link is created from: the form with its settings, and the id of the submission. */
type Editable = Pick<SubmissionRecord, 'id'> & { live: Pick<LiveForm, 'workspaceId' | 'id' | 'settings'> };

/** Whether the visitor of a submission gets a link, to edit or to cancel it. */
export const hasVisitorLink = ({ editing, waiting_list }: LiveForm['settings']): boolean =>
  editing === true || waiting_list === true;

/** Returns the token of a submission's edit link, if the form has these links. */
export const editTokenOf = (vault: Vault, { live, id }: Editable): { editToken?: string } =>
  hasVisitorLink(live.settings)
    ? {
        editToken: signSubmissionLinkToken(vault, 'edit', {
          workspaceId: live.workspaceId,
          formId: live.id,
          id,
        }),
      }
    : {};

/** The days for which the link of a waiting submission works, until it gets a place. */
const waitingDays = 3_650;

/** Returns the token of a submission's edit link, and enables the link. */
export async function createEditLink(
  db: Queryable,
  vault: Vault,
  { live, id }: Editable,
  status: SubmissionStatus,
): Promise<{ editToken?: string }> {
  if (!hasVisitorLink(live.settings)) return {};
  const days = status === 'waiting' ? waitingDays : editDaysOf(live.settings);
  const linked = { workspaceId: live.workspaceId, formId: live.id, submissionId: id };
  return { editToken: (await createOrExtendLink(db, vault, linked, { purpose: 'edit', days })).token };
}
