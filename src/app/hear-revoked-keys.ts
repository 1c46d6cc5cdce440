import { refreshCells } from '#kit/cells/cells.ts';
import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { listen } from '#kit/queue/listen.ts';
import { forgetKeys } from '#workspaces/authenticate.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

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
    refreshCells(database).catch((error: unknown) =>
      log.warn({ err: error }, 'which cells there are could not be read'),
    );
  };
  const listening = listen(database, keyChannel, hear, { log, signal: ending.signal });
  return {
    stop() {
      ending.abort();
      return listening;
    },
  };
}
