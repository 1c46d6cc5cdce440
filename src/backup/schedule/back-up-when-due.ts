import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Cron } from 'croner';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Log } from '#kit/log.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { type BackupContext, makeBackup } from '../make-backup.ts';
import { beginBackup, deleteBackup, endBackup, selectOutdated } from './queries.ts';

type Context = BackupContext & { config: Config; log: Log; version: string };
type Settings = NonNullable<Config['backup']>;

/**
 * Makes the backup that the schedule asks for, once for each of its moments over all processes and servers, and removes
 * those beyond the number that is kept. One that was missed, since nothing ran, is made up for.
 * @returns its name, or undefined when none was due.
 */
export async function backUpWhenDue(context: Context): Promise<string | undefined> {
  const { config, database, log } = context;
  if (!config.backup) return undefined;
  const [due] = new Cron(config.backup.schedule, { timezone: 'UTC', paused: true }).previousRuns(1, now());
  if (!due) return undefined;
  const name = `formloom-${due.toISOString().replace(/[:.]/g, '-')}.backup`;
  const begun = await beginBackup(database, { due_at: due, name, now: now() });
  if (begun.length === 0) return undefined;
  try {
    const { bytes, missing } = await store(context, config.backup, name);
    const problem = missing.length > 0 ? `${missing.length} files are not in storage` : null;
    if (problem) log.error({ name, missing: missing.slice(0, 20) }, `a backup was made, but ${problem}`);
    else log.info({ name, bytes }, 'a backup was made');
    await endBackup(database, { due_at: due, bytes, problem: null, now: now() });
    await removeOutdated(context, config.backup);
  } catch (error) {
    log.error({ err: error, name }, 'a backup could not be made');
    await endBackup(database, { due_at: due, bytes: null, problem: String(error), now: now() });
  }
  return name;
}

async function store(
  context: Context,
  { to, passphrase, hasKey }: Settings,
  name: string,
): Promise<{ bytes: number; missing: string[] }> {
  const { config, storage, version } = context;
  // On its way to the bucket it lies where nothing else does, so that what a killed process left there is gone with it.
  const spool = join(config.dataDir, 'spool', 'backups');
  const path = to === undefined ? join(spool, `made-${name}`) : join(to, name);
  if (to === undefined) await rm(spool, { recursive: true, force: true });
  try {
    await mkdir(dirname(path), { recursive: true });
    const key = hasKey ? await findInstanceKey(config.dataDir, config.secretKey) : undefined;
    const { missing } = await makeBackup(context, { path, version, passphrase, key });
    const { size: bytes } = await stat(path);
    if (to === undefined) await storage.put(keyOf(name), createReadStream(path), Number.MAX_SAFE_INTEGER);
    return { bytes, missing };
  } finally {
    if (to === undefined) await rm(spool, { recursive: true, force: true });
  }
}

/** In the bucket. No workspace has this for its id. */
const keyOf = (name: string): string => `backups/${name}`;

async function removeOutdated({ database, storage }: Context, { to, keep }: Settings): Promise<void> {
  for (const { due_at, name } of await selectOutdated(database, { keep })) {
    if (to === undefined) await storage.remove(keyOf(name));
    else for (const path of [name, `${name}.part`]) await rm(join(to, path), { force: true });
    await deleteBackup(database, { due_at });
  }
}
