-- The tables of Formloom. The migrations after this one change them; db/schema.sql has the result.
--
-- Every primary key and unique index of a workspace's tables begins with workspace_id, and every foreign key between them
-- contains it. A row of one workspace therefore cannot refer to a row of another.
-- A request without a workspace (an API key, a public page) finds it through the two *_lookup tables.
-- Ids are UUIDv7 that the application creates. They sort by time of creation, so "newest first" is "order by id desc".

-- Of the instance: accounts, sessions and operations. These tables exist once, and not in each cell.

-- People. One person may be a member of several workspaces. better-auth uses users, sessions, accounts and verifications
--.
create table users (
  id               text primary key,
  name             text not null,
  email            text not null unique,
  email_verified   boolean not null,
  image            text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  -- A temporary password works until this time, and only to choose another one. Null if the person chose the password.
  temporary_until  timestamptz,
  -- Whether the person has an authenticator app or a passkey. Written together with totp_secrets and passkeys.
  second_factor    boolean not null default false,
  -- When the account is deleted. It is closed until then, and the person can restore it.
  ends_at          timestamptz
);
create index users_ending on users (ends_at) where ends_at is not null;

create table sessions (
  id                text primary key,
  user_id           text not null references users (id) on delete cascade,
  token             text not null unique,
  expires_at        timestamptz not null,
  ip_address        text,
  user_agent        text,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  -- When the second factor was verified. Until then a session of a person who has one can only verify it.
  second_factor_at  timestamptz
);
create index sessions_of_user on sessions (user_id);

-- The sign-in methods of a person: a password, or an account at an identity provider.
create table accounts (
  id                        text primary key,
  user_id                   text not null references users (id) on delete cascade,
  account_id                text not null,
  provider_id               text not null,
  access_token              text,
  refresh_token             text,
  id_token                  text,
  access_token_expires_at   timestamptz,
  refresh_token_expires_at  timestamptz,
  scope                     text,
  password                  text,
  created_at                timestamptz not null,
  updated_at                timestamptz not null
);
create index accounts_of_user on accounts (user_id);
create unique index accounts_of_provider on accounts (account_id) where provider_id = 'oidc';

create table verifications (
  id          text primary key,
  identifier  text not null,
  value       text not null,
  expires_at  timestamptz not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create index verifications_of_identifier on verifications (identifier);

-- Links to reset a password. Only the SHA-256 of the token is stored.
create table password_resets (
  hash        bytea primary key,
  user_id     text not null references users (id) on delete cascade,
  created_at  timestamptz not null,
  expires_at  timestamptz not null
);
create index password_resets_of_user on password_resets (user_id);

-- Authenticator apps (RFC 6238).
create table totp_secrets (
  user_id       text primary key references users (id) on delete cascade,
  -- Encrypted with the instance key.
  secret        bytea not null,
  -- Null until the person has entered a code.
  confirmed_at  timestamptz,
  -- The 30-second step of the last accepted code. A code is accepted once.
  last_step     bigint not null default 0,
  created_at    timestamptz not null
);

create table recovery_codes (
  user_id  text not null references users (id) on delete cascade,
  -- HMAC with the instance key, so that a copy of the database is not enough to guess codes.
  hash     text not null,
  primary key (user_id, hash)
);

-- Passkeys (WebAuthn).
create table passkeys (
  user_id        text not null references users (id) on delete cascade,
  id             uuid not null,
  credential_id  text not null unique,
  -- SubjectPublicKeyInfo (DER), and its COSE algorithm.
  public_key     bytea not null,
  algorithm      integer not null,
  -- The signature counter of the authenticator; 0 if it has none.
  sign_count     bigint not null,
  name           text not null,
  created_at     timestamptz not null,
  last_used_at   timestamptz,
  primary key (user_id, id)
);

-- Security events of an account, for its owner. Each of the person's workspaces has the same entry in audit_lines, with the same id.
create table person_lines (
  user_id     text not null references users (id) on delete cascade,
  id          uuid not null,
  -- 'person' or 'operator'.
  actor_kind  text not null,
  operation   text not null,
  -- The HTTP status. 401 and 422 are failed attempts.
  status      smallint not null,
  address     text,
  agent       text,
  session_id  text,
  primary key (user_id, id)
);

-- Who received which announcement of the operator, so that it is sent to each person once.
create table announced (
  -- SHA-256 of subject and text.
  announcement  bytea not null,
  user_id       text not null references users (id) on delete cascade,
  announced_at  timestamptz not null,
  primary key (announcement, user_id)
);

-- The one-time link for the first account. It has one row until the link is used.
create table setup (
  only_row    boolean primary key default true check (only_row),
  token_hash  bytea not null
);

-- One row about this instance.
create table instance (
  singleton        boolean primary key default true check (singleton),
  -- Identifies the instance key (SECRET_KEY) without revealing it.
  key_fingerprint  text not null,
  -- Where `formloom move` moved this database. While it is set, no service starts on this one.
  moved_to         text,
  moved_at         timestamptz,
  -- The marker of the storage that belongs to this database; null before the first start.
  storage_id       uuid,
  -- Removed by 0007.
  cells_begun      uuid[] not null default '{}',
  cells_begun_as   jsonb not null default '{}',
  check ((moved_to is null) = (moved_at is null))
);

-- Problems that exist now. Each is reported once, until it is over.
create table incidents (
  key       text primary key,
  began_at  timestamptz not null,
  seen_at   timestamptz not null,
  is_told   boolean not null default true
);

-- Scheduled backups. The primary key lets one process make the backup of a scheduled time.
create table backups (
  due_at       timestamptz primary key,
  name         text not null,
  begun_at     timestamptz not null,
  -- Null while the backup runs, or if its process was killed.
  finished_at  timestamptz,
  bytes        bigint,
  problem      text
);

-- When the next email may be sent, for all processes. 'bulk' is email to many people at once, 'prompt' is all other email.
create table mail_pace (
  name     text primary key,
  next_at  timestamptz not null
);
insert into mail_pace (name, next_at) values ('bulk', now()), ('prompt', now());

-- The cells of the instance. Empty while there is one cell. The first row is the schema of this table.
create table cells (
  name         text primary key,
  schema_name  text not null unique,
  created_at   timestamptz not null default clock_timestamp(),
  -- Removed by 0007.
  server       bytea,
  id           uuid,
  workspaces   bigint,
  forms        bigint,
  seen_at      timestamptz
);

-- Removed by 0007: the cell of each workspace, form and API key, and messages to cells on other servers.
create table directory (
  id    bytea primary key,
  cell  text not null references cells (name)
);
create index directory_by_cell on directory (cell);
create table people_due (
  id       bigint generated always as identity primary key,
  cell     text not null references cells (name) on delete cascade,
  user_id  text not null,
  line     jsonb
);
create index people_due_by_cell on people_due (cell, id);
create function note_person_due() returns trigger language plpgsql as $$
begin
  insert into people_due (cell, user_id) select name, old.id from cells where server is not null order by name;
  return null;
end
$$;

-- Of each cell: workspaces and everything in them.

-- Workspaces, members and keys ---------------------------------------------------------------------------------

create table workspaces (
  id                      uuid primary key,
  name                    text not null,
  plan                    text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
  -- Requests per minute and burst, if they differ from the plan's.
  rate_limit              integer check (rate_limit > 0),
  burst                   integer check (burst >= 0),
  created_at              timestamptz not null,
  -- The ETag is made from it, here and in members and api_keys.
  updated_at              timestamptz not null default date_trunc('milliseconds', now()),
  -- Whether members must have a second factor.
  second_factor_required  boolean not null default false,
  -- For how many days audit entries are kept.
  audit_days              integer not null default 365 check (audit_days between 30 and 3650),
  -- Days, or "forever", for each kind of data. A missing kind has the default.
  retention               jsonb not null default '{}',
  -- When the workspace is deleted. It is closed until then: its rows in form_lookup are removed, and an owner can restore it.
  ends_at                 timestamptz
);
create index workspaces_ending on workspaces (ends_at) where ends_at is not null;

create table members (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  user_id       text not null references users (id) on delete cascade,
  role          text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  created_at    timestamptz not null,
  updated_at    timestamptz not null default date_trunc('milliseconds', now()),
  primary key (workspace_id, user_id)
);
create index members_of_user on members (user_id);

-- Invitations to join a workspace. The token of the link is made from the id, with the instance key.
create table member_invitations (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  email         text not null,
  role          text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  invited_by    text references users (id) on delete set null,
  -- The latest email with the link.
  mail_id       uuid,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, email)
);

create table api_keys (
  workspace_id       uuid not null references workspaces (id) on delete cascade,
  id                 uuid not null,
  name               text not null,
  -- The first characters of the key, shown in lists.
  prefix             text not null,
  -- Null: every permission, including those of later versions.
  permissions        text[],
  created_at         timestamptz not null,
  expires_at         timestamptz,
  revoked_at         timestamptz,
  last_used_at       timestamptz,
  created_by         text references users (id) on delete set null,
  -- Null: every form of the workspace. There is no foreign key, since the id of a deleted form gives access to nothing.
  form_ids           uuid[],
  last_used_address  text,
  updated_at         timestamptz not null default date_trunc('milliseconds', now()),
  primary key (workspace_id, id)
);

-- Finds a key and its workspace by the SHA-256 of the key. A key has 256 random bits and needs no slow hash.
create table api_key_lookup (
  hash          bytea primary key,
  workspace_id  uuid not null,
  api_key_id    uuid not null,
  -- Set when the key is rotated: the previous key works until then.
  expires_at    timestamptz,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete cascade
);

-- The latest requests of each key.
create table api_requests (
  workspace_id  uuid not null,
  api_key_id    uuid not null,
  -- X-Request-Id.
  id            uuid not null,
  method        text not null,
  -- Without the query, which may contain answers and search terms.
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

-- Requests with an Idempotency-Key. Each is executed once within a day.
create table repeatable_requests (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- SHA-256 of the caller and its key.
  key           bytea not null,
  -- SHA-256 of method, address and body.
  fingerprint   bytea not null,
  begun_at      timestamptz not null,
  -- Null while the request is running.
  status        integer,
  -- The response body, encrypted; null if there is none.
  answer        bytea,
  primary key (workspace_id, key)
);
create index repeatable_requests_by_age on repeatable_requests (begun_at);

-- The audit log. It contains no answers and no secrets.
create table audit_lines (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- Contains the time at which the operation began.
  id            uuid not null,
  -- 'key', 'person' or 'operator'. actor_id is the id of a key or a person.
  actor_kind    text not null,
  actor_id      text,
  operation     text not null,
  method        text not null,
  -- Below /api/v1.
  path          text not null,
  -- The resource that was changed or created.
  thing_id      uuid,
  -- X-Request-Id; null for the command line.
  request_id    uuid,
  -- The HTTP status; null until the operation has ended.
  status        smallint,
  -- IP address, user agent and session; null for the command line.
  address       text,
  agent         text,
  session_id    text,
  -- {"field": {"from": …, "to": …}} for settings.
  changes       jsonb,
  primary key (workspace_id, id)
);
create index audit_lines_of_thing on audit_lines (workspace_id, thing_id, id desc) where thing_id is not null;

-- Keeps audit entries from being changed. The outcome of an operation is written once. An entry is deleted if its operation was
-- refused, within an hour, if it is older than audit_days, or with its workspace.
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

-- Forms --------------------------------------------------------------------------------------------------------

create table forms (
  workspace_id   uuid not null references workspaces (id) on delete cascade,
  id             uuid not null,
  -- Name and description of the live version, so that lists do not read structures.
  name           text not null,
  description    text not null,
  status         text not null check (status in ('draft', 'published', 'archived')),
  settings       jsonb not null,
  -- The number of the live version in form_versions.
  version        integer not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  published_at   timestamptz,
  -- Set when the form is deleted. It answers 404 from then on, while its submissions are removed in batches.
  deleted_at     timestamptz,
  -- scrypt; null without a password. It is not in settings, which are shown.
  password_hash  text,
  -- Like workspaces.retention, for this form.
  retention      jsonb not null default '{}',
  primary key (workspace_id, id)
);
create index forms_deleted on forms (workspace_id, id) where deleted_at is not null;

-- Finds the workspace of a public page.
create table form_lookup (
  form_id       uuid primary key,
  workspace_id  uuid not null,
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Published versions, which never change. A submission belongs to the version that it answered.
create table form_versions (
  workspace_id  uuid not null,
  form_id       uuid not null,
  version       integer not null,
  name          text not null,
  -- json, not jsonb: it is returned exactly as it was sent.
  structure     json not null,
  -- metadata.fields of the submissions of this version.
  fields        json not null,
  created_at    timestamptz not null,
  -- Null for the API, and if the person's account was deleted.
  created_by    text references users (id) on delete set null,
  settings      jsonb,
  primary key (workspace_id, form_id, version),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- The draft of a form in the builder. It may be incomplete. It stays when the form is published, so that its revision only grows.
create table form_drafts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  -- json, not jsonb: it is returned exactly as it was sent.
  structure     json not null,
  -- Incremented by each save. A save names the revision it is based on, so that it overwrites no other save.
  revision      integer not null check (revision >= 1),
  -- The live version that the draft is based on. If the live version is another one, it has changed since.
  base_version  integer not null,
  saved_by      text references users (id) on delete set null,
  saved_at      timestamptz not null,
  settings      jsonb not null,
  -- The name of the form in the draft, for lists and search.
  name          text generated always as (nullif(left(btrim(structure #>> '{attrs,name}'), 1024), '')) stored,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Logos and covers of forms. They belong to the workspace, so that a copy of a form can use them.
create table form_images (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  content_type  text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp')),
  size          integer not null,
  created_at    timestamptz not null,
  -- When the image was uploaded or a form was saved with it. A day later the sweep may check whether a form still uses it. Both
  -- lock the row.
  named_at      timestamptz not null,
  -- Set by the sweep: the image cannot be used any more, and its file is being removed.
  removed_at    timestamptz,
  width         integer check (width > 0),
  height        integer check (height > 0),
  -- Sizes and formats, with their bytes: {"800.avif": 12345}.
  renditions    jsonb not null default '{}',
  primary key (workspace_id, id)
);
create index form_images_by_naming on form_images (named_at);

-- Visits of a form, as sums. There is no row for a single visit.
create table visit_counts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  -- In the time zone of the form.
  day           date not null,
  -- What is counted, and of which step, question or time span.
  kind          text not null,
  name          text not null,
  count         bigint not null,
  primary key (workspace_id, form_id, day, kind, name),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
) with (fillfactor = 70);
create index visit_counts_by_day on visit_counts (day);

-- Returns the live version of a form, or null if it is deleted, after locking the form's quotas in shared mode until the end of
-- the transaction. It is a function since a statement alone would not see what was committed while it waited for the lock.
create function live_version_in_turn(of_workspace uuid, of_form uuid) returns integer language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(of_form::text, 0));
  return (
    select f.version from forms f where f.workspace_id = of_workspace and f.id = of_form and f.deleted_at is null);
end
$$;

-- Submissions --------------------------------------------------------------------------------------------------

create table submissions (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  version       integer not null,
  status        text not null check (status in ('completed', 'incomplete')),
  answers       json not null,
  reference     json not null,
  -- Whether the answers contain files, whose links are signed on each read.
  has_files     boolean not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  completed_at  timestamptz,
  -- From the page, or from the Idempotency-Key of the client. A second request with the same key is the same submission.
  key           uuid,
  -- SHA-256 of the submitted answers, which distinguishes a retry from other answers. Null until the submission is completed.
  key_digest    bytea,
  -- Set while the submission is in the trash.
  trashed_at    timestamptz,
  trashed_by    text references users (id) on delete set null,
  tags          text[] not null default '{}',
  -- The BCP 47 tag of the language in which the form was read; null if the form has no languages.
  language      text,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create unique index submissions_of_key on submissions (workspace_id, key) where key is not null;
-- Lists read only these two. The first contains all submissions, since the deletion of a form uses it too.
create index submissions_of_form on submissions (workspace_id, form_id, id desc) include (trashed_at);
create index submissions_of_form_by_status on submissions (workspace_id, form_id, status, id desc) where trashed_at is null;
create index submissions_trashed_of_form on submissions (workspace_id, form_id, trashed_at desc, id desc)
  where trashed_at is not null;
create index submissions_trashed on submissions (trashed_at) where trashed_at is not null;
create index submissions_tagged on submissions (workspace_id, form_id, id desc)
  where tags <> '{}' and trashed_at is null;

-- The number of submissions of a form, as a sum of slots. Each connection adds to a slot of its own
--: one row per form would halve the rate of inserts.
create table submission_counts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  status        text not null,
  slot          smallint not null,
  count         bigint not null,
  primary key (workspace_id, form_id, status, slot),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
) with (fillfactor = 50);

-- Links with which a visitor resumes or edits a submission. Only the SHA-256 of the token is stored.
create table submission_links (
  workspace_id   uuid not null,
  hash           bytea not null,
  form_id        uuid not null,
  submission_id  uuid not null,
  purpose        text not null check (purpose in ('resume', 'edit')),
  -- The step at which a resumed visitor continues, from 0.
  step           integer,
  expires_at     timestamptz not null,
  primary key (workspace_id, hash),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);
create index submission_links_of_submission on submission_links (workspace_id, submission_id);
create index submission_links_expiring on submission_links (expires_at);

-- Suspected spam with valid answers. The visitor gets the id as the receipt. A released submission keeps it.
create table held_submissions (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  version       integer not null,
  answers       json not null,
  reference     json not null,
  key           uuid,
  key_digest    bytea,
  reason        text not null check (reason in ('honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site')),
  -- A keyed hash of the sender's IP address within the form.
  address       bytea not null,
  created_at    timestamptz not null,
  -- The site that sent the answers, for the reason 'other_site'.
  origin        text,
  language      text,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
);
create index held_submissions_of_form on held_submissions (workspace_id, form_id, id desc);
create unique index held_submissions_of_key on held_submissions (workspace_id, key) where key is not null;
create index held_submissions_by_age on held_submissions (created_at);

-- Uploaded files. The sweep deletes files that belong to no submission.
create table files (
  workspace_id   uuid not null,
  id             uuid not null,
  form_id        uuid not null,
  element        text not null,
  -- Null until a submission contains the file, and after that submission is deleted.
  submission_id  uuid,
  filename       text not null,
  content_type   text not null,
  size           bigint not null,
  created_at     timestamptz not null,
  claimed_at     timestamptz,
  -- The suspected spam that contains the file.
  held_id        uuid,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete set null (submission_id),
  foreign key (workspace_id, held_id) references held_submissions (workspace_id, id) on delete set null (held_id)
);
create index files_of_submission on files (workspace_id, submission_id) where submission_id is not null;
create index files_of_form on files (workspace_id, form_id);
create index files_unclaimed on files (created_at) where submission_id is null;
create index files_of_held on files (workspace_id, held_id) where held_id is not null;

-- The size of all files of a form, written by triggers, so that a limit is checked without a sum over files.
create table stored_bytes (
  workspace_id  uuid not null,
  form_id       uuid not null,
  bytes         bigint not null,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
-- For each row, since Citus has no statement triggers with transition tables.
create function count_stored_bytes() returns trigger language plpgsql as $$
begin
  insert into stored_bytes as s (workspace_id, form_id, bytes)
  values (coalesce(new.workspace_id, old.workspace_id), coalesce(new.form_id, old.form_id),
          coalesce(new.size, 0) - coalesce(old.size, 0))
  on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end
$$;
create trigger stored_bytes_of_new after insert on files
  for each row when (new.size <> 0) execute function count_stored_bytes();
create trigger stored_bytes_of_changed after update on files
  for each row when (new.size <> old.size) execute function count_stored_bytes();
create trigger stored_bytes_of_removed after delete on files
  for each row when (old.size <> 0) execute function count_stored_bytes();

-- Answers of completed submissions that no other submission may give, or only a limited number.
create table taken_answers (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  element_id     text not null,
  -- The digest of a unique answer, or the id of an option with a limit.
  value          text not null,
  form_id        uuid not null,
  primary key (workspace_id, submission_id, element_id, value),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);
create index taken_answers_by_value on taken_answers (workspace_id, form_id, element_id, value);

-- The version of a form for which taken_answers was written. Another version may limit other elements.
create table taken_forms (
  workspace_id  uuid not null,
  form_id       uuid not null,
  version       integer not null,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
);

-- Notes of members and keys on a submission.
create table submission_notes (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  id             uuid not null,
  text           text not null,
  -- A member or a key. Both are null if the author is deleted.
  written_by     text references users (id) on delete set null,
  api_key_id     uuid,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (workspace_id, submission_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);

-- The history of a submission.
create table submission_changes (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  id             uuid not null,
  kind           text not null check (
    kind in ('edited', 'trashed', 'restored', 'note_added', 'note_changed', 'note_deleted')),
  -- Null for a visitor, and if the person's account was deleted.
  changed_by     text references users (id) on delete set null,
  through        text not null check (through in ('console', 'api', 'cli', 'link')),
  changed_at     timestamptz not null,
  -- A list of {part, name, from, to}.
  changes        json not null,
  api_key_id     uuid,
  -- The bulk change that this change is a part of, which can be undone.
  bulk_id        uuid,
  primary key (workspace_id, submission_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);
create index submission_changes_of_bulk on submission_changes (workspace_id, bulk_id, submission_id)
  where bulk_id is not null;

-- How a person has arranged the table of a form's submissions.
create table table_settings (
  workspace_id  uuid not null,
  form_id       uuid not null,
  user_id       text not null references users (id) on delete cascade,
  settings      jsonb not null,
  primary key (workspace_id, form_id, user_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Views of a form's submissions, shared in a workspace.
create table saved_views (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  name          text not null,
  -- The parameters of a list or an export.
  query         jsonb not null,
  -- Like table_settings.settings; null: the table_settings of the reader.
  columns       jsonb,
  -- Null for a key, and if the person's account was deleted.
  created_by    text references users (id) on delete set null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create unique index saved_views_by_name on saved_views (workspace_id, form_id, lower(name));

-- Bulk changes, imports and erasure ----------------------------------------------------------------------------

-- A change of many submissions, made in batches by a job. The row stays as a record.
-- Some constraints have the name of a former table: databases have them under these names.
create table bulk_changes (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  requested_by  text constraint removals_requested_by_fkey references users (id) on delete set null,
  total         integer not null,
  done          integer not null default 0,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  kind          text not null check (kind in ('trash', 'empty', 'remove', 'tag', 'status', 'undo')),
  tags_added    text[] not null default '{}',
  tags_removed  text[] not null default '{}',
  api_key_id    uuid,
  through       text not null default 'console' check (through in ('console', 'api', 'cli')),
  -- The new status, for the kind 'status'.
  status        text check (status in ('completed', 'incomplete')),
  -- The bulk change that this one undoes, for the kind 'undo'.
  undoes        uuid,
  constraint removals_pkey primary key (workspace_id, id),
  constraint removals_workspace_id_form_id_fkey
    foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);
create index bulk_changes_of_form on bulk_changes (workspace_id, form_id) where finished_at is null;
create unique index bulk_changes_undone on bulk_changes (workspace_id, undoes) where undoes is not null;

-- The submissions that are still to be changed. They are listed when the change is confirmed, so that later submissions and edits
-- do not alter the selection. There is no foreign key to submissions, which would slow down each deletion; missing ones are skipped.
create table bulk_items (
  workspace_id   uuid not null,
  bulk_id        uuid not null,
  submission_id  uuid not null,
  constraint removal_items_pkey primary key (workspace_id, bulk_id, submission_id),
  constraint removal_items_workspace_id_removal_id_fkey
    foreign key (workspace_id, bulk_id) references bulk_changes (workspace_id, id) on delete cascade
);

-- An import of submissions from a file.
create table submission_imports (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  total         integer not null,
  -- How many rows became submissions, and how many were refused.
  created       integer not null default 0,
  refused       integer not null default 0,
  -- The first refused rows: {"line", "message"}.
  problems      jsonb not null default '[]',
  -- Null for a key, and if the person's account was deleted.
  requested_by  text references users (id) on delete set null,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index submission_imports_of_form on submission_imports (workspace_id, form_id, id desc);

-- Rows of the file that are not yet imported. Each step deletes the rows that it imports.
create table submission_import_lines (
  workspace_id  uuid not null,
  import_id     uuid not null,
  line          integer not null,
  -- {"key", "answers", "reference", "at"}
  entry         jsonb not null,
  primary key (workspace_id, import_id, line),
  foreign key (workspace_id, import_id) references submission_imports (workspace_id, id) on delete cascade
);

-- The erasure of one person's data. The row stays as the receipt and contains no personal data.
create table erasures (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  -- Whole submissions, or only the answers that identify the person.
  what          text not null check (what in ('submissions', 'identity')),
  -- What the person was searched by, encrypted; null when the erasure is finished.
  asked         bytea,
  requested_by  text references users (id) on delete set null,
  api_key_id    uuid,
  through       text not null check (through in ('console', 'api', 'cli')),
  total         integer not null,
  done          integer not null default 0,
  -- How much was erased, by kind.
  gone          jsonb not null default '{}',
  -- SHA-256 of the list of what was to be erased, and of the receipt, in hexadecimal.
  list_hash     text not null,
  hash          text,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);

-- What is still to be erased.
create table erasure_items (
  workspace_id  uuid not null,
  erasure_id    uuid not null,
  -- The kind of the row, or 'file' for a file without a row in files.
  kind          text not null,
  -- Null for email that belongs to no form.
  form_id       uuid,
  id            uuid not null,
  primary key (workspace_id, erasure_id, kind, id),
  foreign key (workspace_id, erasure_id) references erasures (workspace_id, id) on delete cascade
);

-- Search -------------------------------------------------------------------------------------------------------

-- The documents of a workspace lie in segments: ranges of ids from first_id up to the next first_id. A search reads from the newest
-- segment on until it has enough results. A submission opens the next segment when the
-- newest is full.
create table search_segments (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  first_id      uuid not null,
  -- Unique over all workspaces. Each term of the segment begins with its code.
  number        bigint generated always as identity,
  code          text generated always as (to_hex(number)) stored,
  primary key (workspace_id, first_id)
);

-- The terms of each submission. A table of its own: beside the answers PostgreSQL would TOAST them, and a search for common terms
-- would take 7 times as long. Each term begins with the code of its segment. Then follows 'f' and the form id, '-' for an incomplete
-- submission, '#' and a tag, or three letters of the language, ' ' and a stemmed word. '!' in place of ' ' marks a word of the subject.
create table search_documents (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  form_id        uuid not null,
  terms          tsvector not null,
  primary key (workspace_id, submission_id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
) with (toast_tuple_target = 4080, autovacuum_vacuum_insert_scale_factor = 0.02);
-- The server cleans the long pending list twice a second. That gives 3 times the inserts of fastupdate = off, without the pauses of
-- 2.4 s of the default.
create index search_documents_terms on search_documents using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);

-- The languages in which documents of a workspace were stemmed. A search looks in each of them.
create table search_languages (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  language      text not null,
  primary key (workspace_id, language)
);

-- Webhooks and events ------------------------------------------------------------------------------------------

create table webhooks (
  workspace_id           uuid not null,
  id                     uuid not null,
  form_id                uuid not null,
  url                    text not null,
  events                 text[] not null,
  -- Encrypted with the instance key; null if the webhook has no secret.
  secret                 bytea,
  active                 boolean not null default true,
  created_at             timestamptz not null,
  updated_at             timestamptz not null,
  -- The secret before the last rotation. Deliveries are signed with it too, until previous_secret_until.
  previous_secret        bytea,
  previous_secret_until  timestamptz,
  -- Custom headers, encrypted as one JSON object. Their values are never shown.
  headers                bytea,
  header_names           text[] not null default '{}',
  -- Since when every delivery has failed; null if the last one succeeded.
  failing_since          timestamptz,
  -- Why the webhook is not active; null while it is.
  paused_at              timestamptz,
  paused_by              text check (paused_by in ('person', 'failure')),
  -- A condition of the form language; null: every submission.
  filter                 json,
  -- Whether the webhook is paused after failing for WEBHOOK_PAUSE_DAYS.
  pauses_on_failure      boolean not null default true,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index webhooks_of_form on webhooks (workspace_id, form_id);
create index webhooks_failing on webhooks (workspace_id, id) where failing_since is not null;
create index webhooks_paused_by_failure on webhooks (workspace_id, id) where paused_by = 'failure';

-- What happened, written in the transaction of the change. One row for all webhooks. 0009 completes the keys of events, deliveries
-- and attempts.
create table events (
  workspace_id   uuid not null,
  id             uuid not null,
  form_id        uuid not null,
  submission_id  uuid not null,
  kind           text not null check (kind in ('submission.created', 'submission.updated', 'submission.deleted')),
  occurred_at    timestamptz not null,
  -- `form` and `submission` of the body. Links to files are missing, since each delivery signs them.
  snapshot       json not null,
  -- The event of a test delivery is a sample, and is not in the feed.
  is_test        boolean not null default false,
  -- The position in the feed. It is assigned after the commit: events commit in another order than that of their ids.
  position       bigint,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- The delivery log: one event for one webhook. The id is the delivery_id that the receiver sees.
create table deliveries (
  workspace_id     uuid not null,
  id               uuid not null,
  form_id          uuid not null,
  webhook_id       uuid not null,
  event_id         uuid not null,
  kind             text not null,
  status           text not null check (status in ('Retrying', 'Success', 'Failed')),
  attempts         integer not null default 0,
  next_attempt_at  timestamptz,
  response_status  integer,
  response_ms      integer,
  created_at       timestamptz not null,
  is_test          boolean not null default false,
  -- Where a test delivery is sent, if not to the URL of the webhook.
  test_url         text,
  primary key (workspace_id, id),
  foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade
);

create table attempts (
  workspace_id      uuid not null,
  delivery_id       uuid not null,
  attempt           integer not null,
  trigger           text not null check (trigger in ('schedule', 'manual', 'test', 'replay')),
  started_at        timestamptz not null,
  response_status   integer,
  response_ms       integer not null,
  -- The beginning of the response body, for debugging the receiver.
  response_body     text,
  -- Why it failed and whether it is retried; null after success.
  reason            text,
  -- Where the request was sent, and its headers without the signature; null if nothing was sent. The body is not stored: it is made
  -- again from the event.
  url               text,
  request_headers   json,
  -- Null for a phase that the attempt did not reach, and for a reused connection.
  dns_ms            real,
  connect_ms        real,
  tls_ms            real,
  first_byte_ms     real,
  -- At most 4 KB.
  response_headers  json,
  -- Prove that the body made again from the event is the one that was sent.
  body_sha256       bytea,
  body_bytes        integer,
  primary key (workspace_id, delivery_id, attempt)
);

-- Deliveries that are sent again by one job: those of a webhook that match a filter.
create table replays (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  webhook_id    uuid not null,
  requested_by  text references users (id) on delete set null,
  -- Status, event, from and to.
  filter        json not null,
  -- The last delivery that was processed. They are processed in the order of their ids.
  reached       uuid,
  total         integer not null,
  done          integer not null default 0,
  created_at    timestamptz not null,
  cancelled_at  timestamptz,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade
);
create index replays_of_form on replays (workspace_id, form_id);
create index replays_of_webhook on replays (workspace_id, webhook_id, id desc);

-- The event feed of a workspace, which exists while somebody reads it.
create table feeds (
  workspace_id  uuid primary key references workspaces (id) on delete cascade,
  -- The last position that was assigned, and the last one whose event may be deleted.
  last          bigint not null default 0,
  removed       bigint not null default 0,
  -- When the feed was last read, to the hour. A feed that is not read is turned off.
  read_at       timestamptz not null
);

-- Email and invitations ----------------------------------------------------------------------------------------

-- Queued and sent email. A row is written in the transaction that causes it, with the job of the same
-- id that sends it.
create table mails (
  workspace_id     uuid not null references workspaces (id) on delete cascade,
  -- The Message-ID is made from it, so that a duplicate is recognized.
  id               uuid not null,
  kind             text not null,
  form_id          uuid,
  recipient        text not null,
  subject          text not null,
  -- Encrypted with the instance key, since it may contain secret links; null after it was sent.
  content          bytea,
  state            text not null check (state in ('queued', 'sent', 'failed', 'cancelled')),
  attempts         integer not null default 0,
  -- Why the last attempt failed; null after success.
  error            text,
  next_attempt_at  timestamptz,
  -- Email about an account, such as a password reset, which the workspace does not see.
  is_private       boolean not null default false,
  created_at       timestamptz not null,
  settled_at       timestamptz,
  -- The submissions that the email is about. It is erased together with them.
  submission_ids   uuid[] not null default '{}',
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index mails_in_log on mails (workspace_id, state, id desc) where not is_private;
create index mails_of_form on mails (workspace_id, form_id) where form_id is not null;
create index mails_by_age on mails (created_at);
create index mails_to_recipient on mails (workspace_id, lower(recipient), created_at);
create index mails_about on mails using gin (submission_ids) where submission_ids <> '{}';
-- Removed by 0005.
create index mails_sent_to on mails (lower(recipient), settled_at) where state = 'sent';
create index mails_sent_from on mails (workspace_id, settled_at) where state = 'sent';

-- Addresses that unsubscribed from a workspace.
create table unsubscribed_addresses (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- SHA-256 of the address in lower case, in hexadecimal, so that it stays when the address is erased.
  address_key   text not null,
  created_at    timestamptz not null,
  primary key (workspace_id, address_key)
);

-- Submissions that wait for the next digest of their form. The row of digests exists while a digest is scheduled.
create table digests (
  workspace_id  uuid not null,
  form_id       uuid not null,
  mode          text not null check (mode in ('hourly', 'daily')),
  primary key (workspace_id, form_id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create table digest_items (
  workspace_id   uuid not null,
  form_id        uuid not null,
  submission_id  uuid not null,
  primary key (workspace_id, form_id, submission_id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);
create index digest_items_of_submission on digest_items (workspace_id, submission_id);

-- People who are invited by one request or one import.
create table invitation_batches (
  workspace_id       uuid not null,
  id                 uuid not null,
  form_id            uuid not null,
  subject            text not null,
  message            text not null,
  -- Null: the invitation's, with "Reminder:" before the subject.
  reminder_subject   text,
  reminder_message   text,
  -- Days after an invitation was sent, ascending.
  remind_after_days  integer[] not null,
  -- Whether email is sent. Otherwise links are only listed.
  is_mailed          boolean not null,
  expires_at         timestamptz,
  -- How many were requested, created, and skipped because the address is already invited.
  total              integer not null,
  created            integer not null default 0,
  skipped            integer not null default 0,
  created_by         text references users (id) on delete set null,
  created_at         timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index invitation_batches_of_form on invitation_batches (workspace_id, form_id, id desc);

-- Rows of an import that are not yet invitations. Each step deletes the rows that it imports.
create table invitation_drafts (
  workspace_id  uuid not null,
  batch_id      uuid not null,
  line          integer not null,
  draft         jsonb not null,
  primary key (workspace_id, batch_id, line),
  foreign key (workspace_id, batch_id) references invitation_batches (workspace_id, id) on delete cascade
);

-- A person who may submit a form once. The id is the key of the submission, so that there is at most one.
create table invitations (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  batch_id      uuid not null,
  -- SHA-256 of the token of the link. The token is not stored.
  hash          bytea not null,
  email         text not null,
  -- The address in lower case: two spellings are one person.
  address_key   text not null,
  name          text not null,
  reference     jsonb not null,
  prefill       jsonb not null,
  expires_at    timestamptz,
  created_at    timestamptz not null,
  sent_at       timestamptz,
  opened_at     timestamptz,
  started_at    timestamptz,
  bounced_at    timestamptz,
  revoked_at    timestamptz,
  -- The latest email about the invitation, and why it could not be delivered.
  mail_id       uuid,
  mail_error    text,
  -- When the next reminder is sent.
  remind_at     timestamptz,
  reminders     integer not null default 0,
  reminded_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
  foreign key (workspace_id, batch_id) references invitation_batches (workspace_id, id) on delete cascade
);
create unique index invitations_by_hash on invitations (workspace_id, hash);
create unique index invitations_of_address on invitations (workspace_id, form_id, address_key) where revoked_at is null;
create index invitations_of_form on invitations (workspace_id, form_id, id desc);
create index invitations_of_batch on invitations (workspace_id, batch_id);
create index invitations_of_mail on invitations (workspace_id, mail_id) where mail_id is not null;
create index invitations_to_remind on invitations (remind_at) where remind_at is not null;

-- Jobs ---------------------------------------------------------------------------------------------------------

-- The queue. A worker that claims a job sets run_at to the end of its lease, so that the job of a killed worker
-- becomes due again, and sets a new lease_token, which it needs to finish the job.
create table jobs (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  kind          text not null,
  -- Limits how many jobs of a lane run at once: a slow receiver does not delay the others.
  lane          text not null,
  payload       jsonb not null,
  run_at        timestamptz not null,
  lease_token   uuid,
  failures      integer not null default 0,
  created_at    timestamptz not null,
  primary key (workspace_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index jobs_due on jobs (run_at);

-- Removed by 0002, 0008 and 0009 -------------------------------------------------------------------------------

-- Databases from before these migrations have what follows, and backups of them contain it.

create table workspace_imports (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  state         text not null check (state in ('receiving', 'running', 'done', 'failed')),
  keeps_ids     boolean not null,
  requested_by  text references users (id) on delete set null,
  entries       integer not null default 0,
  made          jsonb not null default '{}',
  left_out      jsonb not null default '[]',
  form_ids      uuid[] not null default '{}',
  problem       text,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id)
);
create unique index workspace_imports_under_way on workspace_imports (workspace_id) where state in ('receiving', 'running');
create table workspace_import_parts (
  workspace_id  uuid not null,
  import_id     uuid not null,
  number        integer not null,
  bytes         integer not null,
  primary key (workspace_id, import_id, number)
);

create function note_in_directory() returns trigger language plpgsql as $$
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

create table ledger_parts (
  number  integer primary key,
  opens   timestamptz,
  below   timestamptz
);
create function remove_attempts() returns trigger language plpgsql as $$
begin
  delete from attempts where workspace_id = old.workspace_id and delivery_id = old.id;
  return null;
end
$$;
create trigger attempts_of_removed after delete on deliveries
  for each row execute function remove_attempts();
