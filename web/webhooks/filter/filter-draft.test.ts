import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNodeFinder, parseConditionTree } from '../../conditions/condition-tree.ts';
import { describeOnlyWhen, formatSentence } from '../../conditions/describe-condition.ts';
import { filterProblem, filterToSend } from './filter-draft.ts';

const german = { element: 'country', is: 'equals', value: 'Germany' } as const;
const questions = [
  { type: 'radio', attrs: { id: 'country', label: 'Country', options: ['Germany'] } },
  { type: 'number', attrs: { id: 'people', label: 'How many?' } },
];

const sentences: [filter: object, sentence: string][] = [
  [german, 'Only if “Country” is “Germany”'],
  [{ not: german }, 'Unless “Country” is “Germany”'],
  [
    {
      all: [
        german,
        {
          any: [
            { element: 'people', is: 'at_least', value: 3 },
            { reference: 'vip', is: 'answered' },
          ],
        },
      ],
    },
    'Only if “Country” is “Germany” and (“How many?” is at least “3” or the URL parameter “vip” is answered)',
  ],
  [{ element: 'gone', is: 'answered' }, 'Only if “gone (missing)” is answered'],
];
for (const [filter, sentence] of sentences) {
  test(`a filter reads: ${sentence}`, () =>
    assert.equal(
      formatSentence(describeOnlyWhen(parseConditionTree(filter)!, createNodeFinder(questions))),
      sentence,
    ));
}

test('an incomplete comparison is not sent', () => {
  for (const filter of [null, german, { all: [{ element: 'country', is: 'answered' }] }])
    assert.equal(filterProblem(filter), undefined);
  for (const leaf of [
    { element: 'country', is: 'equals' },
    { ...german, element: undefined, reference: '' },
  ])
    assert.match(filterProblem({ all: [german, { not: leaf }] }) ?? '', /incomplete/);
});

test('a filter is sent only if it changed', () => {
  assert.equal(filterToSend(null, undefined), undefined);
  assert.deepEqual(filterToSend(german, undefined), german);
  assert.equal(filterToSend({ ...german }, { filter: german }), undefined);
  assert.equal(filterToSend(null, { filter: german }), null);
});
