import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '#test/ast/forms.ts';
import { listFormDifferences } from './compare.ts';
import { type EditNode, parseEditableTree } from './edit-node.ts';

const read = (given: unknown): EditNode => {
  const result = parseEditableTree(given);
  if (!result.ok) throw new Error('not a tree');
  return result.root;
};
const a = element('text', 'a', { label: 'First' });
const b = element('email', 'b', { label: 'Mail' });
const c = element('radio', 'c', { label: 'Colour' });
const isRed = { element: 'c', is: 'equals', value: 'Red' };
const step = (title: string, attrs: object, ...children: object[]) => ({
  type: 'step',
  attrs: { title, ...attrs },
  children,
});
const text = (label: string) => ({ type: 'paragraph', attrs: { label }, children: [] });

const scenarios: { name: string; before: object; after: object; found: string[] }[] = [
  { name: 'nothing', before: structure(a, b), after: structure(a, b), found: [] },
  { name: 'an added element', before: structure(a), after: structure(a, b), found: ['added “Mail” (Email)'] },
  {
    name: 'a removed element',
    before: structure(a, b),
    after: structure(b),
    found: ['removed “First” (Short text)'],
  },
  {
    name: 'changed attributes, each with old and new value',
    before: structure(b),
    after: structure({ ...b, attrs: { ...b.attrs, required: true, help_text: 'Why' } }),
    found: ['changed “Mail” (Email): Required: (empty) → yes | Help text: (empty) → “Why”'],
  },
  {
    name: 'options by what was added and removed',
    before: structure(c),
    after: structure({ ...c, attrs: { ...c.attrs, options: ['Red', 'Blue', 'Black'] } }),
    found: ['changed “Colour” (Single choice): Options: added “Black”; removed “Green”'],
  },
  {
    name: 'options by what they are called, where answers keep what they were',
    before: structure(c),
    after: structure({
      ...c,
      attrs: { ...c.attrs, options: ['Red', { id: 'Green', label: 'Lime', capacity: 5 }, 'Blue'] },
    }),
    found: [
      'changed “Colour” (Single choice): Options: renamed “Green” to “Lime” | Options: capacity of “Lime”: (empty) → 5',
    ],
  },
  {
    name: 'rules in words, and the ID that a step got for a jump',
    before: { type: 'form', attrs: { name: 'F' }, children: [step('One', {}, c, a), step('Two', {}, b)] },
    after: {
      type: 'form',
      attrs: { name: 'F' },
      children: [
        step('One', { jumps: [{ when: isRed, to: 'two' }] }, c, {
          ...a,
          attrs: { ...a.attrs, show_when: isRed },
        }),
        step('Two', { id: 'two' }, b),
      ],
    },
    found: [
      'changed “One” (Step): Skip to: (empty) → Skips to “Two” if “Colour” is “Red”',
      'changed “First” (Short text): Show if: (empty) → if “Colour” is “Red”',
      'changed “Two” (Step): ID: (empty) → “two”',
    ],
  },
  {
    name: 'one moved element, and not those that it passed',
    before: structure(a, b, c),
    after: structure(c, a, b),
    found: ['moved “Colour” (Single choice)'],
  },
  {
    name: 'an element that moved into a group',
    before: structure(a, composite('g', [b])),
    after: structure(composite('g', [a, b])),
    found: ['moved “First” (Short text)'],
  },
  {
    name: 'a group that came with what it holds, in one line',
    before: structure(a),
    after: structure(a, composite('g', [b, c])),
    found: ['added “The g” (Group): With “Mail” (Email), “Colour” (Single choice)'],
  },
  {
    name: 'a group that went, and what was taken out of it',
    before: structure(composite('g', [a, b])),
    after: structure(a),
    found: ['moved “First” (Short text)', 'removed “The g” (Group): With “Mail” (Email)'],
  },
  {
    name: 'a paragraph that was rewritten',
    before: structure(text('Old')),
    after: structure(text('New')),
    found: ['changed “New” (Paragraph): Label: “Old” → “New”'],
  },
  {
    name: 'another type',
    before: structure(a),
    after: structure({ ...a, type: 'textarea' }),
    found: ['changed “First” (Long text): Type: Short text → Long text'],
  },
];

for (const { name, before, after, found } of scenarios) {
  test(`the difference lists ${name}`, () => {
    const differences = listFormDifferences(read(before), read(after));
    assert.deepEqual(
      differences.map(
        ({ kind, subject, details }) =>
          `${kind} ${subject}${details.length > 0 ? `: ${details.join(' | ')}` : ''}`,
      ),
      found,
    );
  });
}
