import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf, problemsOf, stepsOf, structure } from '#test/ast/forms.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import { evaluateVisibility } from '../logic/evaluate.ts';
import type { FormNode } from './tree.ts';

const inCountry = (value: string) => ({ element: 'country', is: 'equals', value });
const country = element('radio', 'country', { options: ['DE', 'FR', 'US'] });
const cities = [
  { id: 'b', label: 'Berlin', show_when: inCountry('DE') },
  { id: 'k', label: 'Kiel', show_when: inCountry('DE') },
  { id: 'p', label: 'Paris', show_when: inCountry('FR') },
];
const city = (type: string, attrs: object = {}): FormNode =>
  element(type, 'city', { options: cities, ...attrs });

const check = (form: Parameters<typeof checkAnswers>[0], raw: unknown) =>
  checkAnswers(form, raw, new Map(), context);

test('an option is accepted only if its condition is met; the error gives its label', () => {
  for (const [type, wrap] of [
    ['radio', (id: string) => id],
    ['dropdown', (id: string) => id],
    ['multiple_choice', (id: string) => [id]],
    ['picture_choice', (id: string) => [id]],
  ] as const) {
    const form = formOf(country, city(type));
    const right = { country: 'DE', city: wrap('k') };
    assert.deepEqual(check(form, right), { ok: true, answers: right });
    const refused = check(form, { country: 'FR', city: wrap('k') });
    assert.ok(!refused.ok);
    assert.deepEqual(
      refused.errors.map(({ field, message }) => [field, message]),
      [['city', 'The city: "Kiel" is not available with your other answers. Choose another option.']],
      type,
    );
  }
});

test('a question without any available option is hidden, unless it accepts an "other" answer', () => {
  const form = formOf(country, city('radio', { required: true }));
  assert.deepEqual(check(form, { country: 'US', city: 'b' }), { ok: true, answers: { country: 'US' } });
  assert.equal(check(form, { country: 'FR' }).ok, false);
  const open = formOf(country, city('radio', { required: true, other: true }));
  assert.equal(check(open, { country: 'US' }).ok, false);
  assert.deepEqual(check(open, { country: 'US', city: 'Reno' }), {
    ok: true,
    answers: { country: 'US', city: 'Reno' },
  });
});

test('an unavailable option counts as not chosen in conditions and formulas', () => {
  const form = formOf(
    country,
    city('multiple_choice', { options: [...cities, { id: 'any', label: 'Any', points: 1 }] }),
    element('text', 'why', { show_when: { element: 'city', is: 'contains', value: 'b' } }),
    element('calculation', 'number', { formula: 'count({city})' }),
  );
  const [, , why, number] = form.children[0]!.children;
  const shown = evaluateVisibility(form, { country: 'FR', city: ['b', 'any'] }, context);
  assert.equal(shown.isShown(why!), false);
  assert.equal(shown.calculated(number as never), 1);
  assert.equal(evaluateVisibility(form, { country: 'DE', city: ['b'] }, context).isShown(why!), true);
});

test('options in a row depend on the answers of that row', () => {
  const form = formOf(composite('trips', [country, city('dropdown')], { repeatable: true }));
  const refused = check(form, {
    trips: [
      { country: 'DE', city: 'b' },
      { country: 'FR', city: 'b' },
    ],
  });
  assert.deepEqual(!refused.ok && refused.errors.map(({ field }) => field), ['trips[1][city]']);
});

test("an option's condition is rejected for a wrong shape, an unknown element, a cycle or a ranking", () => {
  const messages = (...nodes: FormNode[]): string[] =>
    problemsOf(structure(...nodes)).map(({ message }) => message);
  const withWhen = (when: unknown, type = 'radio'): FormNode =>
    element(type, 'q', { options: ['Any', { id: 'x', label: 'X', show_when: when }] });
  assert.deepEqual(messages(withWhen({ all: [] })), [
    '"options" of "q" must not have an entry 2 that has a "show_when" that must have a list of conditions under "all".',
  ]);
  assert.deepEqual(messages(withWhen(5)), [
    '"options" of "q" must not have an entry 2 that has a "show_when" that is not a condition.',
  ]);
  assert.deepEqual(messages(withWhen({ element: 'gone', is: 'answered' })), [
    '"show_when" of the option "x" of "q" names "gone", which is not an element of the form.',
  ]);
  assert.deepEqual(messages(withWhen({ element: 'q', is: 'answered' })), [
    'The conditions form a cycle: "q" → "q". Remove one of them.',
  ]);
  const circle = messages(
    withWhen({ element: 'a', is: 'answered' }),
    element('text', 'a', { show_when: { element: 'q', is: 'equals', value: 'x' } }),
  );
  assert.deepEqual(circle, ['The conditions form a cycle: "q" → "a" → "q". Remove one of them.']);
  assert.deepEqual(messages(element('text', 'a'), withWhen({ element: 'a', is: 'answered' }, 'ranking')), [
    '"options" of "q" must not have an entry 2 that has a "show_when", which these options do not support.',
  ]);
  const later = stepsOf({ title: 'One' }, [withWhen({ element: 'a', is: 'answered' })], { title: 'Two' }, [
    element('text', 'a'),
  ]);
  assert.deepEqual(
    problemsOf(later).map(({ message }) => message),
    ['"show_when" of the option "x" of "q" names "a", which is asked in a later step.'],
  );
});

const likes = (attrs: object = {}): FormNode =>
  element('matrix', 'likes', { rows: [{ id: 'tea', label: 'Tea' }, 'Coffee'], ...attrs });

test('a condition on a matrix row works as on a question with its options', () => {
  const when = (comparison: object) =>
    element('text', 'why', { show_when: { element: 'likes', row: 'tea', ...comparison } });
  const isShown = (matrix: FormNode, comparison: object, raw: unknown): boolean => {
    const form = formOf(matrix, when(comparison));
    return evaluateVisibility(form, { likes: raw }, context).isShown(form.children[0]!.children[1]!);
  };
  assert.equal(isShown(likes(), { is: 'equals', value: 'Red' }, { tea: 'Red' }), true);
  assert.equal(isShown(likes(), { is: 'equals', value: 'Red' }, { Coffee: 'Red' }), false);
  assert.equal(isShown(likes(), { is: 'one_of', value: ['Red', 'Blue'] }, { tea: 'Blue' }), true);
  assert.equal(isShown(likes(), { is: 'answered' }, { Coffee: 'Red' }), false);
  assert.equal(isShown(likes(), { is: 'not_answered' }, { Coffee: 'Red' }), true);
  const several = likes({ multiple: true });
  assert.equal(isShown(several, { is: 'contains', value: 'Red' }, { tea: ['Blue', 'Red'] }), true);
  assert.equal(isShown(several, { is: 'not_contains', value: 'Red' }, { tea: ['Blue'] }), true);
});

test('unknown rows, and operators and options that do not fit a row, are rejected', () => {
  const problem = (matrix: FormNode, comparison: object): string[] =>
    problemsOf(
      structure(matrix, element('text', 'why', { show_when: { element: 'likes', ...comparison } })),
    ).map(({ message }) => message);
  assert.deepEqual(problem(likes(), { row: 'Milk', is: 'answered' }), [
    '"show_when" of "why" names the row "Milk", which "likes" does not have.',
  ]);
  assert.deepEqual(problem(likes(), { row: 5, is: 'answered' }), [
    '"show_when" of "why" must have the ID of a row under "row".',
  ]);
  assert.deepEqual(problem(likes(), { row: 'tea', is: 'contains', value: 'Red' }), [
    '"show_when" of "why" cannot use the operator "contains" on "likes"; use one of equals, not_equals, one_of, answered, not_answered.',
  ]);
  assert.deepEqual(problem(likes(), { row: 'tea', is: 'equals', value: 'Pink' }), [
    '"show_when" of "why" compares "likes" with "Pink", which is not one of its possible answers.',
  ]);
  assert.deepEqual(problem(element('text', 'likes'), { row: 'tea', is: 'answered' }), [
    '"show_when" of "why" names the row "tea", which "likes" does not have.',
  ]);
  assert.deepEqual(problem(likes(), { is: 'equals', value: 'Red' }), [
    '"show_when" of "why" cannot use the operator "equals" on "likes"; use one of answered, not_answered.',
  ]);
});
