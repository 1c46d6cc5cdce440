import { statement } from '#kit/statement.ts';
import { strangersFactors } from '../second-factor/queries.ts';

/** Where a job lives that is about a person and no workspace: the first workspace; nothing before there is one. */
export const findFirstWorkspace = statement(
  'password_reset.find_first_workspace',
  '',
  'id',
  `/* operator: across workspaces */
   select id from workspaces where ends_at is null order by id limit 1`,
);

/** A reset for whoever has this address, unless they were sent three in the last hour. */
export const insertReset = statement(
  'password_reset.insert_reset',
  'email hash now expires_at since:timestamp',
  'user_id',
  `insert into password_resets (hash, user_id, created_at, expires_at)
   select $hash, u.id, $now, $expires_at
     from users u
    where u.email = $email
      and (select count(*) from password_resets r where r.user_id = u.id and r.created_at > $since) < 3
   returning user_id`,
);

/** Whose a reset is, while its time lasts. */
export const findReset = statement(
  'password_reset.find_reset',
  'hash now',
  'user_id',
  `select user_id from password_resets where hash = $hash and expires_at > $now`,
);

/** Uses a reset up; of two at once the second finds none. */
export const useReset = statement(
  'password_reset.use_reset',
  'hash now',
  'user_id email',
  `with used as (
     delete from password_resets where hash = $hash and expires_at > $now returning user_id
   )
   select u.id as user_id, u.email from used join users u on u.id = used.user_id`,
);

/**
 * The person chose this password through a link that was mailed to them: the address is theirs. Every session ends, and
 * every other link; their second factors stay, unless the address was nobody's for certain until now. Who signed in by a provider
 * alone has a password from now on (`account_id`).
 */
export const setPassword = statement(
  'password_reset.set_password',
  'user_id account_id password now',
  '',
  `with ${strangersFactors('id = $user_id')},
   person as (
     update users set temporary_until = null, second_factor = second_factor and email_verified,
                      email_verified = true, updated_at = $now
      where id = $user_id
   ),
   resets as (delete from password_resets where user_id = $user_id),
   secret as (
     update accounts set password = $password, updated_at = $now
      where user_id = $user_id and provider_id = 'credential'
     returning id
   ),
   first as (
     insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
     select $account_id, $user_id, $user_id, 'credential', $password, $now, $now where not exists (select from secret)
   )
   delete from sessions where user_id = $user_id`,
);

/** Those whose time is over. */
export const deleteExpiredResets = statement(
  'password_reset.delete_expired',
  'before',
  '',
  `delete from password_resets where expires_at < $before`,
);
