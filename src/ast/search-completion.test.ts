import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOperatorsByPrefix, findUnfinishedPart, quoteValue } from './search.ts';

/** A search with `|` at the caret, and what is being typed there. */
const rows: readonly [question: string, name: string | undefined, text: string, replaced: string][] = [
  ['sta|', undefined, 'sta', 'sta'],
  ['ada -sta|', undefined, 'sta', 'sta'],
  ['sta|tus ada', undefined, 'sta', 'status'],
  ['form:|', 'form', '', ''],
  ['q.1:3|', 'q.1', '3', '3'],
  ['form:Con|', 'form', 'Con', 'Con'],
  ['-form:"Con|tact us" ada', 'form', 'Con', '"Contact'],
];
for (const [written, name, text, replaced] of rows)
  test(`${written} completes: ${name ?? ''} ${text}`, () => {
    const at = written.indexOf('|');
    const question = written.replace('|', '');
    const found = findUnfinishedPart(question, at)!;
    assert.deepEqual([found.name, found.text], [name, text]);
    assert.equal(question.slice(found.begin, found.end), replaced);
  });

for (const written of ['|', 'ada |', '"ada|', '"ada lo|'])
  test(`${written} completes nothing`, () => {
    assert.equal(findUnfinishedPart(written.replace('|', ''), written.indexOf('|')), undefined);
  });

test('a value of several words is quoted', () => {
  assert.deepEqual(['vip', 'Contact us', 'a "b"'].map(quoteValue), ['vip', '"Contact us"', '"a b"']);
});

test('operators are found by their prefix', () => {
  assert.deepEqual(findOperatorsByPrefix('ST'), ['status']);
});
