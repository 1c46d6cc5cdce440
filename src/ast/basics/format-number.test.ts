import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatWholeNumber } from './format-number.ts';

test("a whole number is formatted as by the platform's English locale", () => {
  for (const number of [0, 7, 999, 1_000, 12_345, 200_000, 1_234_567, 12_000_000_000])
    assert.equal(formatWholeNumber(number), number.toLocaleString('en'));
});
