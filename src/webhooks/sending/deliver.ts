import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { gather } from '#kit/gather.ts';
import { openOutbound } from '#kit/outbound.ts';
import type { TargetOptions } from '#kit/outbound/target.ts';
import { completeJob, type JobHandler, LeaseLost } from '#kit/queue.ts';
import type { OnParked } from '#kit/queue/park-job.ts';
import type { DeliverJobPayload } from '../delivery-job.ts';
import type { DeliveryStatus } from '../queries.ts';
import { findInTurn } from './find.ts';
import { prepare, type PrepareContext } from './prepare.ts';
import { failDelivery, settleDeliveries } from './queries.ts';
import { type Ended, type Outcome, outcomeOf } from './settle.ts';

export type DeliveryContext = PrepareContext &
  TargetOptions & {
    database: Database;
    /** Seconds to wait after the first failure, the second, ... */
    retryDelays: readonly number[];
    timeoutSeconds: number;
    /** Days of failures only, after which a webhook is paused; 0: never. */
    pauseDays?: number;
    /** Counts what became of each delivery that was sent. */
    onAttempt?: ((status: DeliveryStatus) => void) | undefined;
  };

/**
 * Requests of one webhook that are under way at once: a receiver that hangs holds this many connections, and nobody
 * else's. One that answers within a second has the wider cap, and its next deliveries are got ready meanwhile.
 */
export const perWebhook = { perLane: 8, perQuickLane: 32, ahead: 256 } as const;

/** Deliveries that one statement settles at most, and how many such statements run at once. */
const together = { most: 128, atOnce: 2, leastBeside: 128 } as const;
const secondsPerDay = 86_400;

/**
 * The handler of the jobs that send: one request for one delivery, find, prepare, send, settle. Deliveries that run at
 * the same time are read and settled together, so that each costs a small part of three round trips.
 */
export function deliverWebhook(context: DeliveryContext): JobHandler {
  const { database, timeoutSeconds, retryDelays } = context;
  const outbound = openOutbound({ ...context, timeoutMs: timeoutSeconds * 1_000 });
  const find = findInTurn(database);
  const settle = gather((outcomes: readonly Outcome[]) => settleAll(context, outcomes), together);

  return async (job, signal, turn) => {
    const delivery = await find(job, turn);
    // Its webhook was deleted, and its log with it.
    if (delivery?.status !== 'Retrying') return completeJob(database, job);
    const startedAt = now();
    const { trigger } = job.payload as DeliverJobPayload;
    const request = prepare(context, { trigger, startedAt }, delivery);
    const result = 'kind' in request ? request : await outbound.sendRequest({ ...request, signal });
    turn.leave();
    // What was refused never left.
    const sent = 'kind' in request || result.kind === 'refusal' ? null : request;
    const ended: Ended = { job, trigger, delivery, startedAt, sent, result };
    const outcome = outcomeOf(ended, retryDelays);
    if (!(await settle(outcome))) throw new LeaseLost(job);
    context.onAttempt?.(outcome.status);
  };
}

/** Shows in the delivery log why a parked delivery is not sent. Retrying it by hand sends it. */
export const failParkedDelivery: OnParked = async (client, { workspaceId, id, payload }, reason) => {
  const { trigger } = payload as DeliverJobPayload;
  await failDelivery(client, {
    workspace_id: workspaceId,
    id,
    trigger,
    reason,
    now: now(),
  });
};

/** Of each outcome, whether it was written: not when its lease was lost. */
async function settleAll(
  { database, pauseDays = 0 }: DeliveryContext,
  outcomes: readonly Outcome[],
): Promise<boolean[]> {
  const settled = await settleDeliveries(database, {
    outcomes: JSON.stringify(outcomes),
    pause_after: pauseDays > 0 ? pauseDays * secondsPerDay : null,
  });
  const ids = new Set(settled.map(({ id }) => id));
  return outcomes.map(({ id }) => ids.has(id));
}
