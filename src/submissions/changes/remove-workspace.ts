import { type FilesContext, removeTakenFiles, takeFilesOfWorkspace } from '#files/stored-files.ts';
import { removeImagesOf } from '#forms/images/images.ts';
import { now } from '#kit/clock.ts';
import { type Failures, tellFailures, workOff } from '#kit/periodic.ts';
import {
  deleteEndedDeliveries,
  deleteEndedEvents,
  deleteEndedMails,
  deleteEndedSubmissions,
  deleteWorkspace,
  findEndedWorkspaces,
} from '#workspaces/endings.ts';

const workspacesAtOnce = 10;
/** Files whose bytes are removed before their rows are. */
const filesAtOnce = 200;
/** Rows that one statement deletes. */
const batch = 500;

/**
 * Deletes the workspaces whose time has come: bytes of files and images first, then what there is most of, in batches, and in
 * the end the workspace with all that hangs on it. What a stop breaks off, the next run goes on with.
 * @throws AggregateError for those with which it failed; the others are gone.
 */
export async function removeEndedWorkspaces(context: FilesContext): Promise<void> {
  const failures: Failures = new Map();
  await workOff(failures, {
    batch: workspacesAtOnce,
    find: (next) => findEndedWorkspaces(context.database, { now: now(), ...next }),
    partOf: ({ id }) => id,
    work: ([workspace]) => removeWorkspace(context, workspace!.id),
  });
  tellFailures(failures);
}

async function removeWorkspace(context: FilesContext, workspaceId: string): Promise<void> {
  const { database } = context;
  const place = { workspace_id: workspaceId };
  for (;;) {
    const files = await takeFilesOfWorkspace(database, { ...place, limit: filesAtOnce });
    await removeTakenFiles(
      context,
      workspaceId,
      files.map(({ id }) => id),
    );
    if (files.length < filesAtOnce) break;
  }
  await removeImagesOf(context, workspaceId);
  for (const remove of [deleteEndedSubmissions, deleteEndedDeliveries, deleteEndedEvents, deleteEndedMails])
    while ((await remove(database, place))[0]!.count === batch);
  await deleteWorkspace(database, { ...place, now: now() });
}
