import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { removeRows } from '../changes/remove.ts';
import { findExpired, lockTrashedForRemoval } from './queries.ts';
import { trashDays } from './trash.ts';

/** Submissions removed in one transaction: short enough that nobody waits for its locks. */
const batchSize = 500;
const dayMs = 86_400_000;

/**
 * Removes for good what has lain in the trash for trashDays, with its events, in all workspaces.
 * @returns how many; a full batch of 500 means that there may be more.
 */
export async function emptyTrash(context: { database: Database; wakeQueue: () => void }): Promise<number> {
  const before = new Date(now().getTime() - trashDays * dayMs);
  const expired = await findExpired(context.database, { before, limit: batchSize });
  let removed = 0;
  for (const rows of Map.groupBy(expired, (row) => row.form_id).values()) {
    const { workspace_id: workspaceId, form_id: formId } = rows[0]!;
    const deliveries = await transaction(context.database, async (client) => {
      const held = await lockTrashedForRemoval(client, {
        workspace_id: workspaceId,
        form_id: formId,
        ids: rows.map((row) => row.id),
      });
      removed += held.length;
      return removeRows(client, { workspaceId, formId }, held);
    });
    if (deliveries > 0) context.wakeQueue();
  }
  return removed;
}
