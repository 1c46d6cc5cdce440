import { lookup } from 'node:dns/promises';
import { type Config, ConfigError } from './config.ts';

/** @throws ConfigError when HOST or METRICS_LISTEN has a name that this machine cannot resolve. */
export async function refuseUnknownHosts({ host, metrics }: Config): Promise<void> {
  const settings = { HOST: host, METRICS_LISTEN: metrics?.listen?.host };
  const problems: string[] = [];
  for (const [setting, name] of Object.entries(settings)) {
    if (name === undefined) continue;
    try {
      await lookup(name);
    } catch {
      problems.push(
        `${setting} names "${name}", which this machine cannot resolve. It must be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
