-- The audit log says from where, and what became of what; nobody changes it; and people see what concerns their account.

alter table audit_lines
  -- The address, how the browser or program calls itself, and the session; null at the command line.
  add column address     text,
  add column agent       text,
  add column session_id  text,
  -- {"field": {"from": …, "to": …}} of settings: no answers and no secrets.
  add column changes     jsonb;

-- For how long lines are kept.
alter table workspaces add column audit_days integer not null default 365 check (audit_days between 30 and 3650);

-- Signing in and what else is of no workspace, for the person. Each of their workspaces has the same line, by the same id.
create table person_lines (
  user_id     text not null references users (id) on delete cascade,
  id          uuid not null,
  -- 'person' or 'operator'.
  actor_kind  text not null,
  operation   text not null,
  -- 401 and 422: somebody tried.
  status      smallint not null,
  address     text,
  agent       text,
  session_id  text,
  primary key (user_id, id)
);

-- What is noted stays as it is. How an operation ended is written once, behind it; a line of what was refused goes within the hour
-- that it takes at most to be settled; the others go when their time is over, and with their workspace.
create function keep_audit_line() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.status is null and new.workspace_id = old.workspace_id and new.id = old.id
      and row(new.actor_kind, new.actor_id, new.operation, new.method, new.path, new.request_id, new.address, new.agent, new.session_id)
        is not distinct from
          row(old.actor_kind, old.actor_id, old.operation, old.method, old.path, old.request_id, old.address, old.agent, old.session_id)
    then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if old.status is null
      and old.id > (lpad(to_hex(((extract(epoch from now()) - 3600) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
    then
      return old;
    end if;
    if not exists (
      select from workspaces w
       where w.id = old.workspace_id
         and old.id >= (lpad(to_hex(((extract(epoch from now()) - w.audit_days * 86400) * 1000)::bigint), 12, '0')
                        || repeat('0', 20))::uuid)
    then
      return old;
    end if;
  end if;
  raise exception 'audit_lines is only ever added to' using errcode = 'insufficient_privilege';
end $$;
create trigger keep_audit_line before update or delete on audit_lines
  for each row execute function keep_audit_line();
create trigger keep_audit_lines before truncate on audit_lines
  for each statement execute function keep_audit_line();
