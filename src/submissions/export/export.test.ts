import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#test/service.ts';
import { element, formOf } from '#ast/testing.ts';
import { unionColumns } from '../columns.ts';
import type { ExportedSubmission } from './cells.ts';
import { csvRecord, guardFormula } from './csv.ts';
import { exportStream } from './export.ts';
import { exportFormats } from './formats.ts';

const columns = unionColumns([formOf(element('text', 'name'))]);

/** Submissions without an end; `read` counts them, `isEnded` says whether the reader let go of them. */
function endless() {
  const state = { read: 0, isEnded: false };
  async function* submissions(): AsyncGenerator<ExportedSubmission> {
    try {
      for (;;) {
        state.read += 1;
        const time = new Date('2026-01-01T00:00:00Z');
        yield {
          id: String(state.read),
          status: 'completed',
          created_at: time,
          completed_at: time,
          answers: { name: `Name ${state.read}` },
          reference: {},
        };
      }
    } finally {
      state.isEnded = true;
    }
  }
  return { state, submissions: submissions() };
}

for (const format of exportFormats) {
  test(`${format}: no more is read than is taken, and a reader that goes away ends the reading`, async () => {
    const { state, submissions } = endless();
    const stream = exportStream(format, { columns, submissions }, { withMark: false });
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
}

const formulas = [
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

test('whatever a spreadsheet could calculate begins with an apostrophe, and taking one away gives the text back', () => {
  for (const text of formulas) assert.equal(guardFormula(text), `'${text}`, JSON.stringify(text));
  for (const text of ['', 'a=1', 'Ada', '007', '😀', '1-2', 'x@y.z', '"quoted"'])
    assert.equal(guardFormula(text), text);
});

test('a record of RFC 4180: quotes where there are commas, quotes or line breaks, and CRLF at the end', () => {
  const cells = ['a,b', 'say "hi"', 'one\ntwo', undefined, -3.5, new Date('2026-01-02T03:04:05Z'), '007'];
  assert.equal(csvRecord(cells), '"a,b","say ""hi""","one\ntwo",,-3.5,2026-01-02T03:04:05.000Z,007\r\n');
});
