import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from './testing.ts';
import { columnSpanOf, isRequired, layoutOf, listQuestions, optionsOf, walkElements } from './tree.ts';

const form = formOf(
  element('heading', 'intro'),
  composite('address', [element('text', 'street', { required: true, col_span: 2 })], { layout: 'grid_2' }),
  composite('people', [element('text', 'name'), composite('more', [element('radio', 'colour')])], {
    repeatable: true,
  }),
  { type: 'divider' },
);

test('elements are walked in reading order, with their path and the repeatable composite they lie in', () => {
  const walked = [...walkElements(form)].map(({ element, path, group }) => [
    element.attrs?.id ?? element.type,
    path.join('.'),
    group?.attrs.id,
  ]);
  assert.deepEqual(walked, [
    ['intro', '0.0', undefined],
    ['address', '0.1', undefined],
    ['street', '0.1.0', undefined],
    ['people', '0.2', undefined],
    ['name', '0.2.0', 'people'],
    ['more', '0.2.1', 'people'],
    ['colour', '0.2.1.0', 'people'],
    ['divider', '0.3', undefined],
  ]);
});

test('inputs of a plain composite are top-level questions; a repeatable composite is one with its inputs', () => {
  const questions = listQuestions(form).map((question) => [
    question.element.attrs.id,
    question.kind === 'group' ? question.inputs.map((input) => input.attrs.id) : question.kind,
  ]);
  assert.deepEqual(questions, [
    ['street', 'input'],
    ['people', ['name', 'colour']],
  ]);
});

test('attributes that were not sent have the defaults of the table', () => {
  const [street, people] = listQuestions(form);
  assert.ok(street?.kind === 'input' && people?.kind === 'group');
  const [name, colour] = people.inputs;
  assert.ok(name && colour);
  assert.deepEqual([isRequired(street.element), isRequired(name)], [true, false]);
  assert.deepEqual([columnSpanOf(street.element), columnSpanOf(name)], [2, 1]);
  const options = ['Red', 'Green', 'Blue'].map((text) => ({ id: text, label: text }));
  assert.deepEqual([optionsOf(name), optionsOf(colour)], [[], options]);
  assert.deepEqual([layoutOf(people.element), layoutOf(form.children[0]!)], ['stack', 'stack']);
});
