-- Webhooks: the ledger of attempts, rotation of secrets, headers of one's own, health; and what replays and the pull
-- feed stand on (docs/decisions/0016-the-delivery-ledger.md).

alter table webhooks
  -- The secret before the last rotation, and until when deliveries are signed with it too.
  add column previous_secret bytea,
  add column previous_secret_until timestamptz,
  -- Headers that a person added, sealed as one JSON object: their values are never shown again. The names are.
  add column headers bytea,
  add column header_names text[] not null default '{}',
  -- Since when every delivery has failed; null while the last one that ended arrived.
  add column failing_since timestamptz,
  -- Why it is not active: a person paused it, or it failed for days. Null while it is active.
  add column paused_at timestamptz,
  add column paused_by text check (paused_by in ('person', 'failure'));
update webhooks set paused_at = updated_at, paused_by = 'person' where not active;

alter table attempts
  -- Milliseconds; null for what an attempt did not come to, and for a connection that was open already.
  add column dns_ms real,
  add column connect_ms real,
  add column tls_ms real,
  add column first_byte_ms real,
  -- Of the answer, at most 4 KB of them.
  add column response_headers json,
  -- SHA-256 and length of the bytes that were sent: the proof that the body made again from the event is that body.
  add column body_sha256 bytea,
  add column body_bytes integer;

-- A test's event is a sample: no feed and no replay tells of it.
alter table events add column is_test boolean not null default false;
update events set is_test = true
 where exists (select from deliveries d
                where d.workspace_id = events.workspace_id and d.event_id = events.id and d.is_test);

-- The place of an event in the feed of its workspace, given after its commit by whoever reads the feed: ids are made
-- before the commit, so that a reader who goes by ids could pass by an event that commits late.
alter table events add column position bigint;
create unique index events_feed on events (workspace_id, position) where position is not null;
create index events_unplaced on events (workspace_id, id) where position is null and not is_test;

-- Deliveries that are sent again as one job: those of a filter, counted when it was asked for.
create table replays (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  -- Null: of every webhook of the form.
  webhook_id    uuid,
  requested_by  text references users (id) on delete set null,
  -- Status, event, from and to, as the person chose them.
  filter        json not null,
  -- The last delivery that it came to: ids ascend.
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
create index replays_of_form on replays (workspace_id, form_id, id desc);

-- Replays and the pull feed (docs/decisions/0018-replay-and-feed.md).

-- A replay is of one webhook. `reached` is the last delivery that it came to; `done` counts those it sent again.
alter table replays alter column webhook_id set not null;
create index replays_of_webhook on replays (workspace_id, webhook_id, id desc);
drop index replays_of_form;
create index replays_of_form on replays (workspace_id, form_id);

alter table attempts
  drop constraint attempts_trigger_check,
  add constraint attempts_trigger_check check (trigger in ('schedule', 'manual', 'test', 'replay'));

-- Where a test goes instead of to its webhook's address.
alter table deliveries add column test_url text;

-- The feed of a workspace. While it is read now and then, every event is recorded for it.
create table feeds (
  workspace_id  uuid primary key references workspaces (id) on delete cascade,
  -- The last position that was given to an event, and up to which there may be events no more.
  last          bigint not null default 0,
  removed       bigint not null default 0,
  -- When it was read, to the hour: a feed that nobody reads is switched off.
  read_at       timestamptz not null
);
