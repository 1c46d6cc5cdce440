import { hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { type Metric, Registry } from 'prom-client';
import { refreshCells } from '#cells/cells.ts';
import { ApiError } from '#kit/errors.ts';
import { bareHeaders, refuseOtherMethods, type Server } from '#kit/http.ts';
import type { Gauge } from '../checks/check.ts';
import { openFacts } from '../checks/facts.ts';
import { allChecks } from '../checks/instance-checks.ts';

/** What was measured, as it is sent from process to process. */
export type Report = readonly {
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

type Context = Parameters<typeof openFacts>[0];

/** How long an answer is given again: reading more often, or from several places, costs the database nothing more. */
const freshMs = 5_000;

/** @param reports reads what each process has counted. */
export function openMetrics(context: Context, reports: () => Promise<readonly Report[]>): ReadMetrics {
  let kept: { at: number; report: Promise<Report> } | undefined;
  return async () => {
    const at = performance.now();
    if (!kept || at - kept.at > freshMs) kept = { at, report: reportInstance(context) };
    return writeReports([...(await reports()), await kept.report]);
  };
}

/** Reports the gauges of all checks, which are the same in every process. It never rejects. */
export async function reportInstance(context: Context): Promise<Report> {
  // A process that only reads metrics learns of new cells here; without a database there are none to learn of.
  await refreshCells(context.database).catch(() => undefined);
  const facts = openFacts(context);
  const read = await Promise.allSettled(allChecks.map(async ({ gauges }) => (await gauges?.(facts)) ?? []));
  return read.flatMap((each) => (each.status === 'fulfilled' ? each.value.map(metricOf) : []));
}

const metricOf = ([name, help, value, type]: Gauge): Report[number] => ({
  name: `formloom_${name}`,
  help,
  type: type ?? 'gauge',
  values: typeof value === 'number' ? [{ labels: {}, value }] : value,
});

const metricsType = Registry.OPENMETRICS_CONTENT_TYPE;

/** Writes many reports as one text of OpenMetrics. Series of the same name differ by their labels. */
export async function writeReports(reports: readonly Report[]): Promise<string> {
  const registry = new Registry<typeof metricsType>();
  registry.setContentType(metricsType);
  for (const [fullName, parts] of Map.groupBy(reports.flat(), ({ name }) => name)) {
    // The library adds `_total` to the name of a counter; a gauge may end in it.
    const name = parts[0]!.type === 'counter' ? fullName.replace(/_total$/, '') : fullName;
    // A value that is not known yet is NaN, and null when it comes from another process.
    const values = parts
      .flatMap((part) => part.values)
      .filter(({ value }) => value !== null && !Number.isNaN(value));
    const merged = { ...parts[0]!, name, values };
    // The library joins processes like this itself, but its types do not have it.
    registry.registerMetric({ ...merged, get: async () => merged } as unknown as Metric);
  }
  return registry.metrics();
}

/** Answers on METRICS_LISTEN, to whoever can reach that. @throws the system's error when it cannot listen there. */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  read: ReadMetrics,
): Promise<{ close(): Promise<void> }> {
  // Not imported, as in kit/http.ts.
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    request.resume();
    const answer = (status: number, type: string, text: string) =>
      response
        .writeHead(status, { ...bareHeaders, 'Content-Type': type })
        .end(request.method === 'HEAD' ? undefined : text);
    if (request.url?.split('?', 1)[0] !== '/metrics')
      answer(404, 'text/plain', 'There is only /metrics here.\n');
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

/** `/metrics` on the port of the service, for whoever has METRICS_TOKEN. */
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
