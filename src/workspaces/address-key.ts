import ipaddr from 'ipaddr.js';

/** A household or a server gets a whole /64, so counting single IPv6 addresses would count nothing. */
const ipv6Prefix = 64;

/**
 * What requests without a valid API key are counted as (limit.ts): equal for all ways of writing one
 * IPv4 address, `::ffff:1.2.3.4` among them, and for all addresses of one IPv6 /64 (docs/rules.md T29).
 * @param ip the peer's address, or what a trusted proxy names; all that is no address counts as one.
 */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString().split('%', 1)[0]}/${ipv6Prefix}`,
  );
  return `${network.toString()}/${ipv6Prefix}`;
}
