import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLogFiltered, readLogView, toDeliveryLogParameters } from './log-view.ts';

const delivery = '01985f2e-0000-7000-8000-000000000000';

test('URL parameters are validated, and invalid ones are left out', () => {
  const view = {
    status: 'Failed',
    event: 'submission.created',
    from: '2026-01-01',
    to: '2026-01-31',
    page: 2,
    delivery,
  };
  assert.deepEqual(readLogView(view), view);
  const wrong = {
    status: 'failed',
    event: 7,
    from: '2026-13-01',
    to: 'now',
    page: '2',
    delivery: '../x',
    other: 1,
  };
  assert.deepEqual(readLogView(wrong), {});
  for (const page of [1, 0, -1, 1.5]) assert.deepEqual(readLogView({ page }), {});
});

test('a page or an open panel does not count as a filter', () => {
  assert.equal(isLogFiltered({ page: 2, delivery }), false);
  assert.equal(isLogFiltered({ from: '2026-01-01' }), true);
});

test('days are in the reader’s time zone, and the last one is included', () => {
  const { from, to } = toDeliveryLogParameters({ from: '2026-03-28', to: '2026-03-29' });
  assert.equal(from, new Date(2026, 2, 28).toISOString());
  assert.equal(to, new Date(2026, 2, 30).toISOString());
});
