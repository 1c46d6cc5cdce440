import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import {
  type ElementType,
  elementDefinitions,
  type InputType,
  showsPlaceholder,
} from '#ast/form/elements.ts';
import type { Form, FormNode } from '#ast/form/tree.ts';
import { validateStructure } from '#ast/validate.ts';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import {
  byId,
  everyElement,
  inputTypes,
  readMarkup,
  readPage,
  type Tag,
  viewOf,
} from '#test/page/read-page.ts';
import { wordsByLocale } from '../words/choose-locale.ts';
import { renderForm } from './form.ts';
import { renderConfirmation, renderNotice } from './notices.ts';
import { renderingCost } from './steps.ts';

const groupTypes = [
  'radio',
  'multiple_choice',
  'yes_no',
  'rating',
  'scale',
  'ranking',
  'picture_choice',
  'matrix',
  'consent',
];

/** Returns the control with the ID; for a set of buttons, the first one. */
const controlOf = (page: readonly Tag[], type: string) => byId(page, type);
/** Returns the element that carries the help and the errors of a field: the control, or its fieldset. */
const describedOf = (page: readonly Tag[], type: string) =>
  page.find(({ attrs }) => attrs['aria-describedby']?.split(' ').includes(`error~${type}`));

for (const type of inputTypes) {
  test(`${type} has its label, ID, name, help text and container for errors`, () => {
    const page = readPage(everyElement);
    // The name of a matrix control is that of its first row.
    const row = type === 'matrix' ? '[Tea]' : '';
    assert.equal(controlOf(page, type).attrs['name'], type === 'ranking' ? '_move' : `${type}${row}`);
    const caption = groupTypes.includes(type)
      ? page.find(({ tag, text }) => tag === 'legend' && text === `The ${type}`)
      : page.find(({ tag, attrs }) => tag === 'label' && attrs['for'] === type);
    assert.equal(caption?.text, `The ${type}`);
    const unread = ['date', 'time', 'datetime'].includes(type) ? ` unread~${type}` : '';
    assert.equal(describedOf(page, type)?.attrs['aria-describedby'], `help~${type} error~${type}${unread}`);
    assert.match(byId(page, `help~${type}`).text, new RegExp(`^Help with ${type}`));
    assert.equal(byId(page, `error~${type}`).text, '');
  });

  test(`${type}: an error appears at the field, and after its label in the summary`, () => {
    const message = 'Enter it, please';
    const page = readPage(everyElement, { errors: [{ field: type, message }] });
    assert.equal(byId(page, `error~${type}`).text, message);
    const link = page.find(({ tag, text }) => tag === 'a' && text === `The ${type}: ${message}`);
    assert.equal(link?.attrs['href'], `#${type}`);
    const invalid = page.filter(({ attrs }) => attrs['aria-invalid'] === 'true');
    // A ranking has only buttons, which cannot be invalid; its group is described by the error.
    assert.ok(
      (invalid.length > 0 || type === 'ranking') &&
        invalid.every((tag) => tag === describedOf(page, type) || tag.attrs['name'] === type),
    );
  });

  test(`${type}: a required field is marked in words`, () => {
    const page = readPage([element(type, 'one', { required: true }), element(type, 'two')]);
    const captions = page.filter(({ tag, attrs }) => tag === 'legend' || (tag === 'label' && attrs['for']));
    assert.deepEqual(
      captions.map(({ text }) => text).filter((text) => text !== wordsByLocale.en.signName),
      ['The one (required)', 'The two'],
    );
  });
}

test('inputs have the type, keyboard and autofill that suit their questions', () => {
  const page = readPage(everyElement);
  const expected: [string, Record<string, string>][] = [
    ['text', { type: 'text' }],
    ['email', { type: 'text', inputmode: 'email', autocapitalize: 'none', autocomplete: 'email' }],
    ['phone', { type: 'tel', autocomplete: 'tel' }],
    ['url', { type: 'text', inputmode: 'url', autocomplete: 'url' }],
    ['number', { type: 'text', inputmode: 'decimal' }],
    ['date', { type: 'date' }],
    ['time', { type: 'time' }],
    ['datetime', { type: 'datetime-local' }],
    ['file_upload', { type: 'file', multiple: '' }],
  ];
  for (const [type, attrs] of expected) {
    assert.deepEqual({ ...controlOf(page, type).attrs, ...attrs }, controlOf(page, type).attrs, type);
  }
});

test('browsers can autofill a field about the visitor, but not a field in rows about others', () => {
  const name = element('text', 'First_Name');
  const page = readPage([
    name,
    composite('team', [element('text', 'last_name'), element('email', 'mail')], { repeatable: true }),
  ]);
  assert.equal(byId(page, 'First_Name').attrs['autocomplete'], 'given-name');
  assert.equal(byId(page, 'team[0][last_name]').attrs['autocomplete'], undefined);
  assert.equal(byId(page, 'team[0][mail]').attrs['autocomplete'], undefined);
});

test('`autocomplete` of the element decides about autofill; without it, a question about another person has none', () => {
  const of = (type: string, id: string, attrs: Record<string, unknown> = {}) =>
    byId(readPage([element(type, id, attrs)]), id).attrs['autocomplete'];
  assert.equal(of('email', 'mail'), 'email');
  assert.equal(of('email', 'friend_email'), undefined);
  assert.equal(of('phone', 'p', { label: 'Phone of your emergency contact' }), undefined);
  assert.equal(of('email', 'friend_email', { autocomplete: 'email' }), 'email');
  assert.equal(of('text', 'first_name', { autocomplete: 'off' }), 'off');
  assert.equal(of('text', 'x', { autocomplete: 'postal-code' }), 'postal-code');
});

const scenarios: [
  type: string,
  raw: unknown,
  shown: (page: readonly Tag[], type: string) => unknown,
  expected: unknown,
][] = [
  ...[
    ['text', 'O\'Neil & "Sons"'],
    ['email', 'no address'],
    ['phone', '+1 555 010 0199'],
    ['url', 'https://example.com/?a=1&b=2'],
    ['date', '2026-01-31'],
    ['time', '14:30'],
    ['datetime', '2026-01-31T14:30'],
    ['number', 'abc'],
  ].map(
    ([type, raw]) =>
      [
        type!,
        raw,
        (page: readonly Tag[]) => byId(page, type!).attrs['value'],
        raw,
      ] as (typeof scenarios)[number],
  ),
  ['number', 3.5, (page) => byId(page, 'number').attrs['value'], '3.5'],
  ['number', 0, (page) => byId(page, 'number').attrs['value'], '0'],
  // The page adds the line break after the tag, and the browser drops it.
  ['textarea', '\n<b>\n two', (page) => byId(page, 'textarea').text, '\n\n<b>\n two'],
  ['dropdown', 'Green', (page) => chosen(page, 'option'), ['Green']],
  ['dropdown', 'Mauve', (page) => chosen(page, 'option'), []],
  ['radio', 'Blue', (page) => chosen(page, 'radio'), ['Blue']],
  ['multiple_choice', ['Red', 'Blue'], (page) => chosen(page, 'multiple_choice'), ['Red', 'Blue']],
  ['yes_no', true, (page) => chosen(page, 'yes_no'), ['yes']],
  ['yes_no', false, (page) => chosen(page, 'yes_no'), ['no']],
  ['yes_no', 'perhaps', (page) => chosen(page, 'yes_no'), []],
];

/** Returns the values of the selected options of a select, or of the checked buttons with this name. */
function chosen(page: readonly Tag[], name: string): (string | undefined)[] {
  const options = page.filter(
    ({ tag, attrs }) => tag === name || (tag === 'input' && attrs['name'] === name),
  );
  return options
    .filter(({ attrs }) => 'selected' in attrs || 'checked' in attrs)
    .map(({ attrs }) => attrs['value']);
}

for (const [type, raw, shown, expected] of scenarios) {
  test(`${type}: ${JSON.stringify(raw)} is kept when the page is shown again`, () => {
    const page = readPage(everyElement, { values: { [type]: raw } });
    assert.deepEqual(shown(page, type), expected);
  });
}

test('a form of one step without codes to enter has no text between its header and its step', () => {
  const page = renderForm(viewOf(formOf(element('text', 'name')), { asks: new Set() }));
  const [, between] = /<\/header>([^]*?)<section/.exec(page)!;
  assert.equal(between!.replaceAll(/<[^>]*>/g, '').trim(), '');
});

test('a dropdown starts without an answer', () => {
  const options = readPage([element('dropdown', 'a')]).filter(({ tag }) => tag === 'option');
  assert.equal(options.length, 4);
  assert.equal(options[0]?.attrs['value'], '');
});

test('a file element shows its limits in advance, and the files that are kept', () => {
  const file = { token: 'a.b', filename: '"><script>.pdf', size: 1_300_000 };
  const page = readPage([element('file_upload', 'cv')], { files: new Map([['cv', [file]]]) });
  assert.equal(byId(page, 'help~cv').text, 'Up to 10 files, 10 MB each.');
  assert.ok(page.some(({ tag, text }) => tag === 'li' && text.startsWith('"><script>.pdf 1.2 MB')));
  const controls = page
    .filter(({ attrs }) => attrs['value'] === 'a.b')
    .map(({ attrs }) => [attrs['type'], attrs['name']]);
  assert.deepEqual(controls, [
    ['hidden', '_file[cv]'],
    ['checkbox', '_drop'],
  ]);
});

test('the field for a typed signature has its label even without a script, as on the canvas', () => {
  const page = readPage([element('signature', 'sign')]);
  const labels = page.filter(({ tag, attrs }) => tag === 'label' && attrs['for'] === 'sign');
  assert.equal(labels.at(-1)?.text, wordsByLocale.en.signName);
});

test('the form is multipart only if it has a file question', () => {
  const enctype = (...nodes: FormNode[]) =>
    readPage(nodes).find(({ tag }) => tag === 'form')?.attrs['enctype'];
  assert.equal(enctype(element('text', 'a')), undefined);
  assert.equal(enctype(element('file_upload', 'a')), 'multipart/form-data');
  assert.equal(
    enctype(composite('g', [element('file_upload', 'a')], { repeatable: true })),
    'multipart/form-data',
  );
});

const team = composite('team', [element('text', 'name', { required: true }), element('radio', 'colour')], {
  label: 'Guest',
  layout: 'grid_2',
  repeatable: true,
});

test('a repeatable composite starts with one row, which cannot be removed', () => {
  const page = readPage([team]);
  assert.deepEqual(
    page.filter(({ tag }) => tag === 'legend').map(({ text }) => text),
    ['Guest', 'Guest 1', 'The colour'],
  );
  assert.equal(byId(page, 'team[0][name]').attrs['name'], 'team[0][name]');
  assert.ok(!page.some(({ attrs }) => attrs['name'] === '_remove'));
  const add = page.find(({ attrs }) => attrs['name'] === '_add');
  assert.equal(add?.attrs['value'], 'team');
  assert.equal(add?.text, 'Add another Guest');
});

test('each row keeps its answers and errors, and has a button to remove it', () => {
  const page = readPage([team], {
    values: { team: [{ name: 'Ada', colour: 'Red' }, {}] },
    errors: [
      { field: 'team[1][name]', message: 'Enter it, please' },
      { field: 'team[0]', message: 'A problem of the row.' },
      { field: 'team', message: 'A problem of the group.' },
    ],
  });
  assert.equal(byId(page, 'team[0][name]').attrs['value'], 'Ada');
  assert.deepEqual(chosen(page, 'team[0][colour]'), ['Red']);
  assert.equal(byId(page, 'error~team[1][name]').text, 'Enter it, please');
  assert.equal(byId(page, 'error~team[0]').text, 'A problem of the row.');
  assert.equal(byId(page, 'error~team').text, 'A problem of the group.');
  const buttons = page.filter(({ attrs }) => attrs['name'] === '_remove');
  assert.deepEqual(
    buttons.map(({ attrs, text }) => [attrs['value'], text]),
    [
      ['team[0]', 'Remove Guest 1'],
      ['team[1]', 'Remove Guest 2'],
    ],
  );
});

test('a group has at most 100 rows, and then no button to add one', () => {
  const page = readPage([team], { values: { team: Array.from({ length: 100 }, () => ({})) } });
  assert.ok(!page.some(({ attrs }) => attrs['name'] === '_add'));
  assert.ok(page.some(({ text }) => text === 'You can add at most 100.'));
});

test('the first button of a form submits it, so the Enter key does not press a button of a row', () => {
  const [first] = readPage([team]).filter(({ tag }) => tag === 'button');
  assert.deepEqual([first?.attrs['name'], first?.attrs['value']], ['_go', 'submit']);
});

test('only one element has autofocus: the errors, or else the requested field, row or button', () => {
  const focused = (more: Parameters<typeof readPage>[1]) =>
    readPage([element('radio', 'colours'), team], more).filter(({ attrs }) => 'autofocus' in attrs);
  const cases: [focus: string | undefined, attribute: string, expected: (string | undefined)[]][] = [
    [undefined, 'id', []],
    ['colours', 'id', ['colours']],
    ['team[1]', 'id', ['team[1][name]']],
    ['team[1][name]', 'id', ['team[1][name]']],
    ['team', 'name', ['_add']],
  ];
  for (const [focus, attribute, expected] of cases) {
    const found = focused({ focus, values: { team: [{}, {}] } });
    assert.deepEqual(
      found.map(({ attrs }) => attrs[attribute]),
      expected,
    );
  }
  const [summary, ...others] = focused({ focus: 'team', errors: [{ field: 'team', message: 'No.' }] });
  assert.equal(summary?.attrs['role'], 'alert');
  assert.deepEqual(others, []);
});

test('every link of the summary leads to an element; an error without a field on the page has no link', () => {
  const form = formOf(...everyElement, team);
  const values = { team: [{ colour: 'Red' }, 'no row'], unknown: 'x', email: 'x' };
  const result = checkAnswers(form, values, new Map(), context);
  assert.ok(!result.ok);
  const page = readMarkup(renderForm(viewOf(form, { values, errors: result.errors })));
  const links = page.filter(({ tag }) => tag === 'a').map(({ attrs }) => attrs['href']!);
  assert.ok(links.includes('#email') && links.includes('#team[0][name]') && links.includes('#team[1]'));
  for (const link of links) byId(page, link.slice(1));
  const problems = page.filter(({ tag, attrs }) => tag === 'li' && attrs['class'] !== 'option');
  assert.equal(problems.length, result.errors.length);
  assert.ok(page.some(({ tag, text }) => tag === 'li' && text === 'The form has no question "unknown".'));
  assert.equal(page.find(({ tag }) => tag === 'title')?.text, 'Error: Contact');
});

const steps = (...attrs: object[]): Form => {
  const children = attrs.map((attrs, index) => ({
    type: 'step',
    attrs,
    children: [element('heading', `h${index}`)],
  }));
  const result = validateStructure({ type: 'form', attrs: { name: 'Steps' }, children });
  assert.ok(result.ok);
  return result.form;
};

test('headings skip no level, and steps are numbered if there are several', () => {
  const headings = (form: Form) =>
    readMarkup(renderForm(viewOf(form)))
      .filter(({ tag }) => /^h\d$/.test(tag))
      .map(({ tag, text }) => `${tag} ${text.trim()}`);
  assert.deepEqual(headings(steps({})), ['h1 Steps', 'h2 The h0']);
  assert.deepEqual(headings(steps({ title: 'One' })), ['h1 Steps', 'h2 One', 'h3 The h0']);
  assert.deepEqual(headings(steps({ title: 'One' }, {})), [
    'h1 Steps',
    'h2 One',
    'h3 The h0',
    'h2 Step 2 of 2',
    'h3 The h1',
  ]);
});

test('the page states its language and direction', () => {
  for (const [language, dir] of [
    ['en', 'ltr'],
    ['ar', 'rtl'],
    ['he-IL', 'rtl'],
    ['pt-BR', 'ltr'],
  ] as const) {
    const [page] = readMarkup(renderForm(viewOf(steps({}), { language })));
    assert.deepEqual(page?.attrs, { lang: language, dir });
  }
});

test('hidden values are included in the post', () => {
  const page = readPage([element('text', 'a')], { hidden: [['_key', 'a"b']] });
  const hidden = page.find(({ attrs }) => attrs['name'] === '_key');
  assert.deepEqual(hidden?.attrs, { type: 'hidden', name: '_key', value: 'a"b' });
});

test('the confirmation thanks the visitor, shows its message or a default, and the reference number', () => {
  const view = { formName: 'A & B', receipt: '0199', language: 'en', words: wordsByLocale.en };
  const page = readMarkup(renderConfirmation({ ...view, message: 'See <you>' }));
  assert.equal(page.find(({ tag }) => tag === 'title')?.text, 'Thank you – A & B');
  assert.ok('autofocus' in (page.find(({ tag }) => tag === 'h1')?.attrs ?? {}));
  assert.ok(page.some(({ tag, text }) => tag === 'p' && text === 'See <you>'));
  assert.equal(page.find(({ tag }) => tag === 'code')?.text, '0199');
  assert.match(renderConfirmation({ ...view, message: undefined }), /Your answers have been received\./);
});

/** Known attack payloads, and random text. */
const payload = fc.oneof(
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '</textarea></title></style><svg onload=alert(1)>',
    '<!--',
    ']]>',
    '&lt;script&gt;&#x3C;',
    'javascript:alert(1)',
    '${alert(1)}',
    '\u0000<\u2028\ud800>',
  ),
  fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.trim() !== ''),
);

/** Renders forms with this text in every position that an author, a visitor or a file can fill. */
function pagesWith(text: string): string[] {
  const attrs = { label: text, help_text: text, placeholder: text, options: [text, `${text}2`] };
  const inputs = everyElement.map(({ type }) => element(type, type, attrs));
  const row = composite('team', [element('text', 'name', attrs)], { label: text, repeatable: true });
  const children = [...inputs, composite('plain', [], { label: text }), row];
  const form = {
    type: 'form',
    attrs: { name: text, description: text },
    children: [{ type: 'step', attrs: { title: text, description: text }, children }],
  } as unknown as Form;
  const values = Object.fromEntries([
    ...inputTypes.map((type) => [type, text]),
    ['team', [{ name: text }, { name: text }]],
  ]);
  const errors = ['text', 'team[1][name]', 'radio', 'file_upload'].map((field) => ({ field, message: text }));
  const files = new Map([['file_upload', [{ token: text, filename: text, size: 1 }]]]);
  const hidden = [['_key', text]] as const;
  return [
    renderForm(viewOf(form, { values, errors, files, hidden })),
    renderConfirmation({
      formName: text,
      message: text,
      receipt: text,
      language: 'en',
      words: wordsByLocale.en,
    }),
    renderNotice({ title: text, message: text, language: 'en' }),
  ];
}

/** Returns the elements of a page and the names of their attributes, without texts. */
const shapeOf = (page: string) =>
  readMarkup(page).map(({ tag, attrs }) => [tag, ...Object.keys(attrs)].join(' '));

test('no text of an author, a visitor or a file adds an element or an attribute to a page', () => {
  const harmless = pagesWith('harmless').map(shapeOf);
  fc.assert(
    fc.property(payload, (text) => {
      assert.deepEqual(pagesWith(text).map(shapeOf), harmless);
    }),
  );
});

test('a page has no script, no style attribute and no event handler', () => {
  const page = readPage([...everyElement, team]);
  assert.ok(!page.some(({ tag }) => ['script', 'iframe', 'link'].includes(tag)));
  // The only image is the element's, which has no URL here.
  assert.deepEqual(
    page.filter(({ tag }) => tag === 'img').map(({ attrs }) => attrs['src']),
    [''],
  );
  assert.deepEqual(
    page
      .flatMap(({ attrs }) => Object.keys(attrs))
      .filter((name) => name === 'style' || name.startsWith('on')),
    [],
  );
});

test('attributes that belong to another type do not break a page', () => {
  const options = [{ id: 'x', label: 'X', capacity: 1, show_when: 5 }];
  const form = formOf(
    element('textarea', 'letter', { rows: 5, options: [] }),
    element('number', 'count', { max_length: 3, options: [null] }),
    element('text', 'x', { options }),
    element('heading', 'title', { options: 5 }),
    composite('group', [element('text', 'y')], { options }),
    element('matrix', 'grid'),
  );
  assert.ok(renderingCost(form, {}, new Map()) > 0);
  const tags = readMarkup(renderForm(viewOf(form)));
  assert.equal(byId(tags, 'letter').tag, 'textarea');
  assert.deepEqual(
    tags.filter(({ attrs }) => attrs['class'] === 'count'),
    [],
    'a number has no count of its characters',
  );
});

test('`showsPlaceholder` matches the page for each type: it tells whether the empty control shows a placeholder', () => {
  const ownControls = ['date', 'time', 'datetime-local'];
  for (const type of inputTypes.filter(
    (each) => 'placeholder' in elementDefinitions[each as ElementType].attrs,
  )) {
    const tags = readPage([element(type, 'a', { placeholder: 'Say it' })]);
    const isShown = tags.some(
      ({ tag, attrs, text }) =>
        (attrs['placeholder'] === 'Say it' && !ownControls.includes(attrs['type'] ?? '')) ||
        (tag === 'option' && text === 'Say it'),
    );
    assert.equal(showsPlaceholder(type as InputType), isShown, type);
  }
});
