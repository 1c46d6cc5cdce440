-- Search at any size (docs/decisions/0021-search-at-scale.md).

-- A workspace's documents lie in segments, each a range of ids: from first_id up to the next segment's. The words of a
-- document are indexed behind the code of its segment, so that a search walks from the newest segment to older ones,
-- and stops when it has enough. The first segment of a workspace is there from its first form on; a submit opens the
-- next when the newest is full (src/submissions/queries.ts).
create table search_segments (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  first_id      uuid not null,
  -- One of its own for each segment of all workspaces: a word of one is not found with the code of another.
  number        bigint generated always as identity,
  code          text generated always as (to_hex(number)) stored,
  primary key (workspace_id, first_id)
);
insert into search_segments (workspace_id, first_id)
select distinct workspace_id, '00000000-0000-0000-0000-000000000000'::uuid from forms
union all
select workspace_id, submission_id from (
  select workspace_id, submission_id, row_number() over (partition by workspace_id order by submission_id) as place
  from search_documents) documents
where place % 16384 = 0;

-- What was indexed until now, behind the codes. Words of the subject, which had weight A, are there a second time, with
-- a mark of their own; a document's language was a word that begins with ' l'.
create table segmented_documents as
select d.workspace_id, d.submission_id, d.form_id, array_to_tsvector(array[segment.code || 'f' || d.form_id] || array(
  select segment.code || language.name || mark || word.lexeme
  from unnest(d.terms) as word, unnest(array[' ', '!']) as mark
  where word.lexeme not like ' %' and (mark = ' ' or 'A' = any (word.weights)))) as terms
from search_documents d
cross join lateral (
  select code from search_segments s
  where s.workspace_id = d.workspace_id and s.first_id <= d.submission_id order by s.first_id desc limit 1) segment
cross join lateral (
  select substr(lexeme, 3, 3) as name from unnest(d.terms) where lexeme like ' l%') language;

truncate search_documents;
drop index search_documents_terms;
insert into search_documents (workspace_id, submission_id, form_id, terms)
select workspace_id, submission_id, form_id, terms from segmented_documents order by workspace_id, submission_id;
drop table segmented_documents;
-- A long pending list, cleaned twice a second by the server (0001_init.sql).
create index search_documents_terms on search_documents using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);

-- A search leaves out the forms that are being removed.
create index forms_deleted on forms (workspace_id, id) where deleted_at is not null;
