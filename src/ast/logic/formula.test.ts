import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf, formOfSteps, problemsOf, structure } from '#test/ast/forms.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import { checkStep } from '../answers/check-step.ts';
import type { FormNode } from '../form/tree.ts';
import { formulaProblem } from './formula/formula-problem.ts';
import { parseFormula, renameInFormula } from './formula/parse.ts';
import { runFormula } from './formula/run.ts';

/** Returns the result of a formula that uses no elements. */
function resultOf(formula: string): number | undefined {
  const parsed = parseFormula(formula);
  assert.ok(parsed.ok, formula);
  const nothing = { answer: () => undefined, attrsOf: () => ({}), rowsAround: () => undefined };
  return runFormula(parsed.program, { ...nothing, ...context }, undefined);
}

const results: Record<string, number | undefined> = {
  '1 + 2 * 3 - 4 / 2': 5,
  '(1 + 2) * 3': 9,
  '2 - 3 - 4': -5,
  '-2 * -3': 6,
  // Binary fractions give other results.
  '0.1 + 0.2': 0.3,
  '1.1 * 1.1': 1.21,
  '0.3 % 0.1': 0,
  '100.1 - 100': 0.1,
  '1000000.1 - 1000000': 0.1,
  '0.1 + 0.2 - 0.3': 0,
  '0.3 / 0.1 - 3': 0,
  '0.3 / 0.1 % 1': 0,
  '100.1 % 100': 0.1,
  '-(1 / 3) * 3': -1,
  '1 / 3 + 1 / 3 + 1 / 3': 1,
  '0.1 * 3': 0.3,
  '0.3 / 0.1': 3,
  'round(1.23456, 0.3 / 0.1)': 1.235,
  'sum(100.1, -100)': 0.1,
  'sum(0.1, 0.2, -0.3)': 0,
  'average(0.1, 0.2)': 0.15,
  'average(0.1, 0.2, 0.3)': 0.2,
  'min(0.1 + 0.2, 1) + max(0.1 * 3, 0)': 0.6,
  'abs(1000.1 - 1000.3)': 0.2,
  'ceil(0.1 * 3 * 10) + floor(0.3 / 0.1)': 6,
  'if(0.1 + 0.2 = 0.3 and 100.1 - 100 <= 0.1, 1, 0)': 1,
  '0.00000000000000000001 * 3': 3e-20,
  '123456789012345 - 1 + 1': 123456789012345,
  '-7 % 3': 2,
  '7 % 0': undefined,
  '1 / 0': undefined,
  '0 / 0': undefined,
  '1 / 3 * 3': 1,
  '999999999999999 + 1': undefined,
  '0 * -1': 0,
  'round(1.005, 2)': 1.01,
  'round(-2.5)': -3,
  'round(1234.5, -2)': 1200,
  'round(5, 99)': undefined,
  'floor(-1.5) + ceil(-1.5) + abs(-3)': 0,
  'if(1 < 2 and not 2 < 1, 5, 6)': 5,
  'if(1 > 2 or 2 = 3, 5, 6)': 6,
  'if("Ada " = "ADA", 1, 0)': 1,
  'if(includes("Hamburg", "burg"), 1, 0)': 1,
  'IF(TRUE, 1, 0)': 1,
  'sum(1, 2, 3.5) + min(4, 2) + max(4, 2) + average(1, 2) + count(1, "x")': 16,
  'length("😀 ab")': 4,
  'days_between("2026-01-31", "2026-03-01")': 29,
  'days_between("2026-03-01", "2024-02-28")': -732,
  'minutes_between("09:15", "17:45") / 60': 8.5,
  'minutes_between("2026-01-31T23:30", "2026-02-01T00:15")': 45,
  'age("2000-02-29", "2026-02-28")': 25,
  'age("2000-02-29", "2026-03-01")': 26,
  'year("2026-11-23") + month("2026-11-23") + day("2026-11-23")': 2060,
  'weekday("2026-11-23") * 10 + weekday("2026-11-29")': 17,
  'if(today() > "2000-01-01", 1, 0)': 1,
  'if("09:30" < "10:00" and "2026-01-31T09:30" >= "2026-01-31", 1, 0)': 1,
  // An invalid date is neither before nor after another; a browser posts text for a date that it cannot
  // parse.
  'if("2026-02-31" > "2026-01-31" or "2026-02-31" <= "2026-01-31", 1, 0)': 0,
};
for (const [formula, result] of Object.entries(results)) {
  test(`${formula} gives ${result ?? 'no number'}`, () => assert.equal(resultOf(formula), result));
}

const faults: [formula: string, problem: RegExp, character: number][] = [
  ['', /ends where a value is expected/, 1],
  ['1 +', /ends where a value is expected/, 4],
  ['(1 + 2', /ends where "\)" is expected/, 7],
  ['1 2', /has "2" where an operator or the end of the formula is expected/, 3],
  ['price * 2', /"price", which is not a value; write elements in braces/, 1],
  ['foo(1)', /"foo", which is not a function/, 1],
  ['1 & 2', /"&", which is not valid in a formula/, 3],
  ['{-1}', /"\{" without an element ID/, 1],
  ['{}', /"\{" without an element ID/, 1],
  ['"open', /without a closing/, 1],
  ['sum()', /has sum\(\) without values/, 1],
  ['round 2', /has "2" where "\(" after "round" is expected/, 7],
  ['points(5)', /where an element in braces/, 8],
  [`${'('.repeat(40)}1${')'.repeat(40)}`, /nested at most 30 levels deep/, 31],
  [`${'-'.repeat(40)}1`, /nested at most 30 levels deep/, 31],
];
for (const [formula, problem, character] of faults) {
  test(`${formula.slice(0, 20) || 'nothing'} is rejected at character ${character}`, () => {
    const message = formulaProblem(formula) ?? '';
    assert.match(message, problem);
    assert.ok(message.endsWith(`(character ${character})`), message);
  });
}

test('a formula has at most 2,000 characters, and the longest one is evaluated', () => {
  assert.match(formulaProblem(`1${'+1'.repeat(1_000)}`) ?? '', /at most 2000 characters/);
  assert.equal(resultOf(`1${'+1'.repeat(999)}`), 1_000);
});

const calculation = (id: string, formula: string, attrs = {}): FormNode =>
  element('calculation', id, { formula, ...attrs });
const questions = [
  element('number', 'price'),
  element('text', 'name'),
  element('date', 'day'),
  element('radio', 'color'),
  element('multiple_choice', 'colors'),
  element('radio', 'mood', { options: [{ id: 'a', label: 'Good', points: 5 }, 'bad'] }),
  element('heading', 'head'),
  composite('rows', [element('number', 'cost'), element('number', 'amount')], { repeatable: true }),
  composite('others', [element('number', 'other')], { repeatable: true }),
  composite('plain', [element('number', 'inner')]),
];
const refused: [formula: string, problem: string][] = [
  ['{gone}', 'names "gone", which is not an element of the form (character 1)'],
  ['1 + {head}', 'names "head", which has no answer (character 5)'],
  ['{plain}', 'names "plain", which has no answer itself; name an element in it (character 1)'],
  ['{late}', 'names "late", which is asked in a later step (character 1)'],
  ['{name} * 2', 'has a text where "*" needs a number (character 1)'],
  ['{name}', 'returns a text instead of a number (character 1)'],
  ['{price} > 3', 'returns true or false instead of a number (character 1)'],
  ['if({price}, 1, 2)', 'has a number where if() needs true or false (character 4)'],
  ['if({price} > 1, 1, "x")', 'has a text where if() needs a number (character 20)'],
  [
    'if({day} > "soon", 1, 2)',
    'has a text where ">" needs a number, a date or a time, like "2026-01-31" or "14:30" (character 12)',
  ],
  ['if({color} = "Pink", 1, 2)', 'compares with "Pink", which is not one of the options (character 14)'],
  [
    'if(includes({colors}, "Pink"), 1, 2)',
    'compares with "Pink", which is not one of the options (character 23)',
  ],
  ['points({color})', 'uses the points of "color", whose options have no points (character 1)'],
  ['round(1, 2, 3)', 'passes 3 values to round(); it needs 1 to 2 (character 1)'],
  ['year()', 'passes 0 values to year(); it needs 1 (character 1)'],
  [
    '{cost} * 2',
    'names "cost", which has an answer in each row of "rows"; combine the answers with sum(), min(), max(), average() or count() (character 1)',
  ],
  [
    'sum({cost} * {other})',
    'combines answers from rows of "rows" and "others" in sum(); use only one group (character 1)',
  ],
  [
    'sum({cost} / sum({amount}))',
    'combines rows of "rows" inside a function that already combines rows (character 14)',
  ],
  ['sum({name})', 'has a text where sum() needs a number (character 5)'],
];
for (const [formula, problem] of refused) {
  test(`${formula} is rejected because of an element that it names`, () => {
    const form = structure(...questions, calculation('total', formula));
    const late = { type: 'step', attrs: { title: 'Two' }, children: [element('number', 'late')] };
    assert.deepEqual(problemsOf({ ...form, children: [...form.children!, late] }), [
      { message: `"formula" of "total" ${problem}.`, path: [0, questions.length] },
    ]);
  });
}

test('cycles of formulas are rejected, also through conditions', () => {
  const circle = structure(
    calculation('a', '{b} + 1'),
    element('number', 'n', { show_when: { element: 'a', is: 'answered' } }),
    calculation('b', '{n} * 2'),
  );
  assert.deepEqual(problemsOf(circle), [
    { message: 'The formulas form a cycle: "a" → "b" → "n" → "a". Remove one of them.', path: [0, 0] },
  ]);
  assert.match(
    problemsOf(structure(calculation('a', '{a}')))[0]!.message,
    /form a cycle: "a" → "a"\. Remove one of them/,
  );
});

test('the formulas of a form have at most 20,000 characters in total', () => {
  const long = `1${'+1'.repeat(990)}`;
  const form = (count: number) =>
    structure(...Array.from({ length: count }, (_, index) => calculation(`c${index}`, long)));
  assert.deepEqual(problemsOf(form(10)), []);
  assert.match(problemsOf(form(11))[0]!.message, /at most 20000 characters in total/);
});

/** Returns the stored answers, or the messages of the problems. */
const stored = (nodes: readonly FormNode[], raw: unknown) => {
  const result = checkAnswers(formOf(...nodes), raw, new Map(), context);
  return result.ok ? result.answers : result.errors.map(({ message }) => message);
};

test('a result is stored like an answer; a value sent for it is ignored', () => {
  const nodes = [element('number', 'price'), calculation('total', '{price} * 1.19', { decimals: 2 })];
  assert.deepEqual(stored(nodes, { price: 9.99, total: 1 }), { price: 9.99, total: 11.89 });
  assert.deepEqual(stored(nodes, { total: 'x' }), {});
  assert.deepEqual(stored([element('number', 'n'), calculation('c', '1 / {n}')], { n: 0 }), { n: 0 });
});

for (const [formula, unanswered, answered] of [
  ['{n}', undefined, 2],
  ['{n} * 0', undefined, 0],
  ['{n} + {other} + 1', undefined, 3],
  ['sum({n}, {other}) * 1.19', undefined, 2.38],
  ['round({n} / 2, 1)', undefined, 1],
  ['1 + 1', 2, 2],
  ['count({n}, {other})', 0, 1],
  ['if({n} > 1, 5, 10)', 10, 5],
  ['if(answered({other}), 1, 2) + {n}', 2, 4],
  ['sum(points({mood}), 1)', 1, 1],
] as const) {
  test(`${formula} is ${unanswered ?? 'without a result'} before an answer, and ${answered} after one`, () => {
    const nodes = [
      element('number', 'n'),
      element('number', 'other'),
      element('radio', 'mood', { options: [{ id: 'good', label: 'Good', points: 3 }, 'bad'] }),
      calculation('result', formula),
    ];
    assert.deepEqual(stored(nodes, {}), unanswered === undefined ? {} : { result: unanswered });
    assert.deepEqual(stored(nodes, { n: 2 }), { n: 2, result: answered });
  });
}

test('the points of one or several chosen options make a score', () => {
  const options = [{ id: 'a', label: 'Good', points: 5 }, { id: 'b', label: 'So', points: 0.5 }, 'bad'];
  const nodes = [
    element('radio', 'one', { options }),
    element('multiple_choice', 'all', { options }),
    calculation('score', 'points({one}) + points({all})'),
  ];
  assert.deepEqual(stored(nodes, { one: 'a', all: ['b', 'a'] }), { one: 'a', all: ['b', 'a'], score: 10.5 });
  assert.deepEqual(stored(nodes, { one: 'bad' }), { one: 'bad', score: 0 });
});

test('formulas outside a group aggregate its rows, and formulas inside compute each row; a result does not make a row answered', () => {
  const nodes = [
    composite(
      'items',
      [
        element('number', 'cost'),
        element('number', 'amount'),
        calculation('line', '{cost} * {amount} * {factor}'),
      ],
      { repeatable: true },
    ),
    element('number', 'factor'),
    calculation('total', 'sum({line})'),
    calculation('plain', 'sum({cost} * {amount})'),
    calculation('rows', 'count({items})'),
    calculation('mean', 'average({cost})'),
  ];
  const items = [{ cost: 2, amount: 3 }, {}, { cost: 10, line: 99 }];
  assert.deepEqual(stored(nodes, { items, factor: 2 }), {
    items: [
      { cost: 2, amount: 3, line: 12 },
      { cost: 10, line: 0 },
    ],
    factor: 2,
    total: 12,
    plain: 6,
    rows: 2,
    mean: 6,
  });
  assert.deepEqual(stored(nodes, { items: [{ line: 5 }] }), { rows: 0 });
});

test('conditions can use results, and hidden elements add nothing to them', () => {
  const nodes = [
    element('number', 'n'),
    calculation('double', '{n} * 2'),
    element('text', 'why', {
      show_when: { element: 'double', is: 'greater_than', value: 10 },
      required: true,
    }),
    element('number', 'extra', { show_when: { element: 'double', is: 'less_than', value: 10 } }),
    calculation('sum', '{double} + {extra}', { hide_when: { element: 'n', is: 'equals', value: 0 } }),
  ];
  assert.deepEqual(stored(nodes, { n: 6, extra: 5 }), ['The why: an answer is required.']);
  assert.deepEqual(stored(nodes, { n: 4, extra: 5 }), { n: 4, double: 8, extra: 5, sum: 13 });
  assert.deepEqual(stored(nodes, { n: 0 }), { n: 0, double: 0 });
});

test('a step with only hidden results is skipped, and its results are computed', () => {
  const form = formOfSteps(
    {},
    [element('number', 'n')],
    {},
    [calculation('score', '{n} + 1', { hidden: true })],
    { show_when: { element: 'score', is: 'equals', value: 2 } },
    [element('text', 'why', { required: true })],
  );
  const at = (n: number) => checkStep(form, 2, { n }, new Map(), context).length;
  assert.deepEqual([at(1), at(2)], [1, 0]);
});

test('a chain of 199 results is computed', () => {
  const chain = Array.from({ length: 199 }, (_, index) =>
    calculation(`c${index}`, index === 198 ? '{n}' : `{c${index + 1}} + 1`),
  );
  const answers = stored([element('number', 'n'), ...chain], { n: 1 });
  assert.equal((answers as Record<string, unknown>)['c0'], 199);
});

test('raw answers of a wrong type give an error and no result', () => {
  const nodes = [element('number', 'n'), element('date', 'd'), calculation('c', '{n} * 2 + age({d})')];
  for (const n of ['x', {}, [1, 2], true]) {
    const [first] = stored(nodes, { n, d: 'soon' }) as string[];
    assert.match(first!, /The n:/);
  }
});

test('renaming an element updates formulas, including incomplete ones', () => {
  const rename = (id: string) => (id === 'a' ? 'b' : id);
  assert.equal(renameInFormula('{a} + "{a}', rename), '{a} + "{a}');
  assert.equal(
    renameInFormula('{a} + "{a}" * {c} + points({ a })', rename),
    '{b} + "{a}" * {c} + points({b})',
  );
  assert.equal(renameInFormula('{a} +', rename), '{b} +');
});
