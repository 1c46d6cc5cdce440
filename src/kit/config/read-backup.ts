import { join, resolve } from 'node:path';
import { CronPattern } from 'croner';
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
  if (schedule === undefined) return undefined;
  try {
    void new CronPattern(schedule);
  } catch (error) {
    problems.push(
      `BACKUP_SCHEDULE is "${schedule}", but it must be a schedule as cron writes it, such as "0 3 * * *" for 3 o'clock UTC each night (${(error as Error).message}).`,
    );
  }
  return {
    schedule,
    keep,
    to: to === 's3' ? undefined : resolve(to ?? join(value('DATA_DIR') ?? './data', 'backups')),
    passphrase: value('BACKUP_PASSPHRASE'),
    hasKey: value('BACKUP_WITHOUT_KEY') !== 'true',
  };
}
