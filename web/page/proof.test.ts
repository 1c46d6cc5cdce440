import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createPrefixHasher, solveProof } from './proof.ts';

const hex = (words: Uint32Array): string =>
  [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
const expected = (text: string): string => createHash('sha256').update(text).digest('hex');

test("the hash equals Node's SHA-256 for every length around one and two blocks, with several endings", () => {
  for (let length = 0; length <= 130; length += 1) {
    const beginning = 'ä'.repeat(length % 3) + 'x'.repeat(length);
    const hash = createPrefixHasher(beginning);
    for (const end of ['', '7', '1234567890123456', '8'])
      assert.equal(hex(hash(end)), expected(beginning + end), `${length} letters and ${end}`);
  }
});

test('a proof of 10 bits is found, and Node verifies it', async () => {
  const answer = await solveProof('challenge', 10);
  assert.match(expected(`challenge:${answer}`), /^00[0-3]/);
});
