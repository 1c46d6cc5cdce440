import { bigint, integer, nullable, ofInstance, text, timestamp } from '#kit/statement.ts';

/** Of several processes that find a moment due, one gets the row. */
export const beginBackup = ofInstance(
  'backup.begin',
  { due_at: timestamp, name: text, now: timestamp },
  { name: text },
  `insert into backups (due_at, name, begun_at) values ($due_at, $name, $now) on conflict do nothing returning name`,
);

/** @param problem why there is none; null for one that was made. */
export const endBackup = ofInstance(
  'backup.end',
  { due_at: timestamp, bytes: nullable(bigint), problem: nullable(text), now: timestamp },
  {},
  `update backups set finished_at = $now, bytes = $bytes, problem = $problem where due_at = $due_at`,
);

/** Those made beyond the newest `keep` of them, and all older ones that failed or were broken off. */
export const selectOutdated = ofInstance(
  'backup.select_outdated',
  { keep: integer },
  { due_at: timestamp, name: text },
  `select due_at, name from backups
    where due_at < (select min(due_at) from (
      select due_at from backups where problem is null and finished_at is not null order by due_at desc limit $keep) as kept)
    order by due_at`,
);

export const deleteBackup = ofInstance(
  'backup.delete',
  { due_at: timestamp },
  {},
  `delete from backups where due_at = $due_at`,
);
