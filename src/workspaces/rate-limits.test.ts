import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { rateLimitExceeded } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { anonymousRate, countRequest, enforceRateLimit, plans, type RequestRate } from './authenticate.ts';
import { openRequestCounter } from './request-counter.ts';

const counter = await openRequestCounter({ valkeyUrl: undefined, log: openLog('silent') });
const free = plans.free;

async function takeMany(requests: number, rate: RequestRate = free, key: string = randomUUID()) {
  const taken = [];
  for (let request = 0; request < requests; request++) taken.push(await countRequest(counter, key, rate));
  return taken;
}

test('on the free plan 60 requests and a burst of 10 pass per minute, and the 71st is refused', async () => {
  const taken = await takeMany(71);
  assert.deepEqual(
    taken.map(({ exceeded }) => exceeded !== undefined),
    [...Array<boolean>(70).fill(false), true],
  );
});

test('of 200 parallel requests exactly 60 + 10 pass', async () => {
  const key = randomUUID();
  const taken = await Promise.all(Array.from({ length: 200 }, () => countRequest(counter, key, free)));
  assert.equal(taken.filter(({ exceeded }) => exceeded === undefined).length, 70);
});

test('`X-RateLimit-Limit` is the rate per minute; `X-RateLimit-Remaining` counts down from it and stays 0 in the burst', async () => {
  const headers = (await takeMany(71)).map((taken) => taken.headers);
  assert.deepEqual([...new Set(headers.map((each) => each['X-RateLimit-Limit']))], ['60']);
  assert.deepEqual(
    headers.map((each) => Number(each['X-RateLimit-Remaining'])),
    Array.from({ length: 71 }, (_, index) => Math.max(0, 59 - index)),
  );
});

test('`X-RateLimit-Reset` is the end of the window in Unix seconds, at most a minute ahead, and the wait ends then', async () => {
  const before = Math.floor(Date.now() / 1_000);
  const taken = await takeMany(71);
  for (const { headers } of taken) {
    const reset = Number(headers['X-RateLimit-Reset']);
    assert.ok(
      Number.isInteger(reset) && reset >= before + 59 && reset <= before + 62,
      `${reset} after ${before}`,
    );
  }
  const wait = taken.at(-1)!.exceeded!;
  assert.ok(Number.isInteger(wait) && wait >= 58 && wait <= 60, `a wait of ${wait} s`);
});

test('each workspace has its own window', async () => {
  await takeMany(71);
  assert.equal((await takeMany(1))[0]!.headers['X-RateLimit-Remaining'], '59');
});

test('a plan change keeps the count of the current window', async () => {
  const key = randomUUID();
  assert.notEqual((await takeMany(71, free, key)).at(-1)!.exceeded, undefined);
  const [onPro] = await takeMany(1, plans.pro, key);
  assert.equal(onPro!.exceeded, undefined);
  assert.equal(onPro!.headers['X-RateLimit-Remaining'], String(300 - 72));
});

test('the wait is at least one second, even at the end of a window', async () => {
  const lastMoment = { count: async () => ({ requests: 71, msLeft: 1 }), close: async () => {} };
  assert.equal((await countRequest(lastMoment, 'any', free)).exceeded, 1);
});

test('a 429 states the wait in its message, in retry_after and in Retry-After', () => {
  const error = rateLimitExceeded(7);
  assert.equal(error.status, 429);
  assert.deepEqual(error.body, {
    error: 'rate_limit_exceeded',
    message: 'The rate limit was exceeded. Try again in 7 seconds.',
    retry_after: 7,
  });
  assert.equal(error.headers['Retry-After'], '7');
});

test('a limit of three per window allows three, and the fourth waits until the window ends', async () => {
  const key = randomUUID();
  for (let time = 0; time < 3; time++) await enforceRateLimit(counter, key, 3, { seconds: 3_600 });
  await assert.rejects(enforceRateLimit(counter, key, 3, { seconds: 3_600, why: 'Too many.' }), {
    code: 'rate_limit_exceeded',
    message: 'Too many. Try again in 3,600 seconds.',
  });
});

test('the rate limit without a valid key is far above what a test suite sends', () => {
  assert.deepEqual([anonymousRate.perMinute, anonymousRate.burst], [1_000, 0]);
});

test('requests pass while Valkey is unavailable, and it is logged once', async () => {
  const lines: string[] = [];
  const log = openLog('warn', { write: (line: string) => void lines.push(line) });
  // Nothing listens on port 1 of this machine.
  const away = await openRequestCounter({ valkeyUrl: 'redis://127.0.0.1:1', log });
  const key = randomUUID();
  const taken = [];
  for (let request = 0; request < 71; request++) taken.push(await countRequest(away, key, free));
  await away.close();
  assert.equal(taken.filter(({ exceeded }) => exceeded === undefined).length, 70);
  assert.equal(lines.filter((line) => line.includes('counted in this process')).length, 1);
});
