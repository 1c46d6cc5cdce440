import type { FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '#kit/database.ts';
import { cellsOf, onCell } from '#cells/cells.ts';
import { countDroppedWrites } from '#kit/output.ts';
import { watchPoolWaits } from '#kit/pooling.ts';
import type { Report } from './open-metrics.ts';
import type { DeliveryStatus } from '#webhooks/retry-delivery.ts';

/** What a process counts of itself, in memory: nothing is written down, and a restart begins at 0. */
export type Meter = {
  answered: (request: FastifyRequest, reply: FastifyReply) => void;
  attempted: (status: DeliveryStatus) => void;
  /** @param isAway whether the mail server takes nothing now. */
  mailed: (state: 'queued' | 'sent' | 'failed', isAway: boolean) => void;
  report: () => Promise<Report>;
};

const noRoute = '(none)';

/**
 * @param process its label, so that counters of one that was replaced do not go back in a sum.
 * @param database whose pool is watched.
 */
export function openMeter(process: string, database: Database): Meter {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Histogram({
    name: 'formloom_request_seconds',
    help: 'Requests by the pattern of their route, from their head to the end of the answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const attempts = new Counter({
    name: 'formloom_delivery_attempts',
    help: 'Requests to receivers of webhooks, by what became of the delivery: Success, Retrying or Failed.',
    labelNames: ['status'] as const,
    registers,
  });
  const mails = new Counter({
    name: 'formloom_mail_attempts',
    help: 'Mails given to the mail server, by what became of them: sent, queued (again) or failed.',
    labelNames: ['state'] as const,
    registers,
  });
  const away = new Gauge({
    name: 'formloom_mail_server_away',
    help: 'Whether the mail server took nothing, and not just this mail, when it was last given one.',
    registers,
  });
  // A rate over what has not happened yet is 0 and not nothing.
  for (const status of ['Success', 'Retrying', 'Failed'] as const) attempts.inc({ status }, 0);
  for (const state of ['sent', 'queued', 'failed'] as const) mails.inc({ state }, 0);
  const waits = new Histogram({
    name: 'formloom_pool_wait_seconds',
    help: 'How long work waited for a connection of the pool; what found one free is not counted.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 2.5],
    registers,
  });
  const observe = (seconds: number): void => waits.observe(seconds);
  watchPoolWaits(database, observe);
  onCell(database, (cell) => watchPoolWaits(cell.database, observe));
  const pool = new Gauge({
    name: 'formloom_pool_connections',
    help: 'Connections of the pools of all cells by what they do, and work that waits for one.',
    labelNames: ['state'] as const,
    registers: [],
    collect() {
      const sum = (count: (pool: Database) => number): number =>
        cellsOf(database).reduce((total, cell) => total + count(cell.database), 0);
      this.set(
        { state: 'busy' },
        sum(({ totalCount, idleCount }) => totalCount - idleCount),
      );
      this.set(
        { state: 'idle' },
        sum(({ idleCount }) => idleCount),
      );
      this.set(
        { state: 'waited_for' },
        sum(({ waitingCount }) => waitingCount),
      );
    },
  });
  registry.registerMetric(pool);
  const lost = new Counter({
    name: 'formloom_output_dropped',
    help: 'Writes to standard output and standard error that failed, or whose reader was too slow.',
    labelNames: ['stream'] as const,
    registers: [],
    collect() {
      this.reset();
      for (const [stream, count] of Object.entries(countDroppedWrites())) this.inc({ stream }, count);
    },
  });
  registry.registerMetric(lost);

  return {
    answered(request, reply) {
      const { statusCode: status } = reply;
      const { url: route = noRoute, method: answered } = request.routeOptions;
      // What refuses many methods has a list of them: each would be a series that strangers make.
      const method = typeof answered === 'string' ? answered : noRoute;
      requests.observe({ method, route, status }, reply.elapsedTime / 1_000);
    },
    attempted: (status) => attempts.inc({ status }),
    mailed(state, isAway) {
      mails.inc({ state });
      away.set(Number(isAway));
    },
    report: () => registry.getMetricsAsJSON() as unknown as Promise<Report>,
  };
}
