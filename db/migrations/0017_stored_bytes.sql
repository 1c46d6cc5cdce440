-- How much the files of each form take, so that a limit is asked for without adding up all of them. Kept by the
-- database itself: whatever writes or removes a file, in whichever statement.
create table stored_bytes (
  workspace_id  uuid not null,
  form_id       uuid not null,
  bytes         bigint not null,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

insert into stored_bytes (workspace_id, form_id, bytes)
select workspace_id, form_id, sum(size) from files group by workspace_id, form_id;

-- In the order of the forms, so that two statements that touch files of several cannot wait for each other.
create function count_stored_bytes() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into stored_bytes as s (workspace_id, form_id, bytes)
    select n.workspace_id, n.form_id, sum(n.size - o.size)
    from new_files n join old_files o on o.workspace_id = n.workspace_id and o.id = n.id
    where n.size <> o.size
    group by n.workspace_id, n.form_id order by n.workspace_id, n.form_id
    on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  elsif tg_op = 'INSERT' then
    insert into stored_bytes as s (workspace_id, form_id, bytes)
    select workspace_id, form_id, sum(size) from new_files where size <> 0
    group by workspace_id, form_id order by workspace_id, form_id
    on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  else
    insert into stored_bytes as s (workspace_id, form_id, bytes)
    select workspace_id, form_id, -sum(size) from old_files where size <> 0
    group by workspace_id, form_id order by workspace_id, form_id
    on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  end if;
  return null;
end
$$;

create trigger stored_bytes_of_new after insert on files
  referencing new table as new_files for each statement execute function count_stored_bytes();
create trigger stored_bytes_of_changed after update on files
  referencing old table as old_files new table as new_files for each statement execute function count_stored_bytes();
create trigger stored_bytes_of_removed after delete on files
  referencing old table as old_files for each statement execute function count_stored_bytes();
