import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { openLog } from '#kit/log.ts';
import { countRequest, plans } from '#workspaces/authenticate.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';

/**
 * Not part of `npm test`, because it needs Valkey or Redis: VALKEY_TEST_URL=redis://127.0.0.1:6379 node
 * --test <this file>
 */
const valkeyUrl = process.env['VALKEY_TEST_URL'];
assert.ok(valkeyUrl, 'VALKEY_TEST_URL names the Valkey or Redis to test with.');

const log = openLog('silent');
const [one, other] = await Promise.all([
  openRequestCounter({ valkeyUrl, log }),
  openRequestCounter({ valkeyUrl, log }),
]);
after(() => Promise.all([one.close(), other.close()]));

test('two processes that share a Valkey let exactly 60 + 10 of 200 parallel requests pass', async () => {
  const key = randomUUID();
  const taken = await Promise.all(
    Array.from({ length: 200 }, (_, index) => countRequest(index % 2 ? one : other, key, plans.free)),
  );
  assert.equal(taken.filter(({ exceeded }) => exceeded === undefined).length, 70);
});

test('the headers count one shared window, whichever process answers', async () => {
  const key = randomUUID();
  const before = Math.floor(Date.now() / 1_000);
  const first = await countRequest(one, key, plans.free);
  const second = await countRequest(other, key, plans.free);
  assert.equal(first.headers['X-RateLimit-Remaining'], '59');
  assert.equal(second.headers['X-RateLimit-Remaining'], '58');
  for (const { headers } of [first, second]) {
    const reset = Number(headers['X-RateLimit-Reset']);
    assert.ok(reset >= before + 59 && reset <= before + 62, `${reset} after ${before}`);
  }
});
