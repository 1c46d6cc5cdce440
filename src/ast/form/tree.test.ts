import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { imagesIn } from './form-images.ts';
import { takesFiles } from './input-rules.ts';
import {
  columnSpanOf,
  type Element,
  inputAllowsOther,
  isQuestion,
  isRequired,
  isVisibleToVisitors,
  layoutOf,
  listQuestions,
  optionsOf,
  walkElements,
} from './tree.ts';

const form = formOf(
  element('heading', 'intro'),
  composite('address', [element('text', 'street', { required: true, col_span: 2 })], { layout: 'grid_2' }),
  composite('people', [element('text', 'name'), composite('more', [element('radio', 'colour')])], {
    repeatable: true,
  }),
  { type: 'divider' },
);

test('elements are walked in reading order, with their path and their repeatable composite', () => {
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

test('inputs of a composite are top-level questions; a repeatable composite is one question with its inputs', () => {
  const questions = listQuestions(form).map((question) => [
    question.element.attrs.id,
    question.kind === 'group' ? question.inputs.map((input) => input.attrs.id) : question.kind,
  ]);
  assert.deepEqual(questions, [
    ['street', 'input'],
    ['people', ['name', 'colour']],
  ]);
});

test('missing attributes have the defaults of the table', () => {
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

test("questions need a visitor's input; visible elements also include headings and results that are not hidden", () => {
  const elements = [
    element('text', 'name'),
    composite('both', []),
    element('hidden', 'campaign'),
    element('heading', 'intro'),
    element('calculation', 'sum'),
    element('calculation', 'points', { hidden: true }),
  ] as Element[];
  const idsOf = (some: readonly Element[]): unknown[] => some.map(({ attrs }) => attrs?.id);
  assert.deepEqual(idsOf(elements.filter(isQuestion)), ['name', 'both']);
  assert.deepEqual(idsOf(elements.filter(isVisibleToVisitors)), ['name', 'both', 'intro', 'sum']);
  assert.deepEqual(
    ['file_upload', 'signature', 'text', 'heading', 'constructor', undefined].filter(takesFiles),
    ['file_upload', 'signature'],
  );
});

test('a matrix has options to choose from; `options` and `other` on a text element have no effect', () => {
  const [matrix, text] = listQuestions(
    formOf(element('matrix', 'likes'), element('text', 'name', { options: ['Red'], other: true })),
  );
  assert.ok(matrix?.kind === 'input' && text?.kind === 'input');
  assert.equal(optionsOf(matrix.element).length, 3);
  assert.deepEqual([optionsOf(text.element), inputAllowsOther(text.element)], [[], false]);
});

test('the images of a form are those of its elements and options; equally named attributes of other types do not count', () => {
  const id = (last: number): string => `00000000-0000-7000-8000-00000000000${last}`;
  const options = [{ id: 'r', label: 'Red', image: id(2) }, { id: 'b', label: 'Blue' }, 'Green'];
  const shown = formOf(
    element('image', 'plan', { image: id(1) }),
    element('text', 'name', { image: id(9), options: [{ image: id(9) }] }),
    composite('inner', [element('radio', 'colour', { options })]),
  );
  assert.deepEqual(imagesIn(shown), [
    { id: id(1), name: 'image', path: [0, 0] },
    { id: id(2), name: 'options', path: [0, 2, 0] },
  ]);
});
