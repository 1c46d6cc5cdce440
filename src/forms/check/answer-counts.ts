import { type Form, isComposite, isInput, isRepeatable, listQuestions, walkElements } from '#ast/tree.ts';
import { type Queryable, statement } from '#kit/statement.ts';

/**
 * How many of a form's newest submissions answer each of `elements`, at the top level or in a row of one of `groups`, and
 * how many chose each option of those among `choices`, or answered each row of a matrix of them. The row without an
 * element says how many were looked at.
 * `limit` bounds the work: answers are not indexed by element.
 */
const countAnswers = statement(
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

/** Submissions that are looked at: 10,000 with 20 answers each took 0.2 s. */
export const scanLimit = 10_000;

/**
 * How many stored submissions answer each element of a form, and each option and row of the elements named: exact up to
 * `scanLimit` submissions, and over the newest of them in a larger form. Rows of a group count once.
 */
export async function countStoredAnswers(
  db: Queryable,
  { workspaceId, formId, form }: { workspaceId: string; formId: string; form: Form },
  choices: readonly string[] = [],
) {
  const groups = listQuestions(form).flatMap(({ kind, element }) =>
    kind === 'group' ? [element.attrs.id] : [],
  );
  const elements = [...walkElements(form)].flatMap(({ element }) =>
    isInput(element) || (isComposite(element) && isRepeatable(element)) ? [element.attrs.id] : [],
  );
  const rows = await countAnswers(db, {
    workspace_id: workspaceId,
    form_id: formId,
    elements,
    groups,
    choices: [...choices],
    limit: scanLimit,
  });
  const counted = new Map(
    rows.map(({ element, option, matrix_row: row, count }) => [keyOf(element, { option, row }), count]),
  );
  return {
    /** How many were looked at. */
    scanned: counted.get(keyOf(null, {})) ?? 0,
    /** Of each element that anybody answered. */
    counts: Object.fromEntries(
      rows.flatMap(({ element, option, matrix_row: row, count }) =>
        element !== null && option === null && row === null ? [[element, count]] : [],
      ),
    ),
    of: (element: string, part: Part = {}): number => counted.get(keyOf(element, part)) ?? 0,
  };
}

/** An option of an element, or a row of a matrix; of neither, the element. */
type Part = { readonly option?: string | null | undefined; readonly row?: string | null | undefined };

const keyOf = (element: string | null, { option, row }: Part): string =>
  JSON.stringify([element, option ?? null, row ?? null]);
