import { boolean, double, nullable, statement, text } from '#kit/statement.ts';

/** The advisory lock of whoever makes a backup of the schedule, for as long as that takes; any constant of our own. */
export const backupLock = 7_246_002;

export const takeBackupLock = statement(
  'backup.take_lock',
  'lock:integer',
  'is_taken:boolean',
  `select pg_try_advisory_lock($lock) as is_taken`,
);

/** Whether a moment has its backup, or it was tried since `again`. */
export const findSettled = statement(
  'backup.find_settled',
  'due_at again',
  'name',
  `select name from backups
    where due_at = $due_at and (bytes is not null or greatest(begun_at, finished_at) >= $again)`,
);

/**
 * Begins the backup of a moment, if it has none and none was tried since `again`. For whoever has the lock: what others left
 * unfinished was broken off, and counts as failed until it is made.
 */
export const beginBackup = statement(
  'backup.begin',
  'due_at name begun_at again',
  'name problem?',
  `with broken_off as (
     update backups set finished_at = $begun_at, problem = 'it was broken off'
      where due_at < $due_at and finished_at is null)
   insert into backups (due_at, name, begun_at) values ($due_at, $name, $begun_at)
   on conflict (due_at) do update
     set name = $name, begun_at = $begun_at, finished_at = coalesce(backups.finished_at, backups.begun_at),
         problem = coalesce(backups.problem, 'it was broken off')
     where backups.bytes is null and greatest(backups.begun_at, backups.finished_at) < $again
   returning name, problem`,
);

/** @param bytes null: it was not made. @param problem why, or what it lacks; null for one that is whole. */
export const endBackup = statement(
  'backup.end',
  'due_at begun_at bytes? problem? now',
  '',
  `update backups set finished_at = $now, bytes = $bytes, problem = $problem
    where due_at = $due_at and begun_at = $begun_at`,
);

/** Leaves a backup that was not tried before to whoever comes next. */
export const giveBackBackup = statement(
  'backup.give_back',
  'due_at begun_at',
  '',
  `delete from backups where due_at = $due_at and begun_at = $begun_at and finished_at is null`,
);

/** The newest that were made, and the newest of these that are whole: one that lacks files pushes none of these out. */
const kept = `(select due_at from backups where bytes is not null order by due_at desc limit $keep)`;
const keptWhole = `(select due_at from backups where bytes is not null and problem is null order by due_at desc limit $keep)`;

/** Those that are not kept, and all that failed before the first that is. */
export const selectOutdated = statement(
  'backup.select_outdated',
  'keep',
  'due_at name',
  `select due_at, name from backups
    where due_at < (select min(due_at) from ${kept} as made) and due_at not in ${keptWhole}
    order by due_at`,
);

export const deleteBackup = statement(
  'backup.delete',
  'due_at',
  '',
  `delete from backups where due_at = $due_at`,
);

/** All that are known, and whether each is being made, or was broken off since, and is of the newest that were made. */
export const selectBackups = statement(
  'backup.select',
  'keep',
  'name begun_at is_begun:boolean is_kept:boolean',
  `select name, begun_at, bytes is null and coalesce(finished_at < begun_at, true) as is_begun, due_at in ${kept} as is_kept
     from backups order by due_at`,
);

/** How the schedule fares, by the backups that are still known. */
export const readBackups = statement(
  'backup.read_all',
  '',
  [
    'backups_made:bigint backups_failed:bigint made_at:timestamp?',
    {
      /** Seconds since the last whole one was made; where none was, since the first was due; 0: nor was that. */
      backup_age: double,
      /** Why the last one that ended could not be made, or what it lacks; null: it is whole, or none has ended. */
      last_problem: nullable(text),
      /** Whether that one is there all the same, without some files. */
      last_is_made: boolean,
    },
  ],
  `select coalesce(extract(epoch from now() - coalesce(max(finished_at) filter (where problem is null), min(due_at))), 0)
            ::double precision as backup_age,
          count(finished_at) filter (where problem is null) as backups_made,
          count(problem) as backups_failed,
          max(finished_at) filter (where problem is null) as made_at,
          (select problem from backups where finished_at is not null order by due_at desc limit 1) as last_problem,
          coalesce((select bytes is not null from backups where finished_at is not null order by due_at desc limit 1), false) as last_is_made
     from backups`,
);

/** Of what was being made when a backup was: the one that holds this row, and no more is known of it where that is restored. */
export const forgetBegun = statement(
  'backup.forget_begun',
  '',
  '',
  `delete from backups where finished_at is null`,
);
