-- What statements need so that they run on Citus as well (docs/decisions/0078-cells.md).

-- A trigger there sees rows, and no tables of those that changed. Only where a size changes: files that are claimed or let go
-- of count as before.
create or replace function count_stored_bytes() returns trigger language plpgsql as $$
begin
  insert into stored_bytes as s (workspace_id, form_id, bytes)
  values (coalesce(new.workspace_id, old.workspace_id), coalesce(new.form_id, old.form_id),
          coalesce(new.size, 0) - coalesce(old.size, 0))
  on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end
$$;

drop trigger stored_bytes_of_new on files;
drop trigger stored_bytes_of_changed on files;
drop trigger stored_bytes_of_removed on files;
create trigger stored_bytes_of_new after insert on files
  for each row when (new.size <> 0) execute function count_stored_bytes();
create trigger stored_bytes_of_changed after update on files
  for each row when (new.size <> old.size) execute function count_stored_bytes();
create trigger stored_bytes_of_removed after delete on files
  for each row when (old.size <> 0) execute function count_stored_bytes();
