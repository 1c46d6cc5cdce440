import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { findHits } from './hits.ts';

const { database } = await testDatabase();

const hits = (q: string, ...texts: string[]): Promise<string[][]> =>
  findHits(
    database,
    { q, beginnings: [] },
    texts.map((text) => ({ text, language: 'english' })),
  );

test('hits are the words as they are written, in any inflection, each text on its own', async () => {
  assert.deepEqual(await hits('running gardens', 'She runs. We RAN to run', 'A garden', 'Nothing'), [
    ['runs', 'run'],
    ['garden'],
    [],
  ]);
});

test('each word once, the longest first, whatever signs are around it', async () => {
  const [found] = await hits('run', '"run", (run) runs <b>running</b>');
  assert.deepEqual(found, ['running', 'runs', 'run']);
});

test('marks that a text brings along are not taken for hits', async () => {
  assert.deepEqual(await hits('run', '\uE000fake\uE001 run'), [['run']]);
});

test('a long text is looked through at its beginning, and nothing is asked of stop words alone', async () => {
  assert.deepEqual(await hits('needle', `needle ${'hay '.repeat(100_000)} needles`), [['needle']]);
  assert.deepEqual(await hits('the', 'the the'), [[]]);
  assert.deepEqual(await hits('run'), []);
});
