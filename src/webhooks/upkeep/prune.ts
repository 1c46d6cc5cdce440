import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { findWorkspacesToPrune, pruneDeliveries, pruneEvents } from './queries.ts';

/** Rows that one statement deletes: a few milliseconds, so that writers do not wait. */
const batch = 500;

/**
 * Deletes finished deliveries with their attempts, and events without deliveries, once they are older than their form,
 * workspace and the operator allow. If it is interrupted, the next run continues.
 * @returns how many rows of each were deleted.
 */
export async function pruneDeliveryLog(
  { database }: { database: Database },
  { retentionDays }: { retentionDays: number },
): Promise<{ deliveries: number; events: number }> {
  const due = { now: now(), operator_days: retentionDays };
  const pruned = { deliveries: 0, events: 0 };
  for (const { id } of await findWorkspacesToPrune(database, due)) {
    const oldest = { workspace_id: id, ...due, limit: batch };
    pruned.deliveries += await deleteAll(() => pruneDeliveries(database, oldest));
    pruned.events += await deleteAll(() => pruneEvents(database, oldest));
  }
  return pruned;
}

/** Repeats a batch until one is not full. */
async function deleteAll(prune: () => Promise<{ count: number }[]>): Promise<number> {
  for (let total = 0; ; ) {
    const [pruned] = await prune();
    total += pruned!.count;
    if (pruned!.count < batch) return total;
  }
}
