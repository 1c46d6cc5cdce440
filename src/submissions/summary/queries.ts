import type { Answers } from '#ast/answers.ts';
import { columns, json, statement } from '#kit/statement.ts';
import { leastIdAt, timeOfId } from '#kit/id-times.ts';
import { formTree } from '#forms/structure-columns.ts';

/** Times are given as the ids that were made then: ids sort by time, and their indexes answer. */
const span = columns('workspace_id form_id from_id to_id');

const inSpan = `p.workspace_id = $workspace_id and p.form_id = $form_id and p.trashed_at is null
  and p.id >= $from_id and p.id < $to_id`;

const countOfDay = (status: string): string => `(
  select count(*) from submissions p
  where ${inSpan} and p.status = '${status}' and p.id >= days.from_id and p.id < days.to_id)`;

/**
 * Submissions per day of a time zone; days without any are left out. PostgreSQL refuses unknown zones (22023).
 * A day is a range of ids, which are counted in their index alone: at 500,000 submissions 50 ms, where a look at each
 * row took seconds.
 */
export const countDays = statement(
  'summary.count_days',
  ['time_zone', span],
  'day completed incomplete:bigint',
  `with ends as (
     select min(${timeOfId('first.id')}) as first, max(${timeOfId('last.id')}) as last
     from (values ('completed'), ('incomplete')) as each (status)
     cross join lateral (
       select p.id from submissions p where ${inSpan} and p.status = each.status order by p.id limit 1) first
     cross join lateral (
       select p.id from submissions p where ${inSpan} and p.status = each.status order by p.id desc limit 1) last),
   days as (
     select day, ${leastIdAt('day at time zone $time_zone')} as from_id,
            ${leastIdAt("(day + interval '1 day') at time zone $time_zone")} as to_id
     from ends cross join generate_series(
       date_trunc('day', first at time zone $time_zone), last at time zone $time_zone, interval '1 day') as day),
   -- Materialized, or each count would be made once more to be compared with zero.
   counted as materialized (
     select day, ${countOfDay('completed')} as completed, ${countOfDay('incomplete')} as incomplete from days)
   select to_char(day, 'YYYY-MM-DD') as day, completed, incomplete from counted
   where completed > 0 or incomplete > 0
   order by counted.day`,
);

/** The next submissions with their answers, newest first, from `to_id` downwards. */
export const readAnswersDown = statement(
  'summary.read_answers_down',
  ['limit', span],
  ['id', { answers: json<Answers>() }],
  `select p.id, p.answers from submissions p where ${inSpan} order by p.id desc limit $limit`,
);

/** The live version, and those that the newest `limit` submissions answered, from new to old. */
export const findSampledVersions = statement(
  'summary.find_sampled_versions',
  ['limit', span],
  { structure: formTree },
  `select v.structure from form_versions v
   join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id
   where v.workspace_id = $workspace_id and v.form_id = $form_id
     and (v.version = f.version or v.version in (
       select sample.version from (
         select p.version from submissions p where ${inSpan} order by p.id desc limit $limit) sample))
   order by v.version desc limit 200`,
);
