import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { openBucket } from '#kit/s3-bucket.ts';
import { only, statement } from '#kit/statement.ts';
import { keyOf, nameOf, prefixOf, spoolOf } from './places.ts';
import { selectStorageId } from '#kit/instance-storage.ts';

/** The newest that were made, and the newest of these that are whole: one that lacks files pushes none of these out. */
const kept = `(select due_at from backups where bytes is not null order by due_at desc limit $keep)`;

const keptWhole = `(select due_at from backups where bytes is not null and problem is null order by due_at desc limit $keep)`;

/** Those that are not kept, and all that failed before the first that is. */
const selectOutdated = statement(
  'backup.select_outdated',
  'keep',
  'due_at name',
  `select due_at, name from backups
    where due_at < (select min(due_at) from ${kept} as made) and due_at not in ${keptWhole}
    order by due_at`,
);

const deleteBackup = statement('backup.delete', 'due_at', '', `delete from backups where due_at = $due_at`);

/** All that are known, and whether each is being made, or was broken off since, and is of the newest that were made. */
const selectBackups = statement(
  'backup.select',
  'keep',
  'name begun_at is_begun:boolean is_kept:boolean',
  `select name, begun_at, bytes is null and coalesce(finished_at < begun_at, true) as is_begun, due_at in ${kept} as is_kept
     from backups order by due_at`,
);

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
