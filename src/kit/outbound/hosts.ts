import { createHash } from 'node:crypto';
import dns from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { domainToASCII } from 'node:url';
import { type Config, ConfigError } from '../config.ts';
import { bareHost } from './address-guard.ts';

/**
 * Returns whether a Host header belongs to this service: the name of PUBLIC_URL, those of ALLOWED_HOSTS, and
 * localhost. It rejects other names, because a foreign site can point its name to this service (DNS
 * rebinding). IP addresses are safe, and health checks use them.
 */
export function createHostCheck({
  publicUrl,
  allowedHosts,
}: Pick<Config, 'publicUrl' | 'allowedHosts'>): (host: string) => boolean {
  const names = new Set([new URL(publicUrl).hostname, ...allowedHosts, 'localhost']);
  return (host) => {
    const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') ?? '';
    return names.has(name) || name.endsWith('.localhost') || isIP(bareHost(name)) > 0;
  };
}

const domainPattern = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9-]{2,63}$/;

/** Returns a domain in lower case and ASCII; undefined if the text is not the name of a domain. */
export function normalizeDomain(text: string): string | undefined {
  const name = text.trim().replace(/\.$/, '');
  // domainToASCII removes a path, and decodes `%41`.
  const domain = /[/?#%@:\\]/.test(name) ? '' : domainToASCII(name);
  return domainPattern.test(domain) ? domain : undefined;
}

/** The timeout of a DNS query, in milliseconds. Each is tried twice. */
const queryMs = 2_000;

/** Returns the TXT records of a name, empty if it has none; undefined if DNS does not answer. */
export async function resolveTexts(name: string): Promise<string[] | undefined> {
  const resolver = new Resolver({ timeout: queryMs, tries: 2 });
  resolver.setServers(dns.getServers());
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : undefined;
  }
}

/** @throws ConfigError if HOST or METRICS_LISTEN has a name that this machine cannot resolve. */
export async function requireResolvableListenHosts({ host, metrics }: Config): Promise<void> {
  const settings = { HOST: host, METRICS_LISTEN: metrics?.listen?.host };
  const problems: string[] = [];
  for (const [setting, name] of Object.entries(settings)) {
    if (name === undefined) continue;
    try {
      await lookup(name);
    } catch {
      problems.push(
        `${setting} is "${name}", which this machine cannot resolve. It must be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Returns the boot id, which is new at each boot and differs between copies of a machine. Linux only. */
const bootOf = (): Promise<string> => readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');

/**
 * Returns the name of a server's database sessions. All processes of a server share it. Two machines have
 * different names, even if one is a copy of the other.
 */
export async function getDatabaseSessionName({
  dataDir,
}: Pick<Config, 'dataDir'>): Promise<`formloom node ${string}`> {
  // The folder does not exist before the first start.
  const folder = await stat(dataDir, { bigint: true }).catch(() => undefined);
  const words = [hostname(), await bootOf(), folder?.dev, folder?.ino].join(' ');
  return `formloom node ${createHash('sha256').update(words).digest('hex').slice(0, 24)}`;
}
