import type { Database } from '#kit/database.ts';
import { gather } from '#kit/gather.ts';
import type { Job, LaneTurn } from '#kit/queue.ts';
import type { Delivery } from './prepare.ts';
import { findDeliveries } from './queries.ts';

/** Deliveries that one statement reads at most. */
const together = { most: 128, atOnce: 1 } as const;
/** What was read longer ago is read again before it is sent: its webhook may be another by now. */
const freshMs = 1_000;
/** A larger event, in bytes as it is stored, is read when its turn has come: hundreds may wait for theirs. */
const smallBytes = 32 * 1_024;
const anyBytes = 2 ** 31 - 1;

/**
 * Finds the deliveries of jobs, many with one statement. They are read while they wait for their turn, so that a
 * receiver that answers at once never waits for the database.
 * @returns the delivery, when the job's turn has come; undefined for one that is gone.
 */
export function findInTurn(database: Database): (job: Job, turn: LaneTurn) => Promise<Delivery | undefined> {
  const findSmall = gather((jobs: readonly Job[]) => findAll(database, jobs, smallBytes), together);
  const findAny = gather((jobs: readonly Job[]) => findAll(database, jobs, anyBytes), together);
  return async (job, turn) => {
    const small = await findSmall(job);
    const since = performance.now();
    await turn.enter();
    const isFresh = performance.now() - since < freshMs;
    return small && isFresh ? small : findAny(job);
  };
}

/** The delivery of each job; undefined for one that is gone, or whose event is larger. */
async function findAll(
  database: Database,
  jobs: readonly Job[],
  mostBytes: number,
): Promise<(Delivery | undefined)[]> {
  const rows = await findDeliveries(database, {
    workspace_ids: jobs.map(({ workspaceId }) => workspaceId),
    ids: jobs.map(({ id }) => id),
    most_bytes: mostBytes,
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return jobs.map(({ id }) => byId.get(id));
}
