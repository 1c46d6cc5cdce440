import assert from 'node:assert/strict';
import { after } from 'node:test';
import { openLog } from '#kit/log.ts';
import { type Queue, startQueue } from '#kit/queue/worker.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import {
  createDeliveryHandler,
  type DeliveryServices,
  webhookConcurrency,
} from '#webhooks/sending/deliver.ts';
import { happen, makeForm, makeWebhook, type Place } from '../webhooks/make-webhook.ts';

/** How many events each fault is tried with: a slice in `npm test`, 1,000 in `npm run test:long -- faults`. */
export const eventsPerFault = Number(process.env['FAULT_EVENTS'] ?? 20);

/** Seconds of the accelerated schedule: a thousandth of 1 m, 5 m, 15 m, 1 h and 3 h. */
export const fastDelays = [0.06, 0.3, 0.9, 3.6, 10.8] as const;

export type Scene = Place & { webhookId: string };

/** Creates this number of events of the form, eight at a time. */
export async function happenOften(database: Stage['database'], scene: Scene, count: number): Promise<void> {
  let left = count;
  const makeAll = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      assert.equal(await happen(database, scene), 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, makeAll));
}

/** A delivery in the delivery log. */
export type LedgerLine = { id: string; status: string; attempts: number; reasons: (string | null)[] };

export type Stage = {
  database: Awaited<ReturnType<typeof testDatabase>>['database'];
  /** Starts a worker with the complete delivery engine of a server. */
  startWorker(more?: Partial<DeliveryServices> & { leaseSeconds?: number }): Queue;
  /** Creates a form with a webhook to this URL. */
  setScene(url: string, secret?: string): Promise<Scene>;
  /** Creates this number of events of the form and wakes this worker. */
  fire(scene: Scene, queue: Queue, count?: number): Promise<void>;
  ledger(scene: Place): Promise<LedgerLine[]>;
  /**
   * Waits until no delivery of the form is pending: 30 s, or longer for the number of events in the full run.
   */
  settled(scene: Place, seconds?: number): Promise<LedgerLine[]>;
};

/**
 * Opens the delivery engine on a database of the calling test file, with the real queue, guard, sockets and
 * delivery log.
 */
export async function openStage(): Promise<Stage> {
  const { database } = await testDatabase({ pool: 12 });
  const vault = openVault('00'.repeat(32));
  const ledger: Stage['ledger'] = async ({ formId }) =>
    (
      await database.query<LedgerLine>(
        `select d.id, d.status, d.attempts,
                array(select a.reason from attempts a where a.delivery_id = d.id order by a.attempt) as reasons
           from deliveries d where d.form_id = $1 order by d.id`,
        [formId],
      )
    ).rows;
  return {
    database,
    ledger,
    startWorker({ leaseSeconds = 25, ...more } = {}) {
      const run = createDeliveryHandler({
        database,
        vault,
        publicUrl: 'https://forms.test',
        signLink: ({ id }) => `https://files.test/${id}`,
        retryDelays: [0.05, 0.05, 0.05, 0.05, 0.05],
        // Longer than a busy machine needs. Tests of the deadline set their own timeout.
        timeoutSeconds: 30,
        allowNetworks: ['127.0.0.0/8'],
        ...more,
      });
      const handlers = { [deliverJobKind]: { run, ...webhookConcurrency } };
      const queue = startQueue({ database, log: openLog('silent'), handlers, leaseSeconds });
      after(() => queue.stop({ graceMs: 0 }));
      return queue;
    },
    async setScene(url, secret) {
      const place = await makeForm(database);
      const sealed = secret === undefined ? null : vault.seal('webhook secrets', secret);
      return { ...place, webhookId: await makeWebhook(database, place, { url, secret: sealed }) };
    },
    async fire(scene, queue, count = eventsPerFault) {
      await happenOften(database, scene, count);
      queue.wake();
    },
    async settled(scene, seconds = 30 + eventsPerFault / 2) {
      const waiting = "select from deliveries where form_id = $1 and status = 'Retrying' limit 1";
      await until(
        'every delivery to end',
        async () => (await database.query(waiting, [scene.formId])).rowCount === 0,
        seconds,
      );
      return ledger(scene);
    },
  };
}
