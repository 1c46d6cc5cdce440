import { cellOfWorkspace, findInAllCells } from '#cells/across-cells.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { sendMailJob } from '#kit/outbox.ts';
import { announceJobs } from '#kit/queue.ts';
import { restartJob, selectParked } from '#kit/queue/park-job.ts';
import { retryMail } from '#mail/endpoints.ts';
import { deliverJob } from '#webhooks/delivery-job.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { command } from './command.ts';
import { id, UsageError } from './values.ts';

/** More are listed after these were retried. */
const mostListed = 1_000;

const listParked = (database: Database) =>
  findInAllCells(database, (cells) => selectParked(cells, { limit: mostListed }));

export const jobCommands = [
  command({
    name: 'job list',
    summary:
      'Lists background jobs that were parked: the server stopped three times while it worked on them.',
    async run({ database }) {
      return { data: await listParked(database) };
    },
  }),
  command({
    name: 'job retry',
    summary: 'Starts a parked job again; a running server does it.',
    parameters: { id },
    async run({ database }, { id: jobId }) {
      const job = (await listParked(database)).find((each) => each.id === jobId);
      if (!job) throw new UsageError(`No parked job has the ID ${jobId}. \`job list\` shows them.`);
      const cell = await cellOfWorkspace(database, job.workspace_id);
      await retry(cell, job);
      await announceJobs(cell);
      return { id: jobId };
    },
  }),
];

type Parked = { workspace_id: string; id: string; kind: string };

async function retry(database: Database, { workspace_id, id: jobId, kind }: Parked): Promise<void> {
  const place = { workspaceId: workspace_id, id: jobId };
  try {
    if (kind === deliverJob) await retryDelivery({ database }, { ...place, deliveryId: jobId });
    else if (kind === sendMailJob) await retryMail({ database, wakeQueue: () => undefined }, place);
  } catch (error) {
    // It was deleted, or is not to be sent any more: then the job below ends without sending.
    if (!(error instanceof ApiError)) throw error;
  }
  await restartJob(database, { workspace_id, id: jobId });
}
