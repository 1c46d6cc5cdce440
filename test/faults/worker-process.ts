import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { openVault } from '#kit/vault.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import { createDeliveryHandler, failParkedDelivery, webhookConcurrency } from '#webhooks/sending/deliver.ts';

/*
 * A worker in a separate process, for tests that kill and freeze workers. Its first argument is JSON with the
 * database, the lease and the timeout of a receiver. It prints `ready`, and ends at SIGTERM like a server.
 */
export type WorkerOptions = { databaseUrl: string; leaseSeconds: number; timeoutSeconds?: number };

const { databaseUrl, leaseSeconds, timeoutSeconds = 10 } = JSON.parse(process.argv[2]!) as WorkerOptions;
const log = openLog('silent');
const database = openDatabase({ connectionString: databaseUrl }, { pool: 6, log });
const run = createDeliveryHandler({
  database,
  vault: openVault('00'.repeat(32)),
  publicUrl: 'https://forms.test',
  signLink: ({ id }) => `https://files.test/${id}`,
  retryDelays: [0.1, 0.1, 0.1, 0.1, 0.1],
  timeoutSeconds,
  allowNetworks: ['127.0.0.0/8'],
});
const handlers = { [deliverJobKind]: { run, onParked: failParkedDelivery, ...webhookConcurrency } };
const queue = startQueue({ database, log, handlers, leaseSeconds });
process.once('SIGTERM', () => {
  void queue.stop({ graceMs: 200 }).then(() => process.exit(0));
});
process.send?.('ready');
