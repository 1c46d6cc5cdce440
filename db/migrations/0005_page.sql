-- The public page: submissions exactly once, links to resume and to edit, the spam box, passwords of forms
-- (docs/decisions/0014-exactly-once-and-held.md).

alter table submissions
  -- Made when the page is served, or from the client's Idempotency-Key: whatever comes again with it is the same submission.
  add column key uuid,
  -- SHA-256 of the answers as they were submitted under the key, which tells a retry from other answers. Null until then.
  add column key_digest bytea;
create unique index submissions_of_key on submissions (workspace_id, key) where key is not null;

-- Addresses that let whoever holds them go on with a submission, or change it. Only the SHA-256 of the token is kept.
create table submission_links (
  workspace_id   uuid not null,
  hash           bytea not null,
  form_id        uuid not null,
  submission_id  uuid not null,
  purpose        text not null check (purpose in ('resume', 'edit')),
  -- The number of the step at which a resumed visitor goes on, from 0.
  step           integer,
  expires_at     timestamptz not null,
  primary key (workspace_id, hash),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade
);
create index submission_links_of_submission on submission_links (workspace_id, submission_id);
create index submission_links_expiring on submission_links (expires_at);

-- The spam box: valid answers that looked suspicious. The id, which the visitor was given as the receipt, becomes the
-- submission's when it is released.
create table held_submissions (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  version       integer not null,
  answers       json not null,
  reference     json not null,
  key           uuid,
  key_digest    bytea,
  reason        text not null check (reason in ('honeypot', 'too_fast', 'no_page', 'no_proof')),
  -- Keyed hash of the sender's address within the form: tells senders apart, and names none.
  address       bytea not null,
  created_at    timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id, version) references form_versions (workspace_id, form_id, version) on delete cascade
);
create index held_submissions_of_form on held_submissions (workspace_id, form_id, id desc);
create unique index held_submissions_of_key on held_submissions (workspace_id, key) where key is not null;
create index held_submissions_by_age on held_submissions (created_at);

-- A file of the spam box belongs to nobody's submission, and is kept until its answers are released or deleted.
alter table files
  add column held_id uuid,
  add foreign key (workspace_id, held_id) references held_submissions (workspace_id, id) on delete set null (held_id);
create index files_of_held on files (workspace_id, held_id) where held_id is not null;

-- scrypt; null while none is set. Apart from the settings, which are shown.
alter table forms add column password_hash text;
