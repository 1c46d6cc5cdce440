/**
 * Returns SQL for the `with` clause of a statement that confirms an address. It removes the two-factor
 * methods of an unconfirmed account, because a stranger may have set them up.
 * @param account a condition on `users`.
 */
export const deleteUnconfirmedFactorsSql = (account: string): string =>
  `stranger as (select id from users where ${account} and not email_verified),
   strange_totp as (delete from totp_secrets where user_id in (select id from stranger)),
   strange_keys as (delete from passkeys where user_id in (select id from stranger)),
   strange_codes as (delete from recovery_codes where user_id in (select id from stranger))`;
