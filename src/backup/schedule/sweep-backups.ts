import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { selectStorageId } from '#kit/instance-storage/queries.ts';
import { openBucket } from '#kit/s3-bucket.ts';
import { only } from '#kit/statement.ts';
import { keyOf, nameOf, prefixOf, spoolOf } from './places.ts';
import { deleteBackup, selectBackups, selectOutdated } from './queries.ts';

export type SweepContext = { config: Config; database: Database };

/**
 * Removes backups of the schedule beyond the number that is kept, and what one that was killed left here. Every server does
 * so by itself: none sees the disks of the others.
 */
export async function sweepBackups({ config, database }: SweepContext): Promise<void> {
  if (!config.backup) return;
  const { to, keep } = config.backup;
  for (const { due_at, name } of await selectOutdated(database, { keep })) {
    if (to === undefined) await openBucket(config.s3!).remove(keyOf(name));
    else for (const path of [name, `${name}.part`]) await rm(join(to, path), { force: true });
    await deleteBackup(database, { due_at });
  }
  // Listed before the rows are read: of whatever lies there and is being made, there is a row by now.
  const [spooled, stored] = await Promise.all([spoolOf(config), to].map(listBackups));
  const rows = await selectBackups(database, { keep });
  const isBegun = (name: string): boolean => rows.some((row) => row.is_begun && row.name === name);
  const gone = spooled!.filter(({ name }) => !isBegun(name)).map(({ path }) => path);
  const { storage_id: mark } = only(await selectStorageId(database, {})) ?? {};
  const first = rows.find(({ is_kept }) => is_kept);
  for (const { path, name, isPart } of mark ? stored! : []) {
    if (!name.startsWith(prefixOf(mark)) || isBegun(name)) continue;
    const isOutdated =
      first !== undefined && name < nameOf(first.begun_at, mark) && !rows.some((row) => row.name === name);
    if (isPart || isOutdated) gone.push(path);
  }
  for (const path of gone) await rm(path, { force: true });
}

type Found = { path: string; name: string; isPart: boolean };

/** What lies in a folder and is called as the schedule calls them; none in one that is not there. */
async function listBackups(folder: string | undefined): Promise<Found[]> {
  if (folder === undefined) return [];
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return files.flatMap((file) => {
    const [, name, part] = /^(formloom-.*Z\.backup)(\.part)?$/.exec(file) ?? [];
    return name === undefined ? [] : [{ path: join(folder, file), name, isPart: part !== undefined }];
  });
}
