import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import type { Meter, MetricsReport, ReadMetrics } from './open-metrics.ts';

/** The meter of a process, and the function that reads the metrics of all processes. */
export type Metrics = { meter: Meter; read: ReadMetrics };

/** Reads the metrics in the primary for a web process. A failure is logged and does not end the primary. */
export async function readMetricsForProcess(
  log: Log,
  metrics: Metrics | undefined,
): Promise<string | undefined> {
  try {
    return await metrics?.read();
  } catch (error) {
    log.warn({ err: error }, 'could not read the metrics');
    return undefined;
  }
}

/**
 * Starts metrics. Returns undefined and loads nothing if no setting turns them on.
 * @param process the label: the number of a web process, or `primary`.
 * @param others reads the reports of the other processes, or requests the whole text from another process.
 */
export async function startMetrics(
  context: { config: Config; database: Database; parts: AsyncDisposableStack },
  process: string,
  others: { reports: () => Promise<unknown[]> } | { ask: () => Promise<string | undefined> } = {
    reports: async () => [],
  },
): Promise<Metrics | undefined> {
  const { config, database, parts } = context;
  if (!config.metrics) return undefined;
  const { listenForMetrics, openMeter, openMetrics } = await import('./open-metrics.ts');
  const meter = openMeter(process, database);
  if ('ask' in others) {
    const read = async (): Promise<string> => {
      const text = await others.ask();
      if (text === undefined) throw new ApiError('service_unavailable');
      return text;
    };
    return { meter, read };
  }
  const read = openMetrics(context, async () => [
    await meter.report(),
    ...((await others.reports()) as MetricsReport[]),
  ]);
  if (config.metrics.listen) {
    const listening = await listenForMetrics(config.metrics.listen, read);
    parts.defer(() => listening.close());
  }
  return { meter, read };
}
