import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf, problemsOf, structure } from '#test/ast/forms.ts';
import { formLimits } from '../basics/limits.ts';
import { canPipeInSettings, fillPipedWithLabels, isPiped, withPipedLabels } from './piping.ts';
import { type FormNode, walkElements } from './tree.ts';

const name = element('text', 'name', { label: 'Your name' });
const guests = composite('guests', [element('text', 'guest', { label: 'Guest' })], { repeatable: true });
const asks = (label: string): FormNode => element('text', 'next', { label });

const problems: readonly (readonly [
  what: string,
  children: readonly FormNode[],
  problem: RegExp | undefined,
])[] = [
  ['an answer before it', [name, asks('Hello {{name}}')], undefined],
  ['an answer after it', [asks('Hello {{name}}'), name], /which is not asked before this text/],
  ['its own answer', [asks('Hello {{next}}')], /which is not asked before this text/],
  ['an id that no element has', [asks('Hello {{unknown}}')], /which is not an element of the form/],
  [
    'an element without an answer',
    [{ ...composite('both', [name]) }, asks('Hello {{both}}')],
    /shows the answer to "both", which has no answer\./,
  ],
  [
    'an answer of a row outside of it',
    [guests, asks('Hello {{guest}}')],
    /only text in that row can show it/,
  ],
  [
    'an answer of the same row',
    [
      composite('guests', [element('text', 'guest', {}), asks('What does {{guest}} eat?')], {
        repeatable: true,
      }),
    ],
    undefined,
  ],
  [
    'an answer of a row in another group',
    [guests, composite('meals', [asks('What does {{guest}} eat?')], { repeatable: true })],
    /only text in that row can show it/,
  ],
  [
    'an answer in a placeholder attribute',
    [name, element('text', 'next', { placeholder: 'Not {{name}}' })],
    /"placeholder" of .* cannot show answers\. Remove \{\{name\}\}\.$/,
  ],
];

for (const [what, children, problem] of problems) {
  test(`a text that shows ${what} is ${problem ? 'refused' : 'taken'}`, () => {
    const found = problemsOf(structure(...children)).map(({ message }) => message);
    if (problem) assert.match(found.join('\n'), problem);
    else assert.deepEqual(found, []);
  });
}

test('the texts of a form can show answers up to a limit', () => {
  const ask = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      element('text', `next_${at}`, { label: '{{name}}'.repeat(100) }),
    );
  const exactly = ask(formLimits.placeholders / 100);
  assert.deepEqual(problemsOf(structure(name, ...exactly)), []);
  const [problem] = problemsOf(structure(name, ...exactly, asks('{{name}}')));
  assert.match(problem!.message, /can show at most/);
});

test('without answers, a text shows the question instead; a form without placeholders is unchanged', () => {
  const form = formOf(name, composite('both', [asks('Hello {{name}}')]));
  assert.equal(isPiped(form), true);
  assert.deepEqual(
    [...walkElements(withPipedLabels(form))].map(({ element: { attrs } }) => ({ label: '', ...attrs }).label),
    ['Your name', 'The both', 'Hello [Your name]'],
  );
  assert.equal(fillPipedWithLabels(form, 'Dear {{name}} of {{unknown}}'), 'Dear [Your name] of ');
  const plain = formOf(name);
  assert.equal(isPiped(plain), false);
  assert.equal(withPipedLabels(plain), plain);
});

test('settings can show answers to questions outside rows, but no headings, rows or removed elements', () => {
  const form = formOf(name, element('heading', 'intro'), guests);
  const ids = ['name', 'intro', 'guests', 'guest', 'gone'];
  assert.deepEqual(
    ids.filter((id) => canPipeInSettings(form, id)),
    ['name'],
  );
});
