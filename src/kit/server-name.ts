import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Config } from './config.ts';

/** The boot id is new at each start of a machine, and differs between copies of one. Only Linux has it. */
const bootOf = (): Promise<string> => readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');

/**
 * Returns the name of a server's database sessions. All processes of a server have one name. Two machines have different
 * names, even if one is a copy of the other.
 */
export async function nameServer(
  { dataDir }: Pick<Config, 'dataDir'>,
  boot?: string,
): Promise<`formloom node ${string}`> {
  // The folder does not exist before the first start.
  const folder = await stat(dataDir, { bigint: true }).catch(() => undefined);
  const words = [hostname(), boot ?? (await bootOf()), folder?.dev, folder?.ino].join(' ');
  return `formloom node ${createHash('sha256').update(words).digest('hex').slice(0, 24)}`;
}
