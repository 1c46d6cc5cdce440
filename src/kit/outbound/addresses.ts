import { isIP } from 'node:net';
import type { AddressGuard } from './address-guard.ts';

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
