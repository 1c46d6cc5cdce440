import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { encodeBase32 } from './totp.ts';

/** The number of recovery codes in a set; each works once. */
const recoveryCodeCount = 10;
/** Base32 characters of a code, which makes 50 bits. */
const length = 10;

/** Returns new recovery codes, such as `abcde-fghij`. */
const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => {
    const code = encodeBase32(randomBytes(7)).slice(0, length).toLowerCase();
    return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;
  });

/**
 * Returns the stored hashes of a code, one for each instance key, the current one first. Case, hyphens and
 * spaces in the typed code are ignored.
 */
export const hashesOfRecoveryCode = (vault: Vault, userId: string, typed: string): string[] =>
  vault.signatures('second factors', [
    'recovery code',
    userId,
    typed.toLowerCase().replaceAll(/[^a-z2-7]/g, ''),
  ]);

const deleteRecoveryCode = statement('user_id hashes', 'user_id')`
  delete from recovery_codes where user_id = $user_id and hash = any($hashes) returning user_id`;

const replaceRecoveryCodes = statement('user_id hashes', '')`
  with previous as (delete from recovery_codes where user_id = $user_id)
  insert into recovery_codes (user_id, hash) select $user_id, hash from unnest($hashes) as given (hash)`;

/** Replaces the recovery codes of a person, and returns the new ones. */
export async function issueRecoveryCodes(
  vault: Vault,
  client: ClientBase,
  userId: string,
): Promise<string[]> {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => hashesOfRecoveryCode(vault, userId, code)[0]!);
  await replaceRecoveryCodes(client, { user_id: userId, hashes });
  return codes;
}

/** Deletes the code that the person typed. @returns whether it was one of their remaining codes. */
export async function spendRecoveryCode(
  vault: Vault,
  client: ClientBase,
  userId: string,
  typed: string,
): Promise<boolean> {
  const hashes = hashesOfRecoveryCode(vault, userId, typed);
  return (await deleteRecoveryCode(client, { user_id: userId, hashes })).length > 0;
}
