import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openClient } from '../database.ts';
import { isAstray } from '../find-host.ts';
import type { Log } from '../log.ts';
import { loggedError } from '../logged-error.ts';

/** How long after a lost connection the next one is tried. Who listens must look by itself meanwhile. */
const reconnectMs = 1_000;
/** It is asked so often whether it is there, and has as long to answer: a machine that is lost says nothing. */
const usualAskMs = 3_000;

/**
 * Listens on a channel until `signal` aborts, over a connection of its own that is made anew after every loss.
 * @param hear is called with each payload, and with '' once per connection for what may have been missed before.
 * @param options.lost is called when the connection was lost, or could not be made.
 * @returns when it has stopped. Never rejects.
 */
export async function listen(
  database: Database,
  channel: string,
  hear: (payload: string) => void,
  {
    log,
    signal,
    askMs = usualAskMs,
    lost,
  }: { log: Log; signal: AbortSignal; askMs?: number; lost?: () => void },
): Promise<void> {
  const stopped = once(signal, 'abort');
  let losses = 0;
  while (!signal.aborted) {
    try {
      await listenOnce(database, channel, { stopped, askMs }, (payload) => {
        losses = 0;
        hear(payload);
      });
    } catch (error) {
      losses += 1;
      if (losses === 2)
        log.warn({ ...loggedError(error), channel }, 'the connection that listens was lost and is made anew');
      lost?.();
      await sleep(reconnectMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Returns when `stopped` resolves. @throws when the connection cannot be made, or is lost. */
async function listenOnce(
  database: Database,
  channel: string,
  { stopped, askMs }: { stopped: Promise<unknown>; askMs: number },
  hear: (payload: string) => void,
): Promise<void> {
  const client = openClient(database);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  client.on('error', reject);
  client.on('end', () => reject(new Error('the connection ended')));
  // The race below may not have begun when it is lost, or may be over.
  lost.catch(() => {});
  let asking: NodeJS.Timeout | undefined;
  client.on('notification', ({ payload }) => hear(payload ?? ''));
  try {
    await client.connect();
    // Asked again and again: it is no more than a question when it listens already, and says in pg_stat_activity who this is.
    const question = { text: `listen ${channel}`, query_timeout: askMs };
    await client.query(question.text);
    hear('');
    asking = setInterval(() => {
      if (isAstray(client)) reject(new Error('what is said now is said at another server'));
      client.query(question).catch(reject);
    }, askMs);
    await Promise.race([lost, stopped]);
  } finally {
    clearInterval(asking);
    await client.end().catch(() => {});
  }
}
