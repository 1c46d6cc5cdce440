-- Waiting lists (docs/decisions/0118-waiting-lists.md): the status `waiting`, and changes by the waiting list.
-- The new checks are not valid, because stored rows meet the narrower checks, and reading them blocks submits.

-- The version before: it writes only rows that the wider check accepts.
alter table submissions drop constraint submissions_status_check,
  add constraint submissions_status_check check (status in ('completed', 'incomplete', 'waiting')) not valid;

-- The version before: it writes only rows that the wider check accepts.
alter table submission_changes drop constraint submission_changes_through_check,
  add constraint submission_changes_through_check
    check (through in ('console', 'api', 'cli', 'link', 'waiting_list')) not valid;

create index submissions_waiting on submissions (workspace_id, form_id, completed_at)
  where status = 'waiting' and trashed_at is null;
