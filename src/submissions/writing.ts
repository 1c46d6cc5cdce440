import type { Answers } from '#ast/answers/check-answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { editDaysOf } from '#ast/settings.ts';
import { claimFiles } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { leastIdAt, newId, now, timeOfId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { columns, integer, nullable, type Queryable, statement, text, word } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import { reportNews } from '#workspaces/audit/mail-news.ts';
import { listFiles } from './changes/edited-answers.ts';
import { searchColumns } from './columns.ts';
import { digestOf, type KeyedRequest } from './exactly-once/repeat.ts';
import { giveLink, linkToken } from './links.ts';
import { ownSlot, type SubmissionStatus } from './submission-rows.ts';

/**
 * The number of documents in a segment of the search index before the next one is opened
 * (docs/decisions/0021). Searching a segment takes 6 µs, or up to 10 ms for a word in all of its documents.
 */
export const segmentDocuments = 16_384;

/**
 * Prefixes of marks in the search index that are not words. No language and no continuation of a segment code
 * starts with them.
 */
export const searchMarks = { incomplete: '-', tag: '#' } as const;

/**
 * Returns the terms of a submission, each prefixed with the code of its segment. They are a mark for its
 * form, a mark if it is incomplete, a mark for each tag (`searchMarks`), and its stemmed words. Words follow
 * their language and a space; words of the subject are repeated after a !. For statements with the parameters
 * workspace_id, id, form_id, language, subject and body.
 */
const termsOf = (status: string, tagMarks = ''): string => `(
  select array_to_tsvector(
    array[segment.code || 'f' || $form_id]
    || case when ${status} = 'incomplete' then array[segment.code || '${searchMarks.incomplete}'] end
    ${tagMarks}
    || ${marked('segment.subject || segment.body', ' ')}
    || ${marked('segment.subject', '!')})
  from (
    select g.code, to_tsvector($language::regconfig, $subject) as subject, to_tsvector($language::regconfig, $body) as body
    from search_segments g where g.workspace_id = $workspace_id and g.first_id <= $id
    order by g.first_id desc limit 1) segment)`;

/** The terms for a row `submission` with its status and tags. */
export const searchTerms = termsOf(
  'submission.status',
  `|| array(select segment.code || '${searchMarks.tag}' || tag from unnest(submission.tags) as tag)`,
);

/** Selects the search documents of the rows of `submission`, as `words`, for an insert. */
export const searchWords = (condition = ''): string =>
  `words as materialized (select workspace_id, id, form_id, ${searchTerms} as terms from submission ${condition})`;

/**
 * Prefixes each word of a tsvector with its mark. Joins them to one text, which takes a tenth of the time of
 * one row per word.
 */
function marked(words: string, sign: ' ' | '!'): string {
  const mark = `segment.code || left($language, 3) || '${sign}'`;
  return `string_to_array(${mark} || array_to_string(tsvector_to_array(${words}), chr(1) || ${mark}), chr(1))`;
}

const insertedSubmission = columns(
  'workspace_id id form_id version answers:jsonText reference:jsonText has_files created_at',
  'completed_at? language subject body',
  {
    /** The version that must be live, because the answers were checked against its limits. Null accepts every version. */
    live_version: nullable(integer),
    status: word<SubmissionStatus>(),
    /** The form language that was read, as a BCP-47 tag; `language` is the language for stemming. */
    spoken: nullable(text),
  },
);

/**
 * Inserts from parameters instead of reading the row again, and adds no tags, because a new row has none:
 * this saves PostgreSQL a twentieth of the work.
 * @param keyed the additions for an insert with a key: columns, values, and the conflict clause.
 */
const insertText = ({ columns, values, conflict } = { columns: '', values: '', conflict: '' }): string =>
  `with live as materialized (select live_version_in_turn($workspace_id, $form_id) as version, ${ownSlot} as slot),
   submission as (
     insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, language, created_at, updated_at, completed_at${columns})
     select $workspace_id, $id, $form_id, $version, $status, $answers, $reference, $has_files, $spoken, $created_at, $created_at, $completed_at${values}
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
 * Inserts a submission, its count and its search document in one statement, so that submitting without files
 * and webhooks needs one round trip and one commit. Acquires the shared form lock. Returns no row if the form
 * was deleted or published again since it was read, which can be minutes ago for a slow upload.
 */
export const insertSubmission = statement('insert_submission', insertedSubmission, 'id', insertText());

/**
 * Inserts a submission with a key, which is unique: one of several parallel inserts succeeds, and the others
 * wait for its commit. Returns no row if the key is used, or the form was deleted or published again.
 */
const insertKeyedSubmission = statement(
  'insert_keyed_submission',
  ['key:uuid key_digest?', insertedSubmission],
  'id',
  insertText({
    columns: ', key, key_digest',
    values: ', $key, $key_digest',
    conflict: 'on conflict (workspace_id, key) where key is not null do nothing',
  }),
);

/** Opens the next segment of the search index, starting at `first_id`, if the newest is full. */
export const openNextSegment = statement(
  'open_next_segment',
  'workspace_id first_id',
  '',
  `insert into search_segments (workspace_id, first_id)
   select $workspace_id, $first_id
   where ${segmentDocuments} = (
     select count(*) from (
       select from search_documents d
       where d.workspace_id = $workspace_id and d.submission_id >= (
         select g.first_id from search_segments g where g.workspace_id = $workspace_id
         order by g.first_id desc limit 1)
       limit ${segmentDocuments}) full_segment)
   on conflict do nothing`,
);

/**
 * The share of submissions that check whether the newest segment of the search index is full, which takes
 * some ms.
 */
const segmentCheckShare = 1 / 512;
/**
 * A segment starts this much later than it is opened. Each process then knows the segment before it inserts
 * an id of it, if its clock differs by less.
 */
const segmentLeadMs = 10_000;

/** The answered version of a form, with its settings. */
type WritingForm = Pick<
  LiveForm,
  'workspaceId' | 'id' | 'name' | 'settings' | 'version' | 'hasListeners' | 'form' | 'written' | 'fields'
>;

/** Checked answers to store, with the id for a new submission. */
export type Writing = Pick<KeyedRequest, 'reference' | 'key' | 'locale'> & {
  language?: string | null | undefined;
  live: WritingForm;
  id: string;
  createdAt: Date;
  /** The completion time, if it is later than creation. */
  completedAt?: Date;
  answers: Answers;
  fileIds: readonly string[];
  /** Whether to check if the newest segment of the search index is full. */
  opensSegment?: boolean;
};

export function prepareWriting(
  { live, reference, key, locale, language, files }: Omit<KeyedRequest, 'raw'>,
  answers: Answers,
): Writing {
  const id = newId();
  // Only files in the answers: uploads to hidden questions stay unclaimed and are swept.
  const fileIds = files.size === 0 ? [] : listFiles(live.form, answers).map((file) => file.id);
  const createdAt = timeOfId(id);
  const stamped = stampConsents(live.form, answers, { version: live.version, at: createdAt });
  const opensSegment = Math.random() < segmentCheckShare;
  return { live, reference, key, locale, language, id, createdAt, answers: stamped, fileIds, opensSegment };
}

/** Returns the columns for the sent answers. */
export const storedColumns = ({ live, answers, reference, fileIds, language = null }: Writing) => ({
  workspace_id: live.workspaceId,
  form_id: live.id,
  version: live.version,
  answers: JSON.stringify(answers),
  reference: JSON.stringify(reference),
  has_files: fileIds.length > 0,
  spoken: language,
  ...searchColumns(live.written ?? live.form, live.settings, { answers, reference, language }),
});

/**
 * Inserts a submission, its count and its search document; needs a transaction if `opensSegment` is set.
 * @param liveVersion the version of the form that must be live. Null accepts every version.
 * @returns whether it was inserted: its key is unused, and its form exists in this version.
 */
export async function insertWriting(
  db: Queryable,
  writing: Writing,
  status: SubmissionStatus,
  liveVersion: number | null = null,
): Promise<boolean> {
  const { live, id, createdAt, completedAt = createdAt, answers, key } = writing;
  const isCompleted = status === 'completed';
  const row = {
    ...storedColumns(writing),
    id,
    live_version: liveVersion,
    status,
    created_at: createdAt,
    completed_at: isCompleted ? completedAt : null,
  };
  const inserted =
    key === undefined
      ? await insertSubmission(db, row)
      : await insertKeyedSubmission(db, {
          ...row,
          key,
          key_digest: isCompleted ? digestOf(answers, live.fields) : null,
        });
  if (inserted.length === 0) return false;
  if (writing.opensSegment) {
    const first_id = leastIdAt(new Date(now().getTime() + segmentLeadMs));
    await openNextSegment(db, { workspace_id: live.workspaceId, first_id });
  }
  return true;
}

/**
 * Claims files for a submission. @throws ApiError conflict if another submission owns a file, or if it was
 * swept.
 */
export async function claimAll(
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
  if (claimed.length !== ids.length) {
    throw new ApiError('conflict', 'A file was already used or has expired. Choose the files again.');
  }
}

/** Whether a submission to the form causes emails. */
export const isMailedAbout = (settings: LiveForm['settings']): boolean =>
  settings.notification_email !== undefined ||
  settings.receipt_email_element !== undefined ||
  settings.notifications !== undefined;

/**
 * Queues the emails about a first completion: notifications and a receipt. @returns the number of new jobs.
 */
export async function reportCompletion(
  db: Queryable,
  { live, id, locale }: Editable & Pick<Writing, 'locale'>,
): Promise<number> {
  if (!isMailedAbout(live.settings)) return 0;
  await reportNews(db, live.workspaceId, { kind: 'submission_completed', submissionId: id, locale });
  return 1;
}

/** Queues webhooks and emails for a new completed submission. @returns the number of new jobs. */
export async function tellCreated(
  db: Queryable,
  writing: Writing,
  completedAt: Date,
  occurredAt = completedAt,
): Promise<number> {
  const { live, id, answers, reference } = writing;
  const mails = await reportCompletion(db, writing);
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
      submission: { id, submittedAt: completedAt, status: 'completed', reference, answers },
      fields: live.fields,
    }),
  });
  return deliveries + mails;
}

/** The form with its settings and the submission of an edit link. */
type Editable = Pick<Writing, 'id'> & { live: Pick<LiveForm, 'workspaceId' | 'id' | 'settings'> };

/** Returns the token of the submission's edit link, if the form allows editing. */
export const editTokenOf = (vault: Vault, { live, id }: Editable): { editToken?: string } =>
  live.settings.editing
    ? { editToken: linkToken(vault, 'edit', { workspaceId: live.workspaceId, formId: live.id, id }) }
    : {};

/** Stores the edit link, which makes it valid, and returns its token. */
export async function giveEditLink(
  db: Queryable,
  vault: Vault,
  { live, id }: Editable,
): Promise<{ editToken?: string }> {
  if (!live.settings.editing) return {};
  const days = editDaysOf(live.settings);
  const linked = { workspaceId: live.workspaceId, formId: live.id, submissionId: id };
  return { editToken: (await giveLink(db, vault, linked, { purpose: 'edit', days })).token };
}
