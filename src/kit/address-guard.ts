import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/**
 * Which addresses the service may be made to connect to by somebody who enters a URL. Only addresses of the public
 * internet, so that nobody reads or moves what lies beside the server (the union of the lists of Smokescreen and
 * Svix).
 */
export type AddressGuard = {
  /** @param address an IP address, not a name: what a name resolves to is asked about one by one. */
  mayConnect(address: string, port: number): boolean;
  /** Whether it is this service itself, by name. */
  isOwnHost(hostname: string, port: number): boolean;
};

type Address = ReturnType<typeof ipaddr.parse>;

/** The port of a URL; only https (and http, for the service's own address) have one that is left out. */
export const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'http:' ? 80 : 443);

/** A host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/**
 * @param allowNetworks CIDRs that are let through although they are not public.
 * @param ownUrls where this service itself is reached: a webhook to it would be a loop.
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
      // ipaddr.js also takes short and octal spellings, which URL has turned into addresses long before.
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

/** `forms.example.` is the name `forms.example` (RFC 1034, 3.1), which URL leaves as it is written. */
const rootless = (hostname: string): string => bareHost(hostname).replace(/\.$/, '');

/** All that is given out of IPv6 (RFC 4291, 2.4; IANA). The rest is nobody's yet, or old forms such as `::a.b.c.d`. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * `unicast` is what remains after every special range: private, loopback, link-local, shared (RFC 6598),
 * multicast, reserved, documentation, and every IPv6 form that carries an IPv4 address (mapped, NAT64, 6to4,
 * Teredo), whichever address that is.
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

/** Databases and caches that take any line for a command; no webhook receiver listens there. */
const servicePorts: readonly number[] = [3306, 5432, 6379, 11211, 27017];

/** Ports below 1024 other than 443 belong to other protocols: mail, remote shells, directories. */
const isReceiverPort = (port: number): boolean =>
  port === 443 || (port >= 1024 && !servicePorts.includes(port));
