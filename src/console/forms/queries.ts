import { bigint, integer, nullable, statement, text, uuid } from '#kit/statement.ts';

/**
 * How many of a form's newest submissions answer each top-level element, and how many were looked at. The row
 * without an element carries the latter. `limit` bounds the work: answers are not indexed by element.
 */
export const countAnswers = statement(
  'console_count_answers',
  { workspace_id: uuid, form_id: uuid, limit: integer },
  { element: nullable(text), count: bigint },
  `with newest as (
     select s.answers from submissions s
     where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is null
     order by s.id desc limit $limit)
   select null as element, count(*) as count from newest
   union all
   select key as element, count(*) as count from newest, json_object_keys(newest.answers) key group by key`,
);
