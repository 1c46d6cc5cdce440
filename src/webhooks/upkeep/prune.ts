import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { dayMs, dropParts, rowsUpTo } from './parts.ts';
import { findWorkspacesToPrune, pruneDeliveries, pruneEvents, selectParts } from './queries.ts';

/** Rows that one statement removes: a few milliseconds, so that nobody waits for it. */
const batch = 500;

/**
 * Removes deliveries that are over, with their attempts, and events that no delivery is left of, when they are older
 * than their form, its workspace and the operator say. Whole parts where they are as old as the operator says; else in
 * batches. What is left when it is broken off, the next run finds.
 * @returns how many parts, and how many rows of each beside them.
 */
export async function pruneLedger(
  { database }: { database: Database },
  { retentionDays }: { retentionDays: number },
): Promise<{ parts: number; deliveries: number; events: number }> {
  const at = now();
  const before = new Date(at.getTime() - retentionDays * dayMs);
  const pruned = { parts: await dropParts(database, before), deliveries: 0, events: 0 };
  const upTo = rowsUpTo(await selectParts(database, {}), before, retentionDays);
  const due = { now: at, operator_days: (at.getTime() - upTo.getTime()) / dayMs };
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
