-- Tags and notes: a workspace's own words on a submission, which its sender never sees (src/submissions/tags, notes).

alter table submissions add column tags text[] not null default '{}';
-- Few submissions have any: what asks for a tag reads these alone, by the condition tags <> '{}'.
create index submissions_tagged on submissions (workspace_id, form_id, id desc)
  where tags <> '{}' and trashed_at is null;

create table submission_notes (
  workspace_id   uuid not null,
  submission_id  uuid not null,
  id             uuid not null,
  text           text not null,
  -- Who wrote it: a member or a key, or neither: somebody who is gone.
  written_by     text references users (id) on delete set null,
  api_key_id     uuid,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (workspace_id, submission_id, id),
  foreign key (workspace_id, submission_id) references submissions (workspace_id, id) on delete cascade,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);

-- What keys and the command line change is history too, and so is what happens to notes.
alter table submission_changes
  add column api_key_id uuid,
  add foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id),
  drop constraint submission_changes_kind_check,
  drop constraint submission_changes_through_check,
  add constraint submission_changes_kind_check check (
    kind in ('edited', 'trashed', 'restored', 'note_added', 'note_changed', 'note_deleted')),
  add constraint submission_changes_through_check check (through in ('console', 'api', 'cli', 'link'));
