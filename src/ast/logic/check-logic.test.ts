import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, problemsOf, stepsOf, structure } from '#test/ast/forms.ts';
import type { FormNode } from '../form/tree.ts';

const answered = (id: string) => ({ element: id, is: 'answered' });
const conditional = (id: string, when: unknown): FormNode => element('text', id, { show_when: when });

const shapes: [when: unknown, problem: string][] = [
  [{}, 'must be a condition: an object with "all", "any", "not", "element" or "reference"'],
  [{ all: [] }, 'must have a list of conditions under "all"'],
  [{ any: {} }, 'must have a list of conditions under "any"'],
  [{ not: 5 }, 'must be a condition: an object with "all", "any", "not", "element" or "reference"'],
  [{ all: [answered('a')], any: [] }, 'must not have "any" next to "all"'],
  [{ element: 5, is: 'answered' }, 'must have a name under "element"'],
  [{ reference: '', is: 'answered' }, 'must have a name under "reference"'],
  [{ reference: 'x'.repeat(1025), is: 'answered' }, 'must have a name under "reference"'],
  [
    { element: 'a', is: 'like' },
    'must have one of these under "is": equals, not_equals, contains, not_contains, one_of, greater_than, at_least, less_than, at_most, after, before, answered, not_answered',
  ],
  [{ element: 'a', is: 'equals', other: 5 }, 'must have the ID of a question under "other"'],
  [{ element: 'a', is: 'equals', other: '' }, 'must have the ID of a question under "other"'],
  [{ element: 'a', is: 'equals', other: 'b', value: 1 }, 'must have either "value" or "other", not both'],
  [{ element: 'a', is: 'one_of', other: 'b' }, 'must not have "other" with "one_of"'],
  [{ element: 'a', is: 'answered', other: 'b' }, 'must not have "other" with "answered"'],
  [{ reference: 'a', is: 'equals', other: 'b' }, 'must not have "other" next to "reference"'],
  [{ element: 'a', is: 'equals' }, 'must have text, a number, or true or false under "value"'],
  [{ element: 'a', is: 'equals', value: ['x'] }, 'must have text, a number, or true or false under "value"'],
  [
    { element: 'a', is: 'equals', value: 'x'.repeat(1025) },
    'must have text, a number, or true or false under "value"',
  ],
  // JSON can write this as 1e999.
  [
    { element: 'a', is: 'equals', value: Number.POSITIVE_INFINITY },
    'must have text, a number, or true or false under "value"',
  ],
  [
    { element: 'a', is: 'one_of', value: [] },
    'must have a list of 1 to 100 strings or numbers under "value"',
  ],
  [
    { element: 'a', is: 'one_of', value: Array.from({ length: 101 }, () => 'x') },
    'must have a list of 1 to 100 strings or numbers under "value"',
  ],
  [
    { element: 'a', is: 'one_of', value: 'x' },
    'must have a list of 1 to 100 strings or numbers under "value"',
  ],
  [
    { element: 'a', is: 'one_of', value: [true] },
    'must have a list of 1 to 100 strings or numbers under "value"',
  ],
  [{ element: 'a', is: 'answered', value: 'x' }, 'must not have a "value" with "answered"'],
  [{ element: 'a', is: 'answered', reference: 'x' }, 'must not have "reference" next to "element"'],
  [{ element: 'a', is: 'equals', vlaue: 'x' }, 'must not have "vlaue" next to "element"'],
  [
    { all: [{ any: [{ not: { all: [{ any: [{ not: answered('a') }] }] } }] }] },
    'must be nested at most 5 levels deep',
  ],
  [{ all: Array.from({ length: 101 }, () => answered('a')) }, 'must have at most 100 comparisons'],
];

test('a malformed condition is rejected with the path of its element', () => {
  for (const [when, problem] of shapes) {
    const found = problemsOf(structure(element('text', 'a'), conditional('q', when)));
    assert.deepEqual(found, [{ message: `"show_when" of "q" ${problem}.`, path: [0, 1] }]);
  }
});

const row = (...children: FormNode[]) => composite('rows', children, { repeatable: true });

type Scenario = [name: string, structure: unknown, problems: [message: string, ...path: number[]][]];

const names: Scenario[] = [
  [
    'an unknown element',
    structure(conditional('q', answered('gone'))),
    [['"show_when" of "q" names "gone", which is not an element of the form.', 0, 0]],
  ],
  [
    'an element without an answer',
    structure(element('heading', 'h'), conditional('q', answered('h'))),
    [['"show_when" of "q" names "h", which has no answer.', 0, 1]],
  ],
  [
    'an element of a later step, from an element, a step and a jump',
    stepsOf(
      { hide_when: answered('late'), jumps: [{ when: answered('late'), to: 'end' }] },
      [conditional('q', answered('late'))],
      {},
      [element('text', 'late')],
    ),
    [
      ['"hide_when" of the step names "late", which is asked in a later step.', 0],
      ['"jumps" of the step names "late", which is asked in a later step.', 0],
      ['"show_when" of "q" names "late", which is asked in a later step.', 0, 0],
    ],
  ],
  [
    'an element in the step that has the condition',
    stepsOf({ id: 'one', show_when: answered('q') }, [element('text', 'q')]),
    [['"show_when" of "one" names "q", which is asked in the same step.', 0]],
  ],
  [
    'an input of a row, from outside the row',
    structure(row(element('text', 'cell')), conditional('q', answered('cell'))),
    [
      [
        '"show_when" of "q" names "cell", which has an answer in each row of "rows"; only conditions in that row can use it.',
        0,
        1,
      ],
    ],
  ],
  [
    'an input of a row, from its own group',
    structure(
      composite('rows', [element('text', 'cell')], { repeatable: true, show_when: answered('cell') }),
    ),
    [
      [
        '"show_when" of "rows" names "cell", which has an answer in each row of "rows"; only conditions in that row can use it.',
        0,
        0,
      ],
      ['The conditions form a cycle: "rows" → "cell" → "rows". Remove one of them.', 0, 0],
    ],
  ],
  [
    'an operator that does not fit the answers',
    structure(
      element('number', 'n'),
      conditional('q', { element: 'n', is: 'contains', value: '1' }),
      element('radio', 'r', { require_when: { element: 'q', is: 'at_least', value: 'x' } }),
    ),
    [
      [
        '"show_when" of "q" cannot use the operator "contains" on "n"; use one of equals, not_equals, one_of, greater_than, at_least, less_than, at_most, answered, not_answered.',
        0,
        1,
      ],
      [
        '"require_when" of "r" cannot use the operator "at_least" on "q"; use one of equals, not_equals, contains, not_contains, one_of, answered, not_answered.',
        0,
        2,
      ],
    ],
  ],
  [
    'impossible values',
    structure(
      element('radio', 'r'),
      element('number', 'n'),
      element('date', 'd'),
      element('yes_no', 'y'),
      element('dropdown', 'o', { other: true }),
      conditional('q', {
        all: [
          { element: 'r', is: 'one_of', value: ['Red', 'Pink'] },
          { element: 'n', is: 'equals', value: '3' },
          { element: 'd', is: 'at_least', value: 'soon' },
          { element: 'y', is: 'equals', value: 'yes' },
          { element: 'o', is: 'equals', value: 'Pink' },
          { element: 'd', is: 'at_most', value: 'today+7' },
          { reference: 'plan', is: 'equals', value: true },
        ],
      }),
    ),
    [
      ['"show_when" of "q" compares "r" with "Pink", which is not one of its possible answers.', 0, 5],
      ['"show_when" of "q" compares "n" with "3", which is not one of its possible answers.', 0, 5],
      ['"show_when" of "q" compares "d" with "soon", which is not one of its possible answers.', 0, 5],
      ['"show_when" of "q" compares "y" with "yes", which is not one of its possible answers.', 0, 5],
      ['"show_when" of "q" compares a reference value with true or false; compare it with text.', 0, 5],
    ],
  ],
  [
    'an invalid time, and part of a time',
    structure(
      element('time', 't'),
      conditional('q', {
        any: [
          { element: 't', is: 'at_least', value: '24:00' },
          { element: 't', is: 'contains', value: '12' },
        ],
      }),
    ),
    [
      ['"show_when" of "q" compares "t" with "24:00", which is not one of its possible answers.', 0, 1],
      [
        '"show_when" of "q" cannot use the operator "contains" on "t"; use one of equals, not_equals, one_of, greater_than, at_least, less_than, at_most, after, before, answered, not_answered.',
        0,
        1,
      ],
    ],
  ],
  [
    'options that are no list, which says enough of a condition on them',
    structure(
      element('radio', 'r', { options: 5 }),
      conditional('q', { element: 'r', is: 'equals', value: 'Red' }),
    ),
    [['"options" of "r" must be a list of options.', 0, 0]],
  ],
  [
    'jumps that lead nowhere or back',
    stepsOf(
      { id: 'one', jumps: [{ to: 'gone' }, { to: 'one' }] },
      [],
      { id: 'two', jumps: [{ to: 'one' }, { to: 'end' }] },
      [],
    ),
    [
      ['"jumps" of "one" leads to "gone", which is not a step of the form.', 0],
      ['"jumps" of "one" leads to "one", which is not a later step.', 0],
      ['"jumps" of "two" leads to "one", which is not a later step.', 1],
    ],
  ],
  [
    'step ids: used twice, reserved, no id at all; elements have names of their own',
    stepsOf({ id: 'a' }, [element('text', 'a')], { id: 'a' }, [], { id: 'end' }, [], { id: '-1' }, []),
    [
      [
        '"id" of "-1" must have 1 to 128 letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_".',
        3,
      ],
      ['Step ids must be unique: "a" is used more than once.', 1],
      ['A step cannot have the ID "end". Choose another ID.', 2],
    ],
  ],
  [
    'malformed jumps',
    stepsOf(
      { jumps: [{ to: 'end', unless: 1 }] },
      [],
      { jumps: [{ when: {}, to: 'end' }] },
      [],
      ...[{}, [], [5], [{}], [{ to: 5 }], Array.from({ length: 51 }, () => ({ to: 'end' }))].flatMap(
        (jumps) => [{ jumps }, []],
      ),
    ),
    [
      ['"jumps" of the step has a jump with "unless"; a jump can only have "when" and "to".', 0],
      [
        '"jumps" of the step has a jump whose "when" must be a condition: an object with "all", "any", "not", "element" or "reference".',
        1,
      ],
      ...[2, 3, 4, 5, 6, 7].map((at): [string, number] => [
        '"jumps" of the step must be a list of 1 to 50 jumps like {"when": …, "to": "step-id"}.',
        at,
      ]),
    ],
  ],
];

const circles: Scenario[] = [
  [
    'an element that depends on itself',
    structure(conditional('q', answered('q'))),
    [['The conditions form a cycle: "q" → "q". Remove one of them.', 0, 0]],
  ],
  [
    'a cycle of three elements, reported once',
    structure(
      conditional('a', answered('b')),
      conditional('b', answered('c')),
      conditional('c', answered('a')),
    ),
    [['The conditions form a cycle: "a" → "b" → "c" → "a". Remove one of them.', 0, 0]],
  ],
  [
    'a composite that depends on its own element',
    structure(composite('box', [element('text', 'inside')], { hide_when: answered('inside') })),
    [['The conditions form a cycle: "box" → "inside" → "box". Remove one of them.', 0, 0]],
  ],
  [
    'an input that depends on its own group',
    structure(row(conditional('cell', answered('rows')))),
    [['The conditions form a cycle: "cell" → "rows" → "cell". Remove one of them.', 0, 0, 0]],
  ],
];

for (const [name, input, problems] of [...names, ...circles]) {
  test(`rejected: ${name}`, () => {
    assert.deepEqual(
      problemsOf(input),
      problems.map(([message, ...path]) => ({ message, path })),
    );
  });
}

const compared = (attribute: string, is: string, first: string, other: string) =>
  problemsOf(
    stepsOf(
      {},
      [
        { type: 'heading', attrs: { id: 'head', label: 'Head' }, children: [] },
        element('text', 'text'),
        element('number', 'number'),
        element('date', 'date'),
        element('datetime', 'moment'),
        element('radio', 'radio'),
        element('multiple_choice', 'many'),
        element('text', 'asked', { [attribute]: { element: first, is, other } }),
        row(element('text', 'inside')),
      ],
      {},
      [element('text', 'later')],
    ),
  ).map(({ message }) => message);
const refusals: [is: string, element: string, other: string, message: string][] = [
  ['equals', 'text', 'gone', '"show_when" of "asked" names "gone", which is not an element of the form.'],
  ['equals', 'text', 'head', '"show_when" of "asked" names "head", which has no answer.'],
  ['equals', 'text', 'later', '"show_when" of "asked" names "later", which is asked in a later step.'],
  [
    'equals',
    'text',
    'inside',
    '"show_when" of "asked" names "inside", which has an answer in each row of "rows"; only conditions in that row can use it.',
  ],
  [
    'equals',
    'text',
    'text',
    '"show_when" of "asked" compares "text" with itself; name another question under "other".',
  ],
  [
    'equals',
    'text',
    'number',
    '"show_when" of "asked" compares "text" with "number", whose answers are of another kind.',
  ],
  [
    'after',
    'date',
    'moment',
    '"show_when" of "asked" compares "date" with "moment", whose answers are of another kind.',
  ],
  [
    'contains',
    'many',
    'text',
    '"show_when" of "asked" compares "many" with "text", whose answers are of another kind.',
  ],
  [
    'equals',
    'text',
    'rows',
    '"show_when" of "asked" compares "text" with "rows", whose answers are of another kind.',
  ],
];
for (const [is, first, other, message] of refusals) {
  test(`rejected: ${first} ${is} ${other}`, () => {
    assert.deepEqual(compared('show_when', is, first, other), [message]);
  });
}

test('a comparison with another question can close a cycle; a rule of a question can name itself and a later step', () => {
  assert.deepEqual(compared('show_when', 'equals', 'text', 'asked'), [
    'The conditions form a cycle: "asked" → "asked". Remove one of them.',
  ]);
  assert.deepEqual(compared('valid_when', 'equals', 'asked', 'later'), []);
  assert.deepEqual(compared('valid_when', 'equals', 'inside', 'asked').length, 1);
  assert.deepEqual(compared('show_when', 'contains', 'many', 'radio'), []);
  assert.match(
    compared('show_when', 'after', 'number', 'number')[0]!,
    /cannot use the operator "after" on "number"/,
  );
});

test('accepted: elements of a step in both directions, earlier steps, siblings in a row, answered groups, references', () => {
  const form = stepsOf(
    { id: 'one', jumps: [{ when: answered('a'), to: 'three' }, { to: 'end' }] },
    [
      element('text', 'a', { show_when: answered('b'), require_when: answered('a') }),
      element('text', 'b', { require_when: answered('a') }),
      row(
        element('text', 'x', { show_when: answered('y') }),
        element('text', 'y', { hide_when: answered('b') }),
      ),
    ],
    { show_when: { all: [answered('rows'), { reference: 'plan', is: 'one_of', value: ['pro', 5] }] } },
    [conditional('c', { element: 'a', is: 'equals', value: 'Ada' })],
    { id: 'three' },
    [],
  );
  assert.deepEqual(problemsOf(form), []);
  assert.deepEqual(JSON.parse(JSON.stringify(form)), form);
});

test('a fault of an element is reported once, not again for each condition or jump that names it', () => {
  const { attrs, ...matrix } = element('matrix', 'm', { rows: undefined });
  assert.deepEqual(
    problemsOf(
      structure(
        { ...matrix, attrs: { id: 'm', label: 'M', options: attrs?.['options'] } },
        conditional('q', { ...answered('m'), row: 'Tea' }),
      ),
    ),
    [{ message: 'A required attribute is missing: "rows".', path: [0, 0] }],
  );
  const twice = structure(
    element('number', 'a'),
    conditional('q', { element: 'a', is: 'at_least', value: 1 }),
    element('text', 'a'),
  );
  assert.deepEqual(problemsOf(twice), [
    { message: 'Element ids must be unique: "a" is used more than once.', path: [0, 2] },
  ]);
  const [problem, ...others] = problemsOf(stepsOf({ jumps: [null] }, [element('text', 'a')]));
  assert.match(problem!.message, /^"jumps" of the step must be a list of 1 to 50 jumps/);
  assert.deepEqual(others, []);
});

test('problems of logic are reported together with all others', () => {
  const found = problemsOf(
    structure(element('text', 'a', { label: '' }), conditional('q', answered('gone'))),
  );
  assert.deepEqual(
    found.map(({ path }) => path),
    [
      [0, 0],
      [0, 1],
    ],
  );
});

test('a chain over the limit is rejected once, with the limit in the message', () => {
  const chain = (length: number) =>
    structure(
      ...Array.from({ length }, (_, index) =>
        element('text', `c${index}`, index + 1 < length ? { show_when: answered(`c${index + 1}`) } : {}),
      ),
    );
  assert.deepEqual(problemsOf(chain(200)), []);
  const message =
    'Conditions and formulas can depend on each other at most 200 levels deep within a step. Shorten the chain at "c799".';
  assert.deepEqual(problemsOf(chain(1_000)), [{ message, path: [0, 799] }]);
});

test('a form has at most 2,000 comparisons in total', () => {
  const when = { all: Array.from({ length: 100 }, () => answered('a')) };
  const form = (count: number) =>
    structure(
      element('text', 'a'),
      ...Array.from({ length: count }, (_, index) => conditional(`q${index}`, when)),
    );
  assert.deepEqual(problemsOf(form(20)), []);
  const message = 'The conditions of a form can have at most 2000 comparisons in total.';
  assert.deepEqual(problemsOf(form(22)), [{ message, path: [0, 21] }]);
});
