import { maximumId, minimumId } from '#kit/pagination.ts';
import { boolean, columns, integers, nullable, type RowOf, texts, uuid, uuids } from '#kit/statement.ts';
import { searchMarks } from '#submissions/submission-record.ts';

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
 * come first (rule 2), then those with the words as they were typed; ties are sorted newest first. A workspace
 * can have documents in several languages; the query runs in each of them. Queries are tsqueries as text,
 * with chr(1) in place of the segment code.
 */

/** Parameters of statements that search for words. */
export const wordParameters = columns('workspace_id', {
  /** The forms to search; null for all. */
  form_ids: nullable(uuids),
  /** The words of the query: each item is a row of SoughtWords. */
  word_groups: integers,
  word_kinds: texts,
  word_texts: texts,
});

/** Parameters of statements for queries that contain more than words. */
export const searchParameters = columns(
  'to_id',
  {
    /** Terms of searchMarks, each with its kind (compile-search.ts). */
    mark_kinds: texts,
    mark_texts: texts,
    /** Whether the query only excludes, and so matches everything else. `form_ids` then names the forms. */
    is_open: boolean,
    /** The range of ids, which begin with a time: from this id, and below `to_id`. */
    from_id: uuid,
  },
  wordParameters,
);

/** The values of these parameters for a query that contains only words. */
export const wordsOnlyParameters = {
  mark_kinds: [],
  mark_texts: [],
  is_open: false,
  from_id: minimumId,
  to_id: maximumId,
} satisfies Partial<RowOf<typeof searchParameters>>;

/** Quotes and backslashes are special inside a quoted word of a tsquery. */
const quoted = `replace(replace(word, '\\', '\\\\'), '''', '''''') as quoted`;

/** The kinds whose matches are spelled as typed, and those that also match other spellings. */
const exactKinds = `('exact', 'terms', 'term_beginning', 'beginning', 'common')`;
const foldedKinds = `('exact', 'loose', 'beginning')`;

/**
 * The groups of words in each language of the workspace: a document must match one of the alternatives of
 * each group. chr(2) is in place of the sign before the word: a space, or ! for the subject.
 */
const groups = `
  alternatives as materialized (
    select language, number, kind,
           '(' || string_agg(
             case when kind in ${foldedKinds} then '(' || plain || suffix || ' | ' || folded || suffix || ')'
                  else plain || suffix end, sign) || ')' as anywhere,
           case when kind in ${exactKinds} then '(' || string_agg(plain || suffix, sign) || ')' end as exact
    from search_languages
    cross join unnest($word_groups, $word_kinds, $word_texts) with ordinality as input (number, kind, written, place)
    cross join lateral (
      select case when kind in ('beginning', 'address') then ' | ' else ' & ' end as sign,
             '''' || chr(1) || left(language, 3) || chr(2) as mark) signs
    cross join lateral (
      select word, case kind when 'beginning' then ':*' else '' end as suffix
      from unnest(tsvector_to_array(to_tsvector(language::regconfig, written))) as word
      where kind in ('exact', 'loose', 'old', 'beginning')
      union all
      select word, case when kind in ('term_beginning', 'part') then ':*' else '' end
      from string_to_table(written, chr(10)) as word
      where kind in ('terms', 'term_beginning', 'part', 'common', 'common_apart', 'address')
      union all
      select word, ':*' from string_to_table(written, ' ') as word where kind = 'beginning'
      union all
      select written || '@', ':*' where kind = 'address') lexeme
    cross join lateral ${quoted}
    cross join lateral (select mark || quoted || '''' as plain, mark || '~' || quoted || '''' as folded) terms
    where workspace_id = $workspace_id and (kind <> 'part' or language = 'german')
    group by language, number, kind, place),
  groups as materialized (
    select language, number, '(' || string_agg(anywhere, ' | ') || ')' as anywhere,
           '(' || coalesce(string_agg(exact, ' | '), string_agg(anywhere, ' | ')) || ')' as exact
    from alternatives a
    where case
      when kind like 'common%' then not exists (
        select from alternatives o where o.language = a.language and o.kind not like 'common%' and o.kind not in ('part', 'old')
          and o.number > 0 and a.number in (0, o.number))
      -- These come beside words that the language does not leave out.
      when kind in ('part', 'old') then exists (
        select from alternatives o
        where o.language = a.language and o.number = a.number and o.kind not in ('part', 'old', 'address'))
      else true end
    group by language, number),`;

/** The part of a tsquery for each kind of mark (compile-search.ts). */
const markPatterns = `('mark', ' & ''%s%s'''), ('not_mark', ' & !''%s%s'''),
      ('waiting_or_not_mark', ' & (!''%s%s'' | ''%s${searchMarks.waiting}'')')`;

const marks = `
  unwanted as (
    select coalesce(' & !(' || string_agg(replace(anywhere, chr(2), ' '), ' | ') || ')', '') as words
    from groups where number < 0),
  marks as (
    select coalesce(string_agg(format(pattern, chr(1), quoted, chr(1)), ''), '') as marks
    from unnest($mark_kinds, $mark_texts) as input (kind, word)
    join (values ${markPatterns}) patterns (kind, pattern) using (kind)
    cross join lateral ${quoted}),`;

/** Matches everything that is not excluded: the scope without its leading operator. */
const everything = `
    union all
    select everything, null, null, null, everything, null, everything, 0
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

const buildSearchSql = (isMore: boolean): string => `${groups}${isMore ? marks : ''}
  words as materialized (
    select language, replace(anywhere, chr(2), ' ') as anywhere, replace(anywhere, chr(2), '!') as in_subject,
           replace(exact, chr(2), ' ') as exact
    from groups where number >= 0),
  by_language as (
    select string_agg(anywhere, ' & ') as anywhere, string_agg(in_subject, ' & ') as all_subject,
           string_agg(in_subject, ' | ') as some_subject, string_agg(exact, ' & ') as exact, count(*) as words
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
           string_agg(format('(%s)', exact), ' | ') as exact,
           max(words) as words
    from by_language cross join scopes
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
 * @param also SQL of a text that is added to the query.
 */
export const selectMatchesSql = (
  which: 'anywhere' | 'all_subject' | 'some_subject' | 'in_subject' | 'no_subject',
  {
    limit,
    inOrder,
    hasSpan = true,
    also = '',
  }: { limit: string; inOrder: boolean; hasSpan?: boolean; also?: string },
): string => `
  select found.id, found.place, segments.code
  from question cross join segments cross join lateral (
    select id, place from (
      select d.submission_id as id, d.ctid as place, d.workspace_id from search_documents d
      where d.terms @@ replace(question.${which}${also}, chr(1), segments.code)::tsquery
      offset 0) here
    where workspace_id = $workspace_id${hasSpan ? ' and id >= $from_id and id < $to_id' : ''}
    ${inOrder ? 'order by id desc' : ''}) found
  limit ${limit}`;

/** Counts the words of the query in the subject of the matching submission `f`. */
export const countWordsInSubjectSql = `(
  select count(*) from words join search_documents d on d.terms @@ replace(words.in_subject, chr(1), f.code)::tsquery
  where d.workspace_id = $workspace_id and d.submission_id = f.id)`;
