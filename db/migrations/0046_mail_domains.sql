-- The domains of mail addresses, what these are a part of, and their names are words of a search document, so that `acme.com`
-- and `acme` find `ada@mail.acme.com` (docs/decisions/0062). Those of documents that there are, as src/ast/searchable.ts
-- writes new ones.
update search_documents d set terms = d.terms || added.terms
from (
  select workspace_id, submission_id, array_to_tsvector(array_agg(distinct mark || lexeme)) as terms
  from (
    select d.workspace_id, d.submission_id, l.language::regconfig as language,
           address.part[1] || address.part[2] || address.part[3] as mark, string_to_array(address.part[4], '.') as labels
    from search_documents d
    cross join lateral unnest(tsvector_to_array(d.terms)) as word
    cross join lateral (
      select regexp_match(word, '^([0-9a-f]+)([a-z]{3})([ !])[^@ ]+@([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)$') as part) address
    join search_languages l on l.workspace_id = d.workspace_id and left(l.language, 3) = address.part[2]
    where word like '%@%' and address.part is not null) addresses
  cross join lateral generate_series(1, least(10, cardinality(labels) - 1)) as place
  cross join lateral unnest(array[labels[place], array_to_string(labels[place:], '.')]) as name
  cross join lateral unnest(tsvector_to_array(to_tsvector(language, name))) as lexeme
  group by workspace_id, submission_id) added
where d.workspace_id = added.workspace_id and d.submission_id = added.submission_id;
