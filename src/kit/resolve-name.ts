import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Resolving a name takes no longer, in milliseconds. */
const resolveMs = 5_000;

const hostsFile = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/**
 * Every address of a name, IPv4 first. The hosts file is asked first, then DNS, without the operating system's
 * resolver: that one holds one of four threads for up to half a minute per slow name, and file uploads need
 * those threads (docs/rules.md F20). Only names without a dot go there, for their search domains.
 * @param servers the DNS servers; the system's when left out.
 * @throws an error whose code is ENOTFOUND when the name does not exist, ENODATA when it has no address, and
 * another when DNS did not answer.
 */
export async function resolveName(name: string, servers?: readonly string[]): Promise<string[]> {
  const plain = name.replace(/\.$/, '').toLowerCase();
  const known = addressesInHosts(await readFile(hostsFile, 'utf8').catch(() => ''), plain);
  if (known.length > 0) return known;
  if (!plain.includes('.')) return (await lookup(plain, { all: true })).map(({ address }) => address);
  return askDns(plain, servers);
}

/** The addresses that a hosts file gives a name. */
export function addressesInHosts(hosts: string, name: string): string[] {
  return hosts
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .flatMap(([address, ...names]) => (address && names.includes(name) ? [address] : []));
}

async function askDns(name: string, servers: readonly string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: resolveMs / 2, tries: 2 });
  if (servers) resolver.setServers(servers);
  const limit = setTimeout(() => resolver.cancel(), resolveMs);
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
    return addresses;
  } finally {
    clearTimeout(limit);
  }
}
