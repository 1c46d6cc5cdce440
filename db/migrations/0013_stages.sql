-- The stage and the assignee of a submission (docs/decisions/0111-stages-and-assignees.md).
alter table workspaces add column stages jsonb not null
  default '[{"id":"new","name":"New","color":"gray"},{"id":"in_progress","name":"In progress","color":"blue"},{"id":"done","name":"Done","color":"green"}]';
alter table workspaces add column stages_updated_at timestamptz not null default date_trunc('milliseconds', now());
-- Null for the first stage.
alter table submissions add column stage_id text;
alter table submissions add column assignee_id text;
-- The version before: leaves assignee_id null, and removes members as before.
alter table submissions add foreign key (workspace_id, assignee_id) references members (workspace_id, user_id)
  on delete set null (assignee_id);
-- Whether the submissions of a form use stages or assignees.
create index submissions_moved on submissions (workspace_id, form_id) where stage_id is not null or assignee_id is not null;
-- Finds what is assigned to a member who leaves.
create index submissions_assigned on submissions (workspace_id, assignee_id) where assignee_id is not null;
-- Stored tables and saved views do not show the new columns until a person asks for them.
-- The version before: ignores ids of columns that it does not know.
update table_settings set settings = jsonb_set(settings, '{hidden}', settings -> 'hidden' || '["$stage", "$assignee"]');
-- The version before: see above.
update saved_views set columns = jsonb_set(columns, '{hidden}', columns -> 'hidden' || '["$stage", "$assignee"]')
 where columns is not null;

-- Of the instance
-- Whether the person is emailed about submissions that are assigned to them.
alter table users add column assignment_emails boolean not null default true;
