import { statement } from '#kit/statement.ts';

/** Releases files that an edit omitted. No submission owns them then, and the sweep deletes them. */
export const releaseFiles = statement(
  'submissions.release_files',
  'workspace_id submission_id kept:uuids',
  '',
  `update files set submission_id = null
   where workspace_id = $workspace_id and submission_id = $submission_id and id <> all ($kept)`,
);
