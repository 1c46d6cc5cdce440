-- A change of many can be undone (src/submissions/bulk): each submission's change says of which it was a part, and one that
-- undoes another says which. Many get a status at once, too.
alter table submission_changes add column bulk_id uuid;
create index submission_changes_of_bulk on submission_changes (workspace_id, bulk_id, submission_id)
  where bulk_id is not null;

alter table bulk_changes add column status text, add column undoes uuid;
-- The version before: undoes nothing.
create unique index bulk_changes_undone on bulk_changes (workspace_id, undoes) where undoes is not null;
-- The version before: fails at a job of a kind that it does not know, which goes on when it has been renewed.
alter table bulk_changes
  drop constraint bulk_changes_kind_check,
  add constraint bulk_changes_kind_check check (kind in ('trash', 'empty', 'remove', 'tag', 'status', 'undo')),
  add check (status in ('completed', 'incomplete'));
