import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeReplayFilter, replayQueryOf } from './replay-query.ts';

test('empty fields are not sent, and days are in the reader’s time zone, including the last one', () => {
  assert.deepEqual(replayQueryOf({ status: 'Failed', event: 'all', from: '', to: '' }), { status: 'Failed' });
  const { since, until, ...rest } = replayQueryOf({
    status: 'any',
    event: 'submission.deleted',
    from: '2026-05-03',
    to: '2026-05-03',
  });
  assert.deepEqual(rest, { status: 'any', event: 'submission.deleted' });
  assert.equal(since, new Date('2026-05-03T00:00:00').toISOString());
  assert.equal(until, new Date('2026-05-04T00:00:00').toISOString());
});

test('a filter is described in words', () => {
  const none = { status: null, event: null, since: null, until: null };
  assert.equal(describeReplayFilter(none, String), 'delivered or failed');
  const all = { status: 'Failed', event: 'submission.created', since: 'Monday', until: 'Friday' } as const;
  assert.equal(describeReplayFilter(all, String), 'failed, submission created, from Monday, before Friday');
});
