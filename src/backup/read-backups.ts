import { boolean, double, nullable, statement, text } from '#kit/statement.ts';

/** Reads the state of scheduled backups from the backups that are still known. */
export const readBackupState = statement('backup.read_all', '', [
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
