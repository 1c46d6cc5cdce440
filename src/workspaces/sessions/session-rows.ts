import { statement } from '#kit/statement.ts';

/** Where somebody is signed in, the newest first; also where the second step has yet to be taken. */
export const selectSessions = statement(
  'sessions.select',
  'user_id now',
  'id:text user_agent:text? created_at updated_at is_halfway:boolean',
  `select s.id, s.user_agent, s.created_at, s.updated_at, u.second_factor and s.second_factor_at is null as is_halfway
     from sessions s join users u on u.id = s.user_id
    where s.user_id = $user_id and s.expires_at > $now
    order by s.created_at desc, s.id desc
    limit 200`,
);

export const endSession = statement(
  'sessions.end',
  'user_id id:text',
  'id:text',
  `delete from sessions where user_id = $user_id and id = $id returning id`,
);

/** Ends all of a person's sessions but one. */
export const endOtherSessions = statement(
  'sessions.end_others',
  'user_id id:text',
  'id:text',
  `delete from sessions where user_id = $user_id and id <> $id returning id`,
);
