import { type Queryable, statement } from '#kit/statement.ts';
import { storageKey } from './receive.ts';

/** Gives files to a submission, in its transaction. A file is claimed once, and only by a submission of its form. */
export const claimFiles = statement(
  'claim_files',
  'workspace_id form_id submission_id ids',
  'id',
  `update files set submission_id = $submission_id, claimed_at = now()
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids) and submission_id is null and claimed_at is null
   returning id`,
);

/**
 * Files that a page holds between two posts: received for this form, and still nobody's, or kept with the answers that
 * the page goes on with: those saved or sent under its key (a post that comes twice names files that the first one
 * claimed), or the submission that it edits. In the order they came.
 */
export const findHeldFiles = statement(
  'find_held_files',
  'workspace_id form_id ids key:uuid? submission_id?',
  'id element filename content_type size',
  `select id, element, filename, content_type, size from files
   where workspace_id = $workspace_id and form_id = $form_id and id = any ($ids)
     and (submission_id is null and claimed_at is null
       or submission_id = $submission_id
       or submission_id = (select s.id from submissions s where s.workspace_id = $workspace_id and s.key = $key)
       or held_id = (select h.id from held_submissions h where h.workspace_id = $workspace_id and h.key = $key))
   order by id`,
);

/** Takes hold of files of a workspace that is deleted, whoever's they are. */
export const takeFilesOfWorkspace = statement(
  'take_files_of_workspace',
  'workspace_id limit',
  'id',
  `update files set submission_id = null, held_id = null, claimed_at = least(claimed_at, now())
   where workspace_id = $workspace_id and id in (select id from files where workspace_id = $workspace_id limit $limit)
   returning id`,
);

/** Files that were received whole, in the order of their key. */
const selectStoredFiles = statement(
  'select_stored_files',
  'after_workspace:uuid after limit',
  'workspace_id id size',
  `/* sweep: across workspaces */
   select workspace_id, id, size from files
   where (workspace_id, id) > ($after_workspace, $after) and (claimed_at is not null or size > 0)
   order by workspace_id, id
   limit $limit`,
);

const batch = 1_000;
const first = '00000000-0000-0000-0000-000000000000';

/** Lists the files that were received whole, of all workspaces or of one: what a backup holds. */
export async function* storedFiles(
  db: Queryable,
  ofWorkspace?: string,
): AsyncGenerator<{ key: string; size: number }> {
  let after = { workspace_id: ofWorkspace ?? first, id: first };
  for (;;) {
    const files = await selectStoredFiles(db, {
      after_workspace: after.workspace_id,
      after: after.id,
      limit: batch,
    });
    for (const { workspace_id, id, size } of files) {
      // Rows come workspace by workspace.
      if (ofWorkspace !== undefined && workspace_id !== ofWorkspace) return;
      yield { key: storageKey(workspace_id, id), size };
    }
    if (files.length < batch) return;
    after = files.at(-1)!;
  }
}
