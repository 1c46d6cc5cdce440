import { setTimeout as sleep } from 'node:timers/promises';
import { holdServer, releaseHold, type Hold } from './hold.ts';
import { isRemoved, stopPostmaster, type Server } from './postmaster.ts';

/** Pauses between attempts to get a lost database back, in milliseconds: at most one attempt a second. */
const shortestPause = 1_000;
const longestPause = 30_000;

/**
 * Stays a user until `stopping`: when the connection is lost, because the postmaster or its sessions died or somebody
 * stopped it, it holds the server again, starting it if need be. Every user does so; PostgreSQL lets one succeed.
 * Resolves to the hold at the end, or undefined when the database was down just then. Never rejects.
 */
export async function keepHolding(
  server: Server,
  first: Hold,
  stopping: AbortSignal,
): Promise<Hold | undefined> {
  const stop = new Promise<undefined>((resolve) => {
    if (stopping.aborted) resolve(undefined);
    else stopping.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let hold = first;
  let attempted = Number.NEGATIVE_INFINITY;
  for (;;) {
    const reason = await Promise.race([hold.lost, stop]);
    if (reason === undefined) return hold;
    server.log(`The database in ${server.directory} went away (${reason}).`);
    await pause(attempted + shortestPause - performance.now(), stopping);
    attempted = performance.now();
    const next = await holdAgain(server, stopping);
    if (!next) return undefined;
    hold = next;
    server.log(`The database in ${server.directory} is back (${hold.how}).`);
  }
}

/** Tries until it succeeds or `stopping`; with growing pauses, because a full disk stays full for a while. */
async function holdAgain(server: Server, stopping: AbortSignal): Promise<Hold | undefined> {
  for (let wait = shortestPause; !stopping.aborted; wait = Math.min(wait * 2, longestPause)) {
    try {
      return await holdServer(server, stopping);
    } catch (error) {
      if (stopping.aborted && error === stopping.reason) return undefined;
      server.log(`The database is not back. ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(wait, stopping);
  }
  return undefined;
}

/** Waits, shorter when `stopping`. Does not keep the process alive. */
async function pause(milliseconds: number, stopping: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return;
  try {
    await sleep(milliseconds, undefined, { signal: stopping, ref: false });
  } catch (error) {
    if (!stopping.aborted) throw error;
  }
}

/** Leaves the users of the database, and stops it when that was the last one. */
export async function leave(server: Server, hold: Hold): Promise<void> {
  let isLast: boolean;
  try {
    isLast = await releaseHold(hold);
  } catch (error) {
    if (await isRemoved(server.directory)) return stopRemoved(server, hold);
    server.log(`The database in ${server.directory} went away before it could be left (${String(error)}).`);
    return;
  }
  if (await isRemoved(server.directory)) return stopRemoved(server, hold);
  if (isLast) await stopPostmaster(server.directory, server.log);
  await hold.client.end();
  server.log(
    `The database in ${server.directory} ${isLast ? 'is stopped' : 'stays up for its other users'}.`,
  );
}

/** Stops a server whose directory is gone: nothing can be kept there, so it serves no other process either. */
async function stopRemoved(server: Server, hold: Hold): Promise<void> {
  await stopPostmaster(server.directory, server.log, hold.pid);
  await hold.client.end();
  server.log(`The database in ${server.directory} was removed while it was used. Its server is stopped.`);
}
