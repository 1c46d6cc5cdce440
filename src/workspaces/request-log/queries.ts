import { type Column, statement } from '#kit/statement.ts';

const bigints: Column<number[]> = { pg: 'bigint[]' };

/** Adds requests of keys that are still there. */
export const insertRequests = statement(
  'request_log.insert_requests',
  'workspace_ids key_ids ids methods paths statuses durations:integers times',
  '',
  `/* sweep: across workspaces */
   insert into api_requests (workspace_id, api_key_id, id, method, path, status, ms, requested_at)
   select given.workspace_id, given.key_id, given.id, given.method, given.path, given.status, given.ms, given.at
   from unnest($workspace_ids, $key_ids, $ids, $methods, $paths, $statuses, $durations, $times)
     as given (workspace_id, key_id, id, method, path, status, ms, at)
   join api_keys k on k.workspace_id = given.workspace_id and k.id = given.key_id
   on conflict do nothing`,
);

/** Counts requests of keys by day, and notes when and from where each was used last. In one order: no deadlocks. */
export const countRequests = statement(
  'request_log.count_requests',
  ['workspace_ids key_ids days times addresses', { requests: bigints }],
  '',
  `/* sweep: across workspaces */
   with held as (
     select workspace_id, id from api_keys where workspace_id = any ($workspace_ids) and id = any ($key_ids)
     order by workspace_id, id for update),
   given as (
     select given.* from unnest($workspace_ids, $key_ids, $days, $requests, $times, $addresses)
       as given (workspace_id, key_id, day, requests, at, address)
     join held on held.workspace_id = given.workspace_id and held.id = given.key_id),
   used as (
     update api_keys k set last_used_at = greatest(k.last_used_at, given.at), last_used_address = given.address
     from given where k.workspace_id = given.workspace_id and k.id = given.key_id),
   counted as (
     insert into api_key_days as d (workspace_id, api_key_id, day, requests)
     select workspace_id, key_id, day, requests from given order by workspace_id, key_id, day
     on conflict (workspace_id, api_key_id, day) do update set requests = d.requests + excluded.requests)
   select`,
);

/**
 * Leaves the latest requests of these keys, and the days that lists count. The last that goes is looked for once for each key:
 * PostgreSQL else does it for each request that may go.
 */
export const trimRequests = statement(
  'request_log.trim_requests',
  'workspace_ids key_ids kept:integer before:text',
  '',
  `/* sweep: across workspaces */
   with given as (select * from unnest($workspace_ids, $key_ids) as given (workspace_id, key_id)),
   days as (
     delete from api_key_days d using given
     where d.workspace_id = given.workspace_id and d.api_key_id = given.key_id and d.day < $before::date),
   old as materialized (
     select given.workspace_id, given.key_id, (
       select l.id from api_requests l where l.workspace_id = given.workspace_id and l.api_key_id = given.key_id
       order by l.id desc offset $kept limit 1) as last
     from given)
   delete from api_requests r using old
   where r.workspace_id = old.workspace_id and r.api_key_id = old.key_id and r.id <= old.last`,
);

/** The latest requests of a key, newest first. */
export const listRequests = statement(
  'request_log.list_requests',
  'workspace_id key_id limit',
  'id method path status:smallint ms:integer requested_at:timestamp',
  `select id, method, path, status, ms, requested_at from api_requests
   where workspace_id = $workspace_id and api_key_id = $key_id order by id desc limit $limit`,
);
