import { bigint, statement, text, uuid } from '#kit/statement.ts';

/** Submissions per day of a time zone; days without any are left out. PostgreSQL refuses unknown zones (22023). */
export const countDays = statement(
  'summary.count_days',
  { workspace_id: uuid, form_id: uuid, from_id: uuid, to_id: uuid, time_zone: text },
  { day: text, completed: bigint, incomplete: bigint },
  `select to_char(day, 'YYYY-MM-DD') as day, completed, incomplete
   from (
     select (created_at at time zone $time_zone)::date as day,
            count(*) filter (where status = 'completed') as completed,
            count(*) filter (where status = 'incomplete') as incomplete
     from submissions
     where workspace_id = $workspace_id and form_id = $form_id and trashed_at is null and id >= $from_id and id < $to_id
     group by 1) days
   order by day`,
);
