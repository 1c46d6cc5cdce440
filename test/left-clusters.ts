import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedDirectory } from '#kit/embedded-postgres/create-cluster.ts';

/**
 * The clusters that tests of this checkout have left, since then, where root puts what PostgreSQL's user must reach: 65 MB
 * each, for ever. A test whose data directory that user may enter makes none.
 */
export async function findLeftClusters(home: string, since: number): Promise<string[]> {
  const names = existsSync(sharedDirectory) ? await readdir(sharedDirectory) : [];
  const found = names.map(async (name) => {
    const path = join(sharedDirectory, name);
    // PostgreSQL notes which program was started on it: other checkouts run their tests at the same time.
    const options = await readFile(join(path, 'postmaster.opts'), 'utf8');
    return options.startsWith(home) && (await stat(path)).birthtimeMs >= since ? [path] : [];
  });
  // What is no cluster, or is being removed by its test, cannot be read.
  return (await Promise.allSettled(found)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}
