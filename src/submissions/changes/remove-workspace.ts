import { type FileServices, markFilesOfWorkspace, removeMarkedFiles } from '#files/stored-files.ts';
import { removeImagesOf } from '#forms/images/images.ts';
import { now } from '#kit/clock.ts';
import { type Failures, processInBatches, throwFailures } from '#kit/queue/periodic.ts';
import {
  deleteDeliveriesOfWorkspace,
  deleteEmailsOfWorkspace,
  deleteEventsOfWorkspace,
  deleteSubmissionsOfWorkspace,
  deleteWorkspace,
  findWorkspacesToDelete,
} from '#workspaces/account-deletion.ts';

const workspacesAtOnce = 10;
/** The number of files per batch. Their bytes are deleted before their rows. */
const filesAtOnce = 200;
/** The number of rows that one statement deletes. */
const batch = 500;

/**
 * Deletes closed workspaces whose waiting period has ended: first the bytes of files and images, then the
 * largest tables in batches, and at the end the workspace with all its data. If a run is interrupted, the
 * next one continues it.
 * @throws AggregateError for the workspaces that failed; the others are deleted.
 */
export async function deleteClosedWorkspaces(context: FileServices): Promise<void> {
  const failures: Failures = new Map();
  await processInBatches(failures, {
    batch: workspacesAtOnce,
    find: (next) => findWorkspacesToDelete(context.database, { now: now(), ...next }),
    partOf: ({ id }) => id,
    work: ([workspace]) => removeWorkspace(context, workspace!.id),
  });
  throwFailures(failures);
}

async function removeWorkspace(context: FileServices, workspaceId: string): Promise<void> {
  const { database } = context;
  const place = { workspace_id: workspaceId };
  for (;;) {
    const files = await markFilesOfWorkspace(database, { ...place, limit: filesAtOnce });
    await removeMarkedFiles(
      context,
      workspaceId,
      files.map(({ id }) => id),
    );
    if (files.length < filesAtOnce) break;
  }
  await removeImagesOf(context, workspaceId);
  for (const remove of [
    deleteSubmissionsOfWorkspace,
    deleteDeliveriesOfWorkspace,
    deleteEventsOfWorkspace,
    deleteEmailsOfWorkspace,
  ])
    while ((await remove(database, place))[0]!.count === batch);
  await deleteWorkspace(database, { ...place, now: now() });
}
