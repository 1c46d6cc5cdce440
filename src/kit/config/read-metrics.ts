/** Who may read metrics: whoever reaches an address of their own, or has a token. */
export type MetricsConfig = { listen: { host: string; port: number } | undefined; token: string | undefined };

/** Short ones could be guessed: the port of the service is open to all. */
const shortestToken = 16;

/** Where the operator wants metrics to be read, if anywhere; what is wrong with that is put to `problems`. */
export function readMetrics(
  value: (name: string) => string | undefined,
  problems: string[],
): MetricsConfig | undefined {
  const token = value('METRICS_TOKEN');
  const address = value('METRICS_LISTEN');
  if (token !== undefined && token.length < shortestToken)
    problems.push(`METRICS_TOKEN must have at least ${shortestToken} characters.`);
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(address ?? '') ?? [];
  if (address !== undefined && !(Number(port) > 0 && Number(port) < 65_536))
    problems.push(
      `METRICS_LISTEN is "${address}", but it must be an address with a port, such as 127.0.0.1:9464.`,
    );
  if (token === undefined && address === undefined) return undefined;
  const listen =
    host === undefined ? undefined : { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
  return { token, listen };
}
