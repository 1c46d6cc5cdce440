import { setTimeout as sleep } from 'node:timers/promises';
import { onCell, refreshCells } from '#cells/cells.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { listen } from '#kit/queue/announcer.ts';
import { forgetKeys } from '#workspaces/authenticate.ts';
import { keyChannel } from '#workspaces/keys/key-rows.ts';

const againMs = 1_000;

/**
 * Has this process forget what it remembers of API keys as soon as one is revoked anywhere, and see that there is another cell,
 * which is said on the same channel. Every process does so.
 */
export function hearRevokedKeys({ database, log }: { database: Database; log: Log }): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const hear = (): void => {
    forgetKeys();
    void look();
  };
  let isDue = false;
  let isLooking = false;
  // Until it is known: nothing else would tell a process whose database was away at that moment.
  const look = async (): Promise<void> => {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    while (isDue && !ending.signal.aborted) {
      isDue = false;
      try {
        await refreshCells(database);
      } catch (error) {
        isDue = true;
        log.warn({ err: error }, 'which cells there are could not be read, and will be looked at again');
        await sleep(againMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      }
    }
    isLooking = false;
  };
  const here = listen(database, keyChannel, hear, { log, signal: ending.signal });
  // A change in a cell at a node of a cluster is told there.
  const elsewhere: Promise<void>[] = [];
  const unhear = onCell(database, ({ place, database: there }) => {
    if (place) elsewhere.push(listen(there, keyChannel, forgetKeys, { log, signal: ending.signal }));
  });
  return {
    async stop() {
      unhear();
      ending.abort();
      await Promise.all([here, ...elsewhere]);
    },
  };
}
