import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '#test/ast/forms.ts';
import { type ComparedNode, compareForms } from './compare-forms.ts';

const paragraph = (label: string) => ({ type: 'paragraph', attrs: { label }, children: [] });

/** Returns the changes as text: `added text`, `moved a`, `a.label`. */
function changesOf(before: unknown, after: unknown): string[] {
  const name = ({ type, attrs }: ComparedNode<unknown>): string => {
    const known = attrs['id'] ?? attrs['label'];
    return typeof known === 'string' ? known : type;
  };
  return compareForms(before, after).changes.flatMap((change) => {
    if (change.kind === 'added') return [`added ${name(change.after)}`];
    if (change.kind === 'removed') return [`removed ${name(change.before)}`];
    return [
      ...(change.isMoved ? [`moved ${name(change.after)}`] : []),
      ...change.attributes.map((each) => `${name(change.after)}.${each.name}`),
    ];
  });
}

const [a, b, c] = ['a', 'b', 'c'].map((id) => element('text', id));

test('elements are matched by ID, with as few moves as possible', () => {
  assert.deepEqual(changesOf(structure(a, b, c), structure(a, b, c)), []);
  assert.deepEqual(changesOf(structure(a, b, c), structure(c, a, b)), ['moved c']);
  assert.deepEqual(changesOf(structure(a, b), structure(element('email', 'a'), c)), ['added c', 'removed b']);
  assert.deepEqual(changesOf(structure(a, composite('g', [b])), structure(composite('g', [a, b]))), [
    'moved a',
  ]);
});

test('a moved step is one change: its elements move with it', () => {
  const step = (...children: unknown[]) => ({ type: 'step', attrs: {}, children });
  const form = (...children: unknown[]) => ({ type: 'form', attrs: { name: 'Form' }, children });
  const other = ['d', 'e', 'f'].map((id) => element('text', id));
  const changes = changesOf(
    form({ ...step(a), attrs: { id: 'one' } }, { ...step(...other), attrs: { id: 'two' } }),
    form({ ...step(...other), attrs: { id: 'two' } }, { ...step(a), attrs: { id: 'one' } }),
  );
  assert.equal(changes.length, 1);
  assert.match(changes[0]!, /^moved (one|two)$/);
});

test('elements without an ID are matched by type and text, or else by type', () => {
  const [one, two, three] = ['One', 'Two', 'Three'].map(paragraph);
  assert.deepEqual(changesOf(structure(one, two), structure(two)), ['removed One']);
  assert.deepEqual(changesOf(structure(one, two), structure(one, three)), ['Three.label']);
});

test('a structure that is not a form is compared too, however deep it is', () => {
  let deep: object = { type: 'text', attrs: { id: 'deep' } };
  for (let depth = 0; depth < 20_000; depth += 1) deep = { type: 'composite', children: [deep] };
  assert.deepEqual(changesOf(structure(a), null).length, 3);
  assert.ok(changesOf(structure(element('text', 'deep')), deep).includes('moved deep'));
  assert.deepEqual(changesOf({ children: 'none' }, { children: [5, null, []] }), []);
});
