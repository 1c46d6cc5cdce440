import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import {
  fieldName,
  matrixRowName,
  parseGroupFieldName,
  parseMatrixRowName,
  parseRawAnswers,
} from './fields.ts';
import { type Form, listQuestions } from './tree.ts';

const form = formOf(
  element('text', 'name'),
  element('number', 'age'),
  element('yes_no', 'agreed'),
  element('multiple_choice', 'colours'),
  element('file_upload', 'photo'),
  composite('people', [element('text', 'person'), element('multiple_choice', 'likes')], { repeatable: true }),
);

/** Returns the fields as JSON would carry them, without null prototypes. */
const rawOf = (form: Form, ...entries: [string, string][]): unknown =>
  JSON.parse(JSON.stringify(parseRawAnswers(form, entries).raw));

const fieldsRefused = (...entries: [string, string][]) => {
  const result = checkAnswers(form, parseRawAnswers(form, entries).raw, new Map(), context);
  return result.ok ? [] : result.errors.map((error) => error.field);
};

test('HTML names are the element id, and group[0][child] in rows', () => {
  const group = listQuestions(form).find((question) => question.kind === 'group')!;
  const input = group.inputs[0]!;
  assert.equal(fieldName(input), 'person');
  const name = fieldName(input, { group: group.element, index: 12 });
  assert.equal(name, 'people[12][person]');
  assert.deepEqual(parseGroupFieldName(name), { group: 'people', index: 12, id: 'person' });
});

test('only one spelling of a row name is valid; others are not row names', () => {
  for (const name of [
    'people[01][a]',
    'people[][a]',
    'people[-1][a]',
    'people[1000][a]',
    'people[0]',
    'p[0][a][b]',
  ]) {
    assert.equal(parseGroupFieldName(name), undefined, name);
  }
});

test('a row name of a matrix contains the URL-encoded row id, also in a row of a composite', () => {
  const rows = ['Tea [hot] 100%', { id: 'c', label: 'Coffee' }, 'Kaffee & "Kuchen" ä'];
  const other = formOf(
    element('matrix', 'one', { rows }),
    composite('people', [element('matrix', 'many', { rows, multiple: true })], { repeatable: true }),
  );
  assert.match(matrixRowName('one', rows[2] as string), /^one\[[\w%]+\]$/);
  for (const cell of ['Tea [hot] 100%', 'c', 'Kaffee & "Kuchen" ä']) {
    assert.deepEqual(parseMatrixRowName(matrixRowName('people[3][many]', cell)), {
      field: 'people[3][many]',
      cell,
    });
    assert.deepEqual(rawOf(other, [matrixRowName('one', cell), 'Red']), { one: { [cell]: 'Red' } });
  }
  assert.deepEqual(rawOf(other, ['one[Tea 100%]', 'Red'], ['one[c]', ''], ['one[x]', '1'], ['one[x]', '2']), {
    one: { 'Tea 100%': 'Red', x: ['1', '2'] },
  });
  assert.deepEqual(rawOf(other, ['people[1][many][c]', 'Red'], ['people[1][many][c]', 'Blue']), {
    people: [{}, { many: { c: ['Red', 'Blue'] } }],
  });
  assert.deepEqual(rawOf(other, ['one', 'Red'], ['one[c]', 'Blue']), { one: 'Red' });
});

const numbers: [sent: string, raw: unknown][] = [
  ['3.5', 3.5],
  [' -2 ', -2],
  ['1e3', 1000],
  ['.5', 0.5],
  ['', ''],
  ['abc', 'abc'],
  ['0x10', '0x10'],
  ['1e999', '1e999'],
  ['3,5', '3,5'],
  ['Infinity', 'Infinity'],
];
const booleans: [sent: string, raw: unknown][] = [
  ['yes', true],
  ['true', true],
  ['on', true],
  ['no', false],
  ['false', false],
  ['', ''],
  ['maybe', 'maybe'],
];

test('numbers and yes or no are converted as in JSON; anything else stays text for the check', () => {
  for (const [sent, raw] of numbers) assert.deepEqual(rawOf(form, ['age', sent]), { age: raw });
  for (const [sent, raw] of booleans) assert.deepEqual(rawOf(form, ['agreed', sent]), { agreed: raw });
  assert.deepEqual(fieldsRefused(['age', 'abc'], ['agreed', 'maybe']), ['age', 'agreed']);
});

test('repeated names of a multiple choice become a list, without the empty value that a page adds', () => {
  const sent: [string, string][] = [
    ['colours', ''],
    ['colours', 'Red'],
    ['colours', 'Blue'],
  ];
  assert.deepEqual(rawOf(form, ...sent), { colours: ['Red', 'Blue'] });
  assert.deepEqual(rawOf(form, ['colours', '']), {});
});

test('a page sends its number format; text in another format stays text for the check', () => {
  const sent = (marks: string, text: string) => rawOf(form, ['age', text], ['_numbers', marks]);
  assert.deepEqual(sent(',.', '1.500,5'), { age: 1500.5 });
  assert.deepEqual(sent('.,', '1,500.5'), { age: 1500.5 });
  assert.deepEqual(sent(',', '1.500'), { age: '1.500' });
  assert.deepEqual(sent('x', '1.5'), { age: 1.5 }, 'marks of no language are no marks');
  assert.deepEqual(fieldsRefused(['_numbers', '.,'], ['age', '1.500.000']), ['age']);
});

test('a repeated single-valued name ignores blank values, and is rejected with two different ones', () => {
  assert.deepEqual(rawOf(form, ['name', ' '], ['name', 'first'], ['name', '']), { name: 'first' });
  const twice: [string, string][] = [
    ['name', 'a'],
    ['name', 'b'],
    ['age', '1'],
    ['age', '2'],
    ['agreed', 'no'],
    ['agreed', 'yes'],
    ['people[0][person]', 'a'],
    ['people[0][person]', 'b'],
  ];
  assert.deepEqual(fieldsRefused(...twice), ['name', 'age', 'agreed', 'people[0][person]']);
  const result = checkAnswers(form, parseRawAnswers(form, twice).raw, new Map(), context);
  assert.equal(!result.ok && result.errors[0]?.message, 'The name: give one answer. Several were sent.');
});

test('rows keep their number: missing and blank rows are kept for the page, and dropped by the check', () => {
  const { raw } = parseRawAnswers(form, [
    ['people[2][person]', 'Grace'],
    ['people[0][person]', 'Ada'],
    ['people[0][likes]', 'Red'],
    ['people[3][person]', ''],
  ]);
  const rows = [{ person: 'Ada', likes: ['Red'] }, {}, { person: 'Grace' }, { person: '' }];
  assert.deepEqual(JSON.parse(JSON.stringify(raw)), { people: rows });
  assert.deepEqual(checkAnswers(form, raw, new Map(), context), {
    ok: true,
    answers: { people: [{ person: 'Ada', likes: ['Red'] }, { person: 'Grace' }] },
  });
});

test('a name that is sent a hundred thousand times is read in linear time', () => {
  const times = <Entry>(entry: Entry): Entry[] => Array.from({ length: 100_000 }, () => entry);
  const { raw } = parseRawAnswers(open, [
    ...times(['closed', 'x'] as const),
    ...times(['many', '_other'] as const),
    ...times(['_other[many]', 'x'] as const),
  ]);
  assert.deepEqual(raw['closed'], ['x', 'x']);
  assert.equal((raw['many'] as unknown[]).length, 200_000);
});

test('a row number over the limit allocates no memory and is rejected by name', () => {
  const sent: [string, string] = ['people[100][person]', 'x'];
  assert.deepEqual(rawOf(form, sent), { 'people[100][person]': 'x' });
  assert.deepEqual(fieldsRefused(sent), ['people[100][person]']);
});

test('a text under the id of a repeatable composite is rejected, even if rows are sent too', () => {
  assert.deepEqual(fieldsRefused(['people', 'x'], ['people[0][person]', 'Ada']), ['people']);
  assert.deepEqual(fieldsRefused(['people[0][person]', 'Ada'], ['people', 'x']), ['people']);
});

test('names with a leading underscore are controls of the page, even if repeated', () => {
  const { raw, extra } = parseRawAnswers(form, [
    ['_add', 'people'],
    ['name', 'Ada'],
    ['_add', 'pets'],
    ['__proto__', 'x'],
  ]);
  assert.deepEqual(extra, [
    ['_add', 'people'],
    ['_add', 'pets'],
    ['__proto__', 'x'],
  ]);
  assert.deepEqual(Object.keys(raw), ['name']);
});

test('every other unknown name reaches the check, which rejects it', () => {
  const names = [
    'other',
    'people',
    'people[0][other]',
    'people[0]',
    'name[0]',
    'colours[Red]',
    'person',
    'constructor',
    'unknown[0][person]',
    '',
  ];
  assert.deepEqual(
    fieldsRefused(...names.map((name): [string, string] => [name, 'x'])),
    names.toSorted((a, b) => Number(b === 'people') - Number(a === 'people')),
  );
});

test('a file name as text, as urlencoded forms send it, is rejected unless blank', () => {
  assert.deepEqual(fieldsRefused(['photo', 'cat.png']), ['photo']);
  assert.deepEqual(fieldsRefused(['photo', '']), []);
});

const open = formOf(
  element('radio', 'one', { other: true }),
  element('multiple_choice', 'many', { other: true }),
  element('dropdown', 'closed'),
  composite('rows', [element('dropdown', 'cell', { other: true })], { repeatable: true }),
);

const others: [name: string, sent: [string, string][], raw: unknown][] = [
  [
    'the text takes the place of the choice',
    [
      ['_other[one]', 'Teal'],
      ['one', '_other'],
    ],
    { one: 'Teal' },
  ],
  [
    'a text beside another choice does not count',
    [
      ['one', 'Red'],
      ['_other[one]', 'Teal'],
    ],
    { one: 'Red' },
  ],
  ['a text without a choice counts', [['_other[one]', 'Teal']], { one: 'Teal' }],
  [
    'a choice without a text stays, for the check to ask for one',
    [
      ['one', '_other'],
      ['_other[one]', ' '],
    ],
    { one: '_other' },
  ],
  [
    'the text joins the other choices, in its place',
    [
      ['many', 'Red'],
      ['many', '_other'],
      ['many', 'Blue'],
      ['_other[many]', 'Teal'],
    ],
    { many: ['Red', 'Teal', 'Blue'] },
  ],
  [
    'a text beside choices that leave it out does not count',
    [
      ['many', 'Red'],
      ['_other[many]', 'Teal'],
    ],
    { many: ['Red'] },
  ],
  [
    'a text alone is the only choice',
    [
      ['many', ''],
      ['_other[many]', 'Teal'],
    ],
    { many: ['Teal'] },
  ],
  [
    'two texts where there is a place for one stay both, for the check to refuse',
    [
      ['one', '_other'],
      ['_other[one]', 'Teal'],
      ['_other[one]', 'Mauve'],
      ['_other[many]', 'Teal'],
      ['_other[many]', 'Mauve'],
    ],
    { one: ['Teal', 'Mauve'], many: ['Teal', 'Mauve'] },
  ],
  [
    'in a row',
    [
      ['rows[0][cell]', '_other'],
      ['_other[rows[0][cell]]', 'Teal'],
    ],
    { rows: [{ cell: 'Teal' }] },
  ],
  [
    'of a selection that takes none, of no element, and under another spelling of the name',
    [
      ['_other[closed]', 'x'],
      ['_other[gone]', 'x'],
      ['_other[one)', 'x'],
      ['_other[', 'x'],
    ],
    {},
  ],
];

for (const [name, sent, raw] of others) {
  test(`an "other" answer: ${name}`, () => {
    assert.deepEqual(rawOf(open, ...sent), raw);
    // The page gets typed text back, even if it does not count.
    const { extra } = parseRawAnswers(open, sent);
    assert.deepEqual(
      extra,
      sent.filter(([control]) => control.startsWith('_')),
    );
  });
}

test('choosing "other" without a text is rejected with the remedy', () => {
  const result = checkAnswers(open, parseRawAnswers(open, [['one', '_other']]).raw, new Map(), context);
  assert.equal(
    result.ok || result.errors[0]?.message,
    'The one: write your own answer, or choose a listed option.',
  );
});
