import { X509Certificate } from 'node:crypto';
import { lookup, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { ConfigError } from '../config.ts';

/**
 * Decides which addresses the service may connect to for a URL that a person entered. Only the public
 * internet is allowed, which protects systems next to the server. The lists combine those of Smokescreen and
 * Svix.
 */
export type AddressGuard = {
  /** @param address an IP address. Check each address of a host name separately. */
  mayConnect(address: string, port: number): boolean;
  /** Returns whether a host name and port are this service itself. */
  isOwnHost(hostname: string, port: number): boolean;
};

type Address = ReturnType<typeof ipaddr.parse>;

/** Returns the port of a URL, or the default port of http or https. */
export const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'http:' ? 80 : 443);

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/**
 * @param allowNetworks CIDRs that are allowed although they are not public.
 * @param ownUrls URLs of this service, which webhooks must not call: that would be a loop.
 */
export function openAddressGuard(
  allowNetworks: readonly string[],
  ownUrls: readonly string[] = [],
): AddressGuard {
  const allowed = allowNetworks.map((network) => ipaddr.parseCIDR(network));
  const own = ownUrls.map((url) => new URL(url));
  const ownPorts = new Set(own.map(portOf));
  return {
    mayConnect(text, port) {
      // ipaddr.js also accepts short and octal notations. URL has already converted those.
      if (isIP(text) === 0) return false;
      const address = ipaddr.parse(text);
      if (ownPorts.has(port) && isThisMachine(address)) return false;
      return (
        isReceiverPort(port) && (isPublic(address) || allowed.some((network) => isWithin(address, network)))
      );
    },
    isOwnHost: (hostname, port) =>
      own.some((url) => rootless(url.hostname) === rootless(hostname) && portOf(url) === port),
  };
}

/** `forms.example.` is the name `forms.example` (RFC 1034, 3.1). URL does not remove the dot. */
const rootless = (hostname: string): string => bareHost(hostname).replace(/\.$/, '');

/** The allocated part of IPv6 (RFC 4291, 2.4; IANA). The rest is unassigned or old, like `::a.b.c.d`. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * `unicast` excludes every special range: private, loopback, link-local, shared (RFC 6598), multicast,
 * reserved and documentation. It also excludes every IPv6 form that carries an IPv4 address (mapped, NAT64,
 * 6to4, Teredo).
 */
const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast));

const isWithin = (address: Address, [network, bits]: [Address, number]): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

function isThisMachine(address: Address): boolean {
  if (address.range() === 'loopback') return true;
  const text = address.toString();
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => ipaddr.parse(entry.address).toString() === text),
  );
}

/** Databases and caches that read any line as a command. No webhook receiver listens there. */
const servicePorts: readonly number[] = [3306, 5432, 6379, 11211, 27017];

/** Ports below 1024, except 443, belong to other protocols: email, remote shells, directories. */
const isReceiverPort = (port: number): boolean =>
  port === 443 || (port >= 1024 && !servicePorts.includes(port));

/** The timeout for resolving a name, in milliseconds. */
const resolveMs = 5_000;

const hostsFile = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/**
 * Returns every address of a name, IPv4 first, from the hosts file or else from DNS. The resolver of the
 * operating system would block one of four threads for up to 30 seconds per slow name. File uploads need
 * those threads (docs/rules.md F20). Only names without a dot use it, for their search domains.
 * @param servers the DNS servers. Default: those of the system.
 * @throws an error with the code ENOTFOUND if the name does not exist, ENODATA if it has no address, or
 * another code if DNS did not answer.
 */
export async function resolveName(name: string, servers?: readonly string[]): Promise<string[]> {
  const plain = name.replace(/\.$/, '').toLowerCase();
  const known = findInHostsFile(await readFile(hostsFile, 'utf8').catch(() => ''), plain);
  if (known.length > 0) return known;
  if (!plain.includes('.')) return (await lookup(plain, { all: true })).map(({ address }) => address);
  return queryDns(plain, servers);
}

/** Returns the addresses of a name in a hosts file. */
export function findInHostsFile(hosts: string, name: string): string[] {
  return hosts
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .flatMap(([address, ...names]) => (address && names.includes(name) ? [address] : []));
}

async function queryDns(name: string, servers: readonly string[] | undefined): Promise<string[]> {
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

const certificateBlock = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/**
 * Makes every TLS connection of this process trust the certificate authorities in a PEM file
 * (WEBHOOK_CA_FILE) in addition to the default ones. This covers webhooks, S3, OIDC, SMTP and PostgreSQL.
 * @throws ConfigError if the file cannot be read or contains no certificate.
 */
export function trustCaFile(path: string | undefined): void {
  if (path === undefined) return;
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...readCertificates(path)])]);
}

function readCertificates(path: string): string[] {
  const blocks = readText(path).match(certificateBlock);
  if (!blocks)
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", which contains no certificate. It must contain one or more certificates in PEM format (-----BEGIN CERTIFICATE-----).`,
    ]);
  const broken = blocks.findIndex((block) => !isReadable(block));
  if (broken !== -1)
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", but certificate number ${broken + 1} in this file cannot be read. Export it again in PEM format.`,
    ]);
  return blocks;
}

function isReadable(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", which ${why}. It must be a file that contains certificates in PEM format.`,
    ]);
  }
}

export type ResolveName = (name: string) => Promise<string[]>;

/** Thrown if the guard blocks a connection. */
export class BlockedTarget extends Error {
  override readonly name = 'BlockedTarget';
}

/** The duration of each connection phase in milliseconds; null if the phase was not needed or not reached. */
export type ConnectPhases = { dns: number | null; connect: number | null; tls: number | null };

export const noPhases = (): ConnectPhases => ({ dns: null, connect: null, tls: null });

/**
 * Returns the addresses of a host. A single blocked address blocks all of them.
 * @throws BlockedTarget, or the error of the resolver.
 */
export async function addressesToDial(
  guard: AddressGuard,
  resolve: ResolveName,
  hostname: string,
  port: number,
): Promise<string[]> {
  if (guard.isOwnHost(hostname, port)) throw new BlockedTarget();
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname);
  const isAllowed = addresses.every((address) => guard.mayConnect(address, port));
  if (addresses.length === 0 || !isAllowed) throw new BlockedTarget();
  return addresses;
}
