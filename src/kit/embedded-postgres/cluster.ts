import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, majorVersion } from './binaries.ts';
import { EmbeddedPostgresError, elsewhere, fileError, hasCode } from './machine.ts';

/** A complete cluster on disk. `owner` is the uid that PostgreSQL has to run as. */
export type Cluster = { directory: string; owner: number; version: string };

/** The cluster of a data directory; undefined when there is none yet. Throws when something else is in its place. */
export async function findCluster(dataDir: string): Promise<Cluster | undefined> {
  const place = join(dataDir, 'postgres');
  try {
    const directory = await resolvePlace(place);
    if (directory === undefined) return undefined;
    const { uid } = await stat(directory);
    const entries = await readdir(directory);
    if (entries.length === 0) return undefined;
    if (!entries.includes('PG_VERSION')) {
      throw new EmbeddedPostgresError(
        `Formloom keeps its database in ${directory}, but what lies there is no PostgreSQL cluster. ` +
          `Move it away, choose another DATA_DIR, ${elsewhere}.`,
      );
    }
    const version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
    return { directory, owner: uid, version };
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : fileError(`read the database directory ${place}`, error);
  }
}

/** The real directory behind `<dataDir>/postgres`, which may be a link; undefined when there is nothing. */
async function resolvePlace(place: string): Promise<string | undefined> {
  try {
    return await realpath(place);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  let target: string;
  try {
    target = await readlink(place);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  // An empty database in place of the lost one would look like success.
  throw new EmbeddedPostgresError(
    `The database of Formloom was moved or removed: ${place} points to ${target}, which is not there. ` +
      `Put it back, or delete the link ${place} to begin with an empty database, ${elsewhere}.`,
  );
}

/** Refuses a cluster of another major version, which PostgreSQL cannot read. */
export function checkVersion(cluster: Cluster, binaries: Binaries): void {
  const ours = majorVersion(binaries);
  if (cluster.version === ours) return;
  throw new EmbeddedPostgresError(
    `The database in ${cluster.directory} was made by PostgreSQL ${cluster.version}, and this Formloom brings ` +
      `PostgreSQL ${ours}, which cannot read it. Make a \`backup\` with the Formloom version that made it, and \`restore\` ` +
      `that into an empty DATA_DIR, ${elsewhere}.`,
  );
}
