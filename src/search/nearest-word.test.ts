import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mistakesBetween } from '#kit/nearest-names.ts';
import { nearestWord } from './endpoints.ts';

const rows: readonly [sought: string, written: string, mistakes: number][] = [
  ['john', 'john', 0],
  ['jonh', 'john', 1],
  ['jon', 'john', 1],
  ['johhn', 'john', 1],
  ['jahn', 'john', 1],
  ['maira', 'maria', 1],
  ['lovelase', 'lovelace', 1],
  ['lvelase', 'lovelace', 2],
  ['ärger', 'arger', 1],
];
for (const [sought, written, mistakes] of rows)
  test(`${sought} and ${written} differ by ${mistakes} mistakes in both directions`, () => {
    assert.deepEqual(
      [mistakesBetween(sought, written), mistakesBetween(written, sought)],
      [mistakes, mistakes],
    );
  });

test('the nearest word wins, ties go to the most frequent word, and words that differ too much are ignored', () => {
  assert.equal(nearestWord('jonh', ['joan', 'john', 'jonah', 'john']), 'john');
  assert.equal(nearestWord('marten', ['martin', 'marteen', 'marteen']), 'marteen');
  assert.equal(nearestWord('jonh', ['joanna', 'johns']), undefined);
  assert.equal(nearestWord('lovelace', ['lvelase']), 'lvelase');
});
