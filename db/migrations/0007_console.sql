-- The console: what people delete there comes back for 30 days, every edit leaves a trace, a key says what it reached.

-- The trash (docs/decisions/0017-trash-and-history.md): what is in it exists for the console's trash alone.
alter table submissions
  add column trashed_at timestamptz,
  add column trashed_by text references users (id) on delete set null;

-- Lists are cut on these indexes alone. The first is also what a form's removal and its foreign key go by, so it holds
-- everything, and says of each whether it lies in the trash.
drop index submissions_of_form;
drop index submissions_of_form_by_status;
create index submissions_of_form on submissions (workspace_id, form_id, id desc) include (trashed_at);
create index submissions_of_form_by_status on submissions (workspace_id, form_id, status, id desc) where trashed_at is null;
create index submissions_trashed_of_form on submissions (workspace_id, form_id, trashed_at desc, id desc)
  where trashed_at is not null;
-- For the sweep, which empties the trash of all workspaces.
create index submissions_trashed on submissions (trashed_at) where trashed_at is not null;

-- Whether a bulk removal leads into the trash, or out of it for good.
alter table removals add column to_trash boolean not null default false;

-- Who changed what of a submission, and when. `changes` is a list of {part, name, from, to}.
create table submission_changes (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  id             uuid not null,
  kind           text not null check (kind in ('edited', 'trashed', 'restored')),
  -- Null for whoever edited through their own link, and for a person who is gone.
  changed_by     text references users (id) on delete set null,
  through        text not null check (through in ('console', 'link')),
  changed_at     timestamptz not null,
  changes        json not null,
  primary key (workspace_id, submission_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);

-- The timeline of a submission asks for its events.
create index if not exists events_of_submission on events (workspace_id, submission_id, id);

-- How a person has arranged the table of a form.
create table table_settings (
  workspace_id  uuid not null,
  form_id       uuid not null,
  user_id       text not null references users (id) on delete cascade,
  settings      jsonb not null,
  primary key (workspace_id, form_id, user_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

alter table api_keys
  add column created_by text references users (id) on delete set null,
  -- Null: every form of the workspace, also later ones. No foreign key: a form that is gone is reached by nobody.
  add column form_ids uuid[],
  add column last_used_address text;

-- Set when a key was rotated: until then the former key works beside its successor.
alter table api_key_lookup add column expires_at timestamptz;

-- The latest requests of each key, so many as src/workspaces/request-log/ keeps.
create table api_requests (
  workspace_id  uuid not null,
  api_key_id    uuid not null,
  -- The request's own id (X-Request-Id), which sorts by time.
  id            uuid not null,
  method        text not null,
  -- Without its query: answers and search words stay out of it.
  path          text not null,
  status        smallint not null,
  ms            integer not null,
  requested_at  timestamptz not null,
  primary key (workspace_id, api_key_id, id),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete cascade
);

-- How many requests a key made on each day (UTC).
create table api_key_days (
  workspace_id  uuid not null,
  api_key_id    uuid not null,
  day           date not null,
  requests      bigint not null,
  primary key (workspace_id, api_key_id, day),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete cascade
) with (fillfactor = 70);

-- Set with a temporary password: nothing else is open to the person until it was changed.
alter table users add column must_change_password boolean not null default false;
