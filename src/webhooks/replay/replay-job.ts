import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { completeJob, type Job, rescheduleJob } from '#kit/queue.ts';
import { only } from '#kit/statement.ts';
import { currentTrace } from '#kit/trace.ts';
import { laneOf } from '../delivery-job.ts';
import { meant } from './filter.ts';
import { advanceReplay, cancelReplayRow, countDue, lockReplay, resendNext } from './queries.ts';

/** The job that puts the deliveries of one replay on their way. */
export const replayJob = 'webhook.replay';
export type ReplayJobPayload = { replay_id: string };

/**
 * A replay fills up what is due for its webhook to this many deliveries: twice what a quick receiver is sent at once,
 * so it does not slow the replay down, and what happens meanwhile never waits behind more.
 */
const dueAtMost = 64;
/** Seconds until it looks whether there is room again: 320 deliveries a second, in one process. */
const pause = 0.2;

/**
 * The job: a batch, again and again, until nothing is left, it is cancelled, or its webhook is paused, which cancels it.
 * A batch is one transaction, so a process that dies leaves nothing half done, and another goes on from there.
 */
export async function replayBatch(
  { database, wakeQueue }: { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> {
  const { workspaceId } = job;
  const place = { workspace_id: workspaceId, id: (job.payload as ReplayJobPayload).replay_id };
  const sent = await transaction(database, async (client) => {
    const replay = only(await lockReplay(client, place));
    if (!replay?.active) {
      if (replay) await cancelReplayRow(client, { ...place, now: now() });
      await completeJob(client, job);
      return 0;
    }
    const { webhook_id: webhookId, filter, reached } = replay;
    const [due] = await countDue(client, {
      workspace_id: workspaceId,
      webhook_id: webhookId,
      most: dueAtMost,
    });
    const limit = dueAtMost - due!.count;
    const ids = await resendNext(client, {
      ...meant({ workspaceId, webhookId }, filter, place.id),
      reached,
      lane: laneOf(webhookId),
      traceparent: currentTrace() ?? null,
      limit,
    });
    const isLast = ids.length < limit;
    await advanceReplay(client, {
      ...place,
      done: ids.length,
      reached: ids.at(-1)?.id ?? null,
      finished_at: isLast ? now() : null,
    });
    if (isLast) await completeJob(client, job);
    else await rescheduleJob(client, job, { delay: pause });
    return ids.length;
  });
  if (sent > 0) wakeQueue();
}
