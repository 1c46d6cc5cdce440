import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClientType } from '@redis/client';
import type { Log } from './log.ts';

/** Thrown if Valkey, which keeps the counters that several machines share, is unavailable. */
export class ValkeyError extends Error {}

/** A client of Valkey or Redis. */
export type Valkey = RedisClientType;

/** The timeout for the connection at startup and for a single request, in milliseconds. */
const limitMs = 2_000;

/** Imports the client here, so that a process without Valkey does not load it. */
async function openValkey(
  url: string,
  log: Log | undefined,
  reconnectStrategy: false | ((attempt: number) => number),
): Promise<Valkey> {
  const client = await import('@redis/client');
  const socket = { connectTimeout: limitMs, reconnectStrategy };
  const valkey = client.createClient({ url, disableOfflineQueue: true, socket });
  // Without a listener, an error would end the process. Callers report what a failure means.
  valkey.on('error', ({ message }: Error) =>
    log?.debug({ reason: message }, 'the connection to Valkey failed'),
  );
  return valkey;
}

/** Connects to Valkey, and reconnects whenever the connection is lost. */
export async function connectValkey(url: string, log: Log): Promise<Valkey> {
  const valkey = await openValkey(url, log, (attempt) => Math.min((attempt + 1) * 100, 2_000));
  // The client retries until it connects or is closed, but only the first attempt is awaited.
  const first = once(valkey, 'ready', { signal: AbortSignal.timeout(limitMs) });
  valkey.connect().catch((error: unknown) => log.debug({ err: error }, 'stopped connecting to Valkey'));
  await first.catch((error: unknown) => log.warn({ err: error }, 'Valkey is not responding yet'));
  return valkey;
}

/** Sends a request to Valkey over a new connection. @throws ValkeyError with the reason for the failure. */
export async function requestValkey<Answer>(
  url: string,
  ask: (valkey: Valkey) => Promise<Answer>,
): Promise<Answer> {
  const valkey = await openValkey(url, undefined, false);
  const late = sleep(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`no response within ${limitMs / 1_000} s`);
  });
  try {
    return await Promise.race([valkey.connect().then(() => ask(valkey)), late]);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ValkeyError(`The Valkey server at ${new URL(url).host} does not respond: ${reason}`, { cause });
  } finally {
    valkey.destroy();
  }
}
