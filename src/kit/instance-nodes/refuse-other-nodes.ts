import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import type { Log } from '../log.ts';
import { askValkey, type Valkey, ValkeyError } from '../valkey.ts';
import { selectNodes } from './queries.ts';

/** Why a server must not serve beside those that do. */
export class NodeError extends Error {}

type Settings = Pick<Config, 'dataDir' | 'valkeyUrl'>;

/** A server, by what it calls its sessions at the database and signs with in its Valkey. All of its processes have one name. */
export type Node = { name: string; former: string; valkeyUrl: string | undefined };

type Patience = { quietSeconds?: number; patienceMs?: number };

const lookMs = 250;
/** Whoever has asked the database for nothing for so long is not there any more. */
const quiet = 10;
/** A name stays in a Valkey for longer than that, and is there again soon where all that it had was lost. */
const signedSeconds = 15;
const signMs = 1_000;

/** The same of each process of a machine since it was started: of a copy it is another. Only Linux tells. */
const bootOf = (): Promise<string> => readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');

/**
 * How those that start beside a server tell it apart: by the start of its machine and by the folder itself, as names of machines,
 * paths and all that lies in a folder are the same in a copy.
 */
export async function readNode({ dataDir, valkeyUrl }: Settings, boot?: string): Promise<Node> {
  // Before the first start it is not there.
  const folder = await stat(dataDir, { bigint: true }).catch(() => undefined);
  const words = [hostname(), boot ?? (await bootOf()), folder?.dev, folder?.ino, valkeyUrl];
  return {
    name: `formloom node ${hash(words.join(' '))}`,
    former: formerName({ dataDir, valkeyUrl }),
    valkeyUrl,
  };
}

const hash = (words: string): string => createHash('sha256').update(words).digest('hex').slice(0, 24);

/** What the version before calls such a server. It signs in no Valkey, and is believed to count in the same. */
export const formerName = ({ dataDir, valkeyUrl }: Partial<Settings>): string =>
  `formloom node ${valkeyUrl === undefined ? hash(`${hostname()} ${dataDir}`).slice(0, 12) : 'with Valkey'}`;

/**
 * Refuses a server beside another one that counts requests elsewhere: each limit would be as many times what it says.
 * Its own connections are open when it looks, so that of two that start at once at least one sees the other. One that has
 * just ended is waited for, and one whose Valkey was emptied.
 * @throws NodeError with the remedy; ValkeyError where that one cannot be asked.
 */
export async function refuseOtherNodes(
  database: Database,
  node: Node,
  { quietSeconds = quiet, patienceMs = quietSeconds * 1_500 }: Patience = {},
): Promise<void> {
  const until = performance.now() + patienceMs;
  do {
    if (await countTogether(database, node, quietSeconds)) return;
    await sleep(lookMs);
  } while (performance.now() < until);
  throw new NodeError(
    'Another server is at work on this database and counts requests elsewhere: every limit would hold for each of them, ' +
      'and not for both. Give all of them one VALKEY_URL; or, where that one should be gone, end it first.',
  );
}

/** Whether all who serve count where this one does: whoever counts in its Valkey signs there. */
async function countTogether(database: Database, node: Node, seconds: number): Promise<boolean> {
  const { name: own, former, valkeyUrl } = node;
  const look = async (valkey?: Valkey): Promise<boolean> => {
    const nodes = await selectNodes(database, { seconds });
    const others = nodes.map(({ name }) => name).filter((name) => name !== own && name !== former);
    return others.length === 0 || (await valkey?.exists(others)) === others.length;
  };
  return valkeyUrl === undefined ? look() : askValkey(valkeyUrl, look);
}

/** Begins to serve beside the others. A Valkey that is away keeps nobody from it: whether it is theirs is seen later (app/watch). */
export async function startBeside(
  database: Database,
  node: Node,
  log: Log,
  options?: Patience,
): Promise<void> {
  try {
    if (node.valkeyUrl !== undefined) await askValkey(node.valkeyUrl, (valkey) => sign(valkey, node.name));
    await refuseOtherNodes(database, node, options);
  } catch (error) {
    if (!(error instanceof ValkeyError)) throw error;
    log.warn(
      { reason: error.message },
      'whether other servers count requests in the same Valkey was not seen yet',
    );
  }
}

const sign = (valkey: Valkey, name: string) =>
  valkey.set(name, '', { expiration: { type: 'EX', value: signedSeconds } });

/** Signs in a Valkey again and again. @returns what ends it. */
export function keepSigning(valkey: Valkey, name: string, log: Log): () => void {
  const again = (): void =>
    void sign(valkey, name).catch((error: unknown) =>
      log.debug({ err: error }, 'nothing was signed in Valkey'),
    );
  again();
  const timer = setInterval(again, signMs).unref();
  return () => clearInterval(timer);
}
