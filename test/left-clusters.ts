import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedDirectory } from '#kit/embedded-postgres/create-cluster.ts';

/**
 * Returns the clusters that tests of this checkout left since then in the shared directory. Root needs it so
 * that PostgreSQL's user can reach them. Each takes 65 MB and is never removed. Tests with a data directory
 * that the user can enter create none.
 */
export async function findLeftClusters(home: string, since: number): Promise<string[]> {
  const names = existsSync(sharedDirectory) ? await readdir(sharedDirectory) : [];
  const found = names.map(async (name) => {
    const path = join(sharedDirectory, name);
    // Other checkouts run tests at the same time. PostgreSQL records the program that it was started with.
    const options = await readFile(join(path, 'postmaster.opts'), 'utf8');
    return options.startsWith(home) && (await stat(path)).birthtimeMs >= since ? [path] : [];
  });
  // Reading fails if the folder is no cluster or its test is removing it.
  return (await Promise.allSettled(found)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}
