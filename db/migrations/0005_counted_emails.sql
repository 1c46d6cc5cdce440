-- Emails by when they were queued and sent, for the limits of what a workspace, a form and an account send, and what an address gets.
-- Without foreign keys to forms and accounts: deleting a form, its mails or an account gives nothing of a limit back.
create table counted_emails (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- The email's id.
  id            uuid not null,
  kind          text not null,
  form_id       uuid,
  -- Who caused it: who is signed in, who made the key, or who invited the person that a schedule reminds.
  account_id    text,
  -- SHA-256 of the address in lower case.
  recipient     bytea not null,
  queued_at     timestamptz not null,
  sent_at       timestamptz,
  primary key (workspace_id, id)
);
create index counted_emails_to on counted_emails (recipient, sent_at) where sent_at is not null;
create index counted_emails_from on counted_emails (workspace_id, sent_at) where sent_at is not null;
create index counted_emails_of_account on counted_emails (account_id, queued_at) where account_id is not null;
create index counted_emails_queued on counted_emails (workspace_id, queued_at);
create index counted_emails_by_age on counted_emails (queued_at);
-- The version before: it counts in mails without these indexes, only slower.
drop index mails_sent_to;
-- The version before: as above.
drop index mails_sent_from;
