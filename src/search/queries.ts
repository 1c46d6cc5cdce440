import { orNothing, statement } from '#kit/statement.ts';
import { ownSchema } from '#kit/search-path/queries.ts';
import { answeredVersion, foundColumns, submissionSelection } from '#submissions/queries.ts';
import { checking, checkParameters, isPassed } from './checks.ts';
import {
  asking,
  askingWords,
  questionParameters,
  wordParameters,
  searchWindow,
  subjectWindow,
  walk,
  wordsInSubject,
} from './question.ts';

const wordsAlone = { question: askingWords, hasSpan: false };
const anything = { question: asking, hasSpan: true };

/**
 * One page of what matches, by relevance, each row with the total up to searchWindow. The order is exact: whoever has
 * all words in the subject, then some (with three words and more: of the newest subjectWindow of these, by how many),
 * then none; each newest first. The rest is only looked for while the page is not full.
 */
const searchPage = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  { question, hasSpan }: { question: string; hasSpan: boolean },
) =>
  statement(
    name,
    ['limit offset', parameters],
    ['total', foundColumns],
    `with ${question},
   matches as materialized (${walk('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}),
   total as materialized (select count(*) as total from matches),
   -- When there are fewer matches than the window, they are all known already: each is asked for its subject. A segment's
   -- question is read once, and not for each of its matches: 1 ms of 11 for three words.
   subject_of as materialized (
     select code, replace(any_subject, chr(1), code)::tsquery as any_subject
     from question cross join (select distinct code from matches) reached_segments),
   known as materialized (
     select f.id, case when d.terms @@ replace(question.all_subject, chr(1), f.code)::tsquery then question.words
                       else ${wordsInSubject} end as words
     from matches f
     join subject_of asked on asked.code = f.code
     join search_documents d on d.ctid = f.place and d.workspace_id = $workspace_id and d.terms @@ asked.any_subject
     cross join question
     where (select total from total) < ${searchWindow}),
   -- When there may be more, each kind is looked for by itself, as far as the page needs it.
   in_all as materialized (${walk('all_subject', {
     limit: `(select case when total < ${searchWindow} then 0 else $offset + $limit end from total)`,
     inOrder: true,
     hasSpan,
   })}),
   in_some as materialized (
     select f.id, case when question.words > 2 and f.number <= ${subjectWindow} then ${wordsInSubject} else 1 end as words
     from (select nearest.id, nearest.code, row_number() over (order by nearest.id desc) as number from (${walk(
       'some_subject',
       {
         limit: `(
         select case when question.words = 1 or total < ${searchWindow} or (select count(*) from in_all) >= $offset + $limit then 0
                     when question.words = 2 then $offset + $limit
                     else greatest(${subjectWindow}, $offset + $limit) end from question cross join total)`,
         inOrder: true,
         hasSpan,
       },
     )}) nearest) f cross join question),
   ahead as materialized (
     select id, words from known
     union all select in_all.id, question.words from in_all cross join question
     union all select id, words from in_some),
   behind as (
     select id from matches
     where (select total from total) < ${searchWindow} and not exists (select from ahead where ahead.id = matches.id)
     union all
     (select newest.id from (${walk('no_subject', {
       limit: `(
         select case when total < ${searchWindow} then 0
                     else greatest(0, $offset + $limit - (select count(*) from ahead)) end from total)`,
       inOrder: true,
       hasSpan,
     })}) newest)),
   page as (
     select id, words from (select id, words from ahead union all select id, 0 from behind) ranked
     order by words desc, id desc limit $limit offset $offset)
   select total.total, s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference, s.language,
          v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at
   from page
   cross join total
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   cross join ${answeredVersion}
   order by page.words desc, page.id desc`,
  );

/** Of words alone. */
export const searchSubmissions = searchPage('search_submissions', wordParameters, wordsAlone);
/** Of all that the index can tell. */
export const searchQuestion = searchPage('search_question', questionParameters, anything);

/**
 * One page of what the index finds and what passes the checks, by relevance; at least one row, with the total and whether
 * there were more to be looked at. Whoever has words in the subject is looked at first, over all times; of them and of the others
 * the newest $look_window, and of these $look_bytes (checks.ts).
 */
export const searchChecked = statement(
  'search_checked',
  ['look_window:integer look_bytes:integer limit offset', questionParameters, checkParameters],
  ['total is_cut:boolean', orNothing(foundColumns)],
  `with ${asking},
   ${checking},
   ahead as materialized (${walk('in_subject', { limit: '$look_window', inOrder: true })}),
   behind as materialized (${walk('no_subject', { limit: '$look_window', inOrder: true })}),
   found as (select id, code, true as is_ahead from ahead union all select id, code, false from behind),
   near as materialized (
     select f.id, f.code, f.is_ahead, p.form_id, p.answers, p.reference,
            sum(pg_column_size(p.answers)) over newest - pg_column_size(p.answers) < $look_bytes as is_looked_at
     from found f join submissions p on p.workspace_id = $workspace_id and p.id = f.id
     where p.trashed_at is null
     window newest as (partition by f.is_ahead order by f.id desc)),
   passed as materialized (
     select p.id, case when p.is_ahead then ${wordsInSubject.replaceAll('f.', 'p.')} else 0 end as words
     from near p where p.is_looked_at and ${isPassed}),
   page as (select id, words from passed order by words desc, id desc limit $limit offset $offset)
   select (select least(count(*), ${searchWindow}) from passed) as total,
          (select count(*) from ahead) = $look_window or (select count(*) from behind) = $look_window
            or exists (select from near where not is_looked_at) as is_cut, ${submissionSelection}
   from (select) always
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   left join ${answeredVersion} on true
   order by page.words desc, page.id desc`,
);

/** The total alone, up to searchWindow, for a page that has no row to carry it. */
const countPage = <Parameters extends typeof wordParameters>(
  name: string,
  parameters: Parameters,
  { question, hasSpan }: { question: string; hasSpan: boolean },
) =>
  statement(
    name,
    parameters,
    'total',
    `with ${question}
   select count(*) as total from (${walk('anywhere', { limit: String(searchWindow), inOrder: false, hasSpan })}) matches`,
  );
export const countMatches = countPage('count_matches', wordParameters, wordsAlone);
export const countQuestion = countPage('count_question', questionParameters, anything);

/**
 * Moves the index's pending list into the index. The server does it twice a second while there is one, so that no visitor's insert
 * has to, and no search reads a long list (docs/rules.md 11).
 */
export const cleanPendingList = statement(
  'clean_pending_list',
  '',
  'pages:bigint',
  // By its name, which has a number behind it at a node of a cluster.
  `select coalesce(sum(gin_clean_pending_list(oid)), 0)::bigint as pages from pg_class
    where relnamespace = ${ownSchema} and relkind = 'i' and relname ~ '^search_documents_terms(_[0-9]+)?$'`,
);

/** The forms within reach by their names, the version and the language of each. */
export const listSearchedForms = statement(
  'list_searched_forms',
  'workspace_id form_ids?',
  'id name version language?',
  `select id, name, version, settings ->> 'language' as language from forms
   where workspace_id = $workspace_id and deleted_at is null and ($form_ids is null or id = any ($form_ids))`,
);

/** The texts with marks around every word that a question finds, in the order in which they were given. */
export const markHits = statement(
  'mark_hits',
  'languages texts q beginnings:texts options:text',
  'marked:text',
  `select ts_headline(question.config, given.text, question.words, $options) as marked
   from unnest($languages, $texts) with ordinality as given (language, text, place)
   join (
     select language, config, concat_ws(' | ',
       nullif(replace(plainto_tsquery(config, $q)::text, ' & ', ' | '), ''),
       (select string_agg(format('%L:*', lower(word)), ' | ') from unnest($beginnings) as word))::tsquery as words
     from (select distinct language, language::regconfig as config from unnest($languages) as language) languages
     -- Or PostgreSQL makes them anew for each text.
     offset 0) question using (language)
   order by given.place`,
);

/** The answers of the newest submissions that answer a question; those of unusual length are left out. */
export const listWrittenTexts = statement(
  'list_written_texts',
  ['limit', questionParameters],
  'answers:text',
  `with ${asking}
   select s.answers::text as answers
   from (${walk('anywhere', { limit: '$limit', inOrder: true })}) newest
   join submissions s on s.workspace_id = $workspace_id and s.id = newest.id
   where s.trashed_at is null and length(s.answers::text) < 20000`,
);

/** Elements of the forms within reach whose id begins so, each with a label that it has, the newest forms first. */
export const listElementsCalled = statement(
  'list_elements_called',
  'workspace_id form_ids? beginning limit',
  'id:text label',
  `select id, max(label) as label from (
     select field.key as id, field.value ->> 'label' as label
     from (
       select workspace_id, id, version from forms
       where workspace_id = $workspace_id and deleted_at is null and ($form_ids is null or id = any ($form_ids))
       order by id desc limit 200) f
     join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
     cross join json_each(v.fields) as field
     where starts_with(lower(field.key), lower($beginning))) named
   group by id order by id limit $limit`,
);

/** Of which types elements of these names are, or were, in any version of the forms within reach. */
export const listNamedTypes = statement(
  'list_named_types',
  'workspace_id form_ids? elements',
  'element type:text',
  `select distinct named.id as element, named.type
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
   cross join lateral (
     select id, v.fields -> id ->> 'type' as type from unnest($elements) as id
     where strpos(v.fields::text, '"' || id || '"') > 0 offset 0) named
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
     and named.type is not null`,
);

/**
 * Options whose label is not what answers keep, of the named elements, or of all, in forms as they are live. Only forms that
 * have such options are taken apart.
 */
export const listLabelledOptions = statement(
  'list_labelled_options',
  'workspace_id form_ids? elements?',
  'form_id element id:text label',
  `select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, option ->> 'label' as label
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
     -- An object among options, behind any number of texts.
     and v.structure::text ~ '"options"\\s*:\\s*\\[(?:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*,)*\\s*\\{'
   cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
   cross join jsonb_array_elements(asking.attrs -> 'options') as option
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
     and ($elements is null or asking.attrs ->> 'id' = any ($elements)) and option ->> 'label' is not null`,
);

/** Tags that begin so, the most used first. */
export const listTagsCalled = statement(
  'list_tags_called',
  'workspace_id form_ids beginning limit',
  'tag',
  `select tag from submissions s cross join unnest(s.tags) as tag
   where s.workspace_id = $workspace_id and s.tags <> '{}' and s.trashed_at is null
     and s.form_id = any ($form_ids) and starts_with(lower(tag), lower($beginning))
   group by tag order by count(*) desc, tag limit $limit`,
);
