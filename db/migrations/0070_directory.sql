-- What is made in a cell and what goes stands in the directory of the instance. Its triggers are made with the second cell: where
-- there is one alone, nobody asks where anything is.
create function note_in_directory() returns trigger language plpgsql as $$
declare
  thing bytea;
begin
  if tg_table_name = 'api_key_lookup' then
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
