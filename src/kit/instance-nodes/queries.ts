import { double, statement, text } from '../statement.ts';

/**
 * What the servers of this database call their sessions, of those that have asked for something in the last seconds: each
 * does twice in a second, and the sessions of a machine that is gone may stay for hours.
 */
export const selectNodes = statement(
  'nodes.select_nodes',
  { seconds: double },
  { name: text },
  `select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'formloom node %'
      and state_change > now() - make_interval(secs => $seconds)`,
);
