import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { solve } from './proof.ts';
import { sha256 } from './sha256.ts';

const hex = (words: Uint32Array): string =>
  [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
const expected = (text: string): string => createHash('sha256').update(text).digest('hex');

test('it is the SHA-256 of Node for every length around one and two blocks', () => {
  for (let length = 0; length <= 130; length += 1) {
    const text = 'ä'.repeat(length % 3) + 'x'.repeat(length);
    assert.equal(hex(sha256(text)), expected(text), `${length} letters`);
  }
});

test('a proof of 10 bits is found, and Node agrees that it is one', async () => {
  const answer = await solve('challenge', 10);
  assert.match(expected(`challenge:${answer}`), /^00[0-3]/);
});
