import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { findHits, hitTermsOf } from './find-hits.ts';
import { compileWords } from './search-words.ts';

const { database } = await testDatabase();

const hits = (q: string, ...texts: string[]): Promise<string[][]> =>
  findHits(
    database,
    hitTermsOf(compileWords(q)),
    texts.map((text) => ({ text, language: 'english' })),
  );

test('hits are the words as written, in any inflection, for each text', async () => {
  assert.deepEqual(await hits('running gardens', 'She runs. We RAN to run', 'A garden', 'Nothing'), [
    ['runs', 'run'],
    ['garden'],
    [],
  ]);
});

test('hits list each word once, the longest first, whatever punctuation surrounds it', async () => {
  const [found] = await hits('run', '"run", (run) runs <b>running</b>');
  assert.deepEqual(found, ['running', 'runs', 'run']);
});

test('highlight marks within a text do not count as hits', async () => {
  assert.deepEqual(await hits('run', '\uE000fake\uE001 run'), [['run']]);
});

test('only the beginning of a long text is searched, and common words are hits if the query has no others', async () => {
  assert.deepEqual(await hits('needle', `needle ${'hay '.repeat(100_000)} needles`), [['needle']]);
  assert.deepEqual(await hits('the', 'the the'), [['the']]);
  assert.deepEqual(await hits('the garden', 'the garden'), [['garden']]);
  assert.deepEqual(await hits('run'), []);
});
