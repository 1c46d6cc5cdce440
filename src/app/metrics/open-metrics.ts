import { hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { cellsOf, refreshCells, watchOtherCells } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server, securityHeaders } from '#kit/http.ts';
import { countDroppedWrites } from '#kit/log.ts';
import { watchPoolWaits } from '#kit/pooling.ts';
import type { DeliveryStatus } from '#webhooks/retry-delivery.ts';
import type { CheckGauge } from '../checks/check.ts';
import { instanceFacts } from '../checks/facts.ts';
import { allChecks } from '../checks/instance-checks.ts';

/** Measured values, in the format in which one process sends them to another. */
export type MetricsReport = readonly {
  name: string;
  help: string;
  type: string;
  values: readonly {
    labels: Readonly<Record<string, string | number>>;
    value: number | null;
    metricName?: string;
  }[];
}[];

/** Reads the metrics of all processes and of the instance as text. */
export type ReadMetrics = () => Promise<string>;

type Context = Parameters<typeof instanceFacts>[0];

/**
 * How long a report is reused, so that reading more often, or from several places, adds no load on the
 * database.
 */
const freshMs = 5_000;

/**
 * Returns a function that reads all metrics.
 * @param reports reads what each process has counted.
 */
export function openMetrics(context: Context, reports: () => Promise<readonly MetricsReport[]>): ReadMetrics {
  let cached: { at: number; report: Promise<MetricsReport> } | undefined;
  return async () => {
    const at = performance.now();
    if (!cached || at - cached.at > freshMs) cached = { at, report: reportInstanceMetrics(context) };
    return formatMetricsReports([...(await reports()), await cached.report]);
  };
}

/** Reports the metrics of all checks, which do not depend on the process. It never rejects. */
export async function reportInstanceMetrics(context: Context): Promise<MetricsReport> {
  // A process that only reads metrics finds out about new cells here. If the database is down, the known
  // cells are used.
  await refreshCells(context.database).catch(() => undefined);
  const facts = instanceFacts(context);
  const read = await Promise.allSettled(allChecks.map(async ({ gauges }) => (await gauges?.(facts)) ?? []));
  return read.flatMap((each) => (each.status === 'fulfilled' ? each.value.map(metricOf) : []));
}

const metricOf = ([name, help, value, type]: CheckGauge): MetricsReport[number] => ({
  name: `formloom_${name}`,
  help,
  type: type ?? 'gauge',
  values:
    typeof value === 'object' ? value : value === undefined ? [] : [{ labels: {}, value: Number(value) }],
});

const metricsType = Registry.OPENMETRICS_CONTENT_TYPE;

/** Writes all reports as one OpenMetrics text. Series with the same name differ in their labels. */
export async function formatMetricsReports(reports: readonly MetricsReport[]): Promise<string> {
  const registry = new Registry<typeof metricsType>();
  registry.setContentType(metricsType);
  for (const [fullName, parts] of Map.groupBy(reports.flat(), ({ name }) => name)) {
    // The library adds `_total` to the name of a counter. The name of a gauge may also end in `_total`.
    const name = parts[0]!.type === 'counter' ? fullName.replace(/_total$/, '') : fullName;
    // An unknown value is NaN, or null if it comes from another process.
    const values = parts
      .flatMap((part) => part.values)
      .filter(({ value }) => value !== null && !Number.isNaN(value));
    const merged = { ...parts[0]!, name, values };
    // The library merges processes in this way, but its types do not allow it.
    registry.registerMetric({ ...merged, get: async () => merged } as unknown as Metric);
  }
  return registry.metrics();
}

/**
 * Serves metrics on METRICS_LISTEN without a token.
 * @throws the system's error if it cannot listen there.
 */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  read: ReadMetrics,
): Promise<{ close(): Promise<void> }> {
  // Not imported, for the reason explained in kit/http.ts.
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    request.resume();
    const answer = (status: number, type: string, text: string) =>
      response
        .writeHead(status, { ...securityHeaders, 'Content-Type': type })
        .end(request.method === 'HEAD' ? undefined : text);
    if (request.url?.split('?', 1)[0] !== '/metrics')
      answer(404, 'text/plain', 'Only /metrics is available here.\n');
    else
      read().then(
        (text) => answer(200, metricsType, text),
        (error: unknown) => answer(503, 'text/plain', `${String(error)}\n`),
      );
  });
  server.listen({ host, port });
  await once(server, 'listening');
  return {
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Serves `/metrics` on the port of the service, for requests with METRICS_TOKEN. */
export function metricsRoute(server: Server, token: string, read: ReadMetrics): void {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const expected = digest(token);
  server.get('/metrics', async (request, reply) => {
    const [, given = ''] = /^Bearer[ \t]+(.*)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (!timingSafeEqual(digest(given), expected)) throw new ApiError('unauthorized');
    return reply
      .header('Cache-Control', 'no-store')
      .type(metricsType)
      .send(await read());
  });
  refuseOtherMethods(server, '/metrics', ['GET']);
}

/** Counts the work of a process in memory. A restart begins at 0. */
export type Meter = {
  answered: (request: FastifyRequest, reply: FastifyReply) => void;
  attempted: (status: DeliveryStatus) => void;
  /** @param isAway whether the mail server currently accepts no email. */
  mailed: (state: 'queued' | 'sent' | 'failed', isAway: boolean) => void;
  report: () => Promise<MetricsReport>;
};

const noRoute = '(none)';

/**
 * Opens the meter of a process.
 * @param process the label of the process. Without it, a sum would drop when a process is replaced.
 * @param database the database whose connection pool is measured.
 */
export function openMeter(process: string, database: Database): Meter {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Histogram({
    name: 'formloom_request_seconds',
    help: 'Request duration by route pattern, from the request headers to the end of the response.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const attempts = new Counter({
    name: 'formloom_delivery_attempts',
    help: 'Webhook requests by the resulting status of the delivery: Success, Retrying or Failed.',
    labelNames: ['status'] as const,
    registers,
  });
  const mails = new Counter({
    name: 'formloom_mail_attempts',
    help: 'Emails passed to the mail server by result: sent, queued (for a retry) or failed.',
    labelNames: ['state'] as const,
    registers,
  });
  const away = new Gauge({
    name: 'formloom_mail_server_away',
    help: 'Whether the mail server refused the last email for a reason that affects all emails.',
    registers,
  });
  // Published from the start, so that a rate is 0 instead of a missing value.
  for (const status of ['Success', 'Retrying', 'Failed'] as const) attempts.inc({ status }, 0);
  for (const state of ['sent', 'queued', 'failed'] as const) mails.inc({ state }, 0);
  const waits = new Histogram({
    name: 'formloom_pool_wait_seconds',
    help: 'How long work waited for a pool connection. Work that found a free connection is not counted.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 2.5],
    registers,
  });
  const observe = (seconds: number): void => waits.observe(seconds);
  watchPoolWaits(database, observe);
  watchOtherCells(database, (cell) => watchPoolWaits(cell.database, observe));
  const pool = new Gauge({
    name: 'formloom_pool_connections',
    help: 'Connections in the pools of all cells by state, and work waiting for a connection.',
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
    help: 'Writes to standard output and standard error that failed or were dropped because the reader was too slow.',
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
      // For a route that refuses several methods, this is a list. Otherwise, anyone could create a series for
      // each method.
      const method = typeof answered === 'string' ? answered : noRoute;
      requests.observe({ method, route, status }, reply.elapsedTime / 1_000);
    },
    attempted: (status) => attempts.inc({ status }),
    mailed(state, isAway) {
      mails.inc({ state });
      away.set(Number(isAway));
    },
    report: () => registry.getMetricsAsJSON() as unknown as Promise<MetricsReport>,
  };
}
