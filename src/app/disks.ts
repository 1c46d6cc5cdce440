import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '#kit/config.ts';
import { readDisk } from '#kit/storage.ts';

export type DiskSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 's3' | 'backup'>;

/** A disk that the instance writes to, with all of its folders there. */
type Disk = { name: string; folders: string[] } & Awaited<ReturnType<typeof readDisk>>;

/** The disks that an instance writes to, each named for the first of what lies on it. @throws Error where one cannot be looked at. */
export async function readDisks({ dataDir, databaseUrl, s3, backup }: DiskSettings): Promise<Disk[]> {
  const folders = {
    data: dataDir,
    // Where root runs the service it may lie elsewhere, behind a link. One of several processes has the way to its socket.
    ...(leadsHere(databaseUrl) && { database: join(dataDir, 'postgres') }),
    ...(s3 ? { spool: join(dataDir, 'spool') } : { uploads: join(dataDir, 'uploads') }),
    ...(backup?.to !== undefined && { backups: backup.to }),
  };
  const disks = new Map<number, Disk>();
  for (const [name, wanted] of Object.entries(folders)) {
    const folder = await findMade(wanted);
    const { dev } = await stat(folder);
    const disk = disks.get(dev);
    if (disk) disk.folders.push(folder);
    else disks.set(dev, { name, folders: [folder], ...(await readDisk(folder)) });
  }
  return [...disks.values()];
}

/** The disk of the database, where that is one of this machine. */
export const readDatabaseDisk = async ({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>) =>
  leadsHere(databaseUrl) ? readDisk(await findMade(join(dataDir, 'postgres'))) : undefined;

const leadsHere = (url: string | undefined): boolean =>
  url === undefined || (URL.parse(url)?.searchParams.get('host') ?? '').startsWith('/');

/** The folder, or the one above it that it will be made in. */
const findMade = (folder: string): Promise<string> =>
  realpath(folder).catch((error: unknown) => {
    if (dirname(folder) === folder) throw error;
    return findMade(dirname(folder));
  });
