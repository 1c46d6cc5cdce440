import { type Metric, Registry } from 'prom-client';

/** What was measured, as it goes from process to process. */
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

export const metricsType = Registry.OPENMETRICS_CONTENT_TYPE;

/** Many reports as one text of OpenMetrics. What has the same name in several of them differs by its labels. */
export async function writeReports(reports: readonly Report[]): Promise<string> {
  const registry = new Registry<typeof metricsType>();
  registry.setContentType(metricsType);
  for (const [fullName, parts] of Map.groupBy(reports.flat(), ({ name }) => name)) {
    // Of a counter it is written by the library; gauges may be named so.
    const name = parts[0]!.type === 'counter' ? fullName.replace(/_total$/, '') : fullName;
    // What is not known yet is NaN, and null behind the way from another process.
    const values = parts
      .flatMap((part) => part.values)
      .filter(({ value }) => value !== null && !Number.isNaN(value));
    const merged = { ...parts[0]!, name, values };
    // The library's own way of joining processes, which its types do not tell of.
    registry.registerMetric({ ...merged, get: async () => merged } as unknown as Metric);
  }
  return registry.metrics();
}
