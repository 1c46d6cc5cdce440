import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import { selectNodes } from './queries.ts';

/** Why a server must not serve beside those that do. */
export class NodeError extends Error {}

const lookMs = 250;

type Settings = Pick<Config, 'dataDir' | 'valkeyUrl'>;

/**
 * What a server calls its sessions at the database, for those that start beside it: all that count requests together in a
 * Valkey have one name; one that counts in its memory has a name of its own, the same for all of its processes.
 */
export const nodeName = ({ dataDir, valkeyUrl }: Settings): string => {
  const own = createHash('sha256').update(`${hostname()} ${dataDir}`).digest('hex').slice(0, 12);
  return `formloom node ${valkeyUrl === undefined ? own : 'with Valkey'}`;
};

/**
 * Refuses a server beside another one that counts requests elsewhere: each limit would be as many times what it says.
 * Its own connections are open when it looks, so that of two that start at once at least one sees the other. One that has
 * just ended is waited for.
 * @param quietSeconds whoever has asked for nothing for so long is not there any more.
 * @throws NodeError with the remedy.
 */
export async function refuseOtherNodes(
  database: Database,
  config: Settings,
  quietSeconds = 10,
): Promise<void> {
  const until = performance.now() + quietSeconds * 1_500;
  do {
    const nodes = await selectNodes(database, { seconds: quietSeconds });
    if (nodes.every(({ name }) => name === nodeName(config))) return;
    await sleep(lookMs);
  } while (performance.now() < until);
  throw new NodeError(
    'Another server is at work on this database and counts requests elsewhere: every limit would hold for each of them, ' +
      'and not for both. Give all of them one VALKEY_URL; or, where that one should be gone, end it first.',
  );
}
