import { statement } from '#kit/statement.ts';

/** The owners of workspaces that have a living API key, each once, in the first of their workspaces. */
export const selectKeyOwners = statement(
  'mail.select_key_owners',
  'now',
  'user_id email name workspace_id',
  `/* operator: across workspaces */
   select distinct on (u.id) u.id as user_id, u.email, u.name, m.workspace_id
     from members m
     join users u on u.id = m.user_id
    where m.role = 'owner'
      and exists (select from api_keys k
                   where k.workspace_id = m.workspace_id and k.revoked_at is null
                     and (k.expires_at is null or k.expires_at > $now))
    order by u.id, m.workspace_id`,
);

/** Who has got an announcement. */
export const selectAnnounced = statement(
  'mail.select_announced',
  'announcement',
  'user_id',
  `select user_id from announced where announcement = $announcement`,
);

/** Writes down who gets it. @returns those who had not: of two runs at once each person falls to one. */
export const insertAnnounced = statement(
  'mail.insert_announced',
  'announcement user_ids:texts now',
  'user_id',
  `insert into announced (announcement, user_id, announced_at)
   select $announcement, user_id, $now from unnest($user_ids) as person (user_id)
   on conflict (announcement, user_id) do nothing
   returning user_id`,
);
