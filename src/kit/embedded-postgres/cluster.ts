import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, majorVersion } from './binaries.ts';
import { EmbeddedPostgresError, fileError, hasErrorCode, otherDatabaseHint } from './machine.ts';

/** A complete cluster on disk. PostgreSQL must run as the uid `owner`. */
export type PostgresCluster = { directory: string; owner: number; version: string };

/** Returns the cluster of a data directory, or undefined if there is none. Throws for other content. */
export async function findCluster(dataDir: string): Promise<PostgresCluster | undefined> {
  const place = join(dataDir, 'postgres');
  try {
    const directory = await resolveDirectory(place);
    if (directory === undefined) return undefined;
    const { uid } = await stat(directory);
    const entries = await readdir(directory);
    if (entries.length === 0) return undefined;
    if (!entries.includes('PG_VERSION'))
      throw new EmbeddedPostgresError(
        `Formloom keeps its database in ${directory}, but that directory contains something other than a PostgreSQL cluster. Move it away, choose another DATA_DIR, ${otherDatabaseHint}.`,
      );
    const version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
    return { directory, owner: uid, version };
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : fileError(`read the database directory ${place}`, error);
  }
}

/** Resolves `<dataDir>/postgres`, which may be a link. Returns undefined if it does not exist. */
async function resolveDirectory(place: string): Promise<string | undefined> {
  try {
    return await realpath(place);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
  let target: string;
  try {
    target = await readlink(place);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  // Creating an empty database instead of the lost one would look like success.
  throw new EmbeddedPostgresError(
    `The database of Formloom was moved or removed: ${place} points to ${target}, which does not exist. Put it back, or delete the link ${place} to start with an empty database, ${otherDatabaseHint}.`,
  );
}

/** Rejects a cluster of another major version, which PostgreSQL cannot read. */
export function requireSameMajorVersion(cluster: PostgresCluster, binaries: Binaries): void {
  const ours = majorVersion(binaries);
  if (cluster.version === ours) return;
  throw new EmbeddedPostgresError(
    `The database in ${cluster.directory} was made by PostgreSQL ${cluster.version}, but this Formloom includes PostgreSQL ${ours}, which cannot read it. Create a \`backup\` with the previous Formloom version, and \`restore\` it into an empty DATA_DIR, ${otherDatabaseHint}.`,
  );
}
