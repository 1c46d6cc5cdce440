import { bigint, boolean, integer, nullable, statement, text, texts, uuid, uuids } from '#kit/statement.ts';
import { answeredVersion, foundColumns } from '#submissions/queries.ts';
import { questionIn, searchWindow, subjectWindow, walk, wordsInSubject } from './question.ts';

const questionParameters = {
  workspace_id: uuid,
  form_id: nullable(uuid),
  form_ids: nullable(uuids),
  q: text,
} as const;

/**
 * One page of what matches, by relevance, each row with the total up to searchWindow. The order is exact: whoever has
 * all words in the subject, then some (with three words and more: of the newest subjectWindow of these, by how many),
 * then none; each newest first. The rest is only looked for while the page is not full.
 */
export const searchSubmissions = statement(
  'search_submissions',
  { ...questionParameters, limit: integer, offset: bigint },
  { total: bigint, ...foundColumns },
  `with ${questionIn('$form_ids')},
   matches as materialized (${walk('anywhere', { limit: String(searchWindow), inOrder: false })}),
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
     })}) newest)),
   page as (
     select id, words from (select id, words from ahead union all select id, 0 from behind) ranked
     order by words desc, id desc limit $limit offset $offset)
   select total.total, s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference,
          v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at
   from page
   cross join total
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   cross join ${answeredVersion}
   order by page.words desc, page.id desc`,
);

/** The total alone, up to searchWindow, for a page that has no row to carry it. */
export const countMatches = statement(
  'count_matches',
  questionParameters,
  { total: bigint },
  `with ${questionIn('$form_ids')}
   select count(*) as total from (${walk('anywhere', { limit: String(searchWindow), inOrder: false })}) matches`,
);

/**
 * Moves the index's pending list into the index. The server does it twice a second, so that no visitor's insert has
 * to, and no search reads a long list (docs/rules.md 11).
 */
export const cleanPendingList = statement(
  'clean_pending_list',
  {},
  { pages: bigint },
  `select gin_clean_pending_list('search_documents_terms'::regclass) as pages`,
);

/** Whether a form is there to be searched in. */
export const formExists = statement(
  'form_exists',
  { workspace_id: uuid, id: uuid },
  { found: boolean },
  `select exists (select from forms where workspace_id = $workspace_id and id = $id and deleted_at is null) as found`,
);

/** The texts with marks around every word that a question finds, in the order in which they were given. */
export const markHits = statement(
  'mark_hits',
  { language: text, q: text, texts, options: text },
  { marked: text },
  `select ts_headline($language::regconfig, given.text, replace(question.words::text, ' & ', ' | ')::tsquery, $options) as marked
   from (select plainto_tsquery($language::regconfig, $q) as words) question
   cross join unnest($texts) with ordinality as given (text, place)
   order by given.place`,
);
