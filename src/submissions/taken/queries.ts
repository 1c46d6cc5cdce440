import { columns, statement } from '#kit/statement.ts';
import { formTree } from '#forms/structure-columns.ts';

/** The live version of a form, whose limits hold for every submission to it, whichever version that answered. */
export const findLiveVersion = statement(
  'taken.find_live_version',
  'workspace_id form_id',
  ['version', { structure: formTree }],
  `select v.version, v.structure from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
   where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`,
);

/** Joins the turn of a form, beside others who do, until the transaction ends. @returns its live version; null: it is gone. */
export const joinTurn = statement(
  'taken.join_turn',
  'workspace_id form_id',
  'version?',
  `select live_version_in_turn($workspace_id, $form_id) as version`,
);

/** The version by which a form's taken answers were last written down. */
export const findTakenVersion = statement(
  'taken.find_taken_version',
  'workspace_id form_id',
  'version',
  `select version from taken_forms where workspace_id = $workspace_id and form_id = $form_id`,
);

export const setTakenVersion = statement(
  'taken.set_taken_version',
  'workspace_id form_id version',
  '',
  `insert into taken_forms (workspace_id, form_id, version)
   select workspace_id, form_id, version from form_versions
   where workspace_id = $workspace_id and form_id = $form_id and version = $version
   on conflict (workspace_id, form_id) do update set version = excluded.version`,
);

const limits = columns('unique_elements:texts ignored:texts option_elements:texts options:texts');

/**
 * Writes down what the submissions of `page` take, as their answers are now: what they do not take any more is free.
 * Unique answers are the same without what is ignored in them, and without case.
 * @param page which submissions, as `s`.
 */
const writeText = (page: string): string =>
  `with page as (
     select s.workspace_id, s.id, s.form_id, s.answers, s.status = 'completed' and s.trashed_at is null as counts
     from submissions s where s.workspace_id = $workspace_id and s.form_id = $form_id ${page}),
   answered as materialized (
     select page.workspace_id, page.id as submission_id, page.form_id, answered.key as element_id, answered.value as answer
     from page cross join lateral json_each(page.answers) answered
     where page.counts and (answered.key = any ($unique_elements) or answered.key = any ($option_elements))),
   wanted as materialized (
     select a.workspace_id, a.submission_id, a.form_id, u.element_id,
       encode(sha256(convert_to(lower(regexp_replace(a.answer #>> '{}', u.ignored, '', 'g')), 'UTF8')), 'hex') as value
     from answered a join unnest($unique_elements, $ignored) u (element_id, ignored) on u.element_id = a.element_id
     where json_typeof(a.answer) in ('string', 'number')
     union all
     select a.workspace_id, a.submission_id, a.form_id, a.element_id, chosen.option
     from answered a
     join (
       select element_id, array_agg(option) as options from unnest($option_elements, $options) o (element_id, option)
       group by element_id) offered on offered.element_id = a.element_id
     cross join lateral json_array_elements_text(
       case when json_typeof(a.answer) = 'array' then a.answer else json_build_array(a.answer) end) chosen (option)
     where chosen.option = any (offered.options)),
   freed as (
     delete from taken_answers t
     where t.workspace_id = $workspace_id and t.submission_id = any (array(select id from page)) and not exists (
       select from wanted w
       where w.submission_id = t.submission_id and w.element_id = t.element_id and w.value = t.value)),
   taken as (
     insert into taken_answers (workspace_id, submission_id, form_id, element_id, value)
     select workspace_id, submission_id, form_id, element_id, value from wanted
     on conflict do nothing
     returning element_id, value)`;

/** The same of one submission. @returns what it takes that it did not take before. */
export const writeTaken = statement(
  'taken.write_taken',
  ['workspace_id form_id id', limits],
  'element_id value',
  `${writeText('and s.id = $id')}
   select element_id, value from taken`,
);

/** The same of many, in the order of ids. @returns how many, and the id to go on behind. */
export const writeManyTaken = statement(
  'taken.write_many_taken',
  ['workspace_id form_id after limit', limits],
  'id count',
  `${writeText('and s.id > $after order by s.id limit $limit')}
   select id, (select count(*) from page) as count from page order by id desc limit 1`,
);

/** The versions of a form between two. */
export const listVersionsBetween = statement(
  'taken.list_versions_between',
  'workspace_id form_id from:integer to:integer',
  { structure: formTree },
  `select structure from form_versions
   where workspace_id = $workspace_id and form_id = $form_id and version >= $from and version < $to`,
);

/** How many other submissions take each of these. */
export const countOthers = statement(
  'taken.count_others',
  'workspace_id form_id id elements values:texts',
  'element_id value count',
  `select t.element_id, t.value, count(*) as count
   from unnest($elements, $values) asked (element_id, value)
   join taken_answers t on t.workspace_id = $workspace_id and t.form_id = $form_id
     and t.element_id = asked.element_id and t.value = asked.value
   where t.submission_id <> $id
   group by t.element_id, t.value`,
);

/** How many submissions take each option of these elements. */
export const countOptions = statement(
  'taken.count_options',
  'workspace_id form_id elements',
  'element_id option count',
  `select element_id, value as option, count(*) as count from taken_answers
   where workspace_id = $workspace_id and form_id = $form_id and element_id = any ($elements)
   group by element_id, value`,
);
