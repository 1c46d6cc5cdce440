import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from './errors.ts';

/*
 * Password hashes: scrypt with a salt, as OWASP recommends (N=2^15, r=8, p=3 is as strong as N=2^17, p=1, and
 * takes 32 MB instead of 128).
 */

const cost = { N: 2 ** 15, r: 8, p: 3 };

const keyBytes = 64;
const saltBytes = 16;
const scheme = '$scrypt$ln=15,r=8,p=3$';

/** Concurrent hashes: each takes 32 MB and a thread that file access and DNS also need. */
const atOnce = 2;
/** The maximum number of waiting calls, a few seconds of work. Further calls fail with a Retry-After. */
const mostWaiting = 32;
let running = 0;
const waiting: (() => void)[] = [];

/**
 * Limits the concurrency of work that needs much memory.
 * @throws ApiError service_unavailable if the queue is full.
 */
export async function limitHashing<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < atOnce) running += 1;
  else if (waiting.length >= mostWaiting)
    throw new ApiError(
      'service_unavailable',
      'Too many people are signing in right now. Try again in a few seconds.',
      { retryAfter: 5 },
    );
  // The call that ends passes its slot on.
  else await new Promise<void>((resolve) => void waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** @param password in any Unicode normalization, because keyboards compose characters differently. */
const keyOf = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 2 * 128 * cost.N * cost.r };
    scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

/**
 * Hashes a password. Hashing and verifying take about 150 ms of a core, so callers must limit attempts.
 * @throws ApiError service_unavailable if the queue is full.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await limitHashing(() => keyOf(password, salt));
  return `${scheme}${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/**
 * Returns whether a password matches a hash, in constant time.
 * @throws ApiError service_unavailable if the queue is full.
 */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.slice(scheme.length).split('$');
  const tried = await limitHashing(() => keyOf(password, Buffer.from(salt, 'base64url')));
  return isSame(tried, Buffer.from(key, 'base64url'));
}

const isSame = (tried: Buffer, key: Buffer): boolean =>
  tried.length === key.length && timingSafeEqual(tried, key);
