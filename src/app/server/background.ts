import { setTimeout as sleep } from 'node:timers/promises';
import { backUpWhenDue, sweepBackups } from '#backup/schedule.ts';
import { cellsOf, createAllCellViews, refreshCells, watchOtherCells } from '#cells/cells.ts';
import { sweepFiles } from '#files/stored-files.ts';
import { promotionJob } from '#forms/enqueue-promotion.ts';
import { removeFormJob } from '#forms/forms.ts';
import { sweepImages } from '#forms/images/images.ts';
import { sendDueReminders } from '#invitations/remind.ts';
import { invitationImportJob, runInvitationImportStep } from '#invitations/start-import.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { sendMailJobKind } from '#kit/outbox.ts';
import { listenOnChannel } from '#kit/queue/announcer.ts';
import { type PeriodicWork, runPeriodically, sweepWithTrustedClock } from '#kit/queue/periodic.ts';
import { type Queue, startQueue } from '#kit/queue/worker.ts';
import { onlyRow } from '#kit/statement.ts';
import { createNoticeHandler } from '#mail/notices/send-notices.ts';
import { createMailHandler, failParkedMail } from '#mail/sending/send-mail.ts';
import { eraseJobKind, eraseStep } from '#people/erase-person.ts';
import { cleanPendingList } from '#search/suggest.ts';
import { bulkJobKind, runBulkBatch } from '#submissions/changes/bulk.ts';
import { promoteWaiting } from '#submissions/changes/promote.ts';
import { removeFormSubmissionsBatch } from '#submissions/changes/remove-form.ts';
import { deleteClosedWorkspaces } from '#submissions/changes/remove-workspace.ts';
import { importSubmissionsStep, submissionImportJobKind } from '#submissions/import/start-import.ts';
import { renderSubmissionPdf } from '#submissions/pdf/render-submission-pdf.ts';
import { rebuildIndexBatch, rebuildIndexJob, startIndexRebuilds } from '#submissions/rebuild-index.ts';
import { applyRetention } from '#submissions/retention/apply.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import { replayJobKind, runReplayBatch } from '#webhooks/replay/replay.ts';
import { createDeliveryHandler, failParkedDelivery, webhookConcurrency } from '#webhooks/sending/deliver.ts';
import { pruneDeliveryLog } from '#webhooks/upkeep.ts';
import { deleteDueAccounts } from '#workspaces/account-deletion.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';
import { emailEventJob } from '#workspaces/audit/email-events.ts';
import { clearKeyCache } from '#workspaces/authenticate.ts';
import { reportNewIncidents } from '../checks/watch.ts';
import { type Services, serviceVersion } from '../operations/services.ts';
import { deleteExpired, expiringTables } from './delete-expired.ts';

const againMs = 1_000;

/**
 * Clears the cached API keys of this process when any process revokes a key, and opens new cells. A single
 * channel announces both. Every process does this.
 */
export function listenForRevokedKeys({ database, log }: { database: Database; log: Log }): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const refresh = (): void => {
    clearKeyCache();
    void look();
  };
  let isDue = false;
  let isLooking = false;
  // Retries until it succeeds: a process whose database was down learns of a new cell in no other way.
  const look = async (): Promise<void> => {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    while (isDue && !ending.signal.aborted) {
      isDue = false;
      try {
        await refreshCells(database);
      } catch (error) {
        isDue = true;
        log.warn({ err: error }, 'could not read the list of cells; retrying');
        await sleep(againMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      }
    }
    isLooking = false;
  };
  const here = listenOnChannel(database, keyChangeChannel, refresh, { log, signal: ending.signal });
  // A cell on a cluster node announces its changes on that node.
  const elsewhere: Promise<void>[] = [];
  const unhear = watchOtherCells(database, ({ place, database: there }) => {
    if (place)
      elsewhere.push(listenOnChannel(there, keyChangeChannel, clearKeyCache, { log, signal: ending.signal }));
  });
  return {
    async stop() {
      unhear();
      ending.abort();
      await Promise.all([here, ...elsewhere]);
    },
  };
}

/** The work that a process does outside requests. */
export type BackgroundWork = {
  wakeQueue: () => void;
  /** Why the mail server refused the last email; undefined if it accepted it. */
  mail: { problem: string | undefined };
  /** Claims no more jobs and gives running ones `graceMs` to finish. A second call waits for the first. */
  stop(graceMs?: number): Promise<void>;
};

/**
 * Starts the queue worker and the periodic tasks of one cell.
 * @param first the background work of the first cell, which also runs the tasks of the instance. Omit it when
 * starting the first cell itself.
 */
export function startBackgroundWork(
  services: Omit<Services, 'wakeQueue'>,
  first?: BackgroundWork,
): BackgroundWork {
  const { config, database, log } = services;
  const mail: BackgroundWork['mail'] = first?.mail ?? { problem: undefined };
  const queue: Queue = startQueue({
    database,
    log,
    handlers: {
      [deliverJobKind]: {
        ...webhookConcurrency,
        onParked: failParkedDelivery,
        run: createDeliveryHandler({
          database,
          vault: services.vault,
          signLink: services.links.sign,
          retryDelays: config.webhookRetryDelays,
          timeoutSeconds: config.webhookTimeout,
          pauseDays: config.webhookPauseDays,
          allowNetworks: config.webhookAllowNetworks,
          ownUrls: [config.publicUrl],
          publicUrl: config.publicUrl,
          onAttempt: services.metrics?.meter.attempted,
        }),
      },
      [sendMailJobKind]: {
        // One job at a time in each lane, so that a crash repeats at most one email.
        perLane: 1,
        onParked: failParkedMail,
        run: createMailHandler({
          database,
          config,
          vault: services.vault,
          signLink: services.links.sign,
          renderPdf: (request) => renderSubmissionPdf(services, request),
          onAttempt(state, outcome) {
            mail.problem = outcome.kind !== 'sent' && outcome.isOfServer ? outcome.reason : undefined;
            services.metrics?.meter.mailed(state, mail.problem !== undefined);
          },
        }),
      },
      [emailEventJob]: {
        perLane: 4,
        run: createNoticeHandler({ database, config, vault: services.vault, wakeQueue: () => queue.wake() }),
      },
      [replayJobKind]: {
        perLane: 1,
        run: (job) => runReplayBatch({ database, wakeQueue: () => queue.wake() }, job),
      },
      [removeFormJob]: {
        perLane: 1,
        run: (job) => removeFormSubmissionsBatch({ database, wakeQueue: () => queue.wake() }, job),
      },
      [rebuildIndexJob]: {
        perLane: 1,
        run: (job) => rebuildIndexBatch({ database, wakeQueue: () => queue.wake() }, job),
      },
      [invitationImportJob]: {
        perLane: 1,
        run: (job) => runInvitationImportStep({ ...services, wakeQueue: () => queue.wake() }, job),
      },
      [submissionImportJobKind]: {
        perLane: 1,
        run: (job) => importSubmissionsStep({ ...services, wakeQueue: () => queue.wake() }, job),
      },
      [promotionJob]: {
        perLane: 1,
        run: (job) => promoteWaiting({ ...services, wakeQueue: () => queue.wake() }, job),
      },
      [bulkJobKind]: {
        perLane: 1,
        run: (job) => runBulkBatch({ ...services, wakeQueue: () => queue.wake() }, job),
      },
      [eraseJobKind]: {
        perLane: 1,
        run: (job) => eraseStep({ ...services, wakeQueue: () => queue.wake() }, job),
      },
    },
  });
  const wakeQueue = (): void => queue.wake();
  const every = openSchedule(log);
  const sweepEvery = (pauseMs: number, name: string, work: () => Promise<unknown>, longestMs?: number) =>
    every(pauseMs, name, () => sweepWithTrustedClock(database, work), longestMs);
  const housekeeping = [
    // In 500 ms, at most a few hundred documents reach the pending list of the index; after a quiet period, a
    // few thousand do.
    every(
      500,
      'cleaning the search index',
      async () => onlyRow(await cleanPendingList(database, {}))!.pages,
      10_000,
    ),
    every(60_000, 'rebuilding search indexes', () => startIndexRebuilds({ database, wakeQueue })),
    sweepEvery(60_000, 'deleting data past its retention', () => applyRetention({ database, wakeQueue })),
    every(30_000, 'sending due reminders', () => sendDueReminders({ ...services, wakeQueue })),
    ...Object.entries(expiringTables).map(([table, { pauseMs }]) =>
      sweepEvery(pauseMs, `deleting expired ${table}`, () =>
        deleteExpired(database, table as keyof typeof expiringTables),
      ),
    ),
    sweepEvery(60_000, 'pruning the delivery log', () =>
      pruneDeliveryLog({ database }, { retentionDays: config.deliveryRetentionDays }),
    ),
    sweepEvery(60_000, 'deleting closed workspaces', () => deleteClosedWorkspaces(services)),
    sweepEvery(10_000, 'sweeping files', () => sweepFiles(services), 60_000),
    sweepEvery(3_600_000, 'sweeping images', () => sweepImages(services)),
    ...(first ? [] : startInstanceTasks(services, { mail, wakeQueue })),
  ];
  const keys = first ? undefined : listenForRevokedKeys(services);
  const end = async (graceMs: number | undefined): Promise<void> => {
    await Promise.all([
      queue.stop(graceMs === undefined ? {} : { graceMs }),
      keys?.stop(),
      ...housekeeping.map((task) => task.stop()),
    ]);
  };
  let ended: Promise<void> | undefined;
  return { wakeQueue: () => queue.wake(), mail, stop: (graceMs) => (ended ??= end(graceMs)) };
}

/** Returns a function that runs work repeatedly, with a pause after each run. */
const openSchedule =
  (log: Log) =>
  (pauseMs: number, name: string, work: (signal: AbortSignal) => Promise<unknown>, longestMs?: number) =>
    runPeriodically(name, { pauseMs, log, work, ...(longestMs !== undefined && { longestMs }) });

/** Starts the periodic tasks of the instance, which do not belong to a cell. */
function startInstanceTasks(
  services: Omit<Services, 'wakeQueue'>,
  { mail, wakeQueue }: Pick<BackgroundWork, 'mail' | 'wakeQueue'>,
): PeriodicWork[] {
  const { config, database, log } = services;
  const every = openSchedule(log);
  return [
    ...(config.backup
      ? [
          every(5_000, 'backing up', (signal) =>
            backUpWhenDue({ ...services, version: serviceVersion }, signal),
          ),
          every(60_000, 'sweeping backups', () =>
            sweepWithTrustedClock(database, () => sweepBackups(services)),
          ),
        ]
      : []),
    // A move by Citus or a killed command can leave views that point to the old node.
    every(15_000, 'opening cells at their nodes', async () => {
      if (cellsOf(database).some(({ place }) => place)) await createAllCellViews(database);
    }),
    every(30_000, 'watching', () =>
      reportNewIncidents({ ...services, mailProblem: () => mail.problem, wakeQueue }),
    ),
    every(60_000, 'deleting closed accounts', () =>
      sweepWithTrustedClock(database, () => deleteDueAccounts(database)),
    ),
  ];
}
