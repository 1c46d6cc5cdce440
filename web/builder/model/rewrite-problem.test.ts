import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { validateStructure } from '#ast/validate.ts';
import { makeNode } from './edit-node.ts';
import { rewriteProblem } from './form-problems.ts';

const problemsOf = (type: ElementType, attrs: object): string[] => {
  const node = { type, attrs: { id: 'q', label: 'Q', ...attrs }, children: [] };
  const result = validateStructure({
    type: 'form',
    attrs: { name: 'F' },
    children: [{ type: 'step', attrs: {}, children: [node] }],
  });
  assert.ok(!result.ok);
  return result.errors.map(({ message }) => rewriteProblem(message, makeNode(type, node.attrs)));
};

test('a problem of an element is described in the words of its panel', () => {
  const red = { id: 'red', label: 'Red' };
  const cases: readonly (readonly [type: ElementType, attrs: object, words: string])[] = [
    ['text', { label: undefined }, '“Label” is still missing.'],
    ['radio', { options: ['Red', ' '] }, '“Options”: an option is blank.'],
    ['radio', { options: [red, { id: 'x', label: '' }] }, '“Options”: option 2 is blank.'],
    ['radio', { options: [red, { id: 'b', label: 'Red' }] }, '“Options” must not repeat "Red".'],
    ['text', { label: 'x'.repeat(1_025) }, '“Label” must have at most about 1,000 characters.'],
    ['file_upload', { max_file_size: 0 }, 'The maximum file size must be in the allowed range.'],
  ];
  for (const [type, attrs, words] of cases) assert.deepEqual(problemsOf(type, attrs), [words]);
});

test('every attribute of every type has a title for its problems', () => {
  for (const { attrs } of Object.values(elementDefinitions))
    for (const { title } of Object.values(attrs)) assert.doesNotMatch(title, /_|^$/);
});
