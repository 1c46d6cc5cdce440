-- What whoever runs the service watches: webhooks that fail or were paused for it are counted without reading all others.
create index webhooks_failing on webhooks (workspace_id, id) where failing_since is not null;
create index webhooks_paused_by_failure on webhooks (workspace_id, id) where paused_by = 'failure';
