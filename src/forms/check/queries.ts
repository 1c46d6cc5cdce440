import { statement } from '#kit/statement.ts';

/**
 * How many of a form's newest submissions answer each of `elements`, at the top level or in a row of one of `groups`, and
 * how many chose each option of those among `choices`, or answered each row of a matrix of them. The row without an
 * element says how many were looked at.
 * `limit` bounds the work: answers are not indexed by element.
 */
export const countAnswers = statement(
  'count_answers',
  'workspace_id form_id elements groups:texts choices:texts limit',
  'element? option? matrix_row:text? count',
  `with newest as (
     select s.id, s.answers from submissions s
     where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is null
     order by s.id desc limit $limit),
   given as (
     select n.id, a.key, a.value from newest n, json_each(n.answers) a
     where a.key = any ($elements)
     union all
     select n.id, a.key, a.value
     from newest n, json_each(n.answers) g,
          json_array_elements(case when json_typeof(g.value) = 'array' then g.value else '[]' end) r,
          json_each(case when json_typeof(r.value) = 'object' then r.value else '{}' end) a
     where g.key = any ($groups) and a.key = any ($elements)),
   cells as (
     select id, key, value, null as matrix_row from given
     where key = any ($choices) and json_typeof(value) <> 'object'
     union all
     select g.id, g.key, c.value, c.key
     from given g, json_each(case when json_typeof(g.value) = 'object' then g.value else '{}' end) c
     where g.key = any ($choices)),
   chosen as (
     select c.id, c.key, o.option
     from cells c, json_array_elements_text(
       case when json_typeof(c.value) = 'array' then c.value else json_build_array(c.value) end) o (option))
   select null as element, null as option, null as matrix_row, count(*) as count from newest
   union all
   select key as element, null as option, null as matrix_row, count(distinct id) as count from given group by key
   union all
   select key as element, option, null as matrix_row, count(distinct id) as count from chosen group by key, option
   union all
   select key as element, null as option, matrix_row, count(distinct id) as count
   from cells where matrix_row is not null group by key, matrix_row`,
);
