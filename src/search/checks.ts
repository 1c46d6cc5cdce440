import { columns } from '#kit/statement.ts';

/**
 * Submissions that have the words of a question are looked at one by one where that is what tells whether they answer it:
 * so many of the newest, as far as their answers are so many bytes as they are stored. To stem a thousand bytes takes
 * 75 µs, to look for an address in them 5, and to come to a submission 4 (docs/decisions/0082).
 */
export const lookWindow = { submissions: 1_000, bytesOfWords: 150_000, bytesOfAddresses: 2_000_000 } as const;

/**
 * What is looked up in a submission itself, since the index does not know it, each with its element ('': all answers), the
 * row of it that is asked for ('': all of it), its text, and a JSON list of values one of which is the answer, or of options (SaidOption) one of which is chosen where no
 * element is named:
 * - `phrase`: the words of the text in this order in one answer; `words`: in any; `address`: the text is a pattern
 * - the same behind `not_`
 */
export type CheckKind = 'phrase' | 'words' | 'address' | 'not_phrase' | 'not_words' | 'not_address';

export const checkParameters = columns(
  'check_kinds:texts check_elements:texts check_rows:texts check_texts:texts',
  'check_values:texts',
);

/** For statements with checkParameters. What says nothing in any language of the workspace asks for nothing. */
export const checking = `
  checks as materialized (
    select place, kind like 'not%' as is_not, kind like '%address' as is_address, element, row_id, written, value::jsonb as values, language, query
    from unnest($check_kinds, $check_elements, $check_rows, $check_texts, $check_values) with ordinality
      as asked (kind, element, row_id, written, value, place)
    cross join lateral (
      select language::regconfig as language from search_languages where workspace_id = $workspace_id) languages
    cross join lateral (
      select phraseto_tsquery(language, written) as query where kind like '%phrase'
      union all
      select plainto_tsquery(language, written) where kind not like '%phrase') queries
    where numnode(query) > 0 or value <> '[]')`;

/** Whether the submission `p` passes them. */
export const isPassed = `not exists (
  select from checks c
  cross join lateral (
    select case c.row_id when '' then p.answers -> c.element else p.answers -> c.element -> c.row_id end as answer
    where c.element <> ''
    union all
    select json_build_array(p.answers, p.reference) where c.element = '') asked
  cross join lateral (
    select p.answers::text ~* c.written as is_met where c.is_address
    union all
    select coalesce(json_to_tsvector(c.language, asked.answer, '["string", "numeric"]') @@ c.query, false)
        or exists (
          select from jsonb_array_elements(c.values) as value
          where case when c.element = '' then
            (value ->> 'form')::uuid = p.form_id and jsonb_path_exists(
              p.answers::jsonb, '$.** ? (@.type() == "object").keyvalue() ? (@.key == $ELEMENT).value.** ? (@ == $ID)',
              jsonb_build_object('ELEMENT', value -> 'element', 'ID', value -> 'id'))
          else asked.answer::jsonb @> value
            -- Of a matrix, in any of its rows.
            or json_typeof(asked.answer) = 'object' and jsonb_path_query_array(asked.answer::jsonb, '$.*[*]') @> value end)
    where not c.is_address) looked
  group by c.place, c.is_not
  having bool_or(looked.is_met) = c.is_not)`;
