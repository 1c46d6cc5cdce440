import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideVerdict, type SendResult } from './settle.ts';

const delays = [60, 300, 900, 3_600, 10_800];
const answered = (status: number): SendResult => ({ kind: 'answer', status });
const failure: SendResult = { kind: 'failure', reason: 'The connection was refused.' };

const outcomes: Record<'Success' | 'Retrying' | 'Failed', number[]> = {
  Success: [200, 201, 202, 204, 299],
  Retrying: [408, 429, 500, 502, 503, 504, 599],
  Failed: [
    300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 407, 409, 410, 413, 422, 428, 430, 499, 600, 999,
  ],
};
for (const [outcome, statuses] of Object.entries(outcomes)) {
  for (const status of statuses) {
    test(`after a response of ${status} a delivery is ${outcome}`, () => {
      assert.equal(decideVerdict(answered(status), 1, delays).status, outcome);
    });
  }
}

test('the retry delays are 1 minute, 5 minutes, 15 minutes, 1 hour and 3 hours, so six requests are sent', () => {
  const verdicts = [1, 2, 3, 4, 5, 6].map((attempts) => decideVerdict(answered(503), attempts, delays));
  assert.deepEqual(
    verdicts.map((verdict) => (verdict.status === 'Retrying' ? verdict.delay : verdict.status)),
    [60, 300, 900, 3_600, 10_800, 'Failed'],
  );
});

test('a request without a response is retried, and a request that the guard refused is not', () => {
  assert.equal(decideVerdict(failure, 1, delays).status, 'Retrying');
  assert.equal(
    decideVerdict({ kind: 'refusal', reason: 'This address is not allowed.' }, 1, delays).status,
    'Failed',
  );
});

test('a manual retry does not restart the schedule', () => {
  assert.equal(decideVerdict(failure, 7, []).status, 'Failed');
  assert.equal(decideVerdict(answered(200), 7, []).status, 'Success');
});

const sentences: [SendResult, number, string | null][] = [
  [answered(200), 1, null],
  [answered(404), 1, 'The receiver returned 404. The delivery will not be retried automatically.'],
  [answered(503), 1, 'The receiver returned 503. The next attempt is in 1 minute.'],
  [answered(429), 2, 'The receiver returned 429. The next attempt is in 5 minutes.'],
  [failure, 5, 'The connection was refused. The next attempt is in 3 hours.'],
  [failure, 6, 'The connection was refused. No automatic retries are left.'],
];
for (const [result, attempts, sentence] of sentences) {
  test(`the log gives as reason: ${sentence ?? 'nothing, of a success'}`, () => {
    assert.equal(decideVerdict(result, attempts, delays).reason, sentence);
  });
}

test('retry delays can be fractions of a second', () => {
  assert.deepEqual(decideVerdict(answered(500), 1, [0.05]), {
    status: 'Retrying',
    reason: 'The receiver returned 500. The next attempt is in 0.05 seconds.',
    delay: 0.05,
  });
});

test('Retry-After can lengthen the scheduled delay but not shorten it', () => {
  const slow = (retryAfter: number): SendResult => ({ kind: 'answer', status: 429, retryAfter });
  assert.deepEqual(decideVerdict(slow(120), 1, delays), {
    status: 'Retrying',
    reason: 'The receiver returned 429. The next attempt is in 2 minutes, as the receiver requested.',
    delay: 120,
  });
  assert.deepEqual(decideVerdict(slow(30), 1, delays), {
    status: 'Retrying',
    reason: 'The receiver returned 429. The next attempt is in 1 minute.',
    delay: 60,
  });
});
