import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from './errors.ts';

/*
 * Hashes of passwords: scrypt with a salt, as OWASP advises it (N=2^15, r=8, p=3 weighs as much as N=2^17, p=1, and takes
 * 32 MB in place of 128).
 */

const cost = { N: 2 ** 15, r: 8, p: 3 };

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
const keyOf = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 2 * 128 * cost.N * cost.r };
    scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

/**
 * Takes some 150 ms of a core, as does trying one, so whoever asks limits the tries.
 * @throws ApiError service_unavailable when very many wait.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await inTurn(() => keyOf(password, salt));
  return `${scheme}${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/**
 * Whether a password is the one of a hash, in a time that does not depend on it.
 * @throws ApiError service_unavailable when very many wait.
 */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.slice(scheme.length).split('$');
  const tried = await inTurn(() => keyOf(password, Buffer.from(salt, 'base64url')));
  return isSame(tried, Buffer.from(key, 'base64url'));
}

const isSame = (tried: Buffer, key: Buffer): boolean =>
  tried.length === key.length && timingSafeEqual(tried, key);
