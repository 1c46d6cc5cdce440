import { statement } from '#kit/statement.ts';

/** Notes that these are wrong now. @returns whether somebody was told of it. */
export const noteIncidents = statement(
  'watch.note_incidents',
  'keys',
  'key:text is_told:boolean',
  `insert into incidents (key, began_at, seen_at, is_told)
   select key, now(), now(), false from unnest($keys) as key order by key
   on conflict (key) do update set seen_at = excluded.seen_at
   returning key, is_told`,
);

/** Takes it upon the caller to tell of these: of several processes at the same time each falls to one. @returns them, and since when it is so. */
export const takeIncidents = statement(
  'watch.take_incidents',
  'keys',
  'key:text began_at:timestamp',
  `with untold as (
     select key from incidents where key = any ($keys) and not is_told order by key for update)
   update incidents set is_told = true from untold where incidents.key = untold.key
   returning incidents.key, began_at`,
);

/** Ends those that nobody has seen for so many seconds. */
export const endIncidents = statement(
  'watch.end_incidents',
  'calm:double',
  'key:text',
  `delete from incidents where seen_at < now() - make_interval(secs => $calm) returning key`,
);

/**
 * Webhooks that are paused because they failed, and active ones with a delivery that failed for good since they fail.
 * Deliveries of that time are looked at in their order, and so many at most: the first of them fails first. Of very many the latest:
 * those that nobody takes up again stay for years.
 */
export const selectLostWebhooks = statement(
  'watch.select_lost_webhooks',
  '',
  'workspace_id workspace id form_id form:text url is_paused:boolean',
  `/* operator: across workspaces */
   select w.workspace_id, workspaces.name as workspace, w.id, w.form_id, forms.name as form, w.url, not w.active as is_paused
     from (
       select * from webhooks where paused_by = 'failure'
       union all
       select * from webhooks
        where failing_since is not null and active
          and exists (
            select from (
              select status, is_test from deliveries
               where deliveries.workspace_id = webhooks.workspace_id and deliveries.webhook_id = webhooks.id
                 and deliveries.id >= (lpad(to_hex(floor(extract(epoch from failing_since) * 1000)::bigint - 60000), 12, '0')
                                       || repeat('0', 20))::uuid
                 and deliveries.created_at >= failing_since
               order by deliveries.id
               limit 500) as since
             where status = 'Failed' and not is_test)
     ) as w
     join forms on forms.workspace_id = w.workspace_id and forms.id = w.form_id and forms.deleted_at is null
     join workspaces on workspaces.id = w.workspace_id
    order by coalesce(w.paused_at, w.failing_since) desc
    limit 1000`,
);

export const selectOwners = statement(
  'watch.select_owners',
  'workspace_id',
  'email',
  `select u.email from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspace_id and m.role = 'owner' order by u.id`,
);
