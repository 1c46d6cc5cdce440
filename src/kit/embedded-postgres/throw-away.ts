import { existsSync, lstatSync } from 'node:fs';
import { chmod, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSocketDirectory, sharedDirectory } from './create-cluster.ts';
import { draftOf, draftOwner, isRunning, makeOpenDirectory } from './drafts.ts';
import { findAccount, findClosedDirectory } from './machine.ts';
import { stopPostmaster } from './postmaster.ts';

/** After a restart the id of a dead maker may be somebody else's; nobody works on one of these for so long. */
const longestWorkMs = 24 * 3_600_000;

/**
 * Makes a data directory that is thrown away, for whoever runs PostgreSQL to get to: all of its database lies in it. Those
 * of the same name whose makers were killed are removed first, with the servers that outlived them.
 */
export async function makeThrowAway(name: string, log: (message: string) => void): Promise<string> {
  const account = await findAccount();
  const temporary = await realpath(tmpdir());
  const isClosed = account && (await findClosedDirectory(temporary, account)) !== undefined;
  for (const place of account && existsSync(sharedDirectory) ? [temporary, sharedDirectory] : [temporary])
    await removeDead(join(place, name), await readdir(place), log);
  if (isClosed) await makeOpenDirectory(sharedDirectory);
  const directory = draftOf(join(isClosed ? sharedDirectory : temporary, name));
  await mkdir(directory);
  await chmod(directory, 0o711);
  return directory;
}

async function removeDead(path: string, names: string[], log: (message: string) => void): Promise<void> {
  for (const name of names) {
    const owner = draftOwner(path, name);
    if (owner === undefined) continue;
    const directory = join(path, '..', name);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    // Anybody can make such a name in a temporary folder, and lead us to a server by what is in it.
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    if (isRunning(owner) && Date.now() - found.mtimeMs < longestWorkMs) continue;
    try {
      await removeThrowAway(directory, log);
      log(`What an interrupted attempt had left was removed: ${directory}.`);
    } catch (error) {
      log(`What an interrupted attempt had left could not be removed: ${directory} (${String(error)}).`);
    }
  }
}

/** Ends the server in it, if one runs, and removes it. */
export async function removeThrowAway(directory: string, log: (message: string) => void): Promise<void> {
  const cluster = join(directory, 'postgres');
  await stopPostmaster(cluster, log);
  const sockets = chooseSocketDirectory(cluster);
  if (sockets !== cluster) await rm(sockets, { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}
