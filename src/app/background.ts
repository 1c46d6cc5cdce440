import { sweepFiles } from '#files/sweep.ts';
import { removeFormJob } from '#forms/forms.ts';
import { runPeriodically } from '#kit/periodic.ts';
import { listen } from '#kit/queue/listen.ts';
import { type Queue, startQueue } from '#kit/queue/worker.ts';
import { cleanPendingList } from '#search/queries.ts';
import { removeManyBatch, removeManyJob } from '#submissions/changes/remove-many.ts';
import { removeFormBatch } from '#submissions/remove-form.ts';
import { deliverWebhook } from '#webhooks/deliver.ts';
import { deliverJob } from '#webhooks/delivery-job.ts';
import { forgetKeys, keyChannel } from '#workspaces/authenticate.ts';
import type { Services } from './services.ts';

/** Everything that runs without a request. */
export type Background = {
  wakeQueue: () => void;
  /** Claims no more jobs, and gives those that run this long to finish. Asked again, it waits for the first stop. */
  stop(graceMs?: number): Promise<void>;
};

/** Jobs of one webhook that run at once: a receiver that hangs holds this many connections, and nobody else's. */
const deliveriesPerWebhook = 8;

/** Starts the queue's worker and the housekeeping of this process. */
export function startBackground(services: Omit<Services, 'wakeQueue'>): Background {
  const { config, database, log } = services;
  const ending = new AbortController();
  const queue: Queue = startQueue({
    database,
    log,
    handlers: {
      [deliverJob]: {
        perLane: deliveriesPerWebhook,
        run: deliverWebhook({
          database,
          vault: services.vault,
          signLink: (workspaceId, fileId) => services.links.sign(workspaceId, fileId),
          retryDelays: config.webhookRetryDelays,
          timeoutSeconds: config.webhookTimeout,
          allowNetworks: config.webhookAllowNetworks,
          ownUrls: [config.publicUrl],
        }),
      },
      [removeFormJob]: {
        perLane: 1,
        run: (job) => removeFormBatch({ database, wakeQueue: () => queue.wake() }, job),
      },
      [removeManyJob]: {
        perLane: 1,
        run: (job) => removeManyBatch({ database, wakeQueue: () => queue.wake() }, job),
      },
    },
    // A lease outlives the longest delivery by what preparing and settling may take (a query ends after 12 s). At the
    // default time limit of 10 s another process takes over after 25 s, within the 30 s of reliability F2.
    leaseSeconds: config.webhookTimeout + 15,
  });
  const housekeeping = [
    // Half a second: between two runs at most a few hundred documents wait in the index's pending list.
    runPeriodically('cleaning the search index', {
      pauseMs: 500,
      log,
      work: () => cleanPendingList(database, {}),
    }),
    runPeriodically('sweeping files', { pauseMs: 10_000, log, work: () => sweepFiles(services) }),
  ];
  const listening = listen(database, keyChannel, forgetKeys, { log, signal: ending.signal });
  const end = async (graceMs: number | undefined): Promise<void> => {
    ending.abort();
    await Promise.all([
      queue.stop(graceMs === undefined ? {} : { graceMs }),
      listening,
      ...housekeeping.map((task) => task.stop()),
    ]);
  };
  let ended: Promise<void> | undefined;
  return {
    wakeQueue: () => queue.wake(),
    stop: (graceMs) => (ended ??= end(graceMs)),
  };
}
