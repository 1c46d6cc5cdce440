import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizeByArguments } from './memoize.ts';

test('a result is computed once for the same arguments, and not kept without limit', () => {
  const computed: string[] = [];
  const format = memoizeByArguments((tag: string, decimals?: number) => {
    computed.push(tag);
    return `${tag} ${decimals}`;
  });
  assert.deepEqual([format('en', 2), format('en', 2), format('en')], ['en 2', 'en 2', 'en undefined']);
  assert.deepEqual(computed, ['en', 'en']);
  for (let at = 0; at < 600; at += 1) format(`a${at}`);
  computed.length = 0;
  assert.equal(format('en', 2), 'en 2');
  assert.deepEqual(computed, ['en']);
});
