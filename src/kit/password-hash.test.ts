import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { ApiError } from './errors.ts';
import { hashPassword, limitHashing, verifyPassword } from './password-hash.ts';

test('a hash is salted scrypt at the strength that OWASP recommends, and verifies its password in any Unicode composition', async () => {
  const hash = await hashPassword('crème brûlée twice');
  const [, scheme, parameters, salt, key] = hash.split('$');
  assert.deepEqual([scheme, parameters], ['scrypt', 'ln=15,r=8,p=3']);
  const known = scryptSync('crème brûlée twice', Buffer.from(salt!, 'base64url'), 64, {
    N: 2 ** 15,
    r: 8,
    p: 3,
    maxmem: 2 ** 27,
  });
  assert.equal(known.toString('base64url'), key);
  assert.equal(Buffer.from(salt!, 'base64url').length, 16);
  assert.ok(await verifyPassword(hash, 'crème brûlée twice'.normalize('NFD')));
  assert.ok(!(await verifyPassword(hash, 'Crème brûlée twice')));
});

test('no password matches a broken hash', async () => {
  for (const broken of ['', '$scrypt$ln=15,r=8,p=3$ab$'])
    assert.ok(!(await verifyPassword(broken, '')), broken);
});

test('of 40 parallel hashes 2 run, 32 wait, and the others are asked to retry later', async () => {
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
  };
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => limitHashing(work)));
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  assert.deepEqual([most, refused.length], [2, 40 - 2 - 32]);
  for (const error of refused)
    assert.ok(error instanceof ApiError && error.code === 'service_unavailable' && error.retryAfter === 5);
  await limitHashing(work);
  await assert.rejects(
    limitHashing(() => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(running, 0, 'there is room again');
});
