-- The live version of a form, read after the caller has joined the form's turn: until its transaction ends nobody counts what
-- the form's submissions take (lock_form_for_submit excludes it), and whoever does so afterwards sees what it wrote. In a
-- function, since a statement itself sees what was committed before it began, and not while it waited. Null: the form is gone.
create function live_version_in_turn(of_workspace uuid, of_form uuid) returns integer language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(of_form::text, 0));
  return (
    select f.version from forms f where f.workspace_id = of_workspace and f.id = of_form and f.deleted_at is null);
end
$$;
