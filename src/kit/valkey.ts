import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClientType } from '@redis/client';
import type { Log } from './log.ts';

/** What counts for several machines, and cannot be asked. */
export class ValkeyError extends Error {}

/** A Valkey, or a Redis. */
export type Valkey = RedisClientType;

/** A start, and whoever asks once, waits this long for it at most. */
const limitMs = 2_000;

/** Loaded here, so that a process without Valkey does not load its client. */
async function openValkey(
  url: string,
  log: Log | undefined,
  reconnectStrategy: false | ((attempt: number) => number),
): Promise<Valkey> {
  const client = await import('@redis/client');
  const socket = { connectTimeout: limitMs, reconnectStrategy };
  const valkey = client.createClient({ url, disableOfflineQueue: true, socket });
  // Without a listener its errors would end the process. What a failure means is said by whoever asks.
  valkey.on('error', ({ message }: Error) =>
    log?.debug({ reason: message }, 'the connection to Valkey failed'),
  );
  return valkey;
}

/** Connects to the Valkey at an address, and again whenever the connection was lost. */
export async function connectValkey(url: string, log: Log): Promise<Valkey> {
  const valkey = await openValkey(url, log, (attempt) => Math.min((attempt + 1) * 100, 2_000));
  // Tried until it succeeds or is closed: only the first attempt is waited for.
  const first = once(valkey, 'ready', { signal: AbortSignal.timeout(limitMs) });
  valkey
    .connect()
    .catch((error: unknown) => log.debug({ err: error }, 'the connection to Valkey was given up'));
  await first.catch((error: unknown) => log.warn({ err: error }, 'Valkey does not answer yet'));
  return valkey;
}

/** Asks the Valkey at an address something over a connection of its own. @throws ValkeyError when it does not answer, in words. */
export async function askValkey<Answer>(
  url: string,
  ask: (valkey: Valkey) => Promise<Answer>,
): Promise<Answer> {
  const valkey = await openValkey(url, undefined, false);
  const late = sleep(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`nothing was heard for ${limitMs / 1_000} s`);
  });
  try {
    return await Promise.race([valkey.connect().then(() => ask(valkey)), late]);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ValkeyError(`The Valkey at ${new URL(url).host} does not answer: ${reason}`, { cause });
  } finally {
    valkey.destroy();
  }
}
