import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { findWorkspacesToPrune, pruneDeliveries, pruneEvents } from './queries.ts';

/** Rows that one statement removes: a few milliseconds, so that nobody waits for it. */
const batch = 500;

/**
 * Removes deliveries that are over, with their attempts, and events that no delivery is left of, when they are older
 * than their form, its workspace and the operator say. In batches; what is left when it is broken off, the next run finds.
 * @returns how many rows of each.
 */
export async function pruneLedger(
  { database }: { database: Database },
  { retentionDays }: { retentionDays: number },
): Promise<{ deliveries: number; events: number }> {
  const due = { now: now(), operator_days: retentionDays };
  const pruned = { deliveries: 0, events: 0 };
  for (const { id } of await findWorkspacesToPrune(database, due)) {
    const place = { workspace_id: id, ...due, limit: batch };
    pruned.deliveries += await untilFewer(() => pruneDeliveries(database, place));
    pruned.events += await untilFewer(() => pruneEvents(database, place));
  }
  return pruned;
}

/** Goes on while batches are full. */
async function untilFewer(prune: () => Promise<{ count: number }[]>): Promise<number> {
  for (let total = 0; ; ) {
    const [pruned] = await prune();
    total += pruned!.count;
    if (pruned!.count < batch) return total;
  }
}
