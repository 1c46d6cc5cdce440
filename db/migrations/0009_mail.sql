-- Everything that goes out by mail (docs/decisions/0019-mail.md), and invitations.

-- The outbox and the mail log. A row is written in the transaction of its cause, with the job of the same id that sends it.
create table mails (
  workspace_id     uuid not null references workspaces (id) on delete cascade,
  -- The mail's Message-ID is made of it, so that a double is recognised.
  id               uuid not null,
  kind             text not null,
  form_id          uuid,
  recipient        text not null,
  subject          text not null,
  -- What it says, sealed with the instance's key, for it may hold secret links; null as soon as it was sent.
  content          bytea,
  state            text not null check (state in ('queued', 'sent', 'failed', 'cancelled')),
  attempts         integer not null default 0,
  -- Why the last attempt failed, in words; null after a success.
  error            text,
  next_attempt_at  timestamptz,
  -- Between a person and the service (a password reset): not in the workspace's mail log.
  is_private       boolean not null default false,
  created_at       timestamptz not null,
  settled_at       timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index mails_in_log on mails (workspace_id, state, id desc) where not is_private;
create index mails_of_form on mails (workspace_id, form_id) where form_id is not null;
create index mails_by_age on mails (created_at);

-- When the next mail may leave, for all processes: 'bulk' is what goes to many at once, 'prompt' is all else.
create table mail_pace (
  name     text primary key,
  next_at  timestamptz not null
);
insert into mail_pace (name, next_at) values ('bulk', now()), ('prompt', now());

-- Invitations (docs/decisions/0020-invitations.md).

-- What was invited at once, by one request or one import: what its mails say, and when they remind.
create table invitation_batches (
  workspace_id       uuid not null,
  id                 uuid not null,
  form_id            uuid not null,
  subject            text not null,
  message            text not null,
  -- Null: the invitation's own, with "Reminder:" before the subject.
  reminder_subject   text,
  reminder_message   text,
  -- Days after an invitation was sent, ascending.
  remind_after_days  integer[] not null,
  -- Whether mails are sent; if not, the links are given out some other way.
  is_mailed          boolean not null,
  expires_at         timestamptz,
  -- So many were asked for, have become invitations, and were left out because their address was invited already.
  total              integer not null,
  created            integer not null default 0,
  skipped            integer not null default 0,
  created_by         text references users (id) on delete set null,
  created_at         timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index invitation_batches_of_form on invitation_batches (workspace_id, form_id, id desc);

-- Lines of an import that are not invitations yet. A step of the import deletes those that it makes invitations of.
create table invitation_drafts (
  workspace_id  uuid not null,
  batch_id      uuid not null,
  line          integer not null,
  draft         jsonb not null,
  primary key (workspace_id, batch_id, line),
  foreign key (workspace_id, batch_id) references invitation_batches (workspace_id, id) on delete cascade
);

-- One person who may fill in one form once. Its id is the key of its submission, so that there can only be one.
create table invitations (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  batch_id      uuid not null,
  -- SHA-256 of the link's token; the token itself is not kept.
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
  -- The last mail about it, and why that could not be delivered, in words.
  mail_id       uuid,
  mail_error    text,
  -- When the schedule reminds next.
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

-- Addresses that asked a workspace for no more invitations and reminders.
create table unsubscribed_addresses (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  address_key   text not null,
  created_at    timestamptz not null,
  primary key (workspace_id, address_key)
);

-- How often an address that a visitor entered is written to is bounded.
create index mails_to_recipient on mails (workspace_id, recipient, created_at);

-- Submissions that wait for their form's next digest mail. A digest is under way while its row is here.
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

-- Links to choose another password: people, and no tenants' rows. Only the SHA-256 of the token is kept.
create table password_resets (
  hash        bytea primary key,
  user_id     text not null references users (id) on delete cascade,
  created_at  timestamptz not null,
  expires_at  timestamptz not null
);
create index password_resets_of_user on password_resets (user_id);

-- People who were asked to join a workspace. The link's token is made of the row's id with the instance's key.
create table member_invitations (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  email         text not null,
  role          text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  invited_by    text references users (id) on delete set null,
  -- The latest mail with the link.
  mail_id       uuid,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, email)
);

-- Who got which announcement, so that the same one reaches nobody twice: people, and no tenants' rows.
create table announced (
  -- SHA-256 of subject and text.
  announcement  bytea not null,
  user_id       text not null references users (id) on delete cascade,
  announced_at  timestamptz not null,
  primary key (announcement, user_id)
);
