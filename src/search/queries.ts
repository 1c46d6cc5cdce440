import {
  bigint,
  boolean,
  integer,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  uuids,
  word,
} from '#kit/statement.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';

/*
 * A search document (`search_documents.terms`) holds the stemmed words of a submission and three marks, which begin
 * with a space and so cannot be words: ' w<workspace>', ' f<form>', ' l<language>'. One GIN index then answers for a
 * workspace, a form and a language at once.
 *
 * All words must be present (specification, "Search rules" 4): plainto_tsquery joins them with &. The order is by
 * ts_rank over the same words joined with |: a word in the subject (weight A) counts 1.0, elsewhere 0.1, once each,
 * so whoever has more of the words in the subject comes first (rule 2); equals come newest first.
 * A workspace may hold documents of several languages; the question is asked in each of them.
 */
const matches = `
  -- Materialized, or each matching row would make its tsquery anew.
  questions as materialized (
    select words, replace(words::text, ' & ', ' | ')::tsquery as any_word, ' l' || language as mark
    from search_languages cross join lateral plainto_tsquery(language::regconfig, $q) as words
    where workspace_id = $workspace_id and numnode(words) > 0),
  matches as (
    select d.submission_id as id, ts_rank(d.terms, any_word) as rank
    from questions
    join search_documents d on d.terms @@ (
      words && format('%L & %L', case when $form_id is null then ' w' || $workspace_id else ' f' || $form_id end, mark)::tsquery)
    join forms f on f.workspace_id = d.workspace_id and f.id = d.form_id and f.deleted_at is null
    where d.workspace_id = $workspace_id and ($form_id is null or d.form_id = $form_id))`;

/** One page of what matches, by relevance, each row with the exact total. */
export const searchSubmissions = statement(
  'search_submissions',
  { workspace_id: uuid, form_id: nullable(uuid), q: text, limit: integer, offset: bigint },
  {
    total: bigint,
    id: uuid,
    workspace_id: uuid,
    form_id: uuid,
    status: word<SubmissionStatus>(),
    answers: text,
    reference: text,
    fields: text,
    form_name: text,
    has_files: boolean,
    created_at: timestamp,
    completed_at: nullable(timestamp),
  },
  `with ${matches},
   page as (
     select id, rank, count(*) over () as total from matches order by rank desc, id desc limit $limit offset $offset)
   select page.total, s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference,
          v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at
   from page
   join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   order by page.rank desc, page.id desc`,
);

/** The total alone, for a page past the end, which has no row to carry it. */
export const countMatches = statement(
  'count_matches',
  { workspace_id: uuid, form_id: nullable(uuid), q: text },
  { total: bigint },
  `with ${matches} select count(*) as total from matches`,
);

/**
 * Moves the index's pending list into the index. The server does it twice a second, so that no visitor's insert has
 * to, and no search reads a long list (DESIGN 4.11).
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

/*
 * A view is a search in one form with the console's filters on top: the same question, the same order. Times are
 * given as the ids that were made then.
 */
const viewParameters = {
  workspace_id: uuid,
  form_id: nullable(uuid),
  q: text,
  status: nullable(word<SubmissionStatus>()),
  from_id: uuid,
  to_id: uuid,
} as const;

const viewed = `${matches},
  viewed as (
    select m.id, m.rank from matches m
    where m.id >= $from_id and m.id < $to_id and ($status is null or exists (
      select from submissions s where s.workspace_id = $workspace_id and s.id = m.id and s.status = $status)))`;

/** One page of a searched view with the exact total in each row; at least one row. */
export const searchView = statement(
  'search_view',
  { ...viewParameters, limit: integer, offset: bigint },
  {
    total: bigint,
    id: nullable(uuid),
    status: nullable(word<SubmissionStatus>()),
    version: nullable(integer),
    answers: nullable(text),
    reference: nullable(text),
    created_at: nullable(timestamp),
    updated_at: nullable(timestamp),
    completed_at: nullable(timestamp),
  },
  `with ${viewed},
   page as (select id, rank from viewed order by rank desc, id desc limit $limit offset $offset)
   select count.total, s.id, s.status, s.version, s.answers::text as answers, s.reference::text as reference,
          s.created_at, s.updated_at, s.completed_at
   from (select count(*) as total from viewed) count
   left join page on true
   left join submissions s on s.workspace_id = $workspace_id and s.id = page.id
   order by page.rank desc, page.id desc`,
);

/** The submissions above and below one in a searched view; none when it is not in it. */
export const searchNeighbours = statement(
  'search_neighbours',
  { ...viewParameters, id: uuid },
  { previous_id: nullable(uuid), next_id: nullable(uuid) },
  `with ${viewed},
   here as (select id, rank from viewed where id = $id)
   select (select v.id from viewed v, here where (v.rank, v.id) > (here.rank, here.id) order by v.rank, v.id limit 1) as previous_id,
          (select v.id from viewed v, here where (v.rank, v.id) < (here.rank, here.id) order by v.rank desc, v.id desc limit 1) as next_id`,
);

/** Every id of a searched view in its order, up to one more than is allowed. */
export const searchViewIds = statement(
  'search_view_ids',
  { ...viewParameters, limit: integer },
  { ids: uuids },
  `with ${viewed}
   select coalesce(array_agg(id order by rank desc, id desc), '{}') as ids
   from (select id, rank from viewed order by rank desc, id desc limit $limit) page`,
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
