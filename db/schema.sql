-- The schema after all migrations. REWRITE=1 npm test -- test/migrations.test.ts writes this file.

create extension plpgsql;

create sequence search_segments_number_seq;

CREATE OR REPLACE FUNCTION count_stored_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stored_bytes as s (workspace_id, form_id, bytes)
  values (coalesce(new.workspace_id, old.workspace_id), coalesce(new.form_id, old.form_id),
          coalesce(new.size, 0) - coalesce(old.size, 0))
  on conflict (workspace_id, form_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION keep_audit_line()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION live_version_in_turn(of_workspace uuid, of_form uuid)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(of_form::text, 0));
  return (
    select f.version from forms f where f.workspace_id = of_workspace and f.id = of_form and f.deleted_at is null);
end
$function$;

create table accounts (
  id text not null,
  user_id text not null,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  password text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX accounts_of_provider ON accounts USING btree (account_id) WHERE (provider_id = 'oidc'::text);
CREATE INDEX accounts_of_user ON accounts USING btree (user_id);

create table announced (
  announcement bytea not null,
  user_id text not null,
  announced_at timestamp with time zone not null,
  constraint announced_pkey PRIMARY KEY (announcement, user_id),
  constraint announced_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table api_key_days (
  workspace_id uuid not null,
  api_key_id uuid not null,
  day date not null,
  requests bigint not null,
  constraint api_key_days_pkey PRIMARY KEY (workspace_id, api_key_id, day),
  constraint api_key_days_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=70);

create table api_key_lookup (
  hash bytea not null,
  workspace_id uuid not null,
  api_key_id uuid not null,
  expires_at timestamp with time zone,
  constraint api_key_lookup_pkey PRIMARY KEY (hash),
  constraint api_key_lookup_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE CASCADE
);

create table api_keys (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  prefix text not null,
  permissions text[],
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_by text,
  form_ids uuid[],
  last_used_address text,
  updated_at timestamp with time zone not null default date_trunc('milliseconds'::text, now()),
  constraint api_keys_pkey PRIMARY KEY (workspace_id, id),
  constraint api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table api_requests (
  workspace_id uuid not null,
  api_key_id uuid not null,
  id uuid not null,
  method text not null,
  path text not null,
  status smallint not null,
  ms integer not null,
  requested_at timestamp with time zone not null,
  constraint api_requests_pkey PRIMARY KEY (workspace_id, api_key_id, id),
  constraint api_requests_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE CASCADE
);

create table attempts (
  workspace_id uuid not null,
  delivery_id uuid not null,
  attempt integer not null,
  trigger text not null,
  started_at timestamp with time zone not null,
  response_status integer,
  response_ms integer not null,
  response_body text,
  reason text,
  url text,
  request_headers json,
  dns_ms real,
  connect_ms real,
  tls_ms real,
  first_byte_ms real,
  response_headers json,
  body_sha256 bytea,
  body_bytes integer,
  constraint attempts_pkey PRIMARY KEY (workspace_id, delivery_id, attempt),
  constraint attempts_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'manual'::text, 'test'::text, 'replay'::text]))),
  constraint attempts_workspace_id_delivery_id_fkey FOREIGN KEY (workspace_id, delivery_id) REFERENCES deliveries(workspace_id, id) ON DELETE CASCADE
);

create table audit_lines (
  workspace_id uuid not null,
  id uuid not null,
  actor_kind text not null,
  actor_id text,
  operation text not null,
  method text not null,
  path text not null,
  thing_id uuid,
  request_id uuid,
  status smallint,
  address text,
  agent text,
  session_id text,
  changes jsonb,
  constraint audit_lines_pkey PRIMARY KEY (workspace_id, id),
  constraint audit_lines_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX audit_lines_of_thing ON audit_lines USING btree (workspace_id, thing_id, id DESC) WHERE (thing_id IS NOT NULL);
CREATE TRIGGER keep_audit_line BEFORE DELETE OR UPDATE ON audit_lines FOR EACH ROW EXECUTE FUNCTION keep_audit_line();
CREATE TRIGGER keep_audit_lines BEFORE TRUNCATE ON audit_lines FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_line();

create table backups (
  due_at timestamp with time zone not null,
  name text not null,
  begun_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  bytes bigint,
  problem text,
  constraint backups_pkey PRIMARY KEY (due_at)
);

create table cells (
  name text not null,
  schema_name text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint cells_pkey PRIMARY KEY (name),
  constraint cells_schema_name_key UNIQUE (schema_name)
);

create table counted_emails (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  form_id uuid,
  account_id text,
  recipient bytea not null,
  queued_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  constraint counted_emails_pkey PRIMARY KEY (workspace_id, id),
  constraint counted_emails_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX counted_emails_by_age ON counted_emails USING btree (queued_at);
CREATE INDEX counted_emails_from ON counted_emails USING btree (workspace_id, sent_at) WHERE (sent_at IS NOT NULL);
CREATE INDEX counted_emails_of_account ON counted_emails USING btree (account_id, queued_at) WHERE (account_id IS NOT NULL);
CREATE INDEX counted_emails_queued ON counted_emails USING btree (workspace_id, queued_at);
CREATE INDEX counted_emails_to ON counted_emails USING btree (recipient, sent_at) WHERE (sent_at IS NOT NULL);

create table deliveries (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  kind text not null,
  status text not null,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone,
  response_status integer,
  response_ms integer,
  created_at timestamp with time zone not null,
  is_test boolean not null default false,
  test_url text,
  constraint deliveries_pkey PRIMARY KEY (workspace_id, id),
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['Retrying'::text, 'Success'::text, 'Failed'::text]))),
  constraint deliveries_workspace_id_event_id_fkey FOREIGN KEY (workspace_id, event_id) REFERENCES events(workspace_id, id) ON DELETE CASCADE,
  constraint deliveries_workspace_id_webhook_id_fkey FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX deliveries_of_event ON deliveries USING btree (workspace_id, event_id);
CREATE INDEX deliveries_of_webhook ON deliveries USING btree (workspace_id, webhook_id, id DESC);
CREATE INDEX deliveries_waiting ON deliveries USING btree (workspace_id, form_id) WHERE (status = 'Retrying'::text);

create table digest_items (
  workspace_id uuid not null,
  form_id uuid not null,
  submission_id uuid not null,
  constraint digest_items_pkey PRIMARY KEY (workspace_id, form_id, submission_id),
  constraint digest_items_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX digest_items_of_submission ON digest_items USING btree (workspace_id, submission_id);

create table digests (
  workspace_id uuid not null,
  form_id uuid not null,
  mode text not null,
  constraint digests_pkey PRIMARY KEY (workspace_id, form_id),
  constraint digests_mode_check CHECK ((mode = ANY (ARRAY['hourly'::text, 'daily'::text]))),
  constraint digests_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table domain_lookup (
  domain text not null,
  workspace_id uuid not null,
  domain_id uuid not null,
  verified_at timestamp with time zone not null,
  constraint domain_lookup_pkey PRIMARY KEY (domain),
  constraint domain_lookup_workspace_id_domain_id_fkey FOREIGN KEY (workspace_id, domain_id) REFERENCES domains(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX verified_domains_of_workspace ON domain_lookup USING btree (workspace_id, domain_id);

create table domains (
  workspace_id uuid not null,
  id uuid not null,
  domain text not null,
  created_at timestamp with time zone not null,
  constraint domains_pkey PRIMARY KEY (workspace_id, id),
  constraint domains_workspace_id_domain_key UNIQUE (workspace_id, domain),
  constraint domains_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table events (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  submission_id uuid not null,
  kind text not null,
  occurred_at timestamp with time zone not null,
  snapshot json not null,
  is_test boolean not null default false,
  position bigint,
  constraint events_pkey PRIMARY KEY (workspace_id, id),
  constraint events_kind_check CHECK ((kind = ANY (ARRAY['submission.created'::text, 'submission.updated'::text, 'submission.deleted'::text]))),
  constraint events_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX events_feed ON events USING btree (workspace_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX events_of_form ON events USING btree (workspace_id, form_id, id);
CREATE INDEX events_of_submission ON events USING btree (workspace_id, submission_id, id);
CREATE INDEX events_unplaced ON events USING btree (workspace_id, id) WHERE (("position" IS NULL) AND (NOT is_test));

create table feeds (
  workspace_id uuid not null,
  last bigint not null default 0,
  removed bigint not null default 0,
  read_at timestamp with time zone not null,
  constraint feeds_pkey PRIMARY KEY (workspace_id),
  constraint feeds_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table files (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  element text not null,
  submission_id uuid,
  filename text not null,
  content_type text not null,
  size bigint not null,
  created_at timestamp with time zone not null,
  claimed_at timestamp with time zone,
  held_id uuid,
  upload jsonb,
  locked_until timestamp with time zone,
  constraint files_pkey PRIMARY KEY (workspace_id, id),
  constraint files_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id),
  constraint files_workspace_id_held_id_fkey FOREIGN KEY (workspace_id, held_id) REFERENCES held_submissions(workspace_id, id) ON DELETE SET NULL (held_id),
  constraint files_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE SET NULL (submission_id)
);
CREATE INDEX files_of_form ON files USING btree (workspace_id, form_id);
CREATE INDEX files_of_held ON files USING btree (workspace_id, held_id) WHERE (held_id IS NOT NULL);
CREATE INDEX files_of_submission ON files USING btree (workspace_id, submission_id) WHERE (submission_id IS NOT NULL);
CREATE INDEX files_unclaimed ON files USING btree (created_at) WHERE (submission_id IS NULL);
CREATE TRIGGER stored_bytes_of_changed AFTER UPDATE ON files FOR EACH ROW WHEN ((new.size <> old.size)) EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER stored_bytes_of_new AFTER INSERT ON files FOR EACH ROW WHEN ((new.size <> 0)) EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER stored_bytes_of_removed AFTER DELETE ON files FOR EACH ROW WHEN ((old.size <> 0)) EXECUTE FUNCTION count_stored_bytes();

create table form_drafts (
  workspace_id uuid not null,
  form_id uuid not null,
  structure json not null,
  revision integer not null,
  base_version integer not null,
  saved_by text,
  saved_at timestamp with time zone not null,
  settings jsonb not null,
  name text generated always as (NULLIF("left"(btrim((structure #>> '{attrs,name}'::text[])), 1024), ''::text)) stored,
  constraint form_drafts_pkey PRIMARY KEY (workspace_id, form_id),
  constraint form_drafts_revision_check CHECK ((revision >= 1)),
  constraint form_drafts_saved_by_fkey FOREIGN KEY (saved_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint form_drafts_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table form_images (
  workspace_id uuid not null,
  id uuid not null,
  content_type text not null,
  size integer not null,
  created_at timestamp with time zone not null,
  named_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  width integer,
  height integer,
  renditions jsonb not null default '{}'::jsonb,
  constraint form_images_pkey PRIMARY KEY (workspace_id, id),
  constraint form_images_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
  constraint form_images_height_check CHECK ((height > 0)),
  constraint form_images_width_check CHECK ((width > 0)),
  constraint form_images_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX form_images_by_naming ON form_images USING btree (named_at);

create table form_lookup (
  form_id uuid not null,
  workspace_id uuid not null,
  constraint form_lookup_pkey PRIMARY KEY (form_id),
  constraint form_lookup_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table form_versions (
  workspace_id uuid not null,
  form_id uuid not null,
  version integer not null,
  name text not null,
  structure json not null,
  fields json not null,
  created_at timestamp with time zone not null,
  created_by text,
  settings jsonb,
  constraint form_versions_pkey PRIMARY KEY (workspace_id, form_id, version),
  constraint form_versions_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint form_versions_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table forms (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  status text not null,
  settings jsonb not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  published_at timestamp with time zone,
  deleted_at timestamp with time zone,
  password_hash text,
  retention jsonb not null default '{}'::jsonb,
  labels text[] not null default '{}'::text[],
  constraint forms_pkey PRIMARY KEY (workspace_id, id),
  constraint forms_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))),
  constraint forms_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX forms_deleted ON forms USING btree (workspace_id, id) WHERE (deleted_at IS NOT NULL);

create table held_submissions (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  version integer not null,
  answers json not null,
  reference json not null,
  key uuid,
  key_digest bytea,
  reason text not null,
  address bytea not null,
  created_at timestamp with time zone not null,
  origin text,
  language text,
  verified json,
  respondent json,
  constraint held_submissions_pkey PRIMARY KEY (workspace_id, id),
  constraint held_submissions_reason_check CHECK ((reason = ANY (ARRAY['honeypot'::text, 'too_fast'::text, 'no_page'::text, 'no_proof'::text, 'other_site'::text]))),
  constraint held_submissions_workspace_id_form_id_version_fkey FOREIGN KEY (workspace_id, form_id, version) REFERENCES form_versions(workspace_id, form_id, version) ON DELETE CASCADE
);
CREATE INDEX held_submissions_by_age ON held_submissions USING btree (created_at);
CREATE INDEX held_submissions_of_form ON held_submissions USING btree (workspace_id, form_id, id DESC);
CREATE UNIQUE INDEX held_submissions_of_key ON held_submissions USING btree (workspace_id, key) WHERE (key IS NOT NULL);

create table incidents (
  key text not null,
  began_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  is_told boolean not null default true,
  constraint incidents_pkey PRIMARY KEY (key)
);

create table instance (
  singleton boolean not null default true,
  key_fingerprint text not null,
  moved_to text,
  moved_at timestamp with time zone,
  storage_id uuid,
  swept_at timestamp with time zone not null default now(),
  constraint instance_pkey PRIMARY KEY (singleton),
  constraint instance_check CHECK (((moved_to IS NULL) = (moved_at IS NULL))),
  constraint instance_singleton_check CHECK (singleton)
);

create table invitation_batches (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  subject text not null,
  message text not null,
  reminder_subject text,
  reminder_message text,
  remind_after_days integer[] not null,
  is_mailed boolean not null,
  expires_at timestamp with time zone,
  created_by text,
  created_at timestamp with time zone not null,
  constraint invitation_batches_pkey PRIMARY KEY (workspace_id, id),
  constraint invitation_batches_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint invitation_batches_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX invitation_batches_of_form ON invitation_batches USING btree (workspace_id, form_id, id DESC);

create table invitations (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  batch_id uuid not null,
  hash bytea not null,
  email text not null,
  address_key text not null,
  name text not null,
  reference jsonb not null,
  prefill jsonb not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  opened_at timestamp with time zone,
  started_at timestamp with time zone,
  bounced_at timestamp with time zone,
  revoked_at timestamp with time zone,
  mail_id uuid,
  mail_error text,
  remind_at timestamp with time zone,
  reminders integer not null default 0,
  reminded_at timestamp with time zone,
  constraint invitations_pkey PRIMARY KEY (workspace_id, id),
  constraint invitations_workspace_id_batch_id_fkey FOREIGN KEY (workspace_id, batch_id) REFERENCES invitation_batches(workspace_id, id) ON DELETE CASCADE,
  constraint invitations_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX invitations_by_hash ON invitations USING btree (workspace_id, hash);
CREATE UNIQUE INDEX invitations_of_address ON invitations USING btree (workspace_id, form_id, address_key) WHERE (revoked_at IS NULL);
CREATE INDEX invitations_of_batch ON invitations USING btree (workspace_id, batch_id);
CREATE INDEX invitations_of_form ON invitations USING btree (workspace_id, form_id, id DESC);
CREATE INDEX invitations_of_mail ON invitations USING btree (workspace_id, mail_id) WHERE (mail_id IS NOT NULL);
CREATE INDEX invitations_to_remind ON invitations USING btree (remind_at) WHERE (remind_at IS NOT NULL);

create table jobs (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  lane text not null,
  payload jsonb not null,
  run_at timestamp with time zone not null,
  lease_token uuid,
  failures integer not null default 0,
  created_at timestamp with time zone not null,
  lost_claims integer not null default 0,
  parked_at timestamp with time zone,
  constraint jobs_pkey PRIMARY KEY (workspace_id, id),
  constraint jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.01);
CREATE INDEX jobs_due ON jobs USING btree (run_at);
CREATE INDEX jobs_parked ON jobs USING btree (workspace_id) WHERE (parked_at IS NOT NULL);

create table mail_pace (
  name text not null,
  next_at timestamp with time zone not null,
  constraint mail_pace_pkey PRIMARY KEY (name)
);

create table mails (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  form_id uuid,
  recipient text not null,
  subject text not null,
  content bytea,
  state text not null,
  attempts integer not null default 0,
  error text,
  next_attempt_at timestamp with time zone,
  is_private boolean not null default false,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  submission_ids uuid[] not null default '{}'::uuid[],
  constraint mails_pkey PRIMARY KEY (workspace_id, id),
  constraint mails_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'cancelled'::text]))),
  constraint mails_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint mails_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX mails_about ON mails USING gin (submission_ids) WHERE (submission_ids <> '{}'::uuid[]);
CREATE INDEX mails_by_age ON mails USING btree (created_at);
CREATE INDEX mails_in_log ON mails USING btree (workspace_id, state, id DESC) WHERE (NOT is_private);
CREATE INDEX mails_of_form ON mails USING btree (workspace_id, form_id) WHERE (form_id IS NOT NULL);
CREATE INDEX mails_to_recipient ON mails USING btree (workspace_id, lower(recipient), created_at);

create table member_invitations (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  role text not null,
  invited_by text,
  mail_id uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint member_invitations_pkey PRIMARY KEY (workspace_id, id),
  constraint member_invitations_workspace_id_email_key UNIQUE (workspace_id, email),
  constraint member_invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  constraint member_invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint member_invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table members (
  workspace_id uuid not null,
  user_id text not null,
  role text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null default date_trunc('milliseconds'::text, now()),
  constraint members_pkey PRIMARY KEY (workspace_id, user_id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX members_of_user ON members USING btree (user_id);

create table migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (number)
);

create table passkeys (
  user_id text not null,
  id uuid not null,
  credential_id text not null,
  public_key bytea not null,
  algorithm integer not null,
  sign_count bigint not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (user_id, id),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table password_resets (
  hash bytea not null,
  user_id text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint password_resets_pkey PRIMARY KEY (hash),
  constraint password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX password_resets_of_user ON password_resets USING btree (user_id);

create table person_lines (
  user_id text not null,
  id uuid not null,
  actor_kind text not null,
  operation text not null,
  status smallint not null,
  address text,
  agent text,
  session_id text,
  constraint person_lines_pkey PRIMARY KEY (user_id, id),
  constraint person_lines_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table recovery_codes (
  user_id text not null,
  hash text not null,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, hash),
  constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table repeatable_requests (
  workspace_id uuid not null,
  key bytea not null,
  fingerprint bytea not null,
  begun_at timestamp with time zone not null,
  status integer,
  answer bytea,
  constraint repeatable_requests_pkey PRIMARY KEY (workspace_id, key),
  constraint repeatable_requests_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);
CREATE INDEX repeatable_requests_by_age ON repeatable_requests USING btree (begun_at);

create table saved_views (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  name text not null,
  query jsonb not null,
  columns jsonb,
  created_by text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint saved_views_pkey PRIMARY KEY (workspace_id, id),
  constraint saved_views_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint saved_views_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX saved_views_by_name ON saved_views USING btree (workspace_id, form_id, lower(name));

create table search_documents (
  workspace_id uuid not null,
  submission_id uuid not null,
  form_id uuid not null,
  terms tsvector not null,
  constraint search_documents_pkey PRIMARY KEY (workspace_id, submission_id),
  constraint search_documents_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE
) with (toast_tuple_target=4080, autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX search_documents_terms ON search_documents USING gin (terms) WITH (fastupdate='on', gin_pending_list_limit='65536');

create table search_languages (
  workspace_id uuid not null,
  language text not null,
  constraint search_languages_pkey PRIMARY KEY (workspace_id, language),
  constraint search_languages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table search_segments (
  workspace_id uuid not null,
  first_id uuid not null,
  number bigint not null generated always as identity,
  code text generated always as (to_hex(number)) stored,
  rules smallint not null default 1,
  constraint search_segments_pkey PRIMARY KEY (workspace_id, first_id),
  constraint search_segments_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table sessions (
  id text not null,
  user_id text not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  second_factor_at timestamp with time zone,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_key UNIQUE (token),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_of_user ON sessions USING btree (user_id);

create table setup (
  only_row boolean not null default true,
  token_hash bytea not null,
  constraint setup_pkey PRIMARY KEY (only_row),
  constraint setup_only_row_check CHECK (only_row)
);

create table shares (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  title text not null,
  kind text not null,
  elements text[] not null,
  expires_at timestamp with time zone,
  password_hash text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint shares_pkey PRIMARY KEY (workspace_id, id),
  constraint shares_kind_check CHECK ((kind = ANY (ARRAY['summary'::text, 'table'::text]))),
  constraint shares_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX shares_of_form ON shares USING btree (workspace_id, form_id);

create table slug_lookup (
  slug text not null,
  workspace_id uuid not null,
  form_id uuid not null,
  constraint slug_lookup_pkey PRIMARY KEY (slug),
  constraint slug_lookup_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX slugs_of_form ON slug_lookup USING btree (workspace_id, form_id);

create table stored_bytes (
  workspace_id uuid not null,
  form_id uuid not null,
  bytes bigint not null,
  constraint stored_bytes_pkey PRIMARY KEY (workspace_id, form_id),
  constraint stored_bytes_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table submission_changes (
  workspace_id uuid not null,
  submission_id uuid not null,
  id uuid not null,
  kind text not null,
  changed_by text,
  through text not null,
  changed_at timestamp with time zone not null,
  changes json not null,
  api_key_id uuid,
  bulk_id uuid,
  constraint submission_changes_pkey PRIMARY KEY (workspace_id, submission_id, id),
  constraint submission_changes_kind_check CHECK ((kind = ANY (ARRAY['edited'::text, 'trashed'::text, 'restored'::text, 'note_added'::text, 'note_changed'::text, 'note_deleted'::text]))),
  constraint submission_changes_through_check CHECK ((through = ANY (ARRAY['console'::text, 'api'::text, 'cli'::text, 'link'::text, 'waiting_list'::text]))) NOT VALID,
  constraint submission_changes_changed_by_fkey FOREIGN KEY (changed_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint submission_changes_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE SET NULL (api_key_id),
  constraint submission_changes_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX submission_changes_of_bulk ON submission_changes USING btree (workspace_id, bulk_id, submission_id) WHERE (bulk_id IS NOT NULL);

create table submission_counts (
  workspace_id uuid not null,
  form_id uuid not null,
  status text not null,
  slot smallint not null,
  count bigint not null,
  constraint submission_counts_pkey PRIMARY KEY (workspace_id, form_id, status, slot),
  constraint submission_counts_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table submission_links (
  workspace_id uuid not null,
  hash bytea not null,
  form_id uuid not null,
  submission_id uuid not null,
  purpose text not null,
  step integer,
  expires_at timestamp with time zone not null,
  constraint submission_links_pkey PRIMARY KEY (workspace_id, hash),
  constraint submission_links_purpose_check CHECK ((purpose = ANY (ARRAY['resume'::text, 'edit'::text]))),
  constraint submission_links_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX submission_links_expiring ON submission_links USING btree (expires_at);
CREATE INDEX submission_links_of_submission ON submission_links USING btree (workspace_id, submission_id);

create table submission_notes (
  workspace_id uuid not null,
  submission_id uuid not null,
  id uuid not null,
  text text not null,
  written_by text,
  api_key_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint submission_notes_pkey PRIMARY KEY (workspace_id, submission_id, id),
  constraint submission_notes_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE SET NULL (api_key_id),
  constraint submission_notes_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE,
  constraint submission_notes_written_by_fkey FOREIGN KEY (written_by) REFERENCES users(id) ON DELETE SET NULL
);

create table submissions (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  version integer not null,
  status text not null,
  answers json not null,
  reference json not null,
  has_files boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  key uuid,
  key_digest bytea,
  trashed_at timestamp with time zone,
  trashed_by text,
  tags text[] not null default '{}'::text[],
  language text,
  stage_id text,
  assignee_id text,
  verified json,
  respondent json,
  constraint submissions_pkey PRIMARY KEY (workspace_id, id),
  constraint submissions_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'incomplete'::text, 'waiting'::text]))) NOT VALID,
  constraint submissions_trashed_by_fkey FOREIGN KEY (trashed_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint submissions_workspace_id_assignee_id_fkey FOREIGN KEY (workspace_id, assignee_id) REFERENCES members(workspace_id, user_id) ON DELETE SET NULL (assignee_id),
  constraint submissions_workspace_id_form_id_version_fkey FOREIGN KEY (workspace_id, form_id, version) REFERENCES form_versions(workspace_id, form_id, version) ON DELETE CASCADE
) with (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX submissions_assigned ON submissions USING btree (workspace_id, assignee_id) WHERE (assignee_id IS NOT NULL);
CREATE INDEX submissions_moved ON submissions USING btree (workspace_id, form_id) WHERE ((stage_id IS NOT NULL) OR (assignee_id IS NOT NULL));
CREATE INDEX submissions_of_form ON submissions USING btree (workspace_id, form_id, id DESC) INCLUDE (trashed_at);
CREATE INDEX submissions_of_form_by_status ON submissions USING btree (workspace_id, form_id, status, id DESC) WHERE (trashed_at IS NULL);
CREATE UNIQUE INDEX submissions_of_key ON submissions USING btree (workspace_id, key) WHERE (key IS NOT NULL);
CREATE INDEX submissions_of_version ON submissions USING btree (workspace_id, form_id, version) WHERE (trashed_at IS NULL);
CREATE INDEX submissions_received ON submissions USING btree (workspace_id, form_id, COALESCE(completed_at, updated_at) DESC, id DESC) WHERE (trashed_at IS NULL);
CREATE INDEX submissions_tagged ON submissions USING btree (workspace_id, form_id, id DESC) WHERE ((tags <> '{}'::text[]) AND (trashed_at IS NULL));
CREATE INDEX submissions_trashed ON submissions USING btree (trashed_at) WHERE (trashed_at IS NOT NULL);
CREATE INDEX submissions_trashed_of_form ON submissions USING btree (workspace_id, form_id, trashed_at DESC, id DESC) WHERE (trashed_at IS NOT NULL);
CREATE INDEX submissions_waiting ON submissions USING btree (workspace_id, form_id, completed_at) WHERE ((status = 'waiting'::text) AND (trashed_at IS NULL));

create table table_settings (
  workspace_id uuid not null,
  form_id uuid not null,
  user_id text not null,
  settings jsonb not null,
  constraint table_settings_pkey PRIMARY KEY (workspace_id, form_id, user_id),
  constraint table_settings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint table_settings_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);

create table taken_answers (
  workspace_id uuid not null,
  submission_id uuid not null,
  element_id text not null,
  value text not null,
  form_id uuid not null,
  constraint taken_answers_pkey PRIMARY KEY (workspace_id, submission_id, element_id, value),
  constraint taken_answers_workspace_id_submission_id_fkey FOREIGN KEY (workspace_id, submission_id) REFERENCES submissions(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX taken_answers_by_value ON taken_answers USING btree (workspace_id, form_id, element_id, value);

create table taken_forms (
  workspace_id uuid not null,
  form_id uuid not null,
  version integer not null,
  constraint taken_forms_pkey PRIMARY KEY (workspace_id, form_id),
  constraint taken_forms_workspace_id_form_id_version_fkey FOREIGN KEY (workspace_id, form_id, version) REFERENCES form_versions(workspace_id, form_id, version) ON DELETE CASCADE
);

create table task_items (
  workspace_id uuid not null,
  task_id uuid not null,
  position integer not null,
  item jsonb not null,
  constraint task_items_pkey PRIMARY KEY (workspace_id, task_id, "position"),
  constraint task_items_workspace_id_task_id_fkey FOREIGN KEY (workspace_id, task_id) REFERENCES tasks(workspace_id, id) ON DELETE CASCADE
);

create table tasks (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  form_id uuid,
  subject_id uuid,
  requested_by text,
  api_key_id uuid,
  through text not null,
  input jsonb not null default '{}'::jsonb,
  secret bytea,
  total integer not null,
  done integer not null default 0,
  refused integer not null default 0,
  problems jsonb not null default '[]'::jsonb,
  result jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint tasks_pkey PRIMARY KEY (workspace_id, id),
  constraint tasks_through_check CHECK ((through = ANY (ARRAY['console'::text, 'api'::text, 'cli'::text]))),
  constraint tasks_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint tasks_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id) ON DELETE SET NULL (api_key_id),
  constraint tasks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint tasks_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX tasks_of_form ON tasks USING btree (workspace_id, form_id, id DESC) WHERE (form_id IS NOT NULL);
CREATE INDEX tasks_of_subject ON tasks USING btree (workspace_id, subject_id, id DESC) WHERE (subject_id IS NOT NULL);
CREATE UNIQUE INDEX tasks_undone ON tasks USING btree (workspace_id, subject_id) WHERE (kind = 'submissions.undo'::text);

create table totp_secrets (
  user_id text not null,
  secret bytea not null,
  confirmed_at timestamp with time zone,
  last_step bigint not null default 0,
  created_at timestamp with time zone not null,
  constraint totp_secrets_pkey PRIMARY KEY (user_id),
  constraint totp_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table unsubscribed_addresses (
  workspace_id uuid not null,
  address_key text not null,
  created_at timestamp with time zone not null,
  constraint unsubscribed_addresses_pkey PRIMARY KEY (workspace_id, address_key),
  constraint unsubscribed_addresses_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table users (
  id text not null,
  name text not null,
  email text not null,
  email_verified boolean not null,
  image text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  temporary_until timestamp with time zone,
  second_factor boolean not null default false,
  ends_at timestamp with time zone,
  assignment_emails boolean not null default true,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_key UNIQUE (email)
);
CREATE INDEX users_ending ON users USING btree (ends_at) WHERE (ends_at IS NOT NULL);

create table verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX verifications_of_identifier ON verifications USING btree (identifier);

create table visit_counts (
  workspace_id uuid not null,
  form_id uuid not null,
  day date not null,
  kind text not null,
  name text not null,
  count bigint not null,
  constraint visit_counts_pkey PRIMARY KEY (workspace_id, form_id, day, kind, name),
  constraint visit_counts_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX visit_counts_by_day ON visit_counts USING btree (day);

create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid,
  url text not null,
  events text[] not null,
  secret bytea,
  active boolean not null default true,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  previous_secret bytea,
  previous_secret_until timestamp with time zone,
  headers bytea,
  header_names text[] not null default '{}'::text[],
  failing_since timestamp with time zone,
  paused_at timestamp with time zone,
  paused_by text,
  filter json,
  pauses_on_failure boolean not null default true,
  format text not null default 'standard'::text,
  template json,
  constraint webhooks_pkey PRIMARY KEY (workspace_id, id),
  constraint webhooks_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'slack'::text, 'discord'::text, 'teams'::text, 'telegram'::text, 'template'::text]))),
  constraint webhooks_paused_by_check CHECK ((paused_by = ANY (ARRAY['person'::text, 'failure'::text]))),
  constraint webhooks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint webhooks_workspace_id_form_id_fkey FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX webhooks_failing ON webhooks USING btree (workspace_id, id) WHERE (failing_since IS NOT NULL);
CREATE INDEX webhooks_of_form ON webhooks USING btree (workspace_id, form_id);
CREATE INDEX webhooks_paused_by_failure ON webhooks USING btree (workspace_id, id) WHERE (paused_by = 'failure'::text);

create table workspaces (
  id uuid not null,
  name text not null,
  plan text not null,
  rate_limit integer,
  burst integer,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null default date_trunc('milliseconds'::text, now()),
  second_factor_required boolean not null default false,
  audit_days integer not null default 365,
  retention jsonb not null default '{}'::jsonb,
  ends_at timestamp with time zone,
  stages jsonb not null default '[{"id": "new", "name": "New", "color": "gray"}, {"id": "in_progress", "name": "In progress", "color": "blue"}, {"id": "done", "name": "Done", "color": "green"}]'::jsonb,
  stages_updated_at timestamp with time zone not null default date_trunc('milliseconds'::text, now()),
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_audit_days_check CHECK (((audit_days >= 30) AND (audit_days <= 3650))),
  constraint workspaces_burst_check CHECK ((burst >= 0)),
  constraint workspaces_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'business'::text, 'enterprise'::text]))),
  constraint workspaces_rate_limit_check CHECK ((rate_limit > 0))
);
CREATE INDEX workspaces_ending ON workspaces USING btree (ends_at) WHERE (ends_at IS NOT NULL);
