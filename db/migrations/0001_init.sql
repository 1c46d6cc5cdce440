-- Formloom's tables.
--
-- The rule of this schema (docs/decisions/0004-workspace-first-keys.md): every tenant table's primary key and
-- every unique index begin with workspace_id, and every foreign key carries it. Isolation is therefore
-- structural, and the schema distributes by workspace. What arrives without a workspace (an API key, the form
-- of a public page) is found through the small *_lookup tables, which hold nothing else.
-- Ids are UUIDv7 made by the application; a row's id therefore sorts by its time of creation, and
-- "newest first" is "order by id desc".

-- Who -----------------------------------------------------------------------------------------------------

create table workspaces (
  id          uuid primary key,
  name        text not null,
  plan        text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
  -- Overrides of the plan's requests per minute and burst; the enterprise plan is "custom" by definition.
  rate_limit  integer check (rate_limit > 0),
  burst       integer check (burst >= 0),
  created_at  timestamptz not null
);

create table api_keys (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  name          text not null,
  -- The first characters of the key, so that a person can tell keys apart in a list.
  prefix        text not null,
  -- Null: every permission, also those that come later. Otherwise the list of them.
  permissions   text[],
  created_at    timestamptz not null,
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  primary key (workspace_id, id)
);

-- SHA-256 of the key: 256 random bits need no slow hash.
create table api_key_lookup (
  hash          bytea primary key,
  workspace_id  uuid not null,
  api_key_id    uuid not null,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete cascade
);

-- The four tables of better-auth (src/workspaces/accounts.ts). People are not tenants' rows: one person may be
-- a member of several workspaces.
create table users (
  id              text primary key,
  name            text not null,
  email           text not null unique,
  email_verified  boolean not null,
  image           text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null
);

create table sessions (
  id          text primary key,
  user_id     text not null references users (id) on delete cascade,
  token       text not null unique,
  expires_at  timestamptz not null,
  ip_address  text,
  user_agent  text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create index sessions_of_user on sessions (user_id);

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

create table verifications (
  id          text primary key,
  identifier  text not null,
  value       text not null,
  expires_at  timestamptz not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create index verifications_of_identifier on verifications (identifier);

create table members (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  user_id       text not null references users (id) on delete cascade,
  role          text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  created_at    timestamptz not null,
  primary key (workspace_id, user_id)
);
create index members_of_user on members (user_id);

-- The one-time link for the first account: one row until it is used, then none.
create table setup (
  only_row    boolean primary key default true check (only_row),
  token_hash  bytea not null
);

-- Forms ---------------------------------------------------------------------------------------------------

create table forms (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  -- Name and description of the live version, so that a list needs no structure.
  name          text not null,
  description   text not null,
  status        text not null check (status in ('draft', 'published', 'archived')),
  settings      jsonb not null,
  -- The live version's number in form_versions.
  version       integer not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  published_at  timestamptz,
  -- Set by delete: from then on the form answers 404 everywhere while its submissions are removed in batches.
  deleted_at    timestamptz,
  primary key (workspace_id, id)
);

create table form_lookup (
  form_id       uuid primary key,
  workspace_id  uuid not null,
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Immutable: every live change adds one, and a submission is pinned to the one that it answered.
-- structure is json, not jsonb, because it comes back exactly as it was sent.
create table form_versions (
  workspace_id  uuid not null,
  form_id       uuid not null,
  version       integer not null,
  name          text not null,
  structure     json not null,
  -- metadata.fields of the submissions that answered this version.
  fields        json not null,
  created_at    timestamptz not null,
  primary key (workspace_id, form_id, version),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);

-- Submissions ---------------------------------------------------------------------------------------------

create table submissions (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  version       integer not null,
  status        text not null check (status in ('completed', 'incomplete')),
  answers       json not null,
  reference     json not null,
  -- Whether answers hold files, whose links must be signed anew at each read.
  has_files     boolean not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  completed_at  timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create index submissions_of_form on submissions (workspace_id, form_id, id desc);
create index submissions_of_form_by_status on submissions (workspace_id, form_id, status, id desc);

-- Exact counts without count(*): a submit adds one to one of 32 slots, a read sums them. One row per form
-- would serialise submits (measured: half the insert rate); 32 slots cost nothing measurable.
create table submission_counts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  status        text not null,
  slot          smallint not null,
  count         bigint not null,
  primary key (workspace_id, form_id, status, slot),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
) with (fillfactor = 50);

-- The text of a submission, in a narrow table of its own: beside the answers a tsvector is TOASTed, and common
-- terms become 7 times slower. terms holds the stemmed words (subject with weight A, the rest D) and three
-- marks: the workspace, the form and the language, so that one GIN index answers for all of them.
create table search_documents (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  form_id        uuid not null,
  terms          tsvector not null,
  primary key (workspace_id, submission_id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
) with (toast_tuple_target = 4080, autovacuum_vacuum_insert_scale_factor = 0.02);
-- A long pending list, cleaned twice a second by the server: 3 times the inserts of fastupdate=off, and none of
-- the 2.4 s pauses of the default, which cleans inside some visitor's insert.
create index search_documents_terms on search_documents using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);

-- The languages in which a workspace's documents were ever stemmed: a search asks in each of them.
create table search_languages (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  language      text not null,
  primary key (workspace_id, language)
);

create table files (
  workspace_id   uuid not null,
  id             uuid not null,
  form_id        uuid not null,
  element        text not null,
  -- Null until a submission claims the file, and again when the submission is gone: then the sweep removes it.
  submission_id  uuid,
  filename       text not null,
  content_type   text not null,
  size           bigint not null,
  created_at     timestamptz not null,
  claimed_at     timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete set null (submission_id)
);
create index files_of_submission on files (workspace_id, submission_id) where submission_id is not null;
create index files_of_form on files (workspace_id, form_id);
create index files_unclaimed on files (created_at) where submission_id is null;

-- Webhooks ------------------------------------------------------------------------------------------------

create table webhooks (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  url           text not null,
  events        text[] not null,
  -- AES-256-GCM under the instance's key (src/kit/vault.ts); null when none is set.
  secret        bytea,
  active        boolean not null default true,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index webhooks_of_form on webhooks (workspace_id, form_id);

-- What happened, frozen in the transaction of the change; one row however many webhooks hear of it.
create table events (
  workspace_id   uuid not null,
  id             uuid not null,
  form_id        uuid not null,
  submission_id  uuid not null,
  kind           text not null check (kind in ('submission.created', 'submission.updated', 'submission.deleted')),
  occurred_at    timestamptz not null,
  -- The body's `form` and `submission` objects; files without links, which are signed at each send.
  snapshot       json not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index events_of_form on events (workspace_id, form_id, id);

-- One event for one webhook: the delivery log. Its id is the delivery_id that the receiver sees.
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
  primary key (workspace_id, id),
  foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade,
  foreign key (workspace_id, event_id) references events (workspace_id, id) on delete cascade
);
create index deliveries_of_webhook on deliveries (workspace_id, webhook_id, id desc);
create index deliveries_of_event on deliveries (workspace_id, event_id);
create index deliveries_waiting on deliveries (workspace_id, form_id) where status = 'Retrying';

create table attempts (
  workspace_id     uuid not null,
  delivery_id      uuid not null,
  attempt          integer not null,
  trigger          text not null check (trigger in ('schedule', 'manual')),
  started_at       timestamptz not null,
  response_status  integer,
  response_ms      integer not null,
  -- The head of the answer, for the person who debugs the receiver.
  response_body    text,
  -- Why it failed and whether it will be tried again, in words; null for a success.
  reason           text,
  primary key (workspace_id, delivery_id, attempt),
  foreign key (workspace_id, delivery_id) references deliveries (workspace_id, id) on delete cascade
);

-- Work to do ----------------------------------------------------------------------------------------------

-- The one durable queue (src/kit/queue.ts). A claim sets run_at to the end of the lease, so what a dead worker
-- held becomes due again by itself, and a fresh lease_token, without which nothing can be settled.
create table jobs (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  kind          text not null,
  -- Jobs of one lane share a cap on how many run at once: one slow receiver does not hold up the others.
  lane          text not null,
  payload       jsonb not null,
  run_at        timestamptz not null,
  lease_token   uuid,
  failures      integer not null default 0,
  created_at    timestamptz not null,
  primary key (workspace_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index jobs_due on jobs (run_at);
