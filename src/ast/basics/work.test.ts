import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { check, many } from '#test/ast/costly-answers.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { createPlaceholderFiller } from '../answers/format-piped.ts';
import { tidyAnswer } from '../form/tidy.ts';
import { type Composite, type Form, type InputElement, listQuestions } from '../form/tree.ts';
import { formLimits } from './limits.ts';
import { createWorkBudget } from './work.ts';

const fullText = 'Σ'.repeat(formLimits.answerBytes / 2);

test('an answer is case-folded once per row, however many conditions use it', () => {
  const values = many(100, (index) => `v${index}`);
  const questions = many(90, (index) =>
    element('text', `t${index}`, { show_when: { element: 'q', is: 'one_of', value: values } }),
  );
  const form = formOf(composite('g', [element('text', 'q'), ...questions], { repeatable: true }));
  const rows = many(10, () => ({ q: fullText }));
  const { result, steps } = check(form, { g: rows });
  assert.equal(result, 'taken');
  assert.ok(steps < 1_500_000, `${steps} steps`);
});

test('a text costs work by its characters, and more if its line endings are rewritten', () => {
  const [input] = listQuestions(formOf(element('textarea', 'q')));
  const paid = (text: string): number => {
    const work = createWorkBudget();
    const { left } = work;
    tidyAnswer(input!.element as InputElement, text, work);
    return left - work.left;
  };
  assert.deepEqual([paid('x'.repeat(1_000)), paid('\r\n'.repeat(500))], [250, 1_000]);
});

/** Returns elements that each have `condition`. */
const elementsWith = (count: number, condition: Record<string, unknown>) =>
  many(count, (index) => element('text', `t${index}`, { show_when: condition }));
const calculated = (formula: string) => element('calculation', 'sum', { formula });
const options = (count: number) => many(count, (index) => `o${index}`);
const rowsOf = (row: (index: number) => Record<string, unknown>, count: number) => ({ g: many(count, row) });
const group = (...children: Parameters<typeof composite>[1]) =>
  composite('g', children, { repeatable: true });

/** What one more of each costs in the steps of work.ts: the work is counted before it is done. */
const prices: [what: string, price: number, make: (count: number) => [Form, Record<string, unknown>]][] = [
  ['question', 40, (n) => [formOf(...many(n, (index) => element('text', `t${index}`))), {}]],
  [
    'answer of one character',
    120.5,
    (n) => [
      formOf(...many(n, (index) => element('text', `t${index}`))),
      Object.fromEntries(many(n, (index) => [`t${index}`, 'a'])),
    ],
  ],
  ['character of an answer', 0.5, (n) => [formOf(element('text', 't')), { t: 'a'.repeat(n) }]],
  [
    'name of no question',
    40,
    (n) => [formOf(element('text', 't')), Object.fromEntries(many(n, (index) => [`x${index}`, 'a']))],
  ],
  ['row', 180.5, (n) => [formOf(group(element('text', 't'))), rowsOf(() => ({ t: 'a' }), n)]],
  [
    'name in a row',
    40,
    (n) => [
      formOf(group(element('text', 't'))),
      { g: [Object.fromEntries(many(n, (index) => [`x${index}`, 'a']))] },
    ],
  ],
  [
    'row of a matrix',
    40,
    (n) => [
      formOf(element('matrix', 'm')),
      { m: Object.fromEntries(many(n, (index) => [`r${index}`, 'Red'])) },
    ],
  ],
  [
    'choice, where there is one of one’s own',
    10,
    (n) => [formOf(element('multiple_choice', 'c', { other: true })), { c: options(n) }],
  ],
  [
    'number with a step',
    520,
    (n) => [
      formOf(...many(n, (index) => element('number', `n${index}`, { step: 0.1 }))),
      Object.fromEntries(many(n, (index) => [`n${index}`, 1])),
    ],
  ],
  [
    'number',
    120,
    (n) => [
      formOf(...many(n, (index) => element('number', `n${index}`))),
      Object.fromEntries(many(n, (index) => [`n${index}`, 1])),
    ],
  ],
  [
    'date',
    245,
    (n) => [
      formOf(...many(n, (index) => element('date', `d${index}`))),
      Object.fromEntries(many(n, (index) => [`d${index}`, '2026-01-31'])),
    ],
  ],
  ['place of a pattern', 80, (n) => [formOf(element('text', 't', { pattern: 'ab'.repeat(n) })), { t: 'x' }]],
  [
    'character that a pattern takes',
    29.4,
    (n) => [formOf(element('text', 't', { pattern: '(ab)*' })), { t: 'ab'.repeat(n) }],
  ],
  [
    'class of a pattern',
    1553.3,
    (n) => [
      formOf(element('text', 't', { pattern: many(n, (index) => `[a${index}]`).join('') })),
      { t: 'a'.repeat(n) },
    ],
  ],
  [
    'condition',
    110,
    (n) => [
      formOf(element('yes_no', 'q'), ...elementsWith(n, { element: 'q', is: 'equals', value: true })),
      { q: true },
    ],
  ],
  [
    'condition on a date',
    230,
    (n) => [
      formOf(element('date', 'q'), ...elementsWith(n, { element: 'q', is: 'at_least', value: '2026-01-31' })),
      { q: '2026-01-31' },
    ],
  ],
  [
    'day of a condition that moves',
    140,
    (n) => [
      formOf(
        element('date', 'q'),
        ...elementsWith(1, { element: 'q', is: 'one_of', value: many(n, (index) => `today+${index}`) }),
      ),
      { q: '2020-01-31' },
    ],
  ],
  [
    'value of a condition',
    20,
    (n) => [
      formOf(
        element('radio', 'q', { options: options(n) }),
        ...elementsWith(1, { element: 'q', is: 'one_of', value: options(n) }),
      ),
      { q: 'o0' },
    ],
  ],
  [
    'value that is looked for among choices',
    23,
    (n) => [
      formOf(
        element('multiple_choice', 'q', { options: options(n) }),
        ...elementsWith(1, { element: 'q', is: 'one_of', value: options(n) }),
      ),
      { q: ['o0'] },
    ],
  ],
  [
    'choice that a condition looks for',
    26,
    (n) => [
      formOf(
        element('multiple_choice', 'q', { options: options(n) }),
        ...elementsWith(1, { element: 'q', is: 'contains', value: 'o0' }),
      ),
      { q: options(n) },
    ],
  ],
  [
    'character that a condition compares',
    2.75,
    (n) => [
      formOf(element('text', 'q'), ...elementsWith(1, { element: 'q', is: 'equals', value: 'a' })),
      { q: 'a'.repeat(n) },
    ],
  ],
  [
    'character that a condition looks in',
    3.1,
    (n) => [
      formOf(element('text', 'q'), ...elementsWith(1, { element: 'q', is: 'contains', value: 'b' })),
      { q: 'a'.repeat(n) },
    ],
  ],
  [
    'character that is looked in for a long part',
    850,
    (n) => [
      formOf(
        element('textarea', 'q'),
        ...elementsWith(1, { element: 'q', is: 'contains', value: 'b'.repeat(1_000) }),
      ),
      { q: 'a'.repeat(200 * n) },
    ],
  ],
  [
    'child of a group that a condition asks for',
    140,
    (n) => [
      formOf(
        composite(
          'g',
          many(n, (index) => element('text', `c${index}`)),
        ),
        ...elementsWith(1, { element: 'g', is: 'answered' }),
      ),
      {},
    ],
  ],
  [
    'term of a formula',
    80,
    (n) => [formOf(element('number', 'q'), calculated(many(n, () => '{q}').join('+'))), { q: 1 }],
  ],
  [
    'choice whose points are counted',
    60,
    (n) => [
      formOf(
        element('multiple_choice', 'q', { options: options(n).map((id) => ({ id, label: id, points: 1 })) }),
        calculated('points({q})'),
      ),
      { q: options(n) },
    ],
  ],
  [
    'character that a formula compares',
    2.75,
    (n) => [formOf(element('text', 'q'), calculated('if({q}="a",1,0)')), { q: 'a'.repeat(n) }],
  ],
  [
    'character that a formula counts',
    2.75,
    (n) => [formOf(element('text', 'q'), calculated('length({q})')), { q: 'a'.repeat(n) }],
  ],
  [
    'choice that a formula looks for',
    21,
    (n) => [
      formOf(
        element('multiple_choice', 'q', { options: options(n) }),
        calculated('if(includes({q},"o0"),1,0)'),
      ),
      { q: options(n) },
    ],
  ],
];
for (const [what, price, make] of prices) {
  test(`one more ${what} costs ${price} steps`, () => {
    const steps = (count: number): number => check(...make(count)).steps;
    assert.equal(Math.round((10 * (steps(60) - steps(20))) / 4) / 100, price);
  });
}

test('a pattern with quadratic cost is matched for a few answers, but not for a hundred', () => {
  const inputs = many(120, (index) => element('text', `t${index}`, { pattern: '(?:(?:a|a)*){40}b' }));
  const form = formOf(...inputs);
  const raw = (count: number) => Object.fromEntries(many(count, (index) => [`t${index}`, 'a'.repeat(6_000)]));
  assert.equal(check(form, raw(1)).result, 'wrong');
  assert.equal(check(form, raw(120)).result, 'too much');
});

/** Returns calculations that each add up one part many times. */
const sums = (part: string) =>
  many(4, (index) =>
    element('calculation', `c${index}`, {
      formula: many(Math.floor(1_990 / (part.length + 1)), () => part).join('+'),
    }),
  );
const matrix = element('matrix', 'm');
const padded = `x${' '.repeat(60_000)}x`;
test('an object with more names than a matrix has rows is not an answer; its names are counted once only', () => {
  const form = formOf(matrix, ...elementsWith(500, { element: 'm', is: 'answered' }), ...sums('count({m})'));
  const m = Object.fromEntries(many(29_000, (index) => [`r${index}`, 'Red']));
  const { result, steps } = check(form, { m });
  assert.equal(result, 'wrong');
  assert.ok(steps < formLimits.workSteps / 2, `${steps} steps`);
});

const lookedAtAgain: [what: string, form: Form, raw: Record<string, unknown>][] = [
  [
    'what was sent in place of an agreement, which a formula counts',
    formOf(element('consent', 'm'), ...sums('count({m})')),
    { m: Object.fromEntries(many(2_000, (index) => [`r${index}`, 'Red'])) },
  ],
  [
    'a text of which a formula asks whether it is there',
    formOf(element('textarea', 't'), ...sums('if(answered({t}),1,0)')),
    { t: padded },
  ],
  ['a text that a formula counts', formOf(element('textarea', 't'), ...sums('count({t})')), { t: padded }],
  [
    'what stands in a row of a matrix that conditions ask for',
    formOf(
      matrix,
      ...many(500, (index) =>
        element('text', `t${index}`, { show_when: { element: 'm', row: 'Tea', is: 'answered' } }),
      ),
    ),
    { m: { Tea: padded } },
  ],
];
for (const [what, form, raw] of lookedAtAgain) {
  test(`each evaluation costs work: ${what}`, () => assert.equal(check(form, raw).result, 'too much'));
}

test('realistic forms and answers cost less than half the work limit of a request', () => {
  const paragraph = 'The quick brown fox jumps over the lazy dog.\r\n'.repeat(200);
  const condition = { element: 'q0', is: 'contains', value: 'quick' };
  const form = formOf(
    ...many(200, (index) => element('textarea', `q${index}`, index > 0 ? { show_when: condition } : {})),
    composite('g', [element('text', 'code', { pattern: '\\p{Lu}{2}-\\d{4}' }), element('number', 'n')], {
      repeatable: true,
    }),
  );
  const texts = Object.fromEntries(many(100, (index) => [`q${index}`, paragraph]));
  const rows = many(100, (index) => ({ code: 'AB-1234', n: index }));
  const { result, steps } = check(form, { ...texts, g: rows });
  assert.equal(result, 'taken');
  assert.ok(steps < formLimits.workSteps / 2, `${steps} steps`);
});

test('an answer that hundreds of texts show is read once, and once per row if it belongs to a row', () => {
  const form = formOf(
    element('textarea', 'q'),
    composite('g', [element('text', 'cell')], { repeatable: true }),
  );
  const [group] = listQuestions(form).filter(({ kind }) => kind === 'group');
  let reads = 0;
  const counted = (name: string, text: string): Record<string, unknown> =>
    Object.defineProperty({}, name, { enumerable: true, get: () => ((reads += 1), text) });
  const values = Object.assign(counted('q', fullText), {
    cell: 'of no row',
    g: [counted('cell', 'one'), counted('cell', 'two')],
  });
  const fill = createPlaceholderFiller({
    form,
    values,
    files: new Map(),
    shown: { isShown: () => true },
    format: { language: 'en', numberLocale: 'en', words: { yes: 'Yes', no: 'No' } },
  });
  const rowTexts = [0, 1].map((index) =>
    many(500, () => fill('{{q}} {{cell}}', { group: group!.element as Composite, index })),
  );
  assert.deepEqual(
    rowTexts.map(([text]) => text),
    ['one', 'two'].map((cell) => `${'Σ'.repeat(formLimits.pipedCharacters)}… ${cell}`),
  );
  assert.equal(reads, 3);
  assert.equal(fill('{{cell}}'), '', 'an answer of a row stands in its row alone');
});

/**
 * The limit of executed code blocks per request. A pattern step, the cheapest step, runs about three blocks
 * at most.
 */
const mostBlocks = 3 * formLimits.workSteps;

test('a search for the most expensive form and answers finds no check above the work limit of a request', async () => {
  // Runs in a separate process, because code from the compile cache is only counted by whole functions.
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
  const script = [
    '--disable-warning=ExperimentalWarning',
    `${import.meta.dirname}/../../../test/ast/costly-answers.ts`,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [...script, String(isSlice ? 12 : 240)], {
    env: environment,
  });
  const worst = JSON.parse(stdout) as { blocks: number; shape: object };
  assert.ok(worst.blocks <= mostBlocks, stdout);
  assert.ok(worst.blocks > formLimits.workSteps / 2, `the search found nothing: ${stdout}`);
});
