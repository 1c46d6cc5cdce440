import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#ast/testing.ts';
import { byId, readPage } from '../../testing.ts';

/** The day of the pages of these tests is 31 January 2026. */
const cases: readonly [type: string, rules: Record<string, unknown>, hints: Record<string, string>][] = [
  ['number', {}, { step: 'any' }],
  ['number', { min: -1.5, max: 3, step: 0.5 }, { min: '-1.5', max: '3', step: '0.5' }],
  ['date', { min: 'today-18', max: 'today+1' }, { min: '2026-01-13', max: '2026-02-01' }],
  ['date', { min: '2026-03-01' }, { min: '2026-03-01' }],
  ['datetime', { min: 'today', max: 'today' }, { min: '2026-01-31T00:00', max: '2026-01-31T23:59' }],
  ['datetime', { max: '2026-03-01T10:00' }, { max: '2026-03-01T10:00' }],
  ['time', { min: '09:00', max: '17:30' }, { min: '09:00', max: '17:30' }],
  ['file_upload', { accept: ['.pdf', 'image/*'] }, { accept: '.pdf,image/*', multiple: '' }],
];

for (const [type, rules, hints] of cases) {
  test(`${type} with ${JSON.stringify(rules)} tells the browser ${JSON.stringify(hints)}`, () => {
    const { attrs } = byId(readPage([element(type, 'x', rules)]), 'x');
    const told = Object.entries(attrs).filter(([name]) =>
      ['min', 'max', 'step', 'accept', 'multiple'].includes(name),
    );
    assert.deepEqual(Object.fromEntries(told), hints);
  });
}

test('one file at most is chosen alone, and the limits of the element are said', () => {
  const page = readPage([
    element('file_upload', 'cv', { max_files: 1, max_file_size: 2048, accept: ['.pdf'] }),
  ]);
  assert.ok(!('multiple' in byId(page, 'cv').attrs));
  assert.match(byId(page, '_help-cv').text, /One file, at most 2 KB\.\s*Allowed: \.pdf\./);
});

test('the browser itself refuses nothing: the form says so', () => {
  const form = readPage([element('number', 'x', { min: 3 })]).find(({ tag }) => tag === 'form');
  assert.ok(form && 'novalidate' in form.attrs);
});
