import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openClaimWindow } from './claim.ts';

const everything = 1e9;

test('after a claim without results, the next one reads only jobs that have become due since', () => {
  let time = 10_000;
  const lookBack = openClaimWindow(() => time);
  assert.equal(lookBack.seconds(false), everything, 'nothing is known yet');
  lookBack.foundNothing(time, everything);
  time += 40;
  assert.equal(lookBack.seconds(false), 0.29, 'what was enqueued meanwhile, by a transaction of 250 ms');
});

test('a claim reads all due jobs when a lane has opened, after a failed claim, and once a second', () => {
  let time = 10_000;
  const lookBack = openClaimWindow(() => time);
  lookBack.foundNothing(time, everything);
  assert.equal(lookBack.seconds(true), everything);
  lookBack.forget();
  assert.equal(lookBack.seconds(false), everything);
  lookBack.foundNothing(time, everything);
  for (let looks = 0; looks < 9; looks += 1) {
    time += 100;
    lookBack.foundNothing(time, lookBack.seconds(false));
  }
  assert.ok(lookBack.seconds(false) < everything);
  time += 100;
  assert.equal(lookBack.seconds(false), everything);
});
