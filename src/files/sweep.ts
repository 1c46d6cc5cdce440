import { type FilesContext, removeTakenFiles } from './receive.ts';
import { statement } from '#kit/statement.ts';

/**
 * Takes hold of files that nobody will come for: their submission is gone, or they were never claimed within a day, in
 * which a slow visitor's page still names them, nor are they kept in the spam box. Setting claimed_at closes the door to
 * a late claim before the bytes go. The outer condition is not a repetition: it is what PostgreSQL looks at again when a
 * claim got hold of the row first.
 */
const takeOrphanedFiles = statement(
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

/**
 * Removes files that nobody will come for, bytes and rows.
 * @returns how many; a full batch of 500 means that there may be more.
 */
export async function sweepFiles(context: FilesContext): Promise<number> {
  const orphans = await takeOrphanedFiles(context.database, {});
  const byWorkspace = Map.groupBy(orphans, (file) => file.workspace_id);
  for (const [workspaceId, files] of byWorkspace) {
    await removeTakenFiles(
      context,
      workspaceId,
      files.map((file) => file.id),
    );
  }
  return orphans.length;
}
