-- Workspaces and accounts that are to be deleted: closed at once, gone when their time comes, and until then brought back by who
-- may (src/workspaces/endings). The public ways to a workspace's forms (form_lookup) are taken away meanwhile.
alter table workspaces add column ends_at timestamptz;
create index workspaces_ending on workspaces (ends_at) where ends_at is not null;
alter table users add column ends_at timestamptz;
create index users_ending on users (ends_at) where ends_at is not null;
