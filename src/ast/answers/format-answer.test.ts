import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, formOf } from '#test/ast/forms.ts';
import { isInput, walkElements } from '../form/tree.ts';
import { type AnswerFormat, formatAnswerParts } from './format-answer.ts';

const format: AnswerFormat = { language: 'en', numberLocale: 'en', words: { yes: 'Yes', no: 'No' } };

const cases: readonly (readonly [
  type: string,
  attrs: Record<string, unknown>,
  value: unknown,
  texts: readonly string[],
])[] = [
  ['text', {}, 'Ada', ['Ada']],
  ['text', {}, '  ', []],
  ['text', {}, undefined, []],
  ['text', {}, '2026-01-31', ['2026-01-31']],
  ['yes_no', {}, true, ['Yes']],
  ['yes_no', {}, false, ['No']],
  ['number', {}, 1234567.5, ['1,234,567.5']],
  ['date', {}, '2026-01-31', ['January 31, 2026']],
  ['date', {}, 'soon', ['soon']],
  ['time', {}, '09:30', ['9:30 AM']],
  ['datetime', {}, '2026-01-31T09:30', ['January 31, 2026 at 9:30 AM']],
  ['multiple_choice', {}, ['Red', ' ', 'Blue'], ['Red', 'Blue']],
  // The form value for "other" is not an answer.
  ['multiple_choice', { other: true }, ['Red', '_other', 'Teal'], ['Red', 'Teal']],
  ['radio', { options: [{ id: 'r', label: 'Red' }, 'Blue'] }, 'r', ['Red']],
  ['consent', {}, { agreed: true, text: 'Its statement' }, ['Yes']],
  ['rating', {}, 4, ['4']],
  ['matrix', {}, { Tea: 'Red', Coffee: null }, ['Tea: Red']],
];

for (const [type, attrs, value, texts] of cases) {
  test(`${JSON.stringify(value) ?? 'nothing'} of a ${type} is formatted as ${JSON.stringify(texts)}`, () => {
    const [{ element: input } = {}] = walkElements(formOf(element(type, 'q', attrs)));
    assert.ok(input && isInput(input));
    assert.deepEqual(
      formatAnswerParts(input, value, format).map((text) => text.replaceAll('\u202f', ' ')),
      texts,
    );
  });
}
