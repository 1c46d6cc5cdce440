import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readXlsx } from 'hucre/xlsx';
import { escapeSpreadsheetFormula } from '#ast/basics/csv.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { until } from '#test/service.ts';
import { listColumnsOfVersions } from '../columns.ts';
import { type ExportedSubmission, listExportHeadings, toExportCells } from './cells.ts';
import {
  csvRecord,
  csvSubmission,
  exportFormats,
  exportStream,
  ndjsonLine,
  writeUnchanged,
} from './export.ts';

const columns = listColumnsOfVersions([formOf(element('text', 'name'))]);

const time = '2026-01-01T00:00:00.000Z';

const submissionOf = (id: string, answers: object, reference: object = {}): ExportedSubmission => ({
  id,
  status: 'completed',
  created_at: time,
  completed_at: time,
  answers: JSON.stringify(answers),
  reference: JSON.stringify(reference),
});

/**
 * Yields endless submissions in batches of a hundred. `read` counts them; `isEnded` is true after the reader
 * has stopped.
 */
function endless() {
  const state = { read: 0, isEnded: false };
  async function* batches(): AsyncGenerator<ExportedSubmission[]> {
    try {
      for (;;) {
        const from = state.read;
        state.read += 100;
        yield Array.from({ length: 100 }, (_, index) =>
          submissionOf(String(from + index), { name: `Name ${from + index}` }),
        );
      }
    } finally {
      state.isEnded = true;
    }
  }
  return { state, batches: batches() };
}

for (const format of exportFormats) {
  test(`${format}: the export reads only as fast as its reader, and stops when the reader disconnects`, async () => {
    const { state, batches } = endless();
    const stream = exportStream(format, { columns, batches }, { forSpreadsheet: false });
    let bytes = 0;
    for await (const chunk of stream) {
      bytes += (chunk as Buffer).length;
      if (bytes > 200_000) break;
    }
    assert.equal(stream.destroyed, true);
    const { read } = state;
    assert.ok(read < 100_000, `${read} were read for 200 KB`);
    await until('the reading to end', async () => state.isEnded);
    assert.ok(state.read <= read + 2_000);
  });

  test(`${format}: an error while reading aborts the file`, async () => {
    async function* batches(): AsyncGenerator<ExportedSubmission[]> {
      yield [submissionOf('1', { name: 'Ada' })];
      throw new Error('The database is gone.');
    }
    const stream = exportStream(format, { columns, batches: batches() }, { forSpreadsheet: false });
    await assert.rejects(stream.toArray(), /The database is gone/);
  });

  test(`${format}: a large batch is written in several turns, so that other requests are served in between`, async () => {
    const rows = 200;
    const batch = Array.from({ length: rows }, (_, index) =>
      submissionOf(String(index), { name: `${index} `.repeat(2_000) }),
    );
    async function* batches(): AsyncGenerator<ExportedSubmission[]> {
      yield batch;
    }
    let [turns, isWritten] = [0, false];
    const countTurns = (): void => {
      turns += 1;
      if (!isWritten) setImmediate(countTurns);
    };
    countTurns();
    for await (const _ of exportStream(format, { columns, batches: batches() }, { forSpreadsheet: false }))
      continue;
    isWritten = true;
    assert.ok(turns >= 10, `the event loop went round ${turns} times`);
  });
}

/** Reads back a workbook with these submissions: the answered cells, row by row. */
async function readBack(ids: readonly string[], ...answers: object[]): Promise<unknown[][]> {
  const columns = listColumnsOfVersions([formOf(...ids.map((id) => element('text', id)))]);
  async function* batches(): AsyncGenerator<ExportedSubmission[]> {
    yield answers.map((each, index) => submissionOf(String(index), each));
  }
  const stream = exportStream('xlsx', { columns, batches: batches() }, { forSpreadsheet: true });
  const { sheets } = await readXlsx(Buffer.concat(await stream.toArray()));
  return sheets[0]!.rows.slice(1).map((cells) => cells.slice(4, 4 + ids.length));
}

test("xlsx: a text is cut at Excel's cell limit, with a note on its length and on formats with the whole text", async () => {
  const most = 32_767;
  const [[first, second]] = (await readBack(['a', 'b'], { a: '<'.repeat(most), b: '&'.repeat(65_000) })) as [
    [string, string],
  ];
  assert.equal(first, '<'.repeat(most));
  assert.equal(second.length, most);
  assert.match(
    second,
    /^&+… \[Truncated: the text has 65000 characters, but an Excel cell can contain only 32767\. Export as CSV or NDJSON to get the whole text\.\]$/,
  );
});

test('xlsx: control characters, and texts that look like workbook escapes, are unchanged after reading back', async () => {
  const texts = ['\u0007 rings', 'a_x0041_b', '_x005F_', '_xzzzz_', '\uFFFE\uFFFF', 'a\r\nb'];
  const answers = Object.fromEntries(texts.map((text, index) => [`q${index}`, text]));
  assert.deepEqual(await readBack(Object.keys(answers), answers), [texts]);
});

/**
 * Possible values of answers for any element type, and texts that are problematic in CSV and spreadsheets.
 */
const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', ',', '"', "'", '\r', '\n', '\t', ' ', 'a', '1', 'é', '😀'),
  }),
);
const row = fc.dictionary(
  fc.constantFrom('name', 'guest'),
  // JSON supports no other numbers.
  fc.oneof(texts, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
);
const answer = fc.oneof(texts, fc.integer(), fc.boolean(), fc.array(texts), fc.array(row));

test('the CSV record of a submission equals that of its cells, for any answers', () => {
  const answered = fc.dictionary(fc.constantFrom('name', 'other', 'toString', '__proto__'), answer);
  const references = fc.dictionary(texts, texts);
  const columns = listColumnsOfVersions([formOf(element('text', 'name'), element('text', 'toString'))]);
  fc.assert(
    fc.property(answered, references, fc.constantFrom(time, null), (answers, reference, completed_at) => {
      const submission = { ...submissionOf('1', answers, reference), completed_at };
      for (const write of [escapeSpreadsheetFormula, writeUnchanged])
        assert.equal(
          csvSubmission(columns, submission, write),
          csvRecord(toExportCells(columns, submission), write),
        );
    }),
  );
});

test('a table shows option labels, also of previous versions, and NDJSON has the stored values', async () => {
  const versionOf = (options: unknown[]) =>
    formOf(
      element('radio', 'colour', { options }),
      composite('people', [element('dropdown', 'meal', { options: [{ id: 'v', label: 'Vegan' }] })], {
        repeatable: true,
      }),
    );
  const known = listColumnsOfVersions([
    versionOf([{ id: 'Red', label: 'Ruby' }]),
    versionOf(['Red', { id: 'b', label: 'Blue' }]),
  ]);
  const cellsOf = (answers: object) => toExportCells(known, submissionOf('1', answers)).slice(4, 6);
  assert.deepEqual(cellsOf({ colour: 'Red', people: [{ meal: 'v' }] }), ['Ruby', 'The meal: Vegan']);
  assert.deepEqual(cellsOf({ colour: 'b' }), ['Blue', undefined]);
  assert.deepEqual(known[0]!.option_labels, { Red: 'Ruby', b: 'Blue' });
  const line = ndjsonLine(known, submissionOf('1', { colour: 'b' }));
  assert.equal((JSON.parse(line) as { answers: { colour: string } }).answers.colour, 'b');
});

test('a matrix has a column per row, removed rows last, and answers from before it was a matrix are in the first', () => {
  const [now, before] = ['Tea', 'Milk'].map((row) =>
    formOf(
      element('matrix', 'likes', { label: 'Likes', rows: [{ id: row[0]!, label: row }], multiple: true }),
    ),
  );
  const columns = listColumnsOfVersions([now!, before!]);
  const heads = ['Likes [Tea]', 'Likes [Milk]'];
  assert.deepEqual(listExportHeadings(columns).slice(4, -1), heads);
  const cellsOf = (likes: unknown) => toExportCells(columns, submissionOf('1', { likes })).slice(4, -1);
  assert.deepEqual(cellsOf({ T: ['Red', 'Blue'] }), ['Red; Blue', undefined]);
  assert.deepEqual(cellsOf({ M: 'Red' }), [undefined, 'Red']);
  assert.deepEqual(cellsOf('very much'), ['very much', undefined]);
  const inRows = listColumnsOfVersions([
    formOf(composite('people', [element('matrix', 'q')], { repeatable: true })),
  ]);
  assert.deepEqual(
    toExportCells(inRows, submissionOf('1', { people: [{ q: { Tea: 'Red', Coffee: 'Blue' } }] }))[4],
    'The q: "Tea: Red; Coffee: Blue"',
  );
});

test('a consent has a column for each of its parts', () => {
  const columns = listColumnsOfVersions([formOf(element('consent', 'terms', { label: 'Terms' }))]);
  assert.deepEqual(
    listExportHeadings(columns).slice(4, -1),
    ['agreed', 'text', 'version', 'at'].map((part) => `Terms [${part}]`),
  );
  const terms = { agreed: true, text: 'I agree.', version: 3, at: '2026-01-31T09:30:00.000Z' };
  assert.deepEqual(toExportCells(columns, submissionOf('1', { terms })).slice(4, -1), [
    'Yes',
    'I agree.',
    3,
    terms.at,
  ]);
  assert.deepEqual(toExportCells(columns, submissionOf('1', {})).slice(4, -1), Array(4).fill(undefined));
});

test('the marks of an accepted consent are left out; a row of a group that looks like one keeps its text', () => {
  const text = 'I **agree** to [this](https://example.org).';
  const columns = listColumnsOfVersions([formOf(element('consent', 'terms'))]);
  const terms = { agreed: true, text, version: 3, at: '2026-01-31T09:30:00.000Z' };
  assert.equal(
    toExportCells(columns, submissionOf('1', { terms }))[5],
    'I agree to this (https://example.org).',
  );
  const inRows = listColumnsOfVersions([
    formOf(composite('people', [element('yes_no', 'agreed'), element('text', 'text')], { repeatable: true })),
  ]);
  assert.match(
    String(toExportCells(inRows, submissionOf('1', { people: [{ agreed: true, text }] }))[4]),
    /I \*\*agree\*\* to \[this\]/,
  );
});

test('NDJSON names properties as the API does, and keeps empty reference data as an object, which CSV leaves blank', async () => {
  async function* batches(): AsyncGenerator<ExportedSubmission[]> {
    yield [submissionOf('1', { other: 1, name: 'Ada' }), submissionOf('2', {}, { from: 'mail' })];
  }
  const read = async (format: 'csv' | 'ndjson'): Promise<string> => {
    const stream = exportStream(format, { columns, batches: batches() }, { forSpreadsheet: false });
    return Buffer.concat(await stream.toArray()).toString();
  };
  assert.equal(
    await read('ndjson'),
    `{"id":"1","status":"completed","reference":{},"created_at":"${time}","completed_at":"${time}","answers":{"name":"Ada"}}\n` +
      `{"id":"2","status":"completed","reference":{"from":"mail"},"created_at":"${time}","completed_at":"${time}","answers":{}}\n`,
  );
  const records = (await read('csv')).split('\r\n');
  assert.deepEqual(records.slice(1), [
    `1,completed,${time},${time},Ada,`,
    `2,completed,${time},${time},,"{""from"":""mail""}"`,
    '',
  ]);
});

const formulas = [
  '\u001b=1',
  '\u001b',
  '=1+1',
  '+1',
  '-1',
  '@SUM(1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '"=1',
  "'=1",
  '\u00A0=1',
  '\uFEFF=1',
  '\u200B=1',
  '＝1',
  '＋1',
  '－1',
  '＠x',
  '−1',
  '﹦1',
  "'",
];

test('every text that a spreadsheet could evaluate gets an apostrophe, and removing it restores the text', () => {
  for (const text of formulas) assert.equal(escapeSpreadsheetFormula(text), `'${text}`, JSON.stringify(text));
  for (const text of ['', 'a=1', 'Ada', '007', '😀', '1-2', 'x@y.z', '"quoted"'])
    assert.equal(escapeSpreadsheetFormula(text), text);
});

test('an RFC 4180 record quotes commas, quotes and line breaks, and ends with CRLF', () => {
  const cells = ['a,b', 'say "hi"', 'one\ntwo', undefined, -3.5, new Date('2026-01-02T03:04:05Z'), '007'];
  assert.equal(csvRecord(cells), '"a,b","say ""hi""","one\ntwo",,-3.5,2026-01-02T03:04:05.000Z,007\r\n');
});
