import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ElementType } from '#ast/form/elements.ts';
import { openTally } from './summarise.ts';

function tally(type: ElementType, answers: readonly unknown[], options: readonly string[] = [], labels = {}) {
  const opened = openTally({ type, options, option_labels: labels, rows: [{ id: 't', label: 'Tea' }] });
  for (const answer of answers) opened.add(answer);
  return opened.result();
}

const bars = (
  type: ElementType,
  answers: readonly unknown[],
  options?: readonly string[],
): [string, number][] => tally(type, answers, options).bars.map(({ label, count }) => [label, count]);

test('options come in the order of the form, including those never chosen; removed options come last', () => {
  assert.deepEqual(bars('multiple_choice', [['B', 'Old'], ['B']], ['A', 'B']), [
    ['A', 0],
    ['B', 2],
    ['Old', 1],
  ]);
  assert.deepEqual(bars('yes_no', [true, true, false]), [
    ['Yes', 2],
    ['No', 1],
  ]);
});

test('long and open-ended lists are sorted by count; lists with numbers keep the order of the form', () => {
  const countries = Array.from({ length: 13 }, (_, index) => `Country ${'abcdefghijklm'[index]}`);
  const ages = ['Under 18', '18–24', '25–34', ...Array.from({ length: 12 }, (_, index) => `${35 + index}`)];
  const years = Array.from({ length: 20 }, (_, index) => String(2030 - index));
  const order = (type: ElementType, answers: readonly string[], options: readonly string[]) => {
    const { order, bars: found } = tally(type, answers, options);
    return [order, found[0]?.label];
  };
  assert.deepEqual(order('dropdown', ['Country c', 'Country c', 'Country a'], countries), [
    'count',
    'Country c',
  ]);
  assert.deepEqual(order('dropdown', ['2012'], years), ['form', '2030']);
  assert.deepEqual(order('radio', ['25–34', '25–34'], ages), ['form', 'Under 18']);
  assert.deepEqual(order('radio', ['Country c'], countries.slice(0, 12)), ['form', 'Country a']);
  assert.deepEqual(order('hidden', ['spring', 'fall', 'fall'], []), ['count', 'fall']);
  const { rows } = tally('matrix', [{ t: 'Country c' }], countries);
  assert.equal(rows![0]!.bars[0]!.label, 'Country a', 'the columns of a matrix keep their order');
  // Own texts do not make a short list long, and come after its options.
  const own = Array.from({ length: 15 }, (_, index) => `Own ${index}`);
  assert.deepEqual(bars('radio', [...own, 'Own 7', 'B'], ['A', 'B']).slice(0, 3), [
    ['A', 0],
    ['B', 1],
    ['Own 7', 2],
  ]);
});

test('an option is counted by its stored value and shown with its label', () => {
  const labels = { r: 'Ruby', old: 'Once there' };
  assert.deepEqual(tally('radio', ['r', 'Blue', 'old', 'r'], ['r', 'Blue'], labels).bars, [
    { label: 'Ruby', option: 'r', count: 2 },
    { label: 'Blue', count: 1 },
    { label: 'Once there', option: 'old', count: 1 },
  ]);
});

test('a rating has a bar for each level, and a mean', () => {
  const {
    chart,
    numbers,
    bars: found,
  } = tally('rating', [5, 4, 5, 'a text of another version'], ['1', '2', '3', '4', '5']);
  assert.deepEqual([chart, numbers], ['levels', { min: 4, max: 5, mean: 14 / 3 }]);
  assert.deepEqual(
    found.map(({ count }) => count),
    [0, 0, 0, 1, 2],
  );
});

test('a scale has its usual figure: NPS for 0 to 10, CSAT for five levels, CES for 1 to 7', () => {
  const levels = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
  const of = (type: ElementType, options: readonly string[], answers: readonly unknown[]) => {
    const { chart, metric, score } = tally(type, answers, options);
    return [chart, metric?.name, metric?.value, metric?.answers, score];
  };
  const zeroToTen = levels(0, 10);
  assert.deepEqual(of('scale', zeroToTen, [10, 9, 9, 7, 2]), ['recommendation', 'nps', 40, 5, 40]);
  assert.deepEqual(of('scale', zeroToTen, [0, 6, 8]), ['recommendation', 'nps', -67, 3, -67]);
  assert.deepEqual(of('scale', zeroToTen, [8, 7]), ['recommendation', 'nps', 0, 2, 0]);
  assert.deepEqual(of('scale', zeroToTen, []), [
    'recommendation',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(of('rating', levels(1, 5), [5, 4, 3, 1]), ['levels', 'csat', 50, 4, undefined]);
  // 7 was on the scale of a previous version; the scale can begin at 0.
  assert.deepEqual(of('scale', levels(1, 5), [5, 4, 3, 7]), ['levels', 'csat', 67, 3, undefined]);
  assert.deepEqual(of('scale', levels(0, 4), [4, 3, 2, 0]), ['levels', 'csat', 50, 4, undefined]);
  assert.deepEqual(of('scale', levels(1, 7), [7, 4, 10]), ['levels', 'ces', 5.5, 2, undefined]);
  for (const [from, to] of [
    [1, 10],
    [0, 6],
    [1, 4],
    [0, 7],
  ] as const)
    assert.deepEqual(of('scale', levels(from, to), [3]), [
      'levels',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
});

test('years that are merged from months keep the counts of both groups', () => {
  const opened = openTally({ type: 'date', options: [], option_labels: {}, rows: [] });
  opened.add('1990-01-31', [1, 0]);
  opened.add('1990-05-31', [0, 1]);
  opened.add('2026-01-01', [1, 1]);
  assert.deepEqual(
    opened.result().bars.map(({ label, groups }) => [label, groups]),
    [
      ['1990', [1, 1]],
      ['2026', [1, 1]],
    ],
  );
});

test('a ranking shows how often each option came first, and its mean rank', () => {
  assert.deepEqual(
    tally(
      'ranking',
      [
        ['B', 'A'],
        ['B', 'A'],
        ['A', 'B'],
      ],
      ['A', 'B', 'C'],
    ).bars,
    [
      { label: 'B', count: 2, mean: 4 / 3 },
      { label: 'A', count: 1, mean: 5 / 3 },
      { label: 'C', count: 0 },
    ],
  );
});

test('a matrix counts the options of each row', () => {
  const { rows } = tally('matrix', [{ t: 'A' }, { t: ['A', 'B'], gone: 'A' }, 'once a text'], ['A', 'B']);
  const bars = [
    { label: 'A', count: 2 },
    { label: 'B', count: 1 },
  ];
  assert.deepEqual(rows, [{ id: 't', label: 'Tea', answered: 2, bars }]);
});

test('old free-text answers to a question that now has options add at most 20 bars', () => {
  assert.equal(
    bars(
      'radio',
      Array.from({ length: 500 }, (_, index) => `Text ${index}`),
      ['A'],
    ).length,
    21,
  );
});

test('whole numbers on a small scale have a bar each, including those never given', () => {
  assert.deepEqual(bars('number', [-1, 1, 1]), [
    ['-1', 1],
    ['0', 0],
    ['1', 2],
  ]);
});

test('other numbers are grouped in steps of 1, 2 or 5 times a power of ten', () => {
  assert.deepEqual(bars('number', [0.1, 0.25, 0.6]), [
    ['0.1 – 0.15', 1],
    ['0.15 – 0.2', 0],
    ['0.2 – 0.25', 0],
    ['0.25 – 0.3', 1],
    ['0.3 – 0.35', 0],
    ['0.35 – 0.4', 0],
    ['0.4 – 0.45', 0],
    ['0.45 – 0.5', 0],
    ['0.5 – 0.55', 0],
    ['0.55 – 0.6', 0],
    ['0.6 – 0.65', 1],
  ]);
  assert.deepEqual(bars('number', [3, 999]).at(0), ['0 – 99', 1]);
});

test('numbers that are extremely far apart, or all equal, make few bars', () => {
  assert.ok(bars('number', [-1e308, 1e308]).length <= 12);
  assert.ok(bars('number', [1e300, 1e300 + 1e285]).length <= 12);
  assert.deepEqual(bars('number', [7.5]), [['7 – 8', 1]]);
  const { numbers } = tally('number', [1e308, 1e308]);
  assert.equal(numbers!.mean, 1e308);
});

test('days are counted by month without gaps, and by year if they span more than three years', () => {
  assert.deepEqual(bars('date', ['2026-01-31', '2025-11-02', '2026-01-01']), [
    ['2025-11', 1],
    ['2025-12', 0],
    ['2026-01', 2],
  ]);
  assert.deepEqual(bars('datetime', ['1990-01-31T10:00', '2026-01-01T00:00']), [
    ['1990', 1],
    ['2026', 1],
  ]);
});

test('a bar of ordered values gives the lowest and highest answer in it, so that they can be found', () => {
  const spans = (type: ElementType, answers: readonly unknown[]) =>
    tally(type, answers)
      .bars.filter(({ count }) => count > 0)
      .map(({ from, to }) => [from, to]);
  assert.deepEqual(spans('number', [3, 99.5, 12, 950]), [
    [3, 99.5],
    [950, 950],
  ]);
  assert.deepEqual(spans('date', ['2026-01-31', '2026-01-02']), [['2026-01-02', '2026-01-31']]);
  assert.deepEqual(spans('datetime', ['1990-05-31T10:00', '2026-01-01T00:00', '1990-01-31T10:00']), [
    ['1990-01-31T10:00', '1990-05-31T10:00'],
    ['2026-01-01T00:00', '2026-01-01T00:00'],
  ]);
  assert.deepEqual(spans('time', ['09:59', '09:30']), [['09:30', '09:59']]);
  assert.deepEqual(spans('rating', [4, 5, 5]), [
    [4, 4],
    [5, 5],
  ]);
  assert.deepEqual(spans('scale', [0, 10]), [
    [0, 0],
    [10, 10],
  ]);
});

test('texts that occur more than once are counted, most frequent first, in bounded memory', () => {
  assert.deepEqual(bars('text', ['Pear', ' Fig', 'pear ', 'fig', 'PEAR', 'Plum', 4]), [
    ['Pear', 3],
    ['Fig', 2],
  ]);
  const many = Array.from({ length: 12_000 }, (_, index) => `Text ${index % 6_000}`);
  const found = bars('textarea', [...many, 'x'.repeat(200), 'x'.repeat(200)]);
  assert.deepEqual([found.length, found.at(-1)], [10, ['Text 9', 2]]);
});

test('consents and signatures are counted by how many were given', () => {
  const file = { id: '1', filename: 'a.png', size: 1, content_type: 'image/png' };
  assert.deepEqual(bars('consent', [{ agreed: true, text: 'I agree.' }, 'once a text']), [['Agreed', 1]]);
  assert.deepEqual(bars('signature', [[file], [file]]), [['Signed', 2]]);
});

test('times are counted by hour of the day', () => {
  const hours = bars('time', ['09:30', '09:59', '23:00']);
  assert.deepEqual([hours.length, hours[9], hours[23]], [24, ['09:00', 2], ['23:00', 1]]);
});

test('an answer of another type, from another version, is skipped', () => {
  for (const type of ['number', 'date', 'time', 'radio', 'multiple_choice', 'yes_no'] as const) {
    const { bars: found } = tally(type, [{ a: 1 }, null, [1], '', 'x'.repeat(10)], ['A']);
    assert.ok(
      found.every(({ label, count }) => count === 0 || label !== 'A'),
      type,
    );
  }
});

test('files are counted by kind, most frequent first; unknown kinds count as other files', () => {
  const file = (content_type: string) => ({ id: '1', filename: 'a', size: 1, content_type });
  assert.deepEqual(
    bars('file_upload', [
      [file('image/png'), file('application/pdf')],
      [file('image/jpeg'), file('font/woff')],
    ]),
    [
      ['Images', 2],
      ['PDF', 1],
      ['Other files', 1],
    ],
  );
});

test('a repeatable group counts how many rows its submissions have', () => {
  const { chart, bars: rows, numbers } = tally('composite', [[{}], [{}, {}, {}]]);
  assert.deepEqual(
    [chart, rows.map(({ label, count }) => [label, count]), numbers],
    [
      'rows',
      [
        ['1', 1],
        ['2', 0],
        ['3', 1],
      ],
      { min: 1, max: 3, mean: 2 },
    ],
  );
});
