-- The index of words knows which submissions are incomplete and which tags they have (src/submissions/queries.ts,
-- searchTerms), so that a search asks it for these in place of looking at submissions one by one.
update search_documents d
set terms = d.terms || array_to_tsvector(
  case s.status when 'incomplete' then array[segment.code || '-'] else '{}' end
  || array(select segment.code || '#' || tag from unnest(s.tags) as tag))
from submissions s
cross join lateral (
  select g.code from search_segments g
  where g.workspace_id = s.workspace_id and g.first_id <= s.id order by g.first_id desc limit 1) segment
where d.workspace_id = s.workspace_id and d.submission_id = s.id
  and (s.status = 'incomplete' or s.tags <> '{}') and s.trashed_at is null;
