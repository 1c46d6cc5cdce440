import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter } from './settle.ts';

const now = new Date('2026-01-01T00:00:00Z');
const cases: readonly (readonly [string | undefined, number | undefined])[] = [
  ['120', 120],
  [' 7 ', 7],
  ['1000000000000', 3_600],
  ['Thu, 01 Jan 2026 00:10:00 GMT', 600],
  ['Thu, 01 Jan 2099 00:10:00 GMT', 3_600],
  ['Wed, 31 Dec 2025 00:00:00 GMT', undefined],
  ['0', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['2026-01-01T00:10:00Z', undefined],
  ['Thu, 99 Jan 2026 00:10:00 GMT', undefined],
  ['', undefined],
  [undefined, undefined],
];
for (const [header, seconds] of cases) {
  test(`Retry-After: ${header} is ${seconds === undefined ? 'ignored' : `${seconds} seconds`}`, () => {
    assert.equal(readRetryAfter(header, now), seconds);
  });
}
