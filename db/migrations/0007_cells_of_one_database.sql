-- Of the instance: cells on other servers, and what told them of people, are removed. A cell lies in this database, or on a node of its Citus cluster.

do $$
declare
  elsewhere text;
  is_shared boolean := false;
begin
  select string_agg(name, ', ' order by name) into elsewhere from cells where server is not null;
  if elsewhere is not null then
    raise exception 'This version has no cells on other servers, and this instance has some (%). Delete their workspaces and run `cell forget` with the version before.', elsewhere;
  end if;
  if to_regclass('pg_dist_partition') is not null then
    execute 'select exists (select from pg_dist_partition where logicalrelid = ''users''::regclass)' into is_shared;
  end if;
  if is_shared then
    raise exception 'This version places cells on a Citus cluster in another way. Make a backup with the version before, and restore it with this version into a new cluster.';
  end if;
end $$;

-- The version before: does not find its views of all cells, and answers 500 where it reads them.
drop schema if exists every_cell cascade;
-- The version before: has no cell on another server that it would have to tell.
drop trigger if exists note_person_due on users;
-- The version before: as above.
drop function note_person_due();
-- The version before: as above.
drop table people_due;
-- The version before: finds nothing of several cells. With one cell it does not ask.
drop table directory;
-- The version before: reads a missing server as none, and a missing id as another one of its own.
alter table cells drop column server, drop column id, drop column workspaces, drop column forms, drop column seen_at;
-- The version before: `cell create --server` fails.
alter table instance drop column cells_begun, drop column cells_begun_as;
