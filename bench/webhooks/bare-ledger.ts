import { Agent, request } from 'undici';
import { now } from '#kit/clock.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { claimJobs } from '#kit/queue/claim.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import { settleDeliveries } from '#webhooks/sending/deliver.ts';
import { findDeliveries } from '#webhooks/sending/prepare.ts';
import type { DeliveryOutcome } from '#webhooks/sending/settle.ts';

export type LedgerOrder = {
  url: string;
  count: number;
  connections: number;
  body: string;
  databaseUrl: string;
};

/** The size of the service's own batches. */
const batch = 128;
const usual = { look_back: 1e9, lease_seconds: 60 } as const;

/**
 * The bare loop with the delivery log: claims, reads and settles due deliveries in batches with the service's
 * own statements. It has no lanes, deadlines, guard or retries, and does not build the body from the event.
 */
export async function postQueued({ url, count, connections, body, databaseUrl }: LedgerOrder): Promise<void> {
  const database = openDatabase({ connectionString: databaseUrl }, { pool: 4, log: openLog('silent') });
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const bytes = Buffer.from(body);
  const headers = { 'Content-Type': 'application/json' };
  const due: Awaited<ReturnType<typeof claimJobs>> = [];
  let outcomes: DeliveryOutcome[] = [];
  const settling: Promise<unknown>[] = [];
  let left = count;
  let filling: Promise<void> | undefined;

  const fill = async (): Promise<void> => {
    const jobs = await claimJobs(database, {
      ...usual,
      kinds: [deliverJobKind],
      caps: [batch],
      closed_lanes: [],
      open_lanes: [],
      rooms: [],
      limit: Math.min(batch, left),
      lost_below: null,
      lost_alone: 2,
      counts_lost: true,
    });
    if (jobs.length === 0) throw new Error('Nothing is due.');
    left -= jobs.length;
    await findDeliveries(database, {
      workspace_ids: jobs.map((job) => job.workspace_id),
      ids: jobs.map(({ id }) => id),
      most_bytes: 2 ** 31 - 1,
    });
    due.push(...jobs);
    filling = undefined;
  };
  const settle = (): void => {
    settling.push(
      settleDeliveries(database, {
        outcomes: JSON.stringify(outcomes),
        pause_after: null,
      }),
    );
    outcomes = [];
  };
  const post = async (): Promise<void> => {
    for (;;) {
      if (due.length < batch / 2 && left > 0) filling ??= fill();
      const job = due.shift();
      if (!job && !filling) return;
      if (!job) {
        await filling;
        continue;
      }
      const startedAt = now();
      const began = performance.now();
      const answer = await request(url, { dispatcher, method: 'POST', headers, body: bytes });
      await answer.body.dump();
      const ms = performance.now() - began;
      outcomes.push({
        ...success,
        workspace_id: job.workspace_id,
        id: job.id,
        lease_token: job.lease_token,
        url,
        request_headers: headers,
        body_bytes: bytes.length,
        started_at: startedAt,
        response_status: answer.statusCode,
        response_ms: Math.round(ms),
        first_byte_ms: ms,
        response_headers: answer.headers as Record<string, string>,
      });
      if (outcomes.length >= batch) settle();
    }
  };
  await Promise.all(Array.from({ length: connections }, post));
  settle();
  await Promise.all(settling);
  await dispatcher.close();
  await database.end();
}

const success = {
  status: 'Success',
  delay: null,
  trigger: 'schedule',
  body_sha256: '00'.repeat(32),
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  response_body: '',
  reason: null,
} as const;
