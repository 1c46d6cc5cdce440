import { isIP } from 'node:net';
import type { AddressGuard } from './address-guard.ts';

/** Every address of a name. */
export type ResolveName = (name: string) => Promise<string[]>;

/** The connection was not made, because the guard refused it. */
export class BlockedTarget extends Error {
  override readonly name = 'BlockedTarget';
}

/** How long each step of connecting took, in milliseconds; null for a step that was not needed or not reached. */
export type ConnectPhases = { dns: number | null; connect: number | null; tls: number | null };

export const noPhases = (): ConnectPhases => ({ dns: null, connect: null, tls: null });

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
