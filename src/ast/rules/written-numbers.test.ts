import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locales } from '../basics/language-tags.ts';
import {
  formatEditableNumber,
  formatNumber,
  type NumberFormat,
  type NumberMarks,
  numberMarksOf,
  plainMarks,
  readNumber,
} from './written-numbers.ts';

const cases: readonly [
  tag: string,
  marks: NumberMarks,
  read: Readonly<Record<string, number | undefined>>,
][] = [
  ['en', '.,', { '1.5': 1.5, '1,500': 1500, '1,500.25': 1500.25, '1,5': undefined, '1.500.000': undefined }],
  [
    'de',
    ',.',
    { '1,5': 1.5, '1.500': 1500, '1.500.000,5': 1_500_000.5, '1.5': undefined, '1,500,000': undefined },
  ],
  ['fr', ',', { '1,5': 1.5, '1 500,5': 1500.5, '1\u202f500': 1500, '1.500': undefined, '1.5': undefined }],
  ['es', ',.', { '1,5': 1.5, '1.500': 1500 }],
  ['es-MX', '.,', { '1.5': 1.5, '1,500': 1500 }],
  ['pt', ',.', { '1,5': 1.5 }],
  ['nl', ',.', { '1,5': 1.5, '1.500': 1500, '1.5': undefined }],
  ['de-CH', '.', { '1.5': 1.5, "1'500.5": 1500.5, '1’500': 1500, '1,5': undefined }],
  ['ar', '.,', { '١٫٥': 1.5, '١٬٥٠٠': 1500, '1.5': 1.5, '\u200f-1.5': -1.5, '۱۲': 12 }],
  ['ja', '.,', { '１，５００．５': 1500.5, '－３': -3 }],
  ['zh', '.,', { '１．５': 1.5 }],
];

for (const [tag, marks, read] of cases) {
  test(`${tag} formats numbers with "${marks}", and parses only that format`, () => {
    assert.equal(numberMarksOf(tag), marks);
    const found = Object.fromEntries(Object.keys(read).map((text) => [text, readNumber(text, marks)]));
    assert.deepEqual(found, read);
  });
}

test('incomplete, wrongly grouped and too large numbers are rejected in every language', () => {
  const wrong = [
    '',
    ' ',
    '1e',
    '12-34',
    '1 2',
    '12 34',
    '1,50,000',
    '0,500',
    '0.500.000',
    '5 kg',
    '1.',
    ',',
    '-',
    'e5',
    '٫',
    '½',
    '5²',
    '1 500.000,',
    "1'500 000",
    '9007199254740993',
    '1e999',
    'Infinity',
    '0x10',
  ];
  for (const marks of ['.', '.,', ',', ',.'] as const) {
    const read = wrong.filter((text) => readNumber(text, marks) !== undefined);
    assert.deepEqual(read, marks.startsWith(',') ? ['0,500'] : [], marks);
  }
});

test('every formatted number is parsed back to its value, in every language', () => {
  for (const marks of [plainMarks, ...locales.map(numberMarksOf)]) {
    for (const value of [0, 1.5, -0.125, 1_234_567.891, 1e-7, 9_007_199_254_740_991, -3e-12])
      assert.equal(readNumber(formatEditableNumber(value, marks), marks), value, `${value} with ${marks}`);
  }
  assert.equal(formatEditableNumber(-1234.5, ',.'), '-1234,5');
});

const formatted: readonly (readonly [value: number, locale: string, format: NumberFormat, text: string])[] = [
  [0, 'de', {}, '0'],
  [1234, 'en', {}, '1,234'],
  [1234, 'es', {}, '1234'],
  [-1234567.25, 'de', {}, '-1.234.567,25'],
  [1234567, 'fr', {}, '1\u202f234\u202f567'],
  [1234567.5, 'en-in', {}, '12,34,567.5'],
  [1234567.5, 'ar', {}, '1,234,567.5'],
  [1.5e-7, 'en', {}, '0.00000015'],
  [1e15, 'de', {}, '1.000.000.000.000.000'],
  [5000, 'en', { decimals: 2, prefix: '€ ' }, '€ 5,000.00'],
  [2.5, 'de-at', { decimals: 0, suffix: ' kg' }, '3 kg'],
];

for (const [value, locale, format, text] of formatted) {
  test(`${value} is formatted as ${text}`, () => assert.equal(formatNumber(value, locale, format), text));
}
