import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientBase } from 'pg';
import { statement } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';

/**
 * Time-based codes (RFC 6238 over RFC 4226) with the parameters that all apps support: SHA-1, six digits, 30
 * seconds.
 */
const stepMs = 30_000;
const digits = 6;
/** Clocks differ, so the previous and the next code are accepted too (RFC 6238, 5.2). */
const stepsBeside = 1;

const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes in base32 (RFC 4648) without padding, as apps expect secrets. */
export function encodeBase32(bytes: Uint8Array): string {
  let written = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      written += base32Alphabet[(buffer >> bits) & 31]!;
    }
  }
  return bits > 0 ? written + base32Alphabet[(buffer << (5 - bits)) & 31]! : written;
}

function bytesOf(secret: string): Buffer {
  const bytes: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const letter of secret) {
    buffer = ((buffer << 5) | base32Alphabet.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((buffer >> bits) & 0xff);
    }
  }
  return Buffer.from(bytes);
}

/** Returns 160 random bits in base32, as RFC 4226 recommends. */
export const newTotpSecret = (): string => encodeBase32(randomBytes(20));

/** Returns the number of the 30-second step that contains a time. */
export const totpStepAt = (at: Date): number => Math.floor(at.getTime() / stepMs);

/** Returns the code of a step. @param secret in base32. */
export function computeTotpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * Returns the step that a code belongs to, if it is valid now; otherwise undefined. Timing does not reveal
 * which step it is.
 */
export function findStepOfCode(secret: string, code: string, at: Date): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const given = Buffer.from(code);
  const current = totpStepAt(at);
  let found: number | undefined;
  for (let step = current - stepsBeside; step <= current + stepsBeside; step += 1) {
    const isIt = timingSafeEqual(Buffer.from(computeTotpCode(secret, step)), given);
    if (isIt) found = step;
  }
  return found;
}

/** Returns the URL in the QR code. @param service the name that the app lists. */
export function totpSetupUrl(secret: string, { service, email }: { service: string; email: string }): string {
  const label = `${encodeURIComponent(service)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(service)}`;
}

/** Whether a typed code is from an app, not a recovery code. */
export const looksLikeTotp = (typed: string): boolean => /^\d{6}$/.test(typed.replaceAll(/\s/g, ''));

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
