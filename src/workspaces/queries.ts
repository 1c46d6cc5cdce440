import { statement, word } from '#kit/statement.ts';
import type { Plan } from './plans.ts';
import type { Role } from '#rules/permissions.ts';
import { strangersFactors } from './second-factor/queries.ts';

// Workspaces -----------------------------------------------------------------------------------------------

export const insertWorkspace = statement(
  'workspaces.insert_workspace',
  ['workspace_id name rate_limit? burst? created_at', { plan: word<Plan>() }],
  '',
  `insert into workspaces (id, name, plan, rate_limit, burst, created_at, updated_at)
   values ($workspace_id, $name, $plan, $rate_limit, $burst, $created_at, $created_at)`,
);

/** Newest first. */
export const selectWorkspaces = statement(
  'workspaces.select_workspaces',
  '',
  ['id name rate_limit? burst? created_at', { plan: word<Plan>() }],
  `/* operator: across workspaces */
   select id, name, plan, rate_limit, burst, created_at from workspaces order by id desc`,
);

export const updatePlan = statement(
  'workspaces.update_plan',
  ['workspace_id rate_limit? burst?', { plan: word<Plan>() }],
  'name',
  `update workspaces set plan = $plan, rate_limit = $rate_limit, burst = $burst
    where id = $workspace_id
   returning name`,
);

// People ---------------------------------------------------------------------------------------------------

/** A person and the password to sign in with, or nothing when the address is taken. */
export const insertUser = statement(
  'workspaces.insert_user',
  'id:text account_id name email password email_verified:boolean now',
  'id:text',
  `with person as (
     insert into users (id, name, email, email_verified, created_at, updated_at)
     values ($id, $name, $email, $email_verified, $now, $now)
     on conflict (email) do nothing
     returning id
   )
   insert into accounts (id, user_id, account_id, provider_id, password, created_at, updated_at)
   select $account_id, id, id, 'credential', $password, $now, $now from person
   returning user_id as id`,
);

const hasPassword = `email = $email and id in (select user_id from accounts where provider_id = 'credential')`;

/**
 * Gives a person a temporary password, confirms their address, and ends all their sessions, and links to choose another
 * password; nothing for an unknown address or one
 * who signs in by a provider alone. Their second factors stay, unless the address was nobody's for certain until
 * now: then they were whoever's had the account before.
 */
export const resetPassword = statement(
  'workspaces.reset_password',
  'email password now until:timestamp',
  'id:text',
  `with ${strangersFactors(hasPassword)},
   person as (
     update users set temporary_until = $until, second_factor = second_factor and email_verified,
                      email_verified = true, updated_at = $now
      where ${hasPassword}
     returning id
   ),
   secret as (
     update accounts set password = $password, updated_at = $now
      where user_id in (select id from person) and provider_id = 'credential'
   ),
   ended as (delete from sessions where user_id in (select id from person)),
   resets as (delete from password_resets where user_id in (select id from person))
   select id from person`,
);

/** The person has chosen a password in place of a temporary one: everything is open again. */
export const confirmPassword = statement(
  'workspaces.confirm_password',
  'id:text',
  '',
  `update users set temporary_until = null where id = $id`,
);

/** The person has chosen a password: every session has ended, and links to choose another one. None where `old` is theirs no more. */
export const choosePassword = statement(
  'workspaces.choose_password',
  'user_id old:text password now',
  'user_id',
  `with secret as (
     update accounts set password = $password, updated_at = $now
      where user_id = $user_id and provider_id = 'credential' and password = $old
     returning user_id
   ),
   ended as (delete from sessions where user_id in (select user_id from secret)),
   resets as (delete from password_resets where user_id in (select user_id from secret))
   select user_id from secret`,
);

/** Name and address of a person, and the names of their workspaces. */
export const findWordsOfPerson = statement(
  'workspaces.find_words_of_person',
  'id:text',
  'email name workspaces:texts',
  `/* lookup: across workspaces */
   select u.email, u.name,
          array(select w.name from members m join workspaces w on w.id = m.workspace_id where m.user_id = u.id)
            as workspaces
     from users u where u.id = $id`,
);

/** Adds nothing, and returns nothing, when the workspace does not exist or the person is a member already. */
export const insertMember = statement(
  'workspaces.insert_member',
  ['workspace_id user_id now', { role: word<Role>() }],
  'user_id',
  `insert into members (workspace_id, user_id, role, created_at, updated_at)
   select id, $user_id, $role, $now, $now from workspaces where id = $workspace_id
   on conflict (workspace_id, user_id) do nothing
   returning user_id`,
);

// Set-up ---------------------------------------------------------------------------------------------------

/** Puts the hash of this start's token in place, unless there are accounts. */
export const offerSetup = statement(
  'workspaces.offer_setup',
  'token_hash',
  'offered:boolean',
  `insert into setup (token_hash)
   select $token_hash where not exists (select from users)
   on conflict (only_row) do update set token_hash = excluded.token_hash
   returning true as offered`,
);

/** Whether anybody has an account here. */
export const hasAccounts = statement(
  'workspaces.has_accounts',
  '',
  'has_accounts:boolean',
  `select exists (select from users) as has_accounts`,
);

/**
 * Uses the token up. Of two at once the second waits for the first's transaction, and then finds no row; the
 * look at users also closes a token that a starting process offered while the first account was being made.
 */
export const claimSetup = statement(
  'workspaces.claim_setup',
  'token_hash',
  'claimed:boolean',
  `delete from setup where token_hash = $token_hash and not exists (select from users) returning true as claimed`,
);

/** The hash of a person's password; nothing for one who has none. */
export const findPasswordHash = statement(
  'workspaces.find_password_hash',
  'user_id',
  'password',
  `select password from accounts where user_id = $user_id and provider_id = 'credential' and password is not null`,
);
