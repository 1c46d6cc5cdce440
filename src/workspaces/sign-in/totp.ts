import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

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
