import { removeTakenFiles, type FilesContext } from './receive.ts';
import { takeOrphanedFiles } from './queries.ts';

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
