import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { byteLength, cutToBytes, fitsBytes, isCleanText } from './text.ts';

test('text is clean without NUL characters and lone surrogates', () => {
  assert.deepEqual(['', 'é😀\n', 'a\u0000', '\ud83d', '\ude00'].map(isCleanText), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('text fits by its UTF-8 bytes, not by its length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(60), (text, max) => {
      assert.equal(fitsBytes(text, max), byteLength(text) <= max);
    }),
  );
});

test('cutting to bytes keeps the longest beginning and never splits a character', () => {
  assert.equal(cutToBytes('a😀b', 4), 'a');
  assert.equal(cutToBytes('a😀b', 5), 'a😀');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, max) => {
      const cut = cutToBytes(text, max);
      assert.ok(text.startsWith(cut) && byteLength(cut) <= max && cut.isWellFormed());
      const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
      assert.ok(cut === text || byteLength(cut + next) > max);
    }),
  );
});
