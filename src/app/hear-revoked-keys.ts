import type { Database } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { listen } from '#kit/queue/listen.ts';
import { forgetKeys } from '#workspaces/authenticate.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';

/** Has this process forget what it remembers of API keys as soon as one is revoked anywhere. Every process does so. */
export function hearRevokedKeys({ database, log }: { database: Database; log: Log }): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const listening = listen(database, keyChannel, forgetKeys, { log, signal: ending.signal });
  return {
    stop() {
      ending.abort();
      return listening;
    },
  };
}
