-- Finds the versions of a form that were answered. Without it, every submission of a large form was read.
create index submissions_of_version on submissions (workspace_id, form_id, version) where trashed_at is null;
