import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { countMarkup } from './markup-characters.ts';
import { byteLength, countCharacters, cutToBytes, fitsBytes, isCleanText } from './text.ts';

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

test('a person counts characters: a pair of surrogates is one, and half of one alone is one', () => {
  const lengths: [text: string, length: number][] = [
    ['', 0],
    ['aé', 2],
    ['😀', 1],
    ['a😀b😀', 4],
    ['\ud83d', 1],
    ['\ude00\ude00', 2],
    ['\ude00\ud83d', 2],
    ['\ud83da', 2],
  ];
  for (const [text, length] of lengths) assert.equal(countCharacters(text), length, JSON.stringify(text));
});

test('five characters are written otherwise in HTML, and no others', () => {
  for (const character of '&<>"\'') assert.equal(countMarkup(`a${character}`), 1, character);
  assert.equal(countMarkup('!#%()/=;?`´«»'), 0);
  assert.equal(countMarkup('<b>&</b>'), 5);
});
