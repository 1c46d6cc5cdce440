import { randomBytes } from 'node:crypto';
import type { Vault } from '#kit/vault.ts';
import { base32 } from './totp.ts';

/** So many are given at once; each works once. */
export const recoveryCodeCount = 10;
/** 50 bits: so many letters of base32. */
const length = 10;

/** Codes to keep on paper, as `abcde-fghij`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => {
    const code = base32(randomBytes(7)).slice(0, length).toLowerCase();
    return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;
  });

/**
 * What is stored of a code, however it was typed: in capitals, without its hyphen, with spaces. By each key of the
 * instance, that of now first.
 */
export const hashesOfRecoveryCode = (vault: Vault, userId: string, typed: string): string[] =>
  vault.signatures('second factors', [
    'recovery code',
    userId,
    typed.toLowerCase().replaceAll(/[^a-z2-7]/g, ''),
  ]);
