import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOfSteps } from '#test/ast/forms.ts';
import { checkFilter } from './check-condition.ts';

const form = formOfSteps(
  {},
  [
    element('radio', 'country', { options: ['Germany', 'France'] }),
    element('heading', 'head'),
    composite('address', [element('text', 'city')]),
  ],
  {},
  [
    composite('guests', [element('text', 'guest')], { repeatable: true }),
    element('number', 'people'),
    element('file_upload', 'photo'),
    element('text', 'note'),
  ],
);
const german = { element: 'country', is: 'equals', value: 'Germany' };

const fine: Record<string, unknown> = {
  'one comparison': german,
  'an element of a later step': { element: 'people', is: 'at_least', value: 2 },
  'an element of a plain group': { element: 'city', is: 'contains', value: 'burg' },
  'whether a group with rows is answered': { element: 'guests', is: 'answered' },
  'whether there are files': { element: 'photo', is: 'not_answered' },
  'two questions': { element: 'city', is: 'equals', other: 'note' },
  'a reference value': { reference: 'utm', is: 'equals', value: 'mail' },
  'five levels': { all: [{ any: [{ not: { all: [{ any: [german] }] } }] }] },
};
for (const [what, filter] of Object.entries(fine)) {
  test(`a filter can use ${what}`, () => assert.deepEqual(checkFilter(form, filter), []));
}

const refused: [what: string, filter: unknown, message: RegExp, path: number[]][] = [
  ['no condition', 'country', /must be a condition/, []],
  ['a list', [german], /must be a condition/, []],
  [
    'another question in a row',
    { element: 'city', is: 'equals', other: 'guest' },
    /names "guest", which has an answer in each row of "guests"/,
    [],
  ],
  [
    'another question that does not exist',
    { element: 'city', is: 'equals', other: 'gone' },
    /names "gone", which is not an element of the form/,
    [],
  ],
  [
    'a moment operator on a reference',
    { reference: 'utm', is: 'after', value: 'x' },
    /cannot use the operator "after"/,
    [],
  ],
  [
    'an unknown element',
    { all: [german, { element: 'gone', is: 'answered' }] },
    /"gone".*not an element/,
    [1],
  ],
  ['an inherited name', { element: 'toString', is: 'answered' }, /"toString".*not an element/, []],
  ['an element without an answer', { element: 'head', is: 'answered' }, /"head", which has no answer/, []],
  ['an element of a row', { not: { element: 'guest', is: 'answered' } }, /each row of "guests"/, [0]],
  ['a plain group', { element: 'address', is: 'answered' }, /"address".*name an element in it/, []],
  [
    'an operator that does not fit',
    { any: [{ element: 'photo', is: 'equals', value: 'x' }] },
    /cannot use the operator/,
    [0],
  ],
  ['no option', { not: { any: [german, { ...german, value: 'Spain' }] } }, /not one of its possible/, [0, 1]],
  ['a text for a number', { element: 'people', is: 'equals', value: '2' }, /not one of its possible/, []],
  ['yes of a reference', { reference: 'utm', is: 'equals', value: true }, /compares a reference value/, []],
  [
    'six levels',
    { all: [german, { all: [{ any: [{ not: { all: [{ any: [german] }] } }] }] }] },
    /nested at most 5 levels deep/,
    [1, 0, 0, 0, 0, 0],
  ],
  ['an unknown key', { all: [german, { ...german, vlaue: 1 }] }, /must not have "vlaue"/, [1]],
  ['101 comparisons', { all: Array.from({ length: 101 }, () => german) }, /at most 100 comparisons/, [100]],
  ['a NUL', { element: 'city', is: 'equals', value: 'a\0' }, /NUL/, []],
  [
    'more than 16 KB',
    { element: 'city', is: 'one_of', value: Array.from({ length: 17 }, () => 'x'.repeat(1_000)) },
    /at most 16384 bytes/,
    [],
  ],
];
for (const [what, filter, message, path] of refused) {
  test(`a filter with ${what} is rejected, with its position`, () => {
    const [problem, ...more] = checkFilter(form, filter);
    assert.match(problem?.message ?? '', message);
    assert.deepEqual([problem?.path, more], [path, []]);
  });
}

test('all names that do not fit are reported together', () => {
  const gone = ['a', 'b', 'c'].map((id) => ({ element: id, is: 'answered' }));
  assert.deepEqual(
    checkFilter(form, { all: [gone[0], { any: gone.slice(1) }] }).map(({ path }) => path),
    [[0], [1, 0], [1, 1]],
  );
});
