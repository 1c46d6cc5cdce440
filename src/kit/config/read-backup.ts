import { join, resolve } from 'node:path';
import { Cron, CronPattern } from 'croner';
import type { ReadNumber } from './read-limits.ts';

export type BackupConfig = {
  /** When, as cron writes it, in UTC. */
  schedule: string;
  /** How many are kept. */
  keep: number;
  /** A folder, as an absolute path; undefined: the object storage. */
  to: string | undefined;
  /** Seals them. */
  passphrase: string | undefined;
  /** Whether the instance's key is inside. */
  hasKey: boolean;
};

/** The backups that an operator wants, if any; what is wrong with them is put to `problems`. */
export function readBackup(
  value: (name: string) => string | undefined,
  wholeNumber: ReadNumber,
  problems: string[],
): BackupConfig | undefined {
  const schedule = value('BACKUP_SCHEDULE');
  const to = value('BACKUP_TO');
  if (to === 's3' && !value('S3_ENDPOINT')) problems.push('BACKUP_TO is "s3", but S3_ENDPOINT is not set.');
  const keep = wholeNumber('BACKUP_KEEP', 7, 1, 1_000);
  const withoutKey = value('BACKUP_WITHOUT_KEY') ?? 'false';
  if (!['true', 'false'].includes(withoutKey))
    problems.push(`BACKUP_WITHOUT_KEY is "${withoutKey}", but it must be true or false.`);
  const passphrase = value('BACKUP_PASSPHRASE');
  // Of a file `restore` reads the first line, and at age nobody types another one.
  if (passphrase?.includes('\n')) problems.push('BACKUP_PASSPHRASE must be one line.');
  if (schedule === undefined) return undefined;
  try {
    requireMoments(schedule);
  } catch (error) {
    problems.push(
      `BACKUP_SCHEDULE is "${schedule}", but it must be a schedule as cron writes it, such as "0 3 * * *" for 3 o'clock UTC each night (${(error as Error).message}).`,
    );
  }
  return {
    schedule,
    keep,
    to: to === 's3' ? undefined : resolve(to ?? join(value('DATA_DIR') ?? './data', 'backups')),
    passphrase,
    hasKey: withoutKey === 'false',
  };
}

/** @throws Error for what is no schedule, or has no moments, such as on the 31st of February. */
function requireMoments(schedule: string): void {
  void new CronPattern(schedule);
  try {
    // As whoever makes the backups asks.
    if (new Cron(schedule, { timezone: 'UTC', paused: true }).previousRuns(1).length > 0) return;
  } catch {
    // It does not look further back than some months with such days.
  }
  throw new Error('it never comes');
}
