-- On a Citus cluster the table of a cell has a number behind its name where its rows lie, and its triggers fire there.
-- The version before: finds what it found, under the names that its tables have.
create or replace function note_in_directory() returns trigger language plpgsql as $$
declare
  thing bytea;
begin
  if tg_table_name like 'api_key_lookup%' then
    thing := case when tg_op = 'DELETE' then old.hash else new.hash end;
  else
    thing := uuid_send(case when tg_op = 'DELETE' then old.id else new.id end);
  end if;
  if tg_op = 'DELETE' then
    delete from directory where id = thing;
  else
    insert into directory (id, cell) values (thing, tg_argv[0]);
  end if;
  return null;
end
$$;
