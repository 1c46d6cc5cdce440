import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import type { InputType } from '../form/elements.ts';
import type { Form } from '../form/tree.ts';
import { type AnswerError, type AnswerFiles, checkAnswers, type FileAnswer } from './check-answers.ts';

const noFiles: AnswerFiles = new Map();
const photo: FileAnswer = { id: 'f1', filename: 'cat.png', size: 3, content_type: 'image/png' };

function errorsOf(form: Form, raw: unknown, files = noFiles): readonly AnswerError[] {
  const result = checkAnswers(form, raw, files, context);
  return result.ok ? [] : result.errors.map(({ field, message }) => ({ field, message }));
}

function answersOf(form: Form, raw: unknown, files = noFiles): unknown {
  const result = checkAnswers(form, raw, files, context);
  assert.ok(result.ok, JSON.stringify(result));
  return result.answers;
}

type Values = {
  good: unknown[];
  tidied?: [sent: unknown, stored: unknown][];
  bad: unknown[];
  problem: string;
};

const notText = [5, true, {}, { length: 0 }, ['a']];
const choose = 'choose one of the listed options.';
const longHost = `${'a'.repeat(63)}.${'b'.repeat(63)}`;

const values: Record<Exclude<InputType, 'file_upload' | 'signature' | 'calculation' | 'score'>, Values> = {
  text: {
    good: ['Ada', 'two  spaces inside', '😀', 'x'.repeat(65_536)],
    tidied: [[' spaces around ', 'spaces around']],
    bad: ['two\nlines', 'two\r\nlines', 'a\rb'],
    problem: 'write the answer on a single line.',
  },
  textarea: {
    good: ['two\nlines', 'a\u2028b'],
    tidied: [['\na\r\nb\rc\n', 'a\nb\nc']],
    bad: notText,
    problem: 'write the answer as text.',
  },
  email: {
    good: ['name@example.com', "o'hara+tag@sub.example.co", 'root@localhost', 'é@b.c', `a@${longHost}`],
    tidied: [[' name@example.com\n', 'name@example.com']],
    bad: [
      'name',
      'a@',
      '@b',
      'a@b@c',
      'a b@c.d',
      'a@-b.c',
      'a@b..c',
      'hr@acme',
      'hr@bücher',
      'é b@b.c',
      `${'a'.repeat(251)}@b.c`,
      `a@${'b'.repeat(64)}.c`,
    ],
    problem: 'enter an email address like name@example.com.',
  },
  phone: {
    good: ['123', '+1 (555) 010-0199', '030.12345', '12345678901234567890'],
    tidied: [
      [' 123 ', '123'],
      ['٠٥٠١٢٣٤٥٦٧', '0501234567'],
      ['۰۲۱ ۱۲۳', '021 123'],
      ['０３-１２３４-５６７８', '03-1234-5678'],
      ['03ー1234ー5678', '03-1234-5678'],
      ['\u200e+966 11 555 0199', '+966 11 555 0199'],
      ['555 0100x12', '555 0100 ext. 12'],
      ['555 0100, ext 12', '555 0100 ext. 12'],
      ['555 0100 #12', '555 0100 ext. 12'],
    ],
    bad: [
      '12',
      '123456789012345678901',
      'call 123',
      '1+23',
      'x12',
      '123 ext. 123456789',
      `1${' '.repeat(50)}23`,
    ],
    problem: 'enter a phone number like +1 555 010 0199.',
  },
  url: {
    good: [
      'https://example.com',
      'http://localhost:3000/a?b=c#d',
      'HTTPS://EXAMPLE.COM',
      'https://müller.example/ä',
    ],
    tidied: [
      ['https://example.com ', 'https://example.com'],
      ['example.com', 'https://example.com'],
      ['www.example.co.uk/a?b#c', 'https://www.example.co.uk/a?b#c'],
      ['example.com:8080', 'https://example.com:8080'],
    ],
    bad: [
      'example',
      'example.c',
      'me@example.com',
      'ftp://example.com',
      'javascript:alert(1)',
      'https://',
      'https://a b',
      'https://a:99999',
      'http:/a',
    ],
    problem: 'enter a web address like https://example.com.',
  },
  number: {
    good: [0, -1.5, 1e300, Number.MAX_SAFE_INTEGER],
    tidied: [[-0, 0]],
    bad: ['3', Number.NaN, Number.POSITIVE_INFINITY, true, [1], {}],
    problem: 'enter a number like 3.5.',
  },
  date: {
    good: ['2026-01-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'],
    tidied: [[' 2026-01-31', '2026-01-31']],
    bad: [
      '2026-02-30',
      '2026-02-29',
      '1900-02-29',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
      '0000-01-01',
      '31.01.2026',
      '2026-1-1',
      '12026-01-01',
    ],
    problem: 'enter a valid date like 2026-01-31.',
  },
  time: {
    good: ['00:00', '23:59'],
    bad: ['24:00', '12:60', '1:00', '12:00:00', 'noon'],
    problem: 'enter a time from 00:00 to 23:59, like 14:30.',
  },
  datetime: {
    good: ['2026-01-31T14:30'],
    bad: ['2026-02-30T14:30', '2026-01-31 14:30', '2026-01-31T24:00', '2026-01-31', '2026-01-31T14:30Z'],
    problem: 'enter a date and time like 2026-01-31T14:30.',
  },
  dropdown: {
    good: ['Red'],
    tidied: [['Red ', 'Red']],
    bad: ['red', 'R ed', 'Pink', 'constructor', 1, ['Red']],
    problem: choose,
  },
  radio: { good: ['Blue'], bad: ['Pink', true, {}], problem: choose },
  multiple_choice: {
    good: [['Red'], ['Blue', 'Red']],
    bad: ['Red', ['Pink'], ['Red', 'Red'], ['Red', null], [['Red']], { 0: 'Red' }],
    problem: 'choose from the listed options, each at most once.',
  },
  rating: { good: [1, 5], bad: ['3', true, {}], problem: 'enter a number like 3.5.' },
  scale: { good: [0, 10], bad: ['3', false, {}], problem: 'enter a number like 3.5.' },
  consent: {
    good: [{ agreed: true, text: 'Its statement' }],
    tidied: [
      [true, { agreed: true, text: 'Its statement' }],
      [
        { agreed: true, text: 'Something else', version: 7, at: 'never' },
        { agreed: true, text: 'Its statement' },
      ],
    ],
    bad: ['yes', 1, {}, { agreed: 'true' }],
    problem: 'send true to agree, or omit the answer.',
  },
  hidden: {
    good: ['spring', 'x'.repeat(500)],
    bad: ['two\nlines'],
    problem: 'write the answer on a single line.',
  },
  ranking: {
    good: [['Blue', 'Red', 'Green']],
    bad: [
      'Red',
      ['Red'],
      ['Red', 'Red', 'Green'],
      ['Red', 'Green', 'Grey'],
      ['Red', 'Green', 'Blue', 'Blue'],
      {},
    ],
    problem: 'list every option once, best first.',
  },
  picture_choice: {
    good: [['Red']],
    bad: ['Red', ['Pink'], ['Red', null], { 0: 'Red' }],
    problem: 'choose from the listed options, each at most once.',
  },
  matrix: {
    good: [{ Tea: 'Red', Coffee: 'Blue' }],
    tidied: [
      [
        { Coffee: 'Blue', Tea: 'Red' },
        { Tea: 'Red', Coffee: 'Blue' },
      ],
    ],
    bad: ['Red', ['Red'], { Tea: 'Grey' }, { Tea: ['Red'] }, { Tea: 'Red', Milk: 'Red' }, { Tea: 5 }],
    problem:
      'send an object that maps each row ID to a listed option, or to a list of options if several are allowed.',
  },
  yes_no: { good: [true, false], bad: ['yes', 1, 0], problem: 'answer yes or no.' },
};

for (const [type, { good, tidied = [], bad, problem }] of Object.entries(values)) {
  const optional = formOf(element(type, 'q'));

  test(`${type}: valid answers are stored, normalized if the format requires it`, () => {
    const pairs = [...good.map((value) => [value, value] as const), ...tidied];
    for (const [sent, stored] of pairs) assert.deepEqual(answersOf(optional, { q: sent }), { q: stored });
  });

  test(`${type}: an invalid answer is rejected with the label, the problem and the remedy`, () => {
    for (const value of bad) {
      const name = `${type} ${JSON.stringify(value)}`;
      assert.deepEqual(
        errorsOf(optional, { q: value }),
        [{ field: 'q', message: `The q: ${problem}` }],
        name,
      );
    }
  });

  test(`${type}: a blank answer is absent if optional, and rejected if required`, () => {
    const required = formOf(element(type, 'q', { required: true }));
    // An element of type `hidden` is never required.
    const isAnswerable = type !== 'hidden';
    for (const blank of [undefined, null, '', ' \t', [], ...(type === 'consent' ? [false] : [])]) {
      assert.deepEqual(answersOf(optional, { q: blank }), {});
      assert.deepEqual(
        errorsOf(required, { q: blank }),
        isAnswerable ? [{ field: 'q', message: 'The q: an answer is required.' }] : [],
      );
    }
    assert.equal(errorsOf(required, {}).length, Number(isAnswerable));
    for (const value of good) assert.deepEqual(errorsOf(required, { q: value }), []);
  });
}

test('a picture choice accepts one of its options, or several if it allows them', () => {
  const one = formOf(element('picture_choice', 'q', { min_choices: 2 }));
  const several = formOf(element('picture_choice', 'q', { multiple: true, min_choices: 2 }));
  assert.deepEqual(answersOf(one, { q: ['Red'] }), { q: ['Red'] });
  assert.deepEqual(errorsOf(one, { q: ['Red', 'Blue'] }), [
    { field: 'q', message: 'The q: choose at most 1 of the options.' },
  ]);
  assert.deepEqual(answersOf(several, { q: ['Red', 'Blue'] }), { q: ['Red', 'Blue'] });
  assert.deepEqual(errorsOf(several, { q: ['Red'] }), [
    { field: 'q', message: 'The q: choose at least 2 of the options.' },
  ]);
});

test('a matrix omits rows without an answer; a required one needs all rows, and names the missing ones', () => {
  const rows = ['Tea', { id: 'c', label: 'Coffee' }, 'Water', 'Milk', '__proto__'];
  const optional = formOf(element('matrix', 'q', { rows }));
  const required = formOf(element('matrix', 'q', { rows, required: true }));
  assert.deepEqual(answersOf(optional, { q: { Tea: '', c: 'Blue', Water: null } }), { q: { c: 'Blue' } });
  assert.deepEqual(answersOf(optional, JSON.parse('{"q":{"__proto__":"Red"}}')), {
    q: JSON.parse('{"__proto__":"Red"}') as unknown,
  });
  for (const blank of [{}, { Tea: null }]) {
    assert.deepEqual(answersOf(optional, { q: blank }), {});
    const message = 'The q: an answer is required.';
    assert.deepEqual(errorsOf(required, { q: blank }), [{ field: 'q', message }]);
  }
  assert.deepEqual(errorsOf(required, { q: { Tea: 'Red' } }), [
    { field: 'q', message: 'The q: answer every row. Not answered: Coffee, Water, Milk, ….' },
  ]);
});

test('a matrix with multiple answers stores a list for each row, without duplicates', () => {
  const form = formOf(element('matrix', 'q', { multiple: true }));
  assert.deepEqual(answersOf(form, { q: { Tea: ['Blue', 'Red'], Coffee: [] } }), {
    q: { Tea: ['Blue', 'Red'] },
  });
  for (const bad of [{ Tea: 'Red' }, { Tea: ['Red', 'Red'] }, { Tea: ['Grey'] }])
    assert.equal(errorsOf(form, { q: bad }).length, 1, JSON.stringify(bad));
});

test('an answer that must be text is rejected if it is not, in every format', () => {
  const form = formOf(element('text', 'a'), element('email', 'b'), element('date', 'c'));
  for (const value of notText) {
    const messages = errorsOf(form, { a: value, b: value, c: value }).map((error) => error.message);
    assert.deepEqual(
      messages,
      ['a', 'b', 'c'].map((id) => `The ${id}: write the answer as text.`),
    );
  }
});

test('a text answer over 64 KB of UTF-8 is rejected, with the limit in the message', () => {
  const form = formOf(element('text', 'q'));
  const message = 'The q: shorten the answer to at most 64 KB (65536 bytes).';
  for (const text of ['x'.repeat(65_537), 'é'.repeat(32_769)]) {
    assert.deepEqual(errorsOf(form, { q: text }), [{ field: 'q', message }]);
  }
  assert.deepEqual(errorsOf(form, { q: 'é'.repeat(32_768) }), []);
});

test('NUL characters and lone surrogates are rejected in text answers', () => {
  const form = formOf(element('text', 'q'), element('textarea', 'r'));
  for (const bad of ['a\u0000', '\ud800', 'x\udc00']) {
    assert.deepEqual(
      errorsOf(form, { q: bad, r: bad }).map((error) => error.field),
      ['q', 'r'],
    );
  }
});

test('malicious texts are checked in linear time', () => {
  const form = formOf(...['email', 'url', 'phone', 'number', 'date'].map((type) => element(type, type)));
  const long = [
    'a@'.repeat(30_000),
    `a@${'a.'.repeat(30_000)}`,
    `https://${'a.'.repeat(30_000)} `,
    '1'.repeat(60_000),
    `1${' '.repeat(60_000)}1`,
  ];
  const start = process.cpuUsage();
  for (const value of long) {
    errorsOf(form, { email: value, url: value, phone: value, number: value, date: value });
  }
  assert.ok(process.cpuUsage(start).user < 1_000_000);
});

test('answers that are not an object are rejected', () => {
  for (const raw of [null, undefined, 'x', 5, [], true]) {
    assert.deepEqual(
      errorsOf(formOf(), raw).map((error) => error.field),
      ['answers'],
    );
  }
});

test('all problems are reported together, in form order, then unknown ids', () => {
  const form = formOf(
    element('heading', 'intro'),
    element('email', 'mail', { required: true }),
    composite('plain', [element('number', 'age')]),
  );
  assert.deepEqual(errorsOf(form, { unknown: 1, intro: 'x', plain: {}, age: 'old', 'g[0][x]': 1 }), [
    { field: 'mail', message: 'The mail: an answer is required.' },
    { field: 'age', message: 'The age: enter a number like 3.5.' },
    { field: 'unknown', message: 'The form has no question "unknown".' },
    { field: 'intro', message: '"intro" has no answer here. Remove it.' },
    { field: 'plain', message: '"plain" has no answer here. Remove it.' },
    { field: 'g[0][x]', message: 'The form has no question "g[0][x]".' },
  ]);
});

test('children of a composite that does not repeat are top-level answers under their own ids', () => {
  const form = formOf(composite('outer', [composite('inner', [element('text', 'street')])]));
  assert.deepEqual(answersOf(form, { street: 'Main St' }), { street: 'Main St' });
});

test('prototype keys are unknown ids, and ids like toString are ordinary ids', () => {
  const form = formOf(element('text', 'toString'), element('text', 'hasOwnProperty', { required: true }));
  const raw = JSON.parse('{"__proto__":{"hasOwnProperty":"x"},"constructor":1}') as unknown;
  assert.deepEqual(
    errorsOf(form, raw).map((error) => error.field),
    ['hasOwnProperty', '__proto__', 'constructor'],
  );
  const stored = answersOf(form, { hasOwnProperty: 'x' });
  assert.deepEqual(Object.entries(stored as object), [['hasOwnProperty', 'x']]);
});

test('at most 100 unknown names are listed; a last error says that there are more', () => {
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
  const found = errorsOf(formOf(), names(29_000));
  assert.equal(found.length, 101);
  assert.deepEqual(found.at(-1), {
    field: 'answers',
    message: 'There are more unknown names. Only the first 100 are listed.',
  });
  assert.equal(errorsOf(formOf(), names(100)).length, 100);
});

test('at most 1,000 problems are listed, and a last error says that there are more', () => {
  const form = formOf(composite('rows', [element('text', 'a')], { repeatable: true }));
  const stray = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
  const found = errorsOf(form, { rows: [{ a: 'x', ...stray }] });
  assert.equal(found.length, 1_001);
  assert.deepEqual(found.at(-1), {
    field: 'answers',
    message: 'There are more problems. Only the first 1000 are listed.',
  });
});

const people = formOf(
  composite(
    'people',
    [element('text', 'name', { required: true }), composite('more', [element('yes_no', 'member')])],
    { repeatable: true },
  ),
);

test('a repeatable composite is a list of objects; blank rows are dropped, even if they have required elements', () => {
  const rows = [{ name: 'Ada' }, {}, null, { name: ' ', member: null }, { name: 'Grace', member: false }];
  assert.deepEqual(answersOf(people, { people: rows }), {
    people: [{ name: 'Ada' }, { name: 'Grace', member: false }],
  });
  for (const blank of [undefined, null, '', [], [{}]])
    assert.deepEqual(answersOf(people, { people: blank }), {});
});

test('problems of a row give its number as sent; required applies in each row', () => {
  const rows = [{}, { member: true }, 'row', { name: 5, more: 1 }, { other: '' }];
  assert.deepEqual(errorsOf(people, { people: rows }), [
    { field: 'people[1][name]', message: 'The name: an answer is required.' },
    {
      field: 'people[2]',
      message: 'The people: each row must be an object that maps element IDs to values.',
    },
    { field: 'people[3][name]', message: 'The name: write the answer as text.' },
    { field: 'people[3][more]', message: 'The people has no question "more".' },
    { field: 'people[4][other]', message: 'The people has no question "other".' },
  ]);
  assert.deepEqual(errorsOf(people, { people: { name: 'x' }, name: 'x' }), [
    { field: 'people', message: 'The people: send a list of rows.' },
    { field: 'name', message: '"name" has no answer here. Remove it.' },
  ]);
});

test('a repeatable composite accepts 100 rows and rejects 101', () => {
  const rows = (count: number) => ({ people: Array.from({ length: count }, () => ({ name: 'x' })) });
  assert.deepEqual(errorsOf(people, rows(100)), []);
  const refused = [{ field: 'people', message: 'The people: send at most 100 rows.' }];
  assert.deepEqual(errorsOf(people, rows(101)), refused);
});

const upload = formOf(
  element('text', 'name'),
  element('file_upload', 'photo', { required: true }),
  composite('pets', [element('text', 'pet'), element('file_upload', 'picture', { required: true })], {
    repeatable: true,
  }),
);

test('files come only from uploads: a file named in the answers is rejected', () => {
  const files = new Map([['photo', [photo]]]);
  assert.deepEqual(answersOf(upload, { photo: '' }, files), { photo: [photo] });
  const message = 'The photo: send the file itself as part of a multipart/form-data request.';
  for (const value of [[photo], photo, 'cat.png']) {
    assert.deepEqual(errorsOf(upload, { photo: value }, files), [{ field: 'photo', message }]);
  }
});

test('a required file upload needs at least one file', () => {
  const required = [{ field: 'photo', message: 'The photo: an answer is required.' }];
  assert.deepEqual(errorsOf(upload, {}), required);
  assert.deepEqual(errorsOf(upload, {}, new Map([['photo', []]])), required);
});

test('files of rows keep the number of their row as sent; a row with a file is not blank', () => {
  const files = new Map([
    ['photo', [photo]],
    ['pets[0][picture]', [photo]],
    ['pets[1][picture]', []],
    ['pets[2][picture]', [photo, photo]],
  ]);
  assert.deepEqual(answersOf(upload, { pets: [{ pet: 'Cat' }, {}] }, files), {
    photo: [photo],
    pets: [{ pet: 'Cat', picture: [photo] }, { picture: [photo, photo] }],
  });
  assert.deepEqual(errorsOf(upload, { pets: [{}, { pet: 'Dog' }] }, files), [
    { field: 'pets[1][picture]', message: 'The picture: an answer is required.' },
  ]);
});

test('files for questions that do not accept files are rejected by name', () => {
  const names = [
    'photo',
    'name',
    'other',
    'name[0][pet]',
    'pets[0][gone]',
    'pets[0][pet]',
    'pets[100][picture]',
    'pets[999999999][picture]',
  ];
  const files = new Map(names.map((name) => [name, [photo]]));
  assert.deepEqual(errorsOf(upload, { pets: [{}] }, files), [
    { field: 'pets[0][picture]', message: 'The picture: an answer is required.' },
    { field: 'name', message: 'The name: remove the file. This question does not accept files.' },
    { field: 'other', message: 'The form has no question "other".' },
    { field: 'name[0][pet]', message: 'The form has no question "name[0][pet]".' },
    { field: 'pets[0][gone]', message: 'The form has no question "pets[0][gone]".' },
    { field: 'pets[0][pet]', message: 'The pet: remove the file. This question does not accept files.' },
    { field: 'pets[100][picture]', message: 'The pets: send at most 100 rows.' },
    { field: 'pets[999999999][picture]', message: 'The form has no question "pets[999999999][picture]".' },
  ]);
});
