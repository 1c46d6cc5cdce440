import { statement } from '#kit/statement.ts';

/** Makes changes of one person's second factors take turns, until the transaction ends. */
export const lockPerson = statement(
  'second_factor.lock_person',
  'user_id',
  'email',
  `select email from users where id = $user_id for no key update`,
);

/** What a person has: a confirmed app since when, passkeys, and recovery codes that are left. */
export const findFactors = statement(
  'second_factor.find_factors',
  'user_id',
  'totp_since:timestamp? passkeys:bigint recovery_codes',
  `select (select confirmed_at from totp_secrets where user_id = $user_id) as totp_since,
          (select count(*) from passkeys where user_id = $user_id) as passkeys,
          (select count(*) from recovery_codes where user_id = $user_id) as recovery_codes`,
);

/** Begins with another secret, while none is confirmed; nothing when one is. */
export const putTotp = statement(
  'second_factor.put_totp',
  'user_id secret now',
  'user_id',
  `insert into totp_secrets (user_id, secret, created_at) values ($user_id, $secret, $now)
   on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at, last_step = 0
    where totp_secrets.confirmed_at is null
   returning user_id`,
);

export const findTotp = statement(
  'second_factor.find_totp',
  'user_id',
  'secret is_confirmed',
  `select secret, confirmed_at is not null as is_confirmed from totp_secrets where user_id = $user_id`,
);

/** Takes the code of a step, once: of two at once the second finds it taken. The first one confirms the secret. */
export const takeTotpStep = statement(
  'second_factor.use_totp_step',
  'user_id step:bigint now',
  'user_id',
  `update totp_secrets set last_step = $step, confirmed_at = coalesce(confirmed_at, $now)
    where user_id = $user_id and last_step < $step
   returning user_id`,
);

export const deleteTotp = statement(
  'second_factor.delete_totp',
  'user_id',
  'user_id',
  `delete from totp_secrets where user_id = $user_id and confirmed_at is not null returning user_id`,
);

export const spendRecoveryCode = statement(
  'second_factor.use_recovery_code',
  'user_id hashes',
  'user_id',
  `delete from recovery_codes where user_id = $user_id and hash = any($hashes) returning user_id`,
);

/** Gives others in place of those that are left. */
export const replaceRecoveryCodes = statement(
  'second_factor.replace_recovery_codes',
  'user_id hashes',
  '',
  `with former as (delete from recovery_codes where user_id = $user_id)
   insert into recovery_codes (user_id, hash) select $user_id, hash from unnest($hashes) as given (hash)`,
);

/**
 * Notes whether the person has a second factor, after one came or went; with the last one the recovery codes go. Where
 * that is another answer than before every session of theirs ends, and whoever asked begins a new one.
 */
export const settleFactors = statement(
  'second_factor.settle',
  'user_id',
  'second_factor has_changed:boolean recovery_codes',
  `with had as (
     select u.second_factor as before,
            exists (select from totp_secrets where user_id = $user_id and confirmed_at is not null)
              or exists (select from passkeys where user_id = $user_id) as after
       from users u where u.id = $user_id
   ),
   codes as (delete from recovery_codes where user_id = $user_id and not (select after from had)),
   ended as (delete from sessions where user_id = $user_id and (select before <> after from had))
   update users u set second_factor = had.after from had where u.id = $user_id
   returning had.after as second_factor, had.before <> had.after as has_changed,
             (select count(*) from recovery_codes where user_id = $user_id) as recovery_codes`,
);

/**
 * For the `with` of a statement that makes certain whose an address is: what whoever had the account until now set up goes.
 * @param account a condition on `users`.
 */
export const strangersFactors = (account: string): string =>
  `stranger as (select id from users where ${account} and not email_verified),
   strange_totp as (delete from totp_secrets where user_id in (select id from stranger)),
   strange_keys as (delete from passkeys where user_id in (select id from stranger)),
   strange_codes as (delete from recovery_codes where user_id in (select id from stranger))`;

/** Takes all second factors from whoever has an address, and ends their sessions; nothing for an unknown address. */
export const deleteFactors = statement(
  'second_factor.delete_all',
  'email',
  'id:text had_any:boolean',
  `with person as (select id, second_factor from users where email = $email),
   totp as (delete from totp_secrets where user_id in (select id from person)),
   keys as (delete from passkeys where user_id in (select id from person)),
   codes as (delete from recovery_codes where user_id in (select id from person)),
   ended as (delete from sessions where user_id in (select id from person))
   update users u set second_factor = false from person where u.id = person.id
   returning u.id, person.second_factor as had_any`,
);

export const selectPasskeys = statement(
  'second_factor.select_passkeys',
  'user_id',
  'id credential_id name created_at last_used_at?',
  `select id, credential_id, name, created_at, last_used_at from passkeys where user_id = $user_id order by id`,
);

export const countPasskeys = statement(
  'second_factor.count_passkeys',
  'user_id',
  'count',
  `select count(*) as count from passkeys where user_id = $user_id`,
);

/** Adds nothing, and returns nothing, when anybody has this credential already. */
export const insertPasskey = statement(
  'second_factor.insert_passkey',
  'user_id id credential_id public_key algorithm sign_count name now',
  'id',
  `insert into passkeys (user_id, id, credential_id, public_key, algorithm, sign_count, name, created_at)
   values ($user_id, $id, $credential_id, $public_key, $algorithm, $sign_count, $name, $now)
   on conflict (credential_id) do nothing
   returning id`,
);

export const renamePasskey = statement(
  'second_factor.rename_passkey',
  'user_id id name',
  'id',
  `update passkeys set name = $name where user_id = $user_id and id = $id returning id`,
);

export const deletePasskey = statement(
  'second_factor.delete_passkey',
  'user_id id',
  'id',
  `delete from passkeys where user_id = $user_id and id = $id returning id`,
);

/** A passkey with whose it is. */
export const findPasskey = statement(
  'second_factor.find_passkey',
  'credential_id',
  'user_id id public_key algorithm email temporary_until:timestamp?',
  `select p.user_id, p.id, p.public_key, p.algorithm, u.email, u.temporary_until
     from passkeys p join users u on u.id = p.user_id
    where p.credential_id = $credential_id`,
);

/** Notes that it was used, unless its count did not grow; where it does not count, both are 0. */
export const takePasskeyCount = statement(
  'second_factor.take_passkey_count',
  'user_id id sign_count now',
  'id',
  `update passkeys set sign_count = $sign_count, last_used_at = $now
    where user_id = $user_id and id = $id and (sign_count < $sign_count or (sign_count = 0 and $sign_count = 0))
   returning id`,
);
