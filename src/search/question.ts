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
 * on what is found, and hardly on how much there is (docs/decisions/0021-search-at-scale.md).
 *
 * All words must be present (specification, "Search rules" 4). Whoever has more of them in the subject comes first
 * (rule 2); equals come newest first. A workspace may hold documents of several languages; the question is asked in
 * each of them. Questions are tsqueries as text, with chr(1) where a segment's code goes.
 */
/** @param formIds of which forms, when it is asked without form_id; null: of all. For statements with the parameters workspace_id, form_id and q. */
export const questionIn = (formIds: '$form_ids' | 'null::uuid[]'): string => `
  -- A quote and a backslash mean something within a quoted word of a tsquery.
  words as materialized (
    select language,
           '''' || chr(1) || left(language, 3) || ' ' || quoted || '''' as anywhere,
           '''' || chr(1) || left(language, 3) || '!' || quoted || '''' as in_subject
    from search_languages
    cross join lateral unnest(tsvector_to_array(to_tsvector(language::regconfig, $q))) as word
    cross join lateral replace(replace(word, '\\', '\\\\'), '''', '''''') as quoted
    where workspace_id = $workspace_id),
  asked as (
    select string_agg(anywhere, ' & ') as anywhere, string_agg(in_subject, ' & ') as all_subject,
           string_agg(in_subject, ' | ') as some_subject, count(*) as words
    from words group by language),
  reached as (
    -- Whoever reaches no form asks for a mark that no document has.
    select case when $form_id is null and ${formIds} is null then ''
                else format(' & (%s)', coalesce(string_agg(format('''%sf%s''', chr(1), id), ' | '), chr(1) || 'f')) end as forms
    from unnest(case when $form_id is null then ${formIds} else array[$form_id] end) as id),
  gone as (
    select coalesce(' & !(' || string_agg(format('''%sf%s''', chr(1), id), ' | ') || ')', '') as forms
    from forms where workspace_id = $workspace_id and deleted_at is not null),
  question as materialized (
    select '(' || string_agg(format('(%s)', anywhere), ' | ') || ')' || scope as anywhere,
           '(' || string_agg(format('(%s)', all_subject), ' | ') || ')' || scope as all_subject,
           '(' || string_agg(format('(%s & (%s) & !(%s))', anywhere, some_subject, all_subject), ' | ') || ')' || scope as some_subject,
           '(' || string_agg(format('(%s & !(%s))', anywhere, some_subject), ' | ') || ')' || scope as no_subject,
           string_agg(some_subject, ' | ') as any_subject,
           max(words) as words
    from asked cross join (select reached.forms || gone.forms as scope from reached cross join gone) scope
    group by scope),
  segments as materialized (
    select code from search_segments where workspace_id = $workspace_id order by first_id desc)`;

/**
 * The newest `limit` submissions that answer a question, newest first where `inOrder` says so. A lateral join takes the
 * segments in their order and ends at the limit. `offset 0` keeps the planner to the index of words: with the workspace
 * in its reach it reads that one's whole key beside it (measured: 46 ms instead of 0.2 for a rare word among 100,000).
 * `place` is where the document lies, which a statement comes back to in a quarter of the time that its key takes.
 */
export const walk = (
  question: 'anywhere' | 'all_subject' | 'some_subject' | 'no_subject',
  { limit, inOrder }: { limit: string; inOrder: boolean },
): string => `
  select found.id, found.place, segments.code
  from question cross join segments cross join lateral (
    select id, place from (
      select d.submission_id as id, d.ctid as place, d.workspace_id from search_documents d
      where d.terms @@ replace(question.${question}, chr(1), segments.code)::tsquery
      offset 0) here
    where workspace_id = $workspace_id
    ${inOrder ? 'order by id desc' : ''}) found
  limit ${limit}`;

/** How many of the words that are asked for the subject of the found submission `f` has. */
export const wordsInSubject = `(
  select count(*) from words join search_documents d on d.terms @@ replace(words.in_subject, chr(1), f.code)::tsquery
  where d.workspace_id = $workspace_id and d.submission_id = f.id)`;
