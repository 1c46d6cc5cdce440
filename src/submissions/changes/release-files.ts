import { statement } from '#kit/statement.ts';

/** Lets go of the files that an edit left out: they belong to nobody, and the sweep removes them. */
export const releaseFiles = statement(
  'submissions.release_files',
  'workspace_id submission_id kept:uuids',
  '',
  `update files set submission_id = null
   where workspace_id = $workspace_id and submission_id = $submission_id and id <> all ($kept)`,
);
