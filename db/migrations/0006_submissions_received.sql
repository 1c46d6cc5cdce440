-- The console lists submissions by when they were received: by their completion, and incomplete ones by their last save.
create index submissions_received on submissions (workspace_id, form_id, coalesce(completed_at, updated_at) desc, id desc)
  where trashed_at is null;
