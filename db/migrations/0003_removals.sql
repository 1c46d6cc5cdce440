-- A bulk removal: the submissions that a person saw and confirmed by typing their number, removed in batches by a
-- job of the queue (src/submissions/changes/remove-many.ts). The row stays, as the record of who removed how many.
create table removals (
  workspace_id  uuid not null,
  id            uuid not null,
  form_id       uuid not null,
  requested_by  text references users (id) on delete set null,
  total         integer not null,
  removed       integer not null default 0,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index removals_of_form on removals (workspace_id, form_id) where finished_at is null;

-- What is left to remove. The list is written down once, so that exactly what was confirmed goes: neither what
-- arrives later, nor what an edit makes match the filter. No foreign key to submissions: one that is gone is skipped,
-- and the check would cost every removal of a submission.
create table removal_items (
  workspace_id   uuid not null,
  removal_id     uuid not null,
  submission_id  uuid not null,
  primary key (workspace_id, removal_id, submission_id),
  foreign key (workspace_id, removal_id) references removals (workspace_id, id) on delete cascade
);
