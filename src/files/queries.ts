import { statement } from '#kit/statement.ts';

/** A file that is being received: nobody's until a submission claims it. */
export const insertUnclaimedFile = statement(
  'insert_unclaimed_file',
  'workspace_id id form_id element filename created_at',
  '',
  `insert into files (workspace_id, id, form_id, element, filename, content_type, size, created_at)
   values ($workspace_id, $id, $form_id, $element, $filename, 'application/octet-stream', 0, $created_at)`,
);

/** What receiving found out: its true size and type. */
export const setFileContent = statement(
  'set_file_content',
  'workspace_id id size content_type',
  '',
  `update files set size = $size, content_type = $content_type where workspace_id = $workspace_id and id = $id`,
);

/** How much the files of a form take, and those of its workspace. */
export const storedBytes = statement(
  'stored_bytes',
  'workspace_id form_id',
  'of_form:bigint of_workspace:bigint',
  `select coalesce(sum(bytes) filter (where form_id = $form_id), 0)::bigint as of_form,
     coalesce(sum(bytes), 0)::bigint as of_workspace
   from stored_bytes where workspace_id = $workspace_id`,
);

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

/** A file that may be downloaded: one of a living submission, outside the trash, of a living form, in a workspace that is open. */
export const findClaimedFile = statement(
  'find_claimed_file',
  'workspace_id form_id id',
  'filename content_type size',
  `select f.filename, f.content_type, f.size from files f
   join forms on forms.workspace_id = f.workspace_id and forms.id = f.form_id
   join workspaces w on w.id = f.workspace_id and w.ends_at is null
   join submissions s on s.workspace_id = f.workspace_id and s.id = f.submission_id
   where f.workspace_id = $workspace_id and f.form_id = $form_id and f.id = $id and s.trashed_at is null and forms.deleted_at is null`,
);

/** Takes hold of files that a submission did not claim: from here on no late claim can have them. */
export const takeUnclaimedFiles = statement(
  'take_unclaimed_files',
  'workspace_id ids',
  'id',
  `update files set claimed_at = now()
   where workspace_id = $workspace_id and id = any ($ids) and submission_id is null and claimed_at is null
   returning id`,
);

/**
 * The last step, after the bytes are gone. The files are held first, then the counters of their forms (stored_bytes), each in
 * their order: triggers of each row write these, and of two that delete files of several forms in another order each would
 * wait for the other. All else that changes a counter is about one file (setFileContent), or files of no size.
 */
export const deleteTakenFiles = statement(
  'delete_taken_files',
  'workspace_id ids',
  '',
  `with taken as materialized (
     select id, form_id from files
      where workspace_id = $workspace_id and id = any ($ids)
        and submission_id is null and held_id is null and claimed_at is not null
      order by id for update),
   counters as materialized (
     select form_id from stored_bytes
      where workspace_id = $workspace_id and form_id = any (array(select form_id from taken))
      order by form_id for update)
   delete from files
    where workspace_id = $workspace_id and id in (select id from taken) and (select count(*) from counters) >= 0`,
);

/**
 * Takes hold of files that nobody will come for: their submission is gone, or they were never claimed within a day, in
 * which a slow visitor's page still names them, nor are they kept in the spam box. Setting claimed_at closes the door to
 * a late claim before the bytes go. The outer condition is not a repetition: it is what PostgreSQL looks at again when a
 * claim got hold of the row first.
 */
export const takeOrphanedFiles = statement(
  'take_orphaned_files',
  '',
  'workspace_id id',
  `/* sweep: across workspaces */
   update files set claimed_at = least(claimed_at, now())
   where (workspace_id, id) in (
     select workspace_id, id from files
     where submission_id is null and held_id is null and (claimed_at is not null or created_at < now() - interval '1 day')
     order by created_at limit 500)
     and submission_id is null and held_id is null
   returning workspace_id, id`,
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
export const selectStoredFiles = statement(
  'select_stored_files',
  'after_workspace:uuid after limit',
  'workspace_id id size',
  `/* sweep: across workspaces */
   select workspace_id, id, size from files
   where (workspace_id, id) > ($after_workspace, $after) and (claimed_at is not null or size > 0)
   order by workspace_id, id
   limit $limit`,
);
