import { statement } from '#kit/statement.ts';

export const readServer = statement(
  'checks.read_server',
  '',
  'version encoding:text is_read_only:boolean is_standby:boolean now:double',
  `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
          current_setting('transaction_read_only')::boolean as is_read_only, pg_is_in_recovery() as is_standby,
          extract(epoch from clock_timestamp())::double precision as now`,
);

/** Transactions that hold locks and do nothing for so many seconds, or were prepared and never ended. */
export const selectLeftovers = statement(
  'checks.select_leftovers',
  'seconds',
  'who:text age:double',
  `select format('process %s (%s)', pid, coalesce(nullif(application_name, ''), usename)) as who,
          extract(epoch from now() - state_change)::double precision as age
     from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'
      and state_change < now() - make_interval(secs => $seconds)
   union all
   select format('prepared transaction %s', gid), extract(epoch from now() - prepared)::double precision
     from pg_prepared_xacts
    where database = current_database() and prepared < now() - make_interval(secs => $seconds)`,
);

/** Cells of which the tables are not where they should be. */
export const selectLostCells = statement(
  'checks.select_lost_cells',
  '',
  'name',
  `select name from cells where to_regclass(format('%I.workspaces', schema_name)) is null order by name`,
);

/**
 * Finds the servers with a query in the last seconds. Each sends two a second, and the sessions of a lost machine can stay
 * for hours.
 */
export const findServers = statement(
  'checks.find_servers',
  'seconds',
  'name',
  `select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'formloom node %'
      and state_change > now() - make_interval(secs => $seconds)`,
);
