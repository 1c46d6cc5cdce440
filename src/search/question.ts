import { firstId, lastId } from '#kit/pagination.ts';
import { boolean, columns, nullable, type RowOf, text, texts, uuid, uuids } from '#kit/statement.ts';

/** As many submissions a search finds: so many can be paged through, and total_count goes up to there. */
export const searchWindow = 1_000;

/**
 * With three words and more: so many of the newest that have some of them in the subject are ordered by how many. Each
 * is looked at by itself, and of frequent words it takes many segments to find them.
 */
export const subjectWindow = 200;

/*
 * A search document (`search_documents.terms`) holds its words behind the code of its segment, and a mark for its form
 * (see searchTerms). A question is asked segment by segment, newest first, until there is enough; so the work depends
 * on what is found, and hardly on how much there is (docs/decisions/0021-search-segments.md).
 *
 * All words must be present (specification, "Search rules" 4). Whoever has more of them in the subject comes first
 * (rule 2); equals come newest first. A workspace may hold documents of several languages; the question is asked in
 * each of them. Questions are tsqueries as text, with chr(1) where a segment's code goes.
 */

/** What a statement that asks for words is given. */
export const wordParameters = columns('workspace_id', {
  /** Of which forms; null: of all. */
  form_ids: nullable(uuids),
  /** All of these words must be there. */
  q: text,
});

/** What one is given that asks for more. */
export const questionParameters = columns(
  'unit_texts:texts to_id',
  {
    /** What else the index is asked for, each a `UnitKind` with its text. */
    unit_kinds: texts,
    /** Whether all is found that has not what must not be there. Then `form_ids` names the forms. */
    is_open: boolean,
    /** Of which ids, which begin with a time: from the first, and below the second. */
    from_id: uuid,
  },
  wordParameters,
);

/** What these are where nothing is asked for but words. */
export const wordsAlone: Omit<RowOf<typeof questionParameters>, 'workspace_id' | 'form_ids' | 'q'> = {
  unit_kinds: [],
  unit_texts: [],
  is_open: false,
  from_id: firstId,
  to_id: lastId,
};

/**
 * - `beginning`: a word that begins so, as it is written or in the form that is indexed; of several, with a space between
 *   them, in any of these ways
 * - `address`: a mail address, or its domain, or what stands before the @
 * - `not_word`, `not_beginning`: what must not be there
 * - `mark`, `not_mark`: one of searchMarks that is there, or must not be; it is no word
 */
export type UnitKind = 'beginning' | 'address' | 'not_word' | 'not_beginning' | 'mark' | 'not_mark';

/** A quote and a backslash mean something within a quoted word of a tsquery. */
const quoted = `replace(replace(word, '\\', '\\\\'), '''', '''''') as quoted`;

/** What is asked beside words, for statements with questionParameters. */
const units = `
  units as materialized (
    select language, kind in ('not_word', 'not_beginning') as is_not,
           '(' || string_agg(format('''%s%s %s''%s', chr(1), left(language, 3), quoted, suffix), sign) || ')' as anywhere,
           '(' || string_agg(format('''%s%s!%s''%s', chr(1), left(language, 3), quoted, suffix), sign) || ')' as in_subject
    from search_languages
    cross join unnest($unit_kinds, $unit_texts) with ordinality as asked (kind, written, place)
    cross join lateral (select case kind when 'not_word' then ' & ' else ' | ' end as sign) signs
    cross join lateral (
      select word, case kind when 'address' then '' else ':*' end as suffix
      from string_to_table(lower(written), ' ') as word where kind <> 'not_word'
      union
      select lower(written) || '@', ':*' where kind = 'address'
      union
      select word, case when kind in ('beginning', 'not_beginning') then ':*' else '' end
      from unnest(tsvector_to_array(to_tsvector(language::regconfig, written))) as word) lexeme
    cross join lateral ${quoted}
    where workspace_id = $workspace_id and kind not like '%mark'
    group by language, kind, place),
  unwanted as (
    select coalesce(' & !(' || string_agg(anywhere, ' | ') || ')', '') as words from units where is_not),
  marks as (
    select coalesce(string_agg(format(' & %s''%s%s''', sign, chr(1), quoted), ''), '') as marks
    from unnest($unit_kinds, $unit_texts) as asked (kind, word)
    cross join lateral (select case kind when 'not_mark' then '!' else '' end as sign) signs
    cross join lateral ${quoted}
    where kind like '%mark'),`;

/** All that has not what must not be there: the forms, without the sign before them. */
const everything = `
    union all
    select everything, null, null, null, everything, null, 0
    from scopes cross join lateral substr(scope, 4) as everything where $is_open`;

/** Newest first: all, and those that have any of a span. */
const allSegments = `
    select code from search_segments where workspace_id = $workspace_id order by first_id desc`;
const segmentsOfSpan = `
    select code from (
      select code, first_id, lead(first_id) over (order by first_id) as next_id
      from search_segments where workspace_id = $workspace_id) segment
    where first_id < $to_id and (next_id is null or next_id > $from_id)
    order by first_id desc`;

const askingFor = (isMore: boolean): string => `${isMore ? units : ''}
  words as materialized (
    select language,
           '''' || chr(1) || left(language, 3) || ' ' || quoted || '''' as anywhere,
           '''' || chr(1) || left(language, 3) || '!' || quoted || '''' as in_subject
    from search_languages
    cross join lateral unnest(tsvector_to_array(to_tsvector(language::regconfig, $q))) as word
    cross join lateral ${quoted}
    where workspace_id = $workspace_id
    ${isMore ? 'union all select language, anywhere, in_subject from units where not is_not' : ''}),
  asked as (
    select string_agg(anywhere, ' & ') as anywhere, string_agg(in_subject, ' & ') as all_subject,
           string_agg(in_subject, ' | ') as some_subject, count(*) as words
    from words group by language),
  reached as (
    -- Whoever reaches no form asks for a mark that no document has.
    select case when $form_ids is null then ''
                else format(' & (%s)', coalesce(string_agg(format('''%sf%s''', chr(1), id), ' | '), chr(1) || 'f')) end as forms
    from unnest($form_ids) as id),
  gone as (
    select coalesce(' & !(' || string_agg(format('''%sf%s''', chr(1), id), ' | ') || ')', '') as forms
    from forms where workspace_id = $workspace_id and deleted_at is not null),
  scopes as (
    select reached.forms || gone.forms${isMore ? ' || unwanted.words || marks.marks' : ''} as scope
    from reached cross join gone${isMore ? ' cross join unwanted cross join marks' : ''}),
  question as materialized (
    select '(' || string_agg(format('(%s)', anywhere), ' | ') || ')' || scope as anywhere,
           '(' || string_agg(format('(%s)', all_subject), ' | ') || ')' || scope as all_subject,
           '(' || string_agg(format('(%s & (%s) & !(%s))', anywhere, some_subject, all_subject), ' | ') || ')' || scope as some_subject,
           ${isMore ? `'(' || string_agg(format('(%s & (%s))', anywhere, some_subject), ' | ') || ')' || scope as in_subject,` : ''}
           '(' || string_agg(format('(%s & !(%s))', anywhere, some_subject), ' | ') || ')' || scope as no_subject,
           string_agg(some_subject, ' | ') as any_subject,
           max(words) as words
    from asked cross join scopes
    group by scope
    ${isMore ? everything : ''}),
  segments as materialized (${isMore ? segmentsOfSpan : allSegments})`;

/** The question of words alone, which is most of what is asked: for statements with wordParameters. */
export const wordsSql = askingFor(false);
/** Any other, for statements with questionParameters. */
export const questionSql = askingFor(true);

/**
 * The newest `limit` submissions that answer a question, newest first where `inOrder` says so. A lateral join takes the
 * segments in their order and ends at the limit. `offset 0` keeps the planner to the index of words: with the workspace
 * in its reach it reads that one's whole key beside it (measured: 46 ms instead of 0.2 for a rare word among 100,000).
 * `place` is where the document lies, which a statement comes back to in a quarter of the time that its key takes.
 * Words alone have no span.
 */
export const walk = (
  which: 'anywhere' | 'all_subject' | 'some_subject' | 'in_subject' | 'no_subject',
  { limit, inOrder, hasSpan = true }: { limit: string; inOrder: boolean; hasSpan?: boolean },
): string => `
  select found.id, found.place, segments.code
  from question cross join segments cross join lateral (
    select id, place from (
      select d.submission_id as id, d.ctid as place, d.workspace_id from search_documents d
      where d.terms @@ replace(question.${which}, chr(1), segments.code)::tsquery
      offset 0) here
    where workspace_id = $workspace_id${hasSpan ? ' and id >= $from_id and id < $to_id' : ''}
    ${inOrder ? 'order by id desc' : ''}) found
  limit ${limit}`;

/** How many of the words that are asked for the subject of the found submission `f` has. */
export const wordsInSubject = `(
  select count(*) from words join search_documents d on d.terms @@ replace(words.in_subject, chr(1), f.code)::tsquery
  where d.workspace_id = $workspace_id and d.submission_id = f.id)`;
