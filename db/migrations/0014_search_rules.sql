-- The rules by which the documents of a segment were indexed (src/rules/search-rules.ts). Tasks rebuild older ones. A server of the
-- previous version opens segments with the default, so that they are rebuilt.
alter table search_segments add column rules smallint not null default 1;
