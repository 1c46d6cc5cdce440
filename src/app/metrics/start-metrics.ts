import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import type { Meter, ReadMetrics, Report } from './open-metrics.ts';

/** What a process counts with, and how it reads what all have counted. */
export type Metrics = { meter: Meter; read: ReadMetrics };

/** What the primary answers to a process that was asked for metrics: it goes on whatever becomes of them. */
export async function readForProcess(log: Log, metrics: Metrics | undefined): Promise<string | undefined> {
  try {
    return await metrics?.read();
  } catch (error) {
    log.warn({ err: error }, 'the metrics could not be read');
    return undefined;
  }
}

/**
 * Undefined when nobody asked for metrics: then nothing of them is loaded.
 * @param process its label: the number of a web process, or `primary`.
 * @param others the reports of the other processes; or how another process is asked for all of it.
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
    ...((await others.reports()) as Report[]),
  ]);
  if (config.metrics.listen) {
    const listening = await listenForMetrics(config.metrics.listen, read);
    parts.defer(() => listening.close());
  }
  return { meter, read };
}
