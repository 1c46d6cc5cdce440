-- Erasing what is kept of one person (src/people). The row stays as the receipt: how much of what is gone, by whom and when,
-- and nothing of what it was.
create table erasures (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  -- Whole submissions, or the answers alone that tell who somebody is.
  what          text not null check (what in ('submissions', 'identity')),
  -- What the person was looked for by, sealed; null as soon as it is done.
  asked         bytea,
  requested_by  text references users (id) on delete set null,
  api_key_id    uuid,
  through       text not null check (through in ('console', 'api', 'cli')),
  total         integer not null,
  done          integer not null default 0,
  -- By kind, how much is gone.
  gone          jsonb not null default '{}',
  -- SHA-256 of the list of what was to be erased, and of the receipt, in hexadecimal.
  list_hash     text not null,
  hash          text,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);

-- What is left to erase: exactly what was found, and nothing that comes later.
create table erasure_items (
  workspace_id  uuid not null,
  erasure_id    uuid not null,
  -- Of src/people/traces.ts, and 'file': the bytes of a file, whose row is nobody's by then.
  kind          text not null,
  -- Null for a mail that is about no form.
  form_id       uuid,
  id            uuid not null,
  primary key (workspace_id, erasure_id, kind, id),
  foreign key (workspace_id, erasure_id) references erasures (workspace_id, id) on delete cascade
);

-- Who asked for no more mails is known by the SHA-256 of the address in lower case: the wish stays when the address is erased.
update unsubscribed_addresses set address_key = encode(sha256(convert_to(address_key, 'UTF8')), 'hex');
