import { bigint, boolean, integer, nullable, statement, text, timestamp, uuid, word } from '#kit/statement.ts';

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
  questions as (
    select plainto_tsquery(language::regconfig, $q) as words, ' l' || language as mark
    from search_languages where workspace_id = $workspace_id),
  matches as (
    select d.submission_id as id, ts_rank(d.terms, replace(words::text, ' & ', ' | ')::tsquery) as rank
    from questions
    join search_documents d on d.terms @@ (
      words && format('%L & %L', case when $form_id is null then ' w' || $workspace_id else ' f' || $form_id end, mark)::tsquery)
    join forms f on f.workspace_id = d.workspace_id and f.id = d.form_id and f.deleted_at is null
    where d.workspace_id = $workspace_id and ($form_id is null or d.form_id = $form_id) and numnode(words) > 0)`;

/** One page of what matches, by relevance, each row with the exact total. */
export const searchSubmissions = statement(
  'search_submissions',
  { workspace_id: uuid, form_id: nullable(uuid), q: text, limit: integer, offset: bigint },
  {
    total: bigint,
    id: uuid,
    workspace_id: uuid,
    form_id: uuid,
    status: word<'completed' | 'incomplete'>(),
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
