import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { byId, inputTypes, readPage } from '#test/page/read-page.ts';

/** Pages in these tests use 31 January 2026 as today's date. */
const cases: readonly [type: string, rules: Record<string, unknown>, hints: Record<string, string>][] = [
  ['number', { min: -1.5, max: 3, step: 0.5 }, {}],
  ['date', { min: 'today-18', max: 'today+1' }, { 'data-min': '2026-01-13', 'data-max': '2026-02-01' }],
  ['date', { min: '2026-03-01' }, { 'data-min': '2026-03-01' }],
  [
    'datetime',
    { min: 'today', max: 'today' },
    { 'data-min': '2026-01-31T00:00', 'data-max': '2026-01-31T23:59' },
  ],
  ['datetime', { max: '2026-03-01T10:00' }, { 'data-max': '2026-03-01T10:00' }],
  ['time', { min: '09:00', max: '17:30' }, { 'data-min': '09:00', 'data-max': '17:30' }],
  ['file_upload', { accept: ['.pdf', 'image/*'] }, { accept: '.pdf,image/*', multiple: '' }],
];

for (const [type, rules, hints] of cases) {
  test(`${type} with ${JSON.stringify(rules)} gives the script or the file picker the hints ${JSON.stringify(hints)}`, () => {
    const { attrs } = byId(readPage([element(type, 'x', rules)]), 'x');
    const rendered = Object.entries(attrs).filter(([name]) =>
      /^(data-)?(min|max|step|accept|multiple)$/.test(name),
    );
    assert.deepEqual(Object.fromEntries(rendered), hints);
  });
}

test('a question for a single file allows one file, and shows its limits', () => {
  const page = readPage([
    element('file_upload', 'cv', { max_files: 1, max_file_size: 2048, accept: ['.pdf'] }),
  ]);
  assert.ok(!('multiple' in byId(page, 'cv').attrs));
  assert.match(byId(page, 'help~cv').text, /One file, up to 2 kB\.\s*Allowed: PDF\./);
});

test('controls have no attributes for browser validation, so the browser rejects only input that it cannot parse', () => {
  const page = readPage(inputTypes.map((type) => element(type, type, { required: true })));
  const checked = page.filter(
    ({ attrs }) =>
      ['email', 'url', 'number'].includes(attrs['type'] ?? '') ||
      ['required', 'pattern', 'min', 'max', 'step', 'minlength', 'maxlength'].some((name) => name in attrs),
  );
  assert.deepEqual(checked, []);
});

test('a date or time that its control cannot display is shown in a text field', () => {
  const nodes = ['date', 'time', 'datetime'].map((type) => element(type, type));
  const page = readPage(nodes, { values: { date: '02/31/1985', time: '10', datetime: '2026-01-31T09:15' } });
  const shown = nodes.map(({ type }) => [byId(page, type).attrs['type'], byId(page, type).attrs['value']]);
  assert.deepEqual(shown, [
    ['text', '02/31/1985'],
    ['text', '10'],
    ['datetime-local', '2026-01-31T09:15'],
  ]);
});
