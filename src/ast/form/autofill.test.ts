import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, formOf } from '#test/ast/forms.ts';
import { autofillOf } from './autofill.ts';
import { asksForName, identifiesPerson } from './identifies.ts';
import { isInput, walkElements } from './tree.ts';

const cases: readonly (readonly [
  what: string,
  type: string,
  id: string,
  attrs: Record<string, unknown>,
  token: string | undefined,
])[] = [
  ['an email is the own one of whoever answers', 'email', 'contact', { label: 'Your email' }, 'email'],
  ['an email of somebody else by its id is not', 'email', 'friend_email', { label: 'Email' }, undefined],
  ['an email of somebody else by its label is not', 'email', 'email2', { label: 'Guest’s email' }, undefined],
  ['a text is known by its id', 'text', 'First-Name', {}, 'given-name'],
  ['a text with an id that tells nothing is not', 'text', 'colour', {}, undefined],
  ['a text whose id every object has is not', 'text', 'valueOf', {}, undefined],
  ['what the form says goes first', 'text', 'first_name', { autocomplete: 'nickname' }, 'nickname'],
  ['also that it is off', 'email', 'contact', { autocomplete: 'off' }, 'off'],
];

for (const [what, type, id, attrs, token] of cases) {
  test(`WCAG 1.3.5: ${what}`, () => {
    const [{ element: input } = {}] = walkElements(formOf(element(type, id, attrs)));
    assert.ok(input && isInput(input));
    assert.equal(autofillOf(input), token);
  });
}

const ids: readonly (readonly [type: string, id: string, attrs: Record<string, unknown>, tells: boolean])[] =
  [
    ['email', 'friend_email', {}, true],
    ['file_upload', 'photo', {}, true],
    ['text', 'first_name', {}, true],
    ['text', 'who', { autocomplete: 'name' }, true],
    ['text', 'first_name', { autocomplete: 'off' }, false],
    ['text', 'spoken', { autocomplete: 'language' }, false],
    ['text', 'colour', {}, false],
  ];

for (const [type, id, attrs, tells] of ids) {
  test(`${type} ${id} ${JSON.stringify(attrs)} ${tells ? 'tells' : 'does not tell'} who a visitor is`, () => {
    const [{ element: input } = {}] = walkElements(formOf(element(type, id, attrs)));
    assert.ok(input && isInput(input));
    assert.equal(identifiesPerson(input), tells);
  });
}

test('a short text asks for a name by its ID or label, in any language of a page', () => {
  const asks = (type: string, id: string, label: string): boolean => {
    const [{ element: input } = {}] = walkElements(formOf(element(type, id, { label })));
    return input !== undefined && isInput(input) && asksForName(input);
  };
  for (const label of [
    'Name',
    'Your full name',
    'Nachname:',
    'Prénom',
    'Volledige naam',
    'お名前',
    '姓名',
    'الاسم',
  ])
    assert.ok(asks('text', 'a', label), label);
  assert.ok(asks('text', 'contact_name', 'Contact'));
  for (const label of ['Namely', 'Genome', 'Nomination', 'Colour'])
    assert.ok(!asks('text', 'a', label), label);
  assert.ok(!asks('number', 'a', 'Name'));
});
