import { double, jsonb, statement } from '#kit/statement.ts';

/**
 * What waits and fails in an instance. Its cost is bounded: of jobs and deliveries no more than `most` are looked at, by their
 * indexes, so that a larger number says that there are at least so many.
 */
export const readInstance = statement(
  'metrics.read_instance',
  'most',
  [
    'jobs_parked:bigint deliveries_waiting:bigint webhooks_failing:bigint',
    'webhooks_paused:bigint',
    {
      /** By kind: how many are due, and the seconds since the first of them was. */
      jobs: jsonb<Record<string, { due: number; oldest: number }>>(),
    },
  ],
  `/* operator: across workspaces */
   select
     (select coalesce(jsonb_object_agg(kind, jsonb_build_object('due', due, 'oldest', oldest)), '{}')
        from (select kind, count(*) as due, extract(epoch from now() - min(run_at))::double precision as oldest
                from (select kind, run_at from jobs where run_at <= now() order by run_at limit $most) as job
               group by kind) as due) as jobs,
     (select count(*) from jobs where parked_at is not null) as jobs_parked,
     (select count(*) from (select id from deliveries where status = 'Retrying' limit $most) as waiting) as deliveries_waiting,
     (select count(*) from webhooks where failing_since is not null and active) as webhooks_failing,
     (select count(*) from webhooks where paused_by = 'failure') as webhooks_paused`,
);

/** What the server of the database says of itself. */
export const readServer = statement(
  'metrics.read_server',
  '',
  [
    'database_bytes:bigint connections:bigint connections_most:bigint commits:bigint',
    'rollbacks:bigint deadlocks:bigint blocks_read:bigint blocks_hit:bigint',
    'temporary_bytes:bigint',
    {
      /** Seconds since the oldest transaction began. */
      oldest_transaction: double,
    },
  ],
  `select
     pg_database_size(current_database()) as database_bytes,
     (select count(*) from pg_stat_activity where datname = current_database()) as connections,
     current_setting('max_connections')::bigint as connections_most,
     (select coalesce(extract(epoch from now() - min(xact_start)), 0)::double precision from pg_stat_activity
       where datname = current_database()) as oldest_transaction,
     xact_commit as commits, xact_rollback as rollbacks, deadlocks, blks_read as blocks_read, blks_hit as blocks_hit,
     temp_bytes as temporary_bytes
    from pg_stat_database where datname = current_database()`,
);
