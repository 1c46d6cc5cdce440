import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSentence } from '../../conditions/describe-condition.ts';
import { listPaths } from './describe-logic.ts';
import { parseEditableTree } from './edit-node.ts';

const when = { all: [{ element: 'country', is: 'equals', value: 'DE' }] };
const step = (id: string, jumps?: object[]): object => ({
  type: 'step',
  attrs: { id, title: id.toUpperCase(), ...(jumps && { jumps }) },
  children:
    id === 'a'
      ? [{ type: 'radio', attrs: { id: 'country', label: 'Country', options: ['DE', 'AT'] }, children: [] }]
      : [],
});

test('the map has each step with its jumps, unreachable steps, and lanes that do not overlap', () => {
  const read = parseEditableTree({
    type: 'form',
    attrs: { name: 'F' },
    children: [
      step('a', [
        { when, to: 'c' },
        { when, to: 'missing' },
      ]),
      step('b', [{ to: 'd' }, { when, to: 'end' }]),
      step('c', [{ to: 'end' }]),
      step('d'),
      step('e'),
    ],
  });
  assert.ok(read.ok);
  const { steps, lanes } = listPaths(read.root);
  assert.deepEqual(
    steps.map(({ name, leadsOn, isReached, jumps }) => [
      name,
      leadsOn,
      isReached,
      ...jumps.map(({ to, lane, sentence }) => `${to} ${lane} ${formatSentence(sentence)}`),
    ]),
    [
      ['A', true, true, '2 0 Skips to “C” if “Country” is “DE”'],
      ['B', false, true, '3 1 Skips to “D”'],
      ['C', false, true, '5 0 Skips to the end'],
      ['D', true, true],
      ['E', true, true],
    ],
  );
  assert.equal(lanes, 2);
});
