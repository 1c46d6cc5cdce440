/**
 * For the `with` of a statement that makes certain whose an address is: what whoever had the account until now set up goes.
 * @param account a condition on `users`.
 */
export const strangersFactors = (account: string): string =>
  `stranger as (select id from users where ${account} and not email_verified),
   strange_totp as (delete from totp_secrets where user_id in (select id from stranger)),
   strange_keys as (delete from passkeys where user_id in (select id from stranger)),
   strange_codes as (delete from recovery_codes where user_id in (select id from stranger))`;
