import { existsSync, lstatSync } from 'node:fs';
import { chmod, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSocketDirectory, sharedDirectory } from './create-cluster.ts';
import { createDraftPath, draftOwnerPid, isProcessRunning, makeOpenDirectory } from './drafts.ts';
import { findInaccessibleDirectory, findPostgresAccount } from './machine.ts';
import { stopPostmaster } from './postmaster.ts';

/** After a restart, pids of dead processes are reused. No process uses such a directory this long. */
const longestWorkMs = 24 * 3_600_000;

/**
 * Creates a temporary data directory that the user who runs PostgreSQL can reach. Directories with this name
 * whose processes were killed are removed first, with their servers.
 */
export async function createTemporaryDataDirectory(
  name: string,
  log: (message: string) => void,
): Promise<string> {
  const account = await findPostgresAccount();
  const temporary = await realpath(tmpdir());
  const isClosed = account && (await findInaccessibleDirectory(temporary, account)) !== undefined;
  for (const place of account && existsSync(sharedDirectory) ? [temporary, sharedDirectory] : [temporary])
    await removeDead(join(place, name), await readdir(place), log);
  if (isClosed) await makeOpenDirectory(sharedDirectory);
  const directory = createDraftPath(join(isClosed ? sharedDirectory : temporary, name));
  await mkdir(directory);
  await chmod(directory, 0o711);
  return directory;
}

async function removeDead(path: string, names: string[], log: (message: string) => void): Promise<void> {
  for (const name of names) {
    const owner = draftOwnerPid(path, name);
    if (owner === undefined) continue;
    const directory = join(path, '..', name);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    // Any user can create this name in a temporary folder and point us to another server.
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    if (isProcessRunning(owner) && Date.now() - found.mtimeMs < longestWorkMs) continue;
    try {
      await removeTemporaryDataDirectory(directory, log);
      log(`The files of an interrupted attempt were removed: ${directory}.`);
    } catch (error) {
      log(`The files of an interrupted attempt could not be removed: ${directory} (${String(error)}).`);
    }
  }
}

/** Stops the server in a directory, if one is running, and removes the directory. */
export async function removeTemporaryDataDirectory(
  directory: string,
  log: (message: string) => void,
): Promise<void> {
  const cluster = join(directory, 'postgres');
  await stopPostmaster(cluster, log);
  const sockets = chooseSocketDirectory(cluster);
  if (sockets !== cluster) await rm(sockets, { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}
