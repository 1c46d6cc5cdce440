import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { noteByRetention } from '#workspaces/audit/note-person.ts';
import { eraseSubmissions } from '../erase/erase.ts';
import { findDue, lockDue, releaseFiles } from './queries.ts';

/** Rows of one transaction: short enough that nobody waits for its locks. */
const batchSize = 200;

type Context = { database: Database; wakeQueue: () => void };

/**
 * Erases what has been kept for as long as its workspace, or its form, says: completed and incomplete submissions, the trash, and
 * files. It is the deed that erases a person's (erase/erase.ts), a batch at a time, until nothing is due. Mails, deliveries and
 * the audit log have sweeps of their own, by the same rules.
 */
export async function applyRetention(context: Context): Promise<void> {
  for (const kind of ['trash', 'incomplete', 'submissions'] as const)
    while ((await eraseDue(context, kind)) === batchSize);
  while ((await releaseDue(context.database)) === batchSize);
}

/** @returns how many were found; a full batch means that there may be more. */
async function eraseDue({ database, wakeQueue }: Context, kind: keyof typeof lockDue): Promise<number> {
  const at = now();
  const due = await findDue[kind](database, { now: at, limit: batchSize });
  for (const rows of Map.groupBy(due, (row) => row.form_id).values()) {
    const { workspace_id, form_id } = rows[0]!;
    const ids = rows.map(({ id }) => id);
    const deliveries = await transaction(database, async (client) => {
      const still = await lockDue[kind](client, { workspace_id, form_id, ids, now: at });
      if (still.length === 0) return 0;
      const key = { workspaceId: workspace_id, formId: form_id };
      const erased = await eraseSubmissions(
        client,
        key,
        still.map(({ id }) => id),
      );
      await noteByRetention(client, { ...key, kind, count: still.length });
      return erased.deliveries;
    });
    if (deliveries > 0) wakeQueue();
  }
  return due.length;
}

async function releaseDue(database: Database): Promise<number> {
  const at = now();
  const due = await findDue.files(database, { now: at, limit: batchSize });
  for (const rows of Map.groupBy(due, (row) => row.form_id).values()) {
    const { workspace_id, form_id } = rows[0]!;
    await transaction(database, async (client) => {
      await releaseFiles(client, { workspace_id, ids: rows.map(({ id }) => id), now: at });
      const key = { workspaceId: workspace_id, formId: form_id };
      await noteByRetention(client, { ...key, kind: 'files', count: rows.length });
    });
  }
  return due.length;
}
