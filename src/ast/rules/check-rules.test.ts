import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isMultipleOfStep } from './check-rules.ts';

const scenarios: [value: number, step: number, base: number, isOn: boolean][] = [
  [0.3, 0.1, 0, true],
  [1.1, 0.1, 0, true],
  [0.35, 0.1, 0, false],
  [-0.2, 0.1, 0, true],
  [0.25, 0.1, 0.05, true],
  [7, 5, 2, true],
  [7, 5, 0, false],
  [1e21, 0.5, 0, true],
  [5e-324, 1e300, 0, false],
  [1e300, 5e-324, -1e300, true],
  [1e-7, 1e-7, 0, true],
  [0, 0.1, 0, true],
];

test('steps are counted in decimals, not in binary fractions', () => {
  for (const [value, step, base, isOn] of scenarios) {
    assert.equal(isMultipleOfStep(value, step, base), isOn, `${value} in steps of ${step} from ${base}`);
  }
});

test('every whole cent is valid with a step of 0.01', () => {
  fc.assert(fc.property(fc.integer(), (cents) => isMultipleOfStep(Number(`${cents}e-2`), 0.01, 0)));
});
