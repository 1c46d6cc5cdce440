-- When a workspace, a member's role and an API key were changed last: their ETags are made of it.
alter table workspaces add column updated_at timestamptz not null default date_trunc('milliseconds', now());
alter table members add column updated_at timestamptz not null default date_trunc('milliseconds', now());
alter table api_keys add column updated_at timestamptz not null default date_trunc('milliseconds', now());

-- No key makes owners, whatever it was given.
update api_keys set permissions = array_remove(permissions, 'members:owners') where 'members:owners' = any (permissions);
