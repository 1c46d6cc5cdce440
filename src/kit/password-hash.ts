import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from './errors.ts';

/*
 * Hashes of passwords: scrypt with a salt, as OWASP advises it (N=2^15, r=8, p=3 weighs as much as N=2^17, p=1, and takes
 * 32 MB in place of 128). Until 2026 they were better-auth's, `salt:key`, N=2^14, r=16, p=1: those are still known, and
 * made anew when their password is shown (isOldHash).
 */

type Cost = { N: number; r: number; p: number };
const cost: Cost = { N: 2 ** 15, r: 8, p: 3 };
const oldCost: Cost = { N: 2 ** 14, r: 16, p: 1 };
/** What an old hash takes less, so that the time of a try does not tell how old an account is, or that there is one. */
const difference: Cost = { N: 2 ** 15, r: 8, p: 2 };

const keyBytes = 64;
const saltBytes = 16;
const scheme = '$scrypt$ln=15,r=8,p=3$';

/** So many are worked out at once: each takes 32 MB and a thread that files and names need too. */
const atOnce = 2;
/** So many wait for their turn, a few seconds of work; who comes behind them is told to come again. */
const mostWaiting = 32;
let running = 0;
const waiting: (() => void)[] = [];

/**
 * Does what takes so much memory, a few at once.
 * @throws ApiError service_unavailable when very many wait.
 */
export async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < atOnce) running += 1;
  else if (waiting.length >= mostWaiting)
    throw new ApiError('service_unavailable', 'Very many sign in just now. Try again.', { retryAfter: 5 });
  // Whoever ends hands its place over.
  else await new Promise<void>((resolve) => void waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** @param password in any form of its characters: keyboards differ in how they compose them. */
const keyOf = (password: string, salt: Buffer | string, { N, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem: 2 * 128 * N * r }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

/**
 * Takes some 150 ms of a core, as does trying one, so whoever asks limits the tries.
 * @throws ApiError service_unavailable when very many wait.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await inTurn(() => keyOf(password, salt, cost));
  return `${scheme}${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/** Whether a hash is weaker than those that are made now. */
export const isOldHash = (hash: string): boolean => !hash.startsWith(scheme);

/**
 * Whether a password is the one of a hash, in a time that does not depend on it.
 * @throws ApiError service_unavailable when very many wait.
 */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  if (isOldHash(hash)) {
    const [salt = '', key = ''] = hash.split(':');
    const tried = await inTurn(async () => {
      await keyOf(password, salt, difference);
      return keyOf(password, salt, oldCost);
    });
    return isSame(tried, Buffer.from(key, 'hex'));
  }
  const [salt = '', key = ''] = hash.slice(scheme.length).split('$');
  const tried = await inTurn(() => keyOf(password, Buffer.from(salt, 'base64url'), cost));
  return isSame(tried, Buffer.from(key, 'base64url'));
}

const isSame = (tried: Buffer, key: Buffer): boolean =>
  tried.length === key.length && timingSafeEqual(tried, key);
