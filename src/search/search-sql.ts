import { maximumId, minimumId } from '#kit/pagination.ts';
import { boolean, columns, nullable, type RowOf, text, texts, uuid, uuids } from '#kit/statement.ts';

/** The maximum number of results that a search can count and page through. */
export const searchWindow = 1_000;

/**
 * The limit for queries of three or more words: only this many of the newest submissions with some of them in
 * the subject are sorted by the number of words. Each is checked separately, and frequent words need many
 * segments.
 */
export const subjectWindow = 200;

/*
 * A search document (`search_documents.terms`) contains its words, each prefixed with the code of its
 * segment, and a term that marks its form (see searchTermsSql). A query runs segment by segment, newest first,
 * until there are enough results. The work depends on the number of results, and hardly on the number of
 * submissions (docs/decisions/0021-search-segments.md).
 *
 * All words must be present (specification, "Search rules" 4). Submissions with more words in the subject
 * come first (rule 2); ties are sorted newest first. A workspace can have documents in several languages; the
 * query runs in each of them. Queries are tsqueries as text, with chr(1) in place of the segment code.
 */

/** Parameters of statements that search for words. */
export const wordParameters = columns('workspace_id', {
  /** The forms to search; null for all. */
  form_ids: nullable(uuids),
  /** Words that must all be present. */
  q: text,
});

/** Parameters of statements for queries that contain more than words. */
export const searchParameters = columns(
  'unit_texts:texts to_id',
  {
    /** Further terms for the index, each a `SearchUnitKind` with its text. */
    unit_kinds: texts,
    /** Whether the query only excludes, and so matches everything else. `form_ids` then names the forms. */
    is_open: boolean,
    /** The range of ids, which begin with a time: from this id, and below `to_id`. */
    from_id: uuid,
  },
  wordParameters,
);

/** The values of these parameters for a query that contains only words. */
export const wordsOnlyParameters: Omit<RowOf<typeof searchParameters>, 'workspace_id' | 'form_ids' | 'q'> = {
  unit_kinds: [],
  unit_texts: [],
  is_open: false,
  from_id: minimumId,
  to_id: maximumId,
};

/**
 * - `beginning`: a word with this beginning, as written or as indexed; several beginnings, separated by
 * spaces, are alternatives
 * - `address`: an email address, its domain, or the name before the @
 * - `not_word`, `not_beginning`: must not be present
 * - `mark`, `not_mark`: a term of searchMarks that must, or must not, be present; it is not a word
 */
export type SearchUnitKind = 'beginning' | 'address' | 'not_word' | 'not_beginning' | 'mark' | 'not_mark';

/** Quotes and backslashes are special inside a quoted word of a tsquery. */
const quoted = `replace(replace(word, '\\', '\\\\'), '''', '''''') as quoted`;

/** The terms that are not plain words, for statements with searchParameters. */
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

/** Matches everything that is not excluded: the scope without its leading operator. */
const everything = `
    union all
    select everything, null, null, null, everything, null, 0
    from scopes cross join lateral substr(scope, 4) as everything where $is_open`;

/** All segments, or those that overlap a range of ids; newest first. */
const allSegments = `
    select code from search_segments where workspace_id = $workspace_id order by first_id desc`;
const segmentsOfSpan = `
    select code from (
      select code, first_id, lead(first_id) over (order by first_id) as next_id
      from search_segments where workspace_id = $workspace_id) segment
    where first_id < $to_id and (next_id is null or next_id > $from_id)
    order by first_id desc`;

const buildSearchSql = (isMore: boolean): string => `${isMore ? units : ''}
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
    -- A caller without access to any form searches for a mark that no document has.
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

/** The query of words alone, which is the most frequent one. For statements with wordParameters. */
export const wordSearchSql = buildSearchSql(false);
/** SQL for all other queries, for statements with searchParameters. */
export const fullSearchSql = buildSearchSql(true);

/**
 * Selects the newest `limit` submissions that match a query, newest first if `inOrder`. The lateral join
 * reads the segments in order and stops at the limit. `offset 0` makes the planner use the word index: if the
 * planner sees the workspace, it also reads the whole primary key of the workspace (measured: 46 ms instead
 * of 0.2 ms for a rare word among 100,000). `place` is the ctid of the document, which finds it again in a
 * quarter of the time of a lookup by key. Queries that contain only words have no range of ids.
 */
export const selectMatchesSql = (
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

/** Counts the words of the query in the subject of the matching submission `f`. */
export const countWordsInSubjectSql = `(
  select count(*) from words join search_documents d on d.terms @@ replace(words.in_subject, chr(1), f.code)::tsquery
  where d.workspace_id = $workspace_id and d.submission_id = f.id)`;
