import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf, formOfSteps } from '#test/ast/forms.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import { checkStep, stepIndexOfField } from '../answers/check-step.ts';
import type { ComparisonOperator, Condition } from '../basics/condition.ts';
import { type Form, type InputElement, isComposite, isInput, walkElements } from '../form/tree.ts';
import { evaluateVisibility } from './evaluate.ts';
import { includesText } from './formula/includes-text.ts';

/** Returns the ids of visible elements outside rows. */
function shownIds(form: Form, raw: unknown, reference: Record<string, string> = {}): string[] {
  const shown = evaluateVisibility(form, raw, { ...context, reference });
  return [...walkElements(form)]
    .filter(({ element, group }) => !group && shown.isShown(element))
    .map(({ element }) => element.attrs?.id ?? element.type);
}

function inputOf(form: Form, id: string): InputElement {
  const found = [...walkElements(form)].find(({ element }) => element.attrs?.id === id)!.element;
  assert.ok(isInput(found));
  return found;
}

const answered = (id: string): Condition => ({ element: id, is: 'answered' });
const equals = (id: string, value: string | number | boolean): Condition => ({
  element: id,
  is: 'equals',
  value,
});

type Scenario = [
  type: string,
  is: ComparisonOperator,
  value: unknown,
  holding: unknown[],
  failing: unknown[],
];

const comparisons: Scenario[] = [
  ['text', 'equals', 'Ada', ['Ada', ' ada '], ['Adam', '', undefined, 5]],
  // A missing answer has no value, not even an empty one.
  ['text', 'equals', '', [], ['', ' ', undefined]],
  ['text', 'not_equals', 'Ada', ['Adam', '', undefined], ['ADA']],
  ['text', 'contains', 'da', ['Ada', 'DARK'], ['dog', '', undefined]],
  ['text', 'not_contains', 'da', ['dog', '', undefined], ['Ada']],
  ['text', 'one_of', ['Ada', 'Bob'], ['bob', 'ADA'], ['Adam', undefined]],
  ['textarea', 'equals', 'a\nb', ['a\r\nb'], ['ab']],
  ['email', 'equals', 'a@b.co', [' A@B.co\n'], ['a@b.com']],
  ['number', 'equals', 3, [3], ['3', 4, undefined]],
  ['number', 'one_of', [1, 2], [2], [3, undefined]],
  ['number', 'greater_than', 3, [4, 1e9], [3, 2, '4', undefined, Number.NaN]],
  ['number', 'at_least', 3, [3], [2.9, undefined, Number.NaN]],
  ['number', 'less_than', 3, [-7], [3, undefined]],
  ['number', 'at_most', 3, [3, 0], [3.1, undefined, [], Number.NaN]],
  ['date', 'at_least', '2026-01-31', ['2026-01-31', ' 2026-02-01'], ['2026-01-30', undefined, 'soon']],
  ['date', 'at_most', 'today-18', ['2026-01-13'], ['2026-01-14', '']],
  ['date', 'equals', '2026-03-01', ['2026-03-01'], ['2026-03-02']],
  ['datetime', 'equals', 'today', ['2026-01-31T23:00'], ['2026-02-01T00:00']],
  ['time', 'less_than', '12:00', ['09:30'], ['12:00', undefined, '0:30']],
  ['yes_no', 'equals', true, [true], [false, 'true', undefined]],
  ['yes_no', 'not_equals', true, [false, undefined], [true]],
  ['yes_no', 'answered', undefined, [true, false], [undefined, null, '']],
  ['radio', 'equals', 'Red', ['Red'], ['red', 'Blue', undefined]],
  ['dropdown', 'one_of', ['Red', 'Blue'], ['Blue'], ['Green', undefined]],
  ['multiple_choice', 'contains', 'Red', [['Red'], ['Blue', 'Red']], [['Blue'], [], undefined, 'Red']],
  ['multiple_choice', 'not_contains', 'Red', [['Blue'], undefined], [['Red']]],
  ['multiple_choice', 'one_of', ['Red', 'Blue'], [['Green', 'Blue']], [['Green'], undefined, 'Red']],
  ['multiple_choice', 'not_answered', undefined, [[], undefined], [['Red']]],
];

for (const [type, is, value, holding, failing] of comparisons) {
  test(`${type} ${is} ${JSON.stringify(value) ?? ''}`, () => {
    const when = { element: 'q', is, ...(value !== undefined && { value }) };
    const form = formOf(element(type, 'q'), element('text', 'more', { show_when: when }));
    for (const raw of holding)
      assert.deepEqual(shownIds(form, { q: raw }), ['q', 'more'], JSON.stringify(raw));
    for (const raw of failing) assert.deepEqual(shownIds(form, { q: raw }), ['q'], JSON.stringify(raw));
  });
}

const references: [is: ComparisonOperator, value: unknown, holding: string[], failing: string[]][] = [
  ['contains', 5, ['5', '15'], ['', '1']],
  ['equals', 'Gold', ['gold', ' GOLD'], ['silver']],
  ['greater_than', 9, ['10'], ['9', 'x', '']],
  ['greater_than', -1, ['0'], ['', ' ']],
  ['at_most', 9, ['9'], ['x']],
  ['equals', 10, ['10', '10.0'], ['ten']],
  ['at_least', '2026-01-01', ['2026-03-01'], ['2025-12-31']],
  ['contains', 'old', ['Gold'], ['silver']],
  ['answered', undefined, ['x'], ['', ' ']],
];

test('reference values are compared as text, and with a number as numbers', () => {
  for (const [is, value, holding, failing] of references) {
    const when = { reference: 'plan', is, ...(value !== undefined && { value }) };
    const form = formOf(element('text', 'q', { show_when: when }));
    for (const plan of holding) assert.deepEqual(shownIds(form, {}, { plan }), ['q'], `${is} ${plan}`);
    for (const plan of failing) assert.deepEqual(shownIds(form, {}, { plan }), [], `${is} ${plan}`);
    assert.deepEqual(shownIds(form, {}), []);
  }
  const without = { reference: 'plan', is: 'not_contains', value: 5 } as const;
  const form = formOf(element('text', 'q', { show_when: without }));
  assert.deepEqual(
    ['1', '15', ''].map((plan) => shownIds(form, {}, { plan })),
    [['q'], [], ['q']],
  );
});

test('a long text is found in a text, however often its prefix repeats', () => {
  // Each word joins the two previous ones (Fibonacci words), which gives the most repetitive text.
  let [text, before] = ['ab', 'a'];
  while (text.length < 6_000) [text, before] = [text + before, text];
  for (let at = 0; at < 600; at += 7) {
    const part = text.slice(at * 5, at * 5 + 20 + at);
    for (const each of [part, `${part}b`, `${part}aa`, `b${part}`, `${part}c`])
      assert.equal(includesText(text, each, context.work), text.includes(each), each);
  }
});

test('conditions nest: all, any and not', () => {
  const when = { any: [{ all: [answered('a'), { not: answered('b') }] }, equals('c', 'go')] };
  const form = formOf(
    ...['a', 'b', 'c'].map((id) => element('text', id)),
    element('text', 'q', { show_when: when }),
  );
  const isShown = (raw: unknown) => shownIds(form, raw).includes('q');
  assert.deepEqual([{ a: '1' }, { a: '1', b: '1' }, { b: '1', c: 'go' }, {}].map(isShown), [
    true,
    false,
    true,
    false,
  ]);
});

test('hide_when wins over show_when; content and composites hide with everything inside them', () => {
  const form = formOf(
    element('yes_no', 'a'),
    element('heading', 'h', { show_when: answered('a'), hide_when: equals('a', false) }),
    composite('box', [element('text', 'inside'), composite('inner', [element('text', 'deep')])], {
      hide_when: equals('a', true),
    }),
    { type: 'divider', attrs: { show_when: equals('a', true) } },
  );
  assert.deepEqual(shownIds(form, {}), ['a', 'box', 'inside', 'inner', 'deep']);
  assert.deepEqual(shownIds(form, { a: true, deep: 'x' }), ['a', 'h', 'divider']);
  assert.deepEqual(shownIds(form, { a: false }), ['a', 'box', 'inside', 'inner', 'deep']);
});

test('a hidden answer counts as not given, so elements that depend on it are hidden too', () => {
  const form = formOf(
    // Depends on elements that come later in the form.
    element('text', 'c', { show_when: equals('b', 'yes') }),
    element('text', 'b', { show_when: equals('a', 'yes') }),
    element('text', 'a'),
  );
  assert.deepEqual(shownIds(form, { a: 'yes', b: 'yes', c: 'x' }), ['c', 'b', 'a']);
  assert.deepEqual(shownIds(form, { a: 'no', b: 'yes', c: 'x' }), ['a']);
});

test('hidden answers are neither checked nor stored, whatever their value; unknown names are still rejected', () => {
  const form = formOf(
    element('yes_no', 'a'),
    element('number', 'b', { show_when: equals('a', true), required: true }),
    element('file_upload', 'c', { show_when: equals('a', true) }),
    composite('rows', [element('email', 'd', { required: true })], {
      repeatable: true,
      hide_when: equals('a', false),
    }),
  );
  const raw = { a: false, b: 'no number', rows: 'no rows' };
  const file = { id: '1', filename: 'a', size: 1, content_type: 'x/y' };
  assert.deepEqual(checkAnswers(form, raw, new Map([['c', [file]]]), context), {
    ok: true,
    answers: { a: false },
  });
  const result = checkAnswers(form, { ...raw, e: 1 }, new Map(), context);
  assert.deepEqual(result.ok || result.errors.map(({ field }) => field), ['e']);
  const checked = checkAnswers(form, { a: true }, new Map(), context);
  assert.deepEqual(checked.ok || checked.errors.map(({ field }) => field), ['b']);
});

test('require_when requires an answer while its condition is true, but only of visible elements', () => {
  const form = formOf(
    element('yes_no', 'a'),
    element('text', 'b', { require_when: equals('a', true), hide_when: equals('c', 'hide') }),
    element('text', 'c', { require_when: answered('b') }),
  );
  const fields = (raw: unknown) => {
    const result = checkAnswers(form, raw, new Map(), context);
    return result.ok ? [] : result.errors.map(({ field }) => field);
  };
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ a: true }), ['b']);
  assert.deepEqual(fields({ a: true, b: 'x' }), ['c']);
  assert.deepEqual(fields({ a: true, c: 'hide' }), []);
  const shown = evaluateVisibility(form, { a: true }, context);
  assert.deepEqual(
    [shown.isRequired(inputOf(form, 'b')), shown.isRequired(inputOf(form, 'c'))],
    [true, false],
  );
});

type Pair = [types: [string, string], is: ComparisonOperator, holding: unknown[][], failing: unknown[][]];
const pairs: Pair[] = [
  [
    ['date', 'date'],
    'after',
    [['2026-02-01', '2026-01-31']],
    [
      ['2026-01-31', '2026-01-31'],
      ['', '2026-01-31'],
    ],
  ],
  [
    ['time', 'time'],
    'before',
    [['09:30', '12:00']],
    [
      ['12:00', '09:30'],
      ['09:30', ''],
    ],
  ],
  [
    ['date', 'date'],
    'equals',
    [['2026-01-31', '2026-01-31']],
    [
      ['2026-01-31', '2026-02-01'],
      ['', ''],
    ],
  ],
  [
    ['number', 'rating'],
    'at_least',
    [
      [3, 3],
      [4, 3],
    ],
    [
      [2, 3],
      [2, undefined],
      [undefined, 2],
    ],
  ],
  [
    ['number', 'number'],
    'equals',
    [[3, 3]],
    [
      [3, 4],
      [3, '3'],
      [undefined, undefined],
    ],
  ],
  [
    ['number', 'number'],
    'not_equals',
    [
      [3, 4],
      [3, undefined],
      [undefined, undefined],
    ],
    [[3, 3]],
  ],
  [
    ['text', 'email'],
    'equals',
    [['A@b.co ', 'a@B.co']],
    [
      ['x', 'a@b.co'],
      ['', ''],
    ],
  ],
  [
    ['textarea', 'text'],
    'contains',
    [['Ada Lovelace', 'love']],
    [
      ['Ada', 'Ada L'],
      ['Ada', ''],
    ],
  ],
  [
    ['text', 'text'],
    'not_contains',
    [
      ['Ada', 'Ben'],
      ['Ada', ''],
    ],
    [['Ada', 'da']],
  ],
  [
    ['radio', 'dropdown'],
    'equals',
    [['Red', 'Red']],
    [
      ['Red', 'Blue'],
      ['Red', undefined],
    ],
  ],
  [
    ['multiple_choice', 'radio'],
    'contains',
    [[['Red', 'Blue'], 'Red']],
    [
      [['Blue'], 'Red'],
      [['Red'], undefined],
    ],
  ],
  [
    ['yes_no', 'yes_no'],
    'equals',
    [
      [true, true],
      [false, false],
    ],
    [
      [true, false],
      [undefined, undefined],
    ],
  ],
];

for (const [[first, second], is, holding, failing] of pairs) {
  test(`a ${first} ${is} another question, a ${second}`, () => {
    const form = formOf(
      element(first, 'a'),
      element(second, 'b'),
      element('text', 'c', { show_when: { element: 'a', is, other: 'b' } }),
    );
    for (const [a, b] of holding) assert.ok(shownIds(form, { a, b }).includes('c'), JSON.stringify([a, b]));
    for (const [a, b] of failing) assert.ok(!shownIds(form, { a, b }).includes('c'), JSON.stringify([a, b]));
  });
}

test('a question is compared with a calculation, and a hidden one counts as blank', () => {
  const form = formOf(
    element('number', 'n', { hide_when: equals('t', 'hide') }),
    element('calculation', 'sum', { formula: '{n} * 2' }),
    element('number', 'limit'),
    element('text', 't'),
    element('text', 'c', { show_when: { element: 'limit', is: 'less_than', other: 'sum' } }),
  );
  assert.ok(shownIds(form, { n: 3, limit: 5 }).includes('c'));
  assert.ok(!shownIds(form, { n: 3, limit: 6 }).includes('c'));
  assert.ok(!shownIds(form, { n: 3, limit: 5, t: 'hide' }).includes('c'));
});

const period = { valid_when: { element: 'end', is: 'after', other: 'start' } };
const refusedBy = (form: Form, raw: unknown) => {
  const result = checkAnswers(form, raw, new Map(), context);
  return result.ok ? [] : result.errors.map(({ field, message, code }) => [field, code, message]);
};

test('valid_when refuses an answer with a message, once the question and the other one are answered', () => {
  const form = formOf(element('date', 'end', period), element('date', 'start'));
  const message = 'The end: this answer does not fit the other answers. Change one of them.';
  const refused = [['end', 'not_allowed', message]];
  assert.deepEqual(refusedBy(form, { start: '2026-02-02', end: '2026-02-01' }), refused);
  for (const raw of [
    { start: '2026-02-01', end: '2026-02-02' },
    { end: '2026-02-01' },
    { start: '2026-02-01' },
    {},
  ])
    assert.deepEqual(refusedBy(form, raw), [], JSON.stringify(raw));
  const own = { ...period, error_message: 'End must be after start.' };
  const custom = formOf(element('date', 'start'), element('date', 'end', own));
  assert.deepEqual(refusedBy(custom, { start: '2026-02-02', end: '2026-02-01' }), [
    ['end', 'not_allowed', 'The end: End must be after start.'],
  ]);
});

test('valid_when may name only its own question, and hidden questions are not checked', () => {
  const rule = { not: equals('name', 'admin') };
  const form = formOf(
    element('text', 'name', { valid_when: rule, hide_when: equals('kind', 'none') }),
    element('text', 'kind'),
  );
  assert.deepEqual(
    refusedBy(form, { name: 'Admin' }).map(([field]) => field),
    ['name'],
  );
  assert.deepEqual(refusedBy(form, { name: 'Ada' }), []);
  assert.deepEqual(refusedBy(form, { name: 'admin', kind: 'none' }), []);
});

test('in rows, valid_when compares with a question of the row or outside of rows', () => {
  const form = formOf(
    element('date', 'first'),
    composite(
      'trips',
      [
        element('date', 'start', { valid_when: { element: 'start', is: 'at_least', other: 'first' } }),
        element('date', 'end', period),
      ],
      { repeatable: true },
    ),
  );
  const trips = [
    { start: '2026-02-01', end: '2026-02-03' },
    { start: '2026-01-01', end: '2026-01-01' },
  ];
  assert.deepEqual(
    refusedBy(form, { first: '2026-01-31', trips }).map(([field]) => field),
    ['trips[1][start]', 'trips[1][end]'],
  );
});

test('valid_when that names a later step is checked with all answers, not at its own step', () => {
  const start = element('date', 'start');
  const form = formOfSteps({}, [element('date', 'end', period)], {}, [start]);
  const raw = { start: '2026-02-02', end: '2026-02-01' };
  assert.deepEqual(checkStep(form, 0, raw, new Map(), context), []);
  assert.deepEqual(
    refusedBy(form, raw).map(([field]) => field),
    ['end'],
  );
  const within = formOfSteps({}, [element('date', 'end', period), start]);
  assert.deepEqual(
    checkStep(within, 0, raw, new Map(), context).map(({ field }) => field),
    ['end'],
  );
});

const visits = formOf(
  composite(
    'visits',
    [
      element('yes_no', 'alone'),
      element('text', 'with', { show_when: equals('alone', false), require_when: answered('reason') }),
      element('text', 'reason'),
    ],
    { repeatable: true },
  ),
  element('text', 'thanks', { show_when: { element: 'visits', is: 'answered' } }),
);

test('in a repeatable composite each row is evaluated separately', () => {
  const raw = {
    visits: [{ alone: true, with: 'hidden' }, { alone: false, with: 'Ada', reason: 'x' }, { with: 'hidden' }],
  };
  assert.deepEqual(checkAnswers(visits, raw, new Map(), context), {
    ok: true,
    answers: { visits: [{ alone: true }, { alone: false, with: 'Ada', reason: 'x' }] },
  });
  const wrong = checkAnswers(
    visits,
    {
      visits: [
        { alone: true, reason: 'x' },
        { alone: false, reason: 'y' },
      ],
    },
    new Map(),
    context,
  );
  assert.deepEqual(wrong.ok || wrong.errors.map(({ field }) => field), ['visits[1][with]']);
  const shown = evaluateVisibility(visits, raw, context);
  const input = inputOf(visits, 'with');
  const [group] = visits.children[0]!.children;
  assert.ok(group?.type === 'composite');
  assert.deepEqual(
    [0, 1, 2, 9].map((index) => shown.isShown(input, { group, index })),
    [false, true, false, false],
  );
  assert.equal(shown.isShown(input), false);
});

test('a group is answered if any visible answer in any of its rows is given', () => {
  const isThanked = (visits_: unknown) => shownIds(visits, { visits: visits_ }).includes('thanks');
  assert.deepEqual(
    [undefined, [], [{}], 'x', [{ with: 'hidden' }], [null, { reason: ' ' }], [{}, { alone: false }]].map(
      isThanked,
    ),
    [false, false, false, false, false, false, true],
  );
});

test('an upload is answered by its pending or stored files; in a row, by the files of that row', () => {
  const form = formOf(
    element('file_upload', 'photo'),
    element('text', 'about', { show_when: answered('photo') }),
    composite(
      'pets',
      [element('file_upload', 'picture'), element('text', 'name', { show_when: answered('picture') })],
      {
        repeatable: true,
      },
    ),
    element('text', 'end', { show_when: answered('pets') }),
  );
  const files = new Map([
    ['photo', ['token']],
    ['pets[1][picture]', ['token']],
  ]);
  const shown = evaluateVisibility(form, { photo: 'by name' }, context, files);
  const [, about, pets, end] = form.children[0]!.children;
  assert.ok(about && end && pets?.type === 'composite');
  assert.ok(shown.isShown(about) && shown.isShown(end));
  assert.deepEqual(
    [0, 1].map((index) => shown.isShown(inputOf(form, 'name'), { group: pets, index })),
    [false, true],
  );
  assert.deepEqual(shownIds(form, { photo: 'by name' }), ['photo', 'pets']);
});

const journey = formOfSteps(
  {
    jumps: [
      { when: equals('kind', 'short'), to: 'last' },
      { when: equals('kind', 'none'), to: 'end' },
    ],
  },
  [element('text', 'kind')],
  { id: 'details', show_when: { not: equals('kind', 'skip') } },
  [element('text', 'detail', { required: true })],
  { hide_when: answered('detail'), jumps: [{ to: 'end' }] },
  [element('text', 'why', { required: true })],
  { id: 'last' },
  [element('text', 'done', { show_when: { not: answered('why') } })],
);

const routes: [raw: Record<string, unknown>, steps: number[]][] = [
  [{}, [0, 1, 2]],
  [{ detail: 'x' }, [0, 1, 3]],
  [{ kind: 'skip', detail: 'x' }, [0, 2]],
  [{ kind: 'short', detail: 'x' }, [0, 3]],
  [{ kind: 'none' }, [0]],
];

test('hidden and jumped-over steps are not reached; the first jump whose condition is true wins', () => {
  for (const [raw, steps] of routes) {
    assert.deepEqual(evaluateVisibility(journey, raw, context).steps, steps, JSON.stringify(raw));
  }
});

test('answers of unreached steps are neither checked nor stored', () => {
  const result = checkAnswers(journey, { kind: 'short', detail: 5, why: 'x', done: 'y' }, new Map(), context);
  assert.deepEqual(result, { ok: true, answers: { kind: 'short', done: 'y' } });
});

test('a form whose only logic is a jump, or a condition on an answer, has logic', () => {
  const jumping = formOfSteps({ jumps: [{ to: 'end' }] }, [element('text', 'a')], {}, [element('text', 'b')]);
  assert.deepEqual(evaluateVisibility(jumping, {}, context).steps, [0]);
  const requiring = formOf(element('text', 'a'), element('text', 'b', { require_when: answered('a') }));
  assert.equal(evaluateVisibility(requiring, { a: 'x' }, context).isRequired(inputOf(requiring, 'b')), true);
});

test('a hidden value is never required, and does not make a step', () => {
  const unasked = element('hidden', 'h', { require_when: answered('a') });
  const form = formOf(element('text', 'a', { require_when: answered('h') }), unasked);
  assert.equal(evaluateVisibility(form, { a: 'x' }, context).isRequired(inputOf(form, 'h')), false);
  const apart = formOfSteps({}, [element('text', 'a')], {}, [element('hidden', 'h')]);
  assert.deepEqual(evaluateVisibility(apart, {}, context).steps, [0]);
});

test('a form may hide all of its steps', () => {
  const form = formOfSteps({ show_when: { reference: 'token', is: 'answered' } }, [element('text', 'q')]);
  assert.deepEqual(evaluateVisibility(form, {}, context).steps, []);
  assert.deepEqual(evaluateVisibility(form, {}, { ...context, reference: { token: '1' } }).steps, [0]);
});

test('checking one step covers its visible elements, if the step is reached', () => {
  const fields = (step: number, raw: unknown) =>
    checkStep(journey, step, raw, new Map(), context).map(({ field, problem }) => [field, problem.rule]);
  assert.deepEqual(fields(1, {}), [['detail', 'required']]);
  assert.deepEqual(fields(2, {}), [['why', 'required']]);
  assert.deepEqual(fields(1, { kind: 'skip' }), []);
  assert.deepEqual(fields(9, {}), []);
  assert.deepEqual(fields(0, 'no object'), []);
  assert.deepEqual(fields(0, { unknown: 1 }), []);
});

test('the step of a field is found by its id, by its name in a row, and by the name of a row', () => {
  const form = formOfSteps({}, [element('text', 'a')], {}, [
    composite('rows', [element('text', 'b')], { repeatable: true }),
  ]);
  assert.deepEqual(
    ['a', 'rows', 'rows[3][b]', 'rows[3]', 'gone', 'answers', ''].map((field) =>
      stepIndexOfField(form, field),
    ),
    [0, 1, 1, 1, undefined, undefined, undefined],
  );
});

test('a chain of conditions up to the limit is evaluated', () => {
  const deep = (when: Condition): Condition => ({ all: [{ any: [{ not: { not: when } }] }] });
  const chain = Array.from({ length: 200 }, (_, index) =>
    element('text', `c${index}`, index < 199 ? { show_when: deep(answered(`c${index + 1}`)) } : {}),
  );
  const form = formOf(...chain);
  const all = Object.fromEntries(chain.map((_, index) => [`c${index}`, 'x']));
  assert.equal(shownIds(form, all).length, 200);
  assert.deepEqual(shownIds(form, { ...all, c199: '' }), ['c199']);
});

test('a step whose elements are all hidden, alone or in a group, is skipped; an empty step is not', () => {
  const when = { show_when: equals('q', 'go') };
  const form = formOfSteps(
    {},
    [element('text', 'q')],
    {},
    [element('text', 'a', when)],
    {},
    [composite('both', [element('text', 'b', when), element('text', 'c', when)])],
    {},
    [composite('rows', [element('text', 'd', when)], { repeatable: true })],
    {},
    [],
  );
  assert.deepEqual(evaluateVisibility(form, {}, context).steps, [0, 3, 4]);
  assert.deepEqual(evaluateVisibility(form, { q: 'go' }, context).steps, [0, 1, 2, 3, 4]);
  assert.deepEqual(evaluateVisibility(form, 'no answers at all', context).steps, [0, 3, 4]);
});

test('one question at a time: texts belong to the next question, and stand alone if there is none', () => {
  const asking = { ...context, asksSingly: true };
  const heading = element('heading', 'h', { text: 'Hello' });
  const hidden = element('text', 'a', { show_when: equals('q', 'go') });
  const form = formOfSteps({}, [element('text', 'q')], {}, [heading, hidden], {}, [
    { ...heading, attrs: { ...heading.attrs, id: 'h2' } },
  ]);
  assert.deepEqual(evaluateVisibility(form, {}, asking).steps, [0, 2]);
  const first = formOfSteps({}, [element('text', 'q')], {}, [element('text', 'b'), hidden]);
  assert.deepEqual(
    evaluateVisibility(first, {}, asking).steps,
    [0, 1],
    'a question that stands before a hidden one',
  );
  assert.deepEqual(evaluateVisibility(form, {}, context).steps, [0, 1, 2]);
});

test('elements of a jumped-over step are hidden, and so are those in rows of a hidden group', () => {
  const form = formOfSteps(
    { jumps: [{ to: 'last', when: equals('q', 'go') }] },
    [element('text', 'q')],
    {},
    [element('text', 'skipped'), composite('rows', [element('text', 'in_row')], { repeatable: true })],
    { id: 'last' },
    [element('text', 'end')],
  );
  assert.deepEqual(shownIds(form, { q: 'go' }), ['q', 'end']);
  const rows = [...walkElements(form)].find(({ element }) => element.attrs?.id === 'rows')!.element;
  assert.ok(isComposite(rows));
  const shown = evaluateVisibility(form, { q: 'go', rows: [{ in_row: 'x' }] }, context);
  assert.equal(shown.isShown(rows.children[0]!, { group: rows, index: 0 }), false);
  assert.equal(
    evaluateVisibility(form, { rows: [{ in_row: 'x' }] }, context).isShown(rows.children[0]!, {
      group: rows,
      index: 0,
    }),
    true,
  );
});

test('a group is answered if any element in any of its rows is; hidden elements do not count', () => {
  const of = (isRepeatable: boolean): Form =>
    formOfSteps(
      {},
      [
        element('text', 'q'),
        composite('group', [element('text', 'a'), element('text', 'b', { show_when: equals('q', 'go') })], {
          repeatable: isRepeatable,
        }),
      ],
      {},
      [element('text', 'then', { show_when: answered('group') })],
    );
  const isThen = (form: Form, raw: unknown): boolean => shownIds(form, raw).includes('then');
  assert.deepEqual(
    [{}, { group: { a: 'x' } }, { a: '' }, { b: 'x' }, { a: 'x' }].map((raw) => isThen(of(false), raw)),
    [false, false, false, false, true],
  );
  assert.equal(isThen(of(false), { q: 'go', b: 'x' }), true);
  assert.deepEqual(
    [{ group: [] }, { group: [{}, { b: 'x' }] }, { group: [{}, { a: 'x' }] }].map((raw) =>
      isThen(of(true), raw),
    ),
    [false, false, true],
  );
});

test('an unknown step has no problems, and neither have answers that are not an object', () => {
  const form = formOf(element('text', 'q', { required: true }));
  assert.deepEqual(checkStep(form, 7, {}, new Map(), context), []);
  assert.deepEqual(checkStep(form, 0, 'text', new Map(), context), []);
  assert.equal(checkStep(form, 0, {}, new Map(), context).length, 1);
  assert.deepEqual(
    ['q', 'unknown', 'rows[0]', ''].map((field) => stepIndexOfField(form, field)),
    [0, undefined, undefined, undefined],
  );
});
