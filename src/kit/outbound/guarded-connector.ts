import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import {
  type AddressGuard,
  addressesToDial,
  bareHost,
  type ConnectPhases,
  type ResolveName,
} from './address-guard.ts';
import { type ResponseState, skipInterim } from './skip-interim.ts';

type DialOptions = {
  guard: AddressGuard;
  resolve: ResolveName;
  timeoutMs: number;
  /** Where to write the timings of the current connection. */
  phases: () => ConnectPhases;
  /** Tells whether the connection still waits for the response of its request. */
  awaiting: () => ResponseState;
  /** Cancels connecting at any stage. */
  signal: AbortSignal;
};

/**
 * Connects only to checked addresses. The connection goes to the exact address that was checked, so a later
 * DNS change has no effect. TLS and the Host header still use the name.
 */
export function guardedConnector(options: DialOptions): buildConnector.connector {
  const secure = buildConnector({ timeout: options.timeoutMs, allowH2: false, maxCachedSessions: 0 });
  const dial = async (...[target, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    try {
      const phases = options.phases();
      const httpSocket = await openSocket(options, phases, target);
      const began = performance.now();
      secure({ ...target, httpSocket }, (...result) => {
        if (result[0] === null) phases.tls = performance.now() - began;
        if (result[0] === null) callback(null, skipInterim(result[1], options.awaiting));
        else callback(...result);
      });
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (target, callback) => void dial(target, callback);
}

async function openSocket(
  { guard, resolve, signal }: DialOptions,
  phases: ConnectPhases,
  { hostname, port: text }: buildConnector.Options,
): Promise<Socket> {
  const host = bareHost(hostname);
  const port = Number(text) || 443;
  const startedAt = performance.now();
  const addresses = await addressesToDial(guard, resolve, host, port);
  const known = performance.now();
  if (isIP(host) === 0) phases.dns = known - startedAt;
  signal.throwIfAborted();
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_, { all }, answer) =>
    all ? answer(null, found) : answer(null, found[0]!.address, found[0]!.family);
  const socket = connect({ host, port, lookup, noDelay: true, signal });
  await once(socket, 'connect');
  phases.connect = performance.now() - known;
  return socket;
}
