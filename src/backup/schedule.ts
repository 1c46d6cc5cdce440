import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import { formatCount } from '#ast/basics/format-number.ts';
import { now } from '#kit/clock.ts';
import { untilAborted } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import { type Database, openClient } from '#kit/database.ts';
import { makeDirectories } from '#kit/directories.ts';
import { formatWithCause } from '#kit/errors.ts';
import { selectStorageId } from '#kit/instance-key.ts';
import type { Log } from '#kit/log.ts';
import { sweepWithTrustedClock } from '#kit/queue/periodic.ts';
import { boolean, double, nullable, onlyRow, statement, text } from '#kit/statement.ts';
import { openBucket } from '#kit/storage/open-storage.ts';
import { storageUnavailable } from '#kit/storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { createSpaceCheckedWriter } from './archive.ts';
import { BackupError } from './fill-table.ts';
import { type BackupServices, makeBackup } from './make-backup.ts';

/**
 * Returns the name of a backup that begins now. Names are unique, so no backup is replaced, not even the one
 * that the instance was restored from. The marks of the instances (kit/instance-storage) distinguish the
 * backups of two instances in one folder.
 */
const nameOf = (begun: Date, mark: string | null | undefined): string =>
  `${prefixOf(mark)}${begun.toISOString().replace(/[:.]/g, '-')}.backup`;

const prefixOf = (mark: string | null | undefined): string =>
  mark ? `formloom-${mark.slice(-8)}-` : 'formloom-';

/** Returns the key in the bucket. No workspace has the id `backups`. */
const keyOf = (name: string): string => `backups/${name}`;

/** Returns the folder for a backup on its way to or from the bucket. */
const spoolOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'spool');

/**
 * The newest backups that were made, and the newest complete ones. A backup that lacks files never displaces
 * a complete one.
 */
const kept = `(select due_at from backups where bytes is not null order by due_at desc limit $keep)`;

const keptWhole = `(select due_at from backups where bytes is not null and problem is null order by due_at desc limit $keep)`;

/** Selects the backups that are not kept, including all that failed before the first kept one. */
const selectOutdated = statement('keep', 'due_at name')`
  select due_at, name from backups
   where due_at < (select min(due_at) from ${kept} as made) and due_at not in ${keptWhole}
   order by due_at`;

const deleteBackup = statement('due_at', '')`delete from backups where due_at = $due_at`;

/**
 * Selects all known backups: whether each is in progress or was interrupted, and whether it is one of the
 * newest that were made.
 */
const selectBackups = statement('keep', 'name begun_at is_begun:boolean is_kept:boolean')`
  select name, begun_at, bytes is null and coalesce(finished_at < begun_at, true) as is_begun, due_at in ${kept} as is_kept
    from backups order by due_at`;

type SweepContext = { config: Config; database: Database };

/**
 * Deletes scheduled backups beyond the number to keep, and the leftovers of killed ones on this server. Every
 * server does this, since none sees the disks of the others.
 */
export async function sweepBackups({ config, database }: SweepContext): Promise<void> {
  if (!config.backup) return;
  const { to, keep } = config.backup;
  for (const { due_at, name } of await selectOutdated(database, { keep })) {
    if (to === undefined) await openBucket(config.s3!).remove(keyOf(name));
    else for (const path of [name, `${name}.part`]) await rm(join(to, path), { force: true });
    await deleteBackup(database, { due_at });
  }
  // Files are listed before the rows are read, so that every file of a backup in progress has its row.
  const [spooled, stored] = await Promise.all([spoolOf(config), to].map(listBackups));
  const rows = await selectBackups(database, { keep });
  const isBegun = (name: string): boolean => rows.some((row) => row.is_begun && row.name === name);
  const gone = spooled!.filter(({ name }) => !isBegun(name)).map(({ path }) => path);
  const { storage_id: mark } = onlyRow(await selectStorageId(database, {})) ?? {};
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

/**
 * Lists the files in a folder that are named like scheduled backups. Returns none if the folder does not
 * exist.
 */
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

/** The advisory lock that a process holds while it makes a scheduled backup. The number is arbitrary. */
const backupLock = 7_246_002;

const acquireBackupLock = statement('lock:integer', 'is_taken:boolean')`
  select pg_try_advisory_lock($lock) as is_taken`;

/** Finds whether the backup of a scheduled time exists, or was tried since `again`. */
const findSettled = statement('due_at again', 'name')`
  select name from backups
   where due_at = $due_at and (bytes is not null or greatest(begun_at, finished_at) >= $again)`;

/**
 * Begins the backup of a scheduled time, if it has none and none was tried since `again`. The caller must
 * have the lock: unfinished backups of others were interrupted, and count as failed until they are made.
 */
const beginBackup = statement('due_at name begun_at again', 'name problem?')`
  with broken_off as (
    update backups set finished_at = $begun_at, problem = 'it was interrupted'
     where due_at < $due_at and finished_at is null)
  insert into backups (due_at, name, begun_at) values ($due_at, $name, $begun_at)
  on conflict (due_at) do update
    set name = $name, begun_at = $begun_at, finished_at = coalesce(backups.finished_at, backups.begun_at),
        problem = coalesce(backups.problem, 'it was interrupted')
    where backups.bytes is null and greatest(backups.begun_at, backups.finished_at) < $again
  returning name, problem`;

/**
 * Ends a backup.
 * @param bytes null if it was not made.
 * @param problem why it failed, or what it lacks; null if it is complete.
 */
const endBackup = statement('due_at begun_at bytes? problem? now', '')`
  update backups set finished_at = $now, bytes = $bytes, problem = $problem
   where due_at = $due_at and begun_at = $begun_at`;

/** Releases a backup that was stopped on its first attempt, so that the next process makes it. */
const releaseBackup = statement('due_at begun_at', '')`
  delete from backups where due_at = $due_at and begun_at = $begun_at and finished_at is null`;

type Context = BackupServices & SweepContext & { log: Log; version: string };

type Settings = NonNullable<Context['config']['backup']>;

/**
 * How long a failed or interrupted backup waits for its retry, in milliseconds. The delay keeps a backup that
 * kills the process from doing so at each start.
 */
const againMs = 600_000;

const endMs = 1_000;

/**
 * Makes the scheduled backup, one at a time across all processes and servers, and deletes backups beyond the
 * number to keep. A backup that was missed because nothing ran, failed or was interrupted is made later.
 * @param stop aborts the backup; the next process makes it.
 * @returns the name of the backup, or undefined if none was due.
 */
export async function backUpWhenDue(context: Context, stop?: AbortSignal): Promise<string | undefined> {
  const { config, database } = context;
  const { backup } = config;
  if (!backup) return undefined;
  const [due] = new Cron(backup.schedule, { timezone: 'UTC', paused: true }).previousRuns(1, now());
  if (!due) return undefined;
  const again = new Date(now().getTime() - againMs);
  if ((await findSettled(database, { due_at: due, again })).length > 0) return undefined;
  const name = await runOnOneServer(database, async (lost) => {
    const { storage_id: mark } = onlyRow(await selectStorageId(database, {})) ?? {};
    const begun_at = now();
    const one = { due_at: due, begun_at, name: nameOf(begun_at, mark) };
    const begun = onlyRow(await beginBackup(database, { ...one, again }));
    if (!begun) return undefined;
    if (begun.problem !== null) context.log.warn(begun, 'retrying a backup');
    return make(context, backup, one, stop, AbortSignal.any([lost, ...(stop ? [stop] : [])]));
  });
  if (name !== undefined) await sweepWithTrustedClock(database, () => sweepBackups(context));
  return name;
}

/**
 * Runs `work` on one server at a time. The signal is aborted when the lock may be lost.
 * @returns undefined if another server runs it.
 */
async function runOnOneServer<Result>(
  database: Database,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const client = openClient(database);
  const lost = new AbortController();
  client.once('end', () => lost.abort(new Error('the connection that held the lock was lost')));
  await client.connect();
  try {
    if (!onlyRow(await acquireBackupLock(client, { lock: backupLock }))!.is_taken) return undefined;
    return await work(lost.signal);
  } finally {
    // A database that is down does not confirm the end of a connection.
    await Promise.race([client.end(), sleep(endMs, undefined, { ref: false })]);
  }
}

type Begun = { name: string; due_at: Date; begun_at: Date };

async function make(
  context: Context,
  settings: Settings,
  { name, ...moment }: Begun,
  stop: AbortSignal | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { database, log } = context;
  try {
    const { bytes, missing } = await store(context, settings, name, signal);
    const problem =
      missing.length > 0
        ? `${formatCount(missing.length, 'file is', 'files are')} missing or incomplete in storage`
        : null;
    if (problem) log.error({ name, missing: missing.slice(0, 20) }, `a backup was made, but ${problem}`);
    else log.info({ name, bytes }, 'a backup was made');
    await endBackup(database, { ...moment, bytes, problem, now: now() });
  } catch (error) {
    if (stop?.aborted) {
      log.info({ name }, 'a shutdown interrupted a backup; the next process will make it');
      await releaseBackup(database, moment);
      return undefined;
    }
    log.error({ err: error, name }, 'could not make a backup');
    await endBackup(database, {
      ...moment,
      bytes: null,
      problem: formatWithCause(error as Error),
      now: now(),
    });
  }
  return name;
}

async function store(
  context: Context,
  { to, passphrase, hasKey }: Settings,
  name: string,
  signal: AbortSignal,
): Promise<{ bytes: number; missing: string[] }> {
  const { config, version } = context;
  const folder = to ?? spoolOf(config);
  await makeDirectories(folder, 0o750);
  const path = join(folder, name);
  const key = hasKey ? await findInstanceKey(config.dataDir, config.secretKey) : undefined;
  const { missing } = await makeBackup(context, {
    path,
    version,
    passphrase,
    key,
    leastRoom: config.limits.freeBytes,
    signal,
  });
  const { size: bytes } = await stat(path);
  if (to === undefined)
    try {
      await untilAborted(openBucket(config.s3!).send(keyOf(name), path), signal);
    } finally {
      await rm(path, { force: true });
    }
  return { bytes, missing };
}

const mostNamed = 10;

/**
 * Downloads a backup from the bucket into a file without a name, so that nothing stays on the disk, however
 * this ends.
 * @throws BackupError with the names of the existing backups, newest first.
 */
export async function fetchBackup(
  config: Pick<Config, 's3' | 'dataDir' | 'limits'>,
  name: string,
): Promise<FileHandle> {
  if (!config.s3) throw new BackupError('Backups in a bucket require S3_ENDPOINT and the other S3 settings.');
  const bucket = openBucket(config.s3);
  const content = name === '' ? undefined : await bucket.open(keyOf(name));
  if (!content) {
    const keys = (await bucket.list(keyOf(''))).map((key) => key.slice(keyOf('').length));
    const names = keys.toSorted().toReversed().slice(0, mostNamed);
    throw new BackupError(
      `${name === '' ? 'Name a backup, as in s3:<name>. The bucket' : `The bucket has no backup ${name}. It`} has ${names.join(', ') || 'none at all'}.`,
    );
  }
  await makeDirectories(spoolOf(config), 0o750);
  const path = join(spoolOf(config), 'restoring.backup');
  const file = await open(path, 'w+', 0o600);
  await rm(path);
  try {
    const write = createSpaceCheckedWriter(file, { path, leastRoom: config.limits.freeBytes });
    for await (const chunk of content as AsyncIterable<Buffer>) await write(chunk);
    return file;
  } catch (error) {
    await file.close();
    if (error instanceof BackupError) throw error;
    throw storageUnavailable(
      `The download of ${name} from the bucket was interrupted: ${(error as Error).message}`,
      error,
    );
  }
}

/** Reads the state of scheduled backups from the backups that are still known. */
export const readBackupState = statement('', [
  'backups_made:bigint backups_failed:bigint made_at:timestamp?',
  {
    /**
     * Seconds since the last complete backup. Without one, since the first was due; 0 if none has been due.
     */
    backup_age: double,
    /**
     * Why the last finished backup failed, or what it lacks; null if it is complete or none has finished.
     */
    last_problem: nullable(text),
    /** Whether the last finished backup was made, possibly without some files. */
    last_is_made: boolean,
  },
])`
  select coalesce(extract(epoch from now() - coalesce(max(finished_at) filter (where problem is null), min(due_at))), 0)
           ::double precision as backup_age,
         count(finished_at) filter (where problem is null) as backups_made,
         count(problem) as backups_failed,
         max(finished_at) filter (where problem is null) as made_at,
         (select problem from backups where finished_at is not null order by due_at desc limit 1) as last_problem,
         coalesce((select bytes is not null from backups where finished_at is not null order by due_at desc limit 1), false) as last_is_made
    from backups`;
