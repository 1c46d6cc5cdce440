import type { Answers } from '#ast/answers.ts';
import type { FieldDescription } from '#ast/describe.ts';
import type { Settings } from '#ast/settings.ts';
import { columns, json, jsonb, statement, word } from '#kit/statement.ts';
import { searchTerms, type SubmissionStatus } from '../queries.ts';
import { formTree } from '#forms/structure-columns.ts';

type Reference = Record<string, string>;

/** What an event tells of a submission. */
const snapshotColumns = columns('id completed_at? form_name updated_at', {
  status: word<SubmissionStatus>(),
  answers: json<Answers>(),
  reference: json<Reference>(),
  fields: json<Record<string, FieldDescription>>(),
});

const snapshotSelection = `s.id, s.status, s.completed_at, s.answers, s.reference, v.fields, v.name as form_name, s.updated_at`;
const versionJoin = `join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version`;

/** The form of a submission, and whether it lies in the trash. */
export const findPlace = statement(
  'submissions.find_place',
  'workspace_id id',
  'form_id is_trashed',
  `select s.form_id, s.trashed_at is not null as is_trashed from submissions s
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and f.deleted_at is null`,
);

// Edits ---------------------------------------------------------------------------------------------------

/** A submission that is about to change, with the version that it answered. Locked until the transaction ends. */
export const lockSubmission = statement(
  'submissions.lock_submission',
  'workspace_id form_id id',
  ['tags language? version', { structure: formTree, settings: jsonb<Settings>() }, snapshotColumns],
  `select ${snapshotSelection}, s.tags, s.language, s.version, v.structure, f.settings
   from submissions s
   ${versionJoin}
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $id and s.trashed_at is null and f.deleted_at is null
   for update of s`,
);

/** A completed submission whose visitor wants to change it. */
export const findEditable = statement(
  'submissions.find_editable',
  'workspace_id id',
  [
    'language? updated_at',
    {
      answers: json<Answers>(),
      reference: json<Reference>(),
      structure: formTree,
      settings: jsonb<Settings>(),
    },
  ],
  `select s.answers, s.reference, s.language, s.updated_at, v.structure, f.settings
   from submissions s
   ${versionJoin}
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.status = 'completed' and s.trashed_at is null and f.deleted_at is null`,
);

/** Writes a changed submission together with what it is found by. */
export const updateSubmission = statement(
  'submissions.update_submission',
  [
    'workspace_id form_id id answers:jsonText reference:jsonText has_files tags completed_at?',
    'updated_at language subject body',
    { status: word<SubmissionStatus>() },
  ],
  '',
  `with submission as (
     update submissions
     set status = $status, answers = $answers, reference = $reference, has_files = $has_files, tags = $tags,
         completed_at = $completed_at, updated_at = $updated_at
     where workspace_id = $workspace_id and form_id = $form_id and id = $id
     returning status, tags)
   update search_documents set terms = ${searchTerms} from submission
   where workspace_id = $workspace_id and submission_id = $id`,
);

/** Lets go of the files that an edit left out: they belong to nobody, and the sweep removes them. */
export const releaseFiles = statement(
  'submissions.release_files',
  'workspace_id submission_id kept:uuids',
  '',
  `update files set submission_id = null
   where workspace_id = $workspace_id and submission_id = $submission_id and id <> all ($kept)`,
);

// Removal -------------------------------------------------------------------------------------------------

/** The next submissions of a form that is being removed, oldest first. Locked, so that two workers take turns. */
export const lockOldestSubmissions = statement(
  'submissions.lock_oldest',
  'workspace_id form_id limit',
  snapshotColumns,
  `select ${snapshotSelection} from submissions s ${versionJoin}
   where s.workspace_id = $workspace_id and s.form_id = $form_id
   order by s.id limit $limit for update of s`,
);

/** These submissions of the form, as far as they exist. In the order of ids, so that two removals cannot deadlock. */
export const lockSubmissions = statement(
  'submissions.lock_submissions',
  'workspace_id form_id ids',
  snapshotColumns,
  `select ${snapshotSelection} from submissions s ${versionJoin}
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = any ($ids)
   order by s.id for update of s`,
);
