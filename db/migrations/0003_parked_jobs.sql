-- A job whose worker died, or lost its lease, three times in a row is parked: it is due never, until somebody retries it
-- (src/kit/queue/park-job.ts). lost_claims counts the claims in a row that ended without a result.
alter table jobs add column lost_claims integer not null default 0, add column parked_at timestamptz;
create index jobs_parked on jobs (workspace_id) where parked_at is not null;
