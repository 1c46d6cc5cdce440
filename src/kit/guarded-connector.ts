import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressGuard, bareHost } from './address-guard.ts';

/** Every address of a name. */
export type ResolveName = (name: string) => Promise<string[]>;

/** The connection was not made, because the guard refused it. */
export class BlockedTarget extends Error {
  override readonly name = 'BlockedTarget';
}

/**
 * Makes connections to checked addresses only: those that were checked are those that are dialled, so a name that
 * resolves to something else a moment later changes nothing. TLS and the Host header still have the name.
 */
export function guardedConnector(
  guard: AddressGuard,
  resolve: ResolveName,
  timeoutMs: number,
): buildConnector.connector {
  const connect = async (...[options, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    try {
      const port = Number(options.port) || 443;
      const addresses = await addressesToDial(guard, resolve, bareHost(options.hostname), port);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const lookup: LookupFunction = (_, { all }, answer) =>
        all ? answer(null, found) : answer(null, found[0]!.address, found[0]!.family);
      buildConnector({ lookup, timeout: timeoutMs, allowH2: false, maxCachedSessions: 0 })(options, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

/**
 * The addresses of a host, all of them checked: one that may not be connected to refuses them all.
 * @throws BlockedTarget, or what the resolver throws.
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
