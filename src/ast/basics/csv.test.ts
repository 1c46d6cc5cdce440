import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as check, property, string } from 'fast-check';
import { cpuMsOf } from '#test/slowness.ts';
import { escapeSpreadsheetFormula, readCsv, unescapeSpreadsheetFormula } from './csv.ts';
import { normalizeText } from './text.ts';

const cellsOf = (text: string): string[][] => {
  const read = readCsv(text, 1_000);
  assert.ok(read.ok, JSON.stringify(read));
  return read.records.map(({ cells }) => cells);
};

const cases: readonly [what: string, text: string, cells: string[][]][] = [
  [
    'commas',
    'a,b\nc,d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'semicolons',
    'a;b;c,d\r\ne;f\r\n',
    [
      ['a', 'b', 'c,d'],
      ['e', 'f'],
    ],
  ],
  ['tabs', 'a\tb\n', [['a', 'b']]],
  ['a byte order mark', '\uFEFFa,b', [['a', 'b']]],
  ['a first line that names the separator', 'sep=;\r\na;b,c\r\n', [['a', 'b,c']]],
  ['such a line behind a byte order mark', '\uFEFFsep=,\na,b;c;d', [['a', 'b;c;d']]],
  ['empty lines', '\n\na,b\n,\n\n', [['a', 'b']]],
  ['quotes around separators, quotes and line breaks', '"a,""x""\n1",b', [['a,"x"\n1', 'b']]],
  ['a separator that stands in quotes alone', '"a,b,c";d', [['a,b,c', 'd']]],
  ['text behind a quote', '"Ada" Lovelace,b', [['Ada Lovelace', 'b']]],
  ['a quote within a cell', 'a "b" c,d', [['a "b" c', 'd']]],
  ['formulas, as the text that they are', '=cmd()|x,"+1"', [['=cmd()|x', '+1']]],
  ['one column', 'a@x.org\nb@x.org', [['a@x.org'], ['b@x.org']]],
  ['a line break in quotes before its separators', '"a\nb";c', [['a\nb', 'c']]],
  ['lines that have more of another separator', 'a;b\nc,d,e', [['a', 'b'], ['c,d,e']]],
  ['such lines as old spreadsheets end them', 'a;b\rc,d,e', [['a', 'b'], ['c,d,e']]],
  ['an empty last cell', 'a,\n', [['a', '']]],
];
for (const [what, text, expected] of cases) {
  test(`CSV with ${what} is parsed`, () => assert.deepEqual(cellsOf(text), expected));
}

test('each record has its line number, also after a cell of several lines', () => {
  const read = readCsv('a\n\n"b\nc"\nd', 10);
  assert.ok(read.ok);
  assert.deepEqual(
    read.records.map(({ line }) => line),
    [1, 3, 5],
  );
});

for (const [what, text, problem] of [
  ['an unclosed quotation mark', 'a,b\n"c,d\ne', /Line 2: A quotation mark is not closed/],
  ['NUL', 'a\u0000b', /NUL/],
  ['a hundred and one columns', ','.repeat(100), /more than 100 columns/],
] as const) {
  test(`CSV with ${what} is rejected with a message`, () => {
    const read = readCsv(text, 10);
    assert.ok(!read.ok);
    assert.match(read.problem, problem);
  });
}

test('values written by RFC 4180 are read back unchanged', () => {
  const cell = string({ unit: 'grapheme' })
    .filter((text) => !text.includes('\u0000'))
    .map(normalizeText);
  const rows = array(array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 8 });
  check(
    property(rows, (table) => {
      const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
      const text = table.map((row) => row.map(quote).join(',')).join('\r\n');
      const kept = table.filter((row) => row.some((value) => value.trim() !== ''));
      assert.deepEqual(cellsOf(text), kept);
    }),
    { numRuns: 200 },
  );
});

test('a hundred thousand lines, or a million quotes, are parsed in linear time', () => {
  const lines = 'a@example.org;"x;y"\n'.repeat(100_000);
  // In milliseconds; a quadratic parser takes minutes.
  assert.ok(cpuMsOf(() => assert.equal(readCsv(lines, 10).total, 100_000)) < 5_000);
  assert.ok(cpuMsOf(() => assert.equal(readCsv('"'.repeat(1_000_000), 10).ok, true)) < 5_000);
});

test('the apostrophe that protects spreadsheets is removed, and an original one is kept', () => {
  for (const text of ['=1+1', "'s avonds", 'plain', '', "'"])
    assert.equal(unescapeSpreadsheetFormula(escapeSpreadsheetFormula(text)), text);
  assert.equal(unescapeSpreadsheetFormula("'s avonds"), "'s avonds");
});
