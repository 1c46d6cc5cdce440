import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf, problemsOf, structure } from '#test/ast/forms.ts';
import { checkAnswers, type FileAnswer } from '../answers/check-answers.ts';
import type { FormNode } from '../form/tree.ts';
import { formatExampleMoment } from './moments.ts';
import { formatProblem } from './problem.ts';
import { isEmail } from './text-formats.ts';

/** Returns the message about a value, or undefined if it is accepted. */
function messageOf(input: FormNode, value: unknown): string | undefined {
  const result = checkAnswers(formOf(input), { q: value }, new Map(), context);
  return result.ok ? undefined : result.errors.map(({ message }) => message).join(' ');
}

type Scenario = [
  type: string,
  attrs: Record<string, unknown>,
  good: unknown[],
  bad: unknown[],
  problem: string,
];

const scenarios: Scenario[] = [
  ['text', { min_length: 3 }, ['abc', '😀😀😀', ''], ['ab', '😀'], 'write at least 3 characters.'],
  [
    'textarea',
    { max_length: 3 },
    ['a\r\nb', '😀😀😀'],
    ['abcd'],
    'shorten the answer to at most 3 characters.',
  ],
  [
    'email',
    { max_length: 6 },
    ['a@b.co', ' a@b.co '],
    ['aa@b.co'],
    'shorten the answer to at most 6 characters.',
  ],
  ['phone', { min_length: 5 }, ['12345'], ['1234'], 'write at least 5 characters.'],
  [
    'url',
    { max_length: 12 },
    ['https://a.co'],
    ['https://aa.co'],
    'shorten the answer to at most 12 characters.',
  ],
  [
    'text',
    { pattern: '[A-Z]{2}\\d' },
    ['AB1'],
    ['AB12', 'xAB1', 'ab1'],
    'write the answer in the expected form.',
  ],
  ['text', { min_length: 3, pattern: '[A-Z]*' }, ['ABC'], ['AB', 'ab'], 'write at least 3 characters.'],
  ['number', { min: 18 }, [18, 18.5], [17.99, -20], 'enter 18 or more.'],
  ['number', { max: -0.5 }, [-0.5, -7], [0], 'enter -0.5 or less.'],
  ['number', { step: 0.1 }, [0, 0.3, -1.1], [0.35], 'enter a number in steps of 0.1 from 0.'],
  ['number', { min: 0.05, step: 0.1 }, [0.05, 0.25], [0.3], 'enter a number in steps of 0.1 from 0.05.'],
  ['date', { min: '2026-01-01' }, ['2026-01-01'], ['2025-12-31'], 'enter 2026-01-01 or later.'],
  ['date', { max: 'today-18' }, ['2026-01-13'], ['2026-01-14'], 'enter 2026-01-13 or earlier.'],
  ['datetime', { min: 'today' }, ['2026-01-31T00:00'], ['2026-01-30T23:59'], 'enter 2026-01-31 or later.'],
  ['datetime', { max: 'today' }, ['2026-01-31T23:59'], ['2026-02-01T00:00'], 'enter 2026-01-31 or earlier.'],
  ['time', { min: '09:00' }, ['09:00', '23:00'], ['08:59'], 'enter 09:00 or later.'],
  [
    'multiple_choice',
    { min_choices: 2 },
    [['Red', 'Blue'], []],
    [['Red']],
    'choose at least 2 of the options.',
  ],
  ['multiple_choice', { max_choices: 1 }, [['Red']], [['Red', 'Blue']], 'choose at most 1 of the options.'],
  // A limit of another type is an unknown attribute: kept, without effect.
  ['text', { min: 5, min_choices: 2 }, ['1'], [], ''],
];

for (const [type, attrs, good, bad, problem] of scenarios) {
  test(`${type} with ${JSON.stringify(attrs)}: ${problem || 'no rule of its own'}`, () => {
    const input = element(type, 'q', attrs);
    for (const value of good) assert.equal(messageOf(input, value), undefined, JSON.stringify(value));
    for (const value of bad)
      assert.equal(messageOf(input, value), `The q: ${problem}`, JSON.stringify(value));
  });
}

test('a text that is too long for its pattern is rejected because of its length', () => {
  const input = element('textarea', 'q', { pattern: '[ab]{249}' });
  assert.equal(messageOf(input, 'a'.repeat(8_001)), 'The q: shorten the answer to at most 4000 characters.');
});

const pdf: FileAnswer = { id: '1', filename: 'CV.PDF', size: 10, content_type: 'application/pdf' };
const png: FileAnswer = { id: '2', filename: 'a.png', size: 30, content_type: 'image/png; charset=x' };

const fileScenarios: [attrs: Record<string, unknown>, files: FileAnswer[], problem?: string][] = [
  [{ accept: ['.pdf'] }, [pdf]],
  [{ accept: ['application/pdf', 'IMAGE/*'] }, [pdf, png]],
  [
    { accept: ['.doc', 'image/*'] },
    [pdf],
    'CV.PDF is not of a type that is taken here. Choose a file of one of these types: .doc, image/*.',
  ],
  [{ max_file_size: 10 }, [pdf]],
  [{ max_file_size: 10 }, [pdf, png], 'a.png is too large. Choose a file of at most 10 bytes.'],
  [{ min_files: 2 }, [pdf], 'add more files, at least 2 in total.'],
  [{ max_files: 1 }, [pdf, png], 'keep at most 1 of the files.'],
  [{ min_files: 2, max_files: 2 }, [pdf, png]],
  [{ min_files: 2 }, []],
];

for (const [attrs, files, problem] of fileScenarios) {
  test(`file_upload with ${JSON.stringify(attrs)}: ${problem ?? `takes ${files.length} files`}`, () => {
    const result = checkAnswers(
      formOf(element('file_upload', 'q', attrs)),
      {},
      new Map([['q', files]]),
      context,
    );
    const message = result.ok ? undefined : result.errors[0]?.message;
    assert.equal(message, problem && `The q: ${problem}`);
  });
}

test("the author's custom message replaces the default of every rule, and is never used as a template", () => {
  const own = 'Use <b>{limit}</b> letters.';
  const input = element('text', 'q', { label: '{label}', error_message: own, min_length: 5, required: true });
  for (const value of ['', 'abc', 5, 'a\nb']) assert.equal(messageOf(input, value), `{label}: ${own}`);
});

test('a message is filled once: a label or file name that looks like a placeholder is unchanged', () => {
  const problem = { rule: 'accept', label: '{file}', values: { file: '{types}', types: '$&' } } as const;
  const message = formatProblem(problem);
  assert.ok(message.startsWith('{file}: {types} is not'), message);
  assert.ok(message.endsWith('these types: $&.'), message);
});

const otherRadio = element('radio', 'q', { other: true });
const otherChoices = element('multiple_choice', 'q', { other: true });

test('with "other", one normalized free text is accepted instead of an option', () => {
  const form = formOf(otherRadio, element('multiple_choice', 'm', { other: true, max_choices: 2 }));
  const result = checkAnswers(form, { q: ' Teal ', m: ['Red', ' Pink'] }, new Map(), context);
  assert.deepEqual(result, { ok: true, answers: { q: 'Teal', m: ['Red', 'Pink'] } });
  const spaced = formOf(element('radio', 'q', { other: true, options: [' Red', 'Blue'] }));
  const answers = { q: ' Red' };
  assert.deepEqual(checkAnswers(spaced, answers, new Map(), context), { ok: true, answers });
});

test('a second free text, a repeated one, and one with line breaks are rejected', () => {
  const refused: [FormNode, unknown, string][] = [
    [otherRadio, '_other', 'write your own answer, or choose a listed option.'],
    [otherRadio, 5, 'write your own answer, or choose a listed option.'],
    [otherRadio, 'a\nb', 'write the answer on a single line.'],
    [otherRadio, 'x\u0000', 'remove the characters that cannot be stored (NUL, unpaired surrogates).'],
    [otherRadio, 'é'.repeat(513), 'shorten the answer to at most 1 KB (1024 bytes).'],
    [otherChoices, ['_other'], 'write your own answer, or choose a listed option.'],
    [otherChoices, [' '], 'write your own answer, or choose a listed option.'],
    [otherChoices, ['Teal', 'Pink'], 'choose from the listed options, each at most once.'],
    [otherChoices, ['Red', 'Red'], 'choose from the listed options, each at most once.'],
    [otherChoices, ['Teal', 'Teal'], 'choose from the listed options, each at most once.'],
    [element('radio', 'q'), 'Teal', 'choose one of the listed options.'],
  ];
  for (const [input, value, problem] of refused) assert.equal(messageOf(input, value), `The q: ${problem}`);
});

test('a rating or scale answer is a whole number in its range, and nothing else', () => {
  const stars = element('rating', 'q', { levels: 5 });
  for (const value of [1, 5]) assert.equal(messageOf(stars, value), undefined);
  const levels: [input: FormNode, value: unknown, problem: RegExp][] = [
    [stars, 0, /1/],
    [stars, 6, /5/],
    [stars, 2.5, /whole|step|1/],
    [stars, '3', /number/],
    [stars, Number.NaN, /number/],
    [stars, Infinity, /number/],
    [element('scale', 'q'), 11, /10/],
    [element('scale', 'q'), -1, /0/],
  ];
  for (const [input, value, problem] of levels) assert.match(messageOf(input, value) ?? '', problem);
});

test('limits relative to today move, and are not compared with fixed ones', () => {
  for (const [min, max] of [
    ['today', '2026-01-01'],
    ['2026-01-01', 'today'],
    ['today+5', 'today-5'],
  ])
    assert.deepEqual(problemsOf(structure(element('date', 'q', { min, max }))), []);
});

const badAttributes: [type: string, attrs: Record<string, unknown>, problem: string][] = [
  ['text', { min_length: -1 }, '"min_length" of "q" must be a whole number from 0 to 65536.'],
  ['text', { max_length: 65_537 }, '"max_length" of "q" must be a whole number from 1 to 65536.'],
  ['text', { min_length: 3, max_length: 2 }, '"q" has a "min_length" greater than its "max_length".'],
  ['text', { pattern: '(' }, '"pattern" of "q" must be a regular expression.'],
  ['number', { min: '1' }, '"min" of "q" must be a number.'],
  ['number', { step: 0 }, '"step" of "q" must be more than 0.'],
  ['number', { min: 2, max: 1 }, '"q" has a "min" greater than its "max".'],
  ['date', { min: '2026-02-01', max: '2026-01-01' }, '"q" has a "min" greater than its "max".'],
  [
    'date',
    { min: 'tomorrow' },
    '"min" of "q" must be a date like 2026-01-31, or relative to today like "today", "today+30", "today-18".',
  ],
  [
    'radio',
    { options: ['a\nb'] },
    '"options" of "q" must not have an entry that is blank or has line breaks.',
  ],
  ...[{ points: '5' }, { points: 1_000_001 }].map((more): (typeof badAttributes)[number] => [
    'radio',
    { options: [{ id: 'r', label: 'Red', ...more }] },
    '"options" of "q" must not have an entry 1 that has a "points" that is not a number from -1000000 to 1000000.',
  ]),
  ...[0, 1.5, 10_001, '5'].map((capacity): (typeof badAttributes)[number] => [
    'radio',
    { options: [{ id: 'r', label: 'Red', capacity }] },
    '"options" of "q" must not have an entry 1 that has a "capacity" that is not a whole number from 1 to 10000.',
  ]),
  ['time', { max: 'today' }, '"max" of "q" must be a time like 14:30.'],
  ['multiple_choice', { min_choices: 4 }, '"q" has a "min_choices" greater than the number of its options.'],
  [
    'radio',
    { other: true, options: ['_other'] },
    '"options" of "q" must not have "_other" if "other" is true.',
  ],
  [
    'file_upload',
    { accept: ['pdf'] },
    '"accept" of "q" must be a list of 1 to 50 types like ".pdf", "image/*" or "application/pdf".',
  ],
  ...[[], 'image/*', [5], Array.from({ length: 51 }, () => '.pdf')].map(
    (accept): (typeof badAttributes)[number] => [
      'file_upload',
      { accept },
      '"accept" of "q" must be a list of 1 to 50 types like ".pdf", "image/*" or "application/pdf".',
    ],
  ),
  ['file_upload', { min_files: 11 }, '"min_files" of "q" must be a whole number from 0 to 10.'],
  [
    'file_upload',
    { max_file_size: 5_242_880_001 },
    '"max_file_size" of "q" must be a whole number from 1 to 5242880000.',
  ],
  ['file_upload', { min_files: 3, max_files: 2 }, '"q" has a "min_files" greater than its "max_files".'],
];

test('impossible and invalid rules are rejected with the path', () => {
  for (const [type, attrs, message] of badAttributes) {
    assert.deepEqual(problemsOf(structure(element(type, 'q', attrs))), [{ message, path: [0, 0] }]);
  }
  assert.deepEqual(problemsOf(structure(element('date', 'q', { min: 'today+9', max: 'today' }))), []);
  assert.deepEqual(problemsOf(structure(element('date', 'q', { min: '2026-01-01', max: '2026-02-01' }))), []);
  const rows = [{ id: 'r', label: 'Red', image: '00000000-0000-7000-8000-000000000000' }];
  assert.deepEqual(problemsOf(structure(element('matrix', 'q', { rows }))), []);
  assert.deepEqual(
    problemsOf(structure(element('multiple_choice', 'q', { other: true, min_choices: 4 }))),
    [],
  );
});

test('the texts of a form have at most 150,000 characters that HTML escapes; a violation is reported once, with the limit', () => {
  const texts = (count: number) =>
    structure(
      ...Array.from({ length: count }, (_, index) =>
        element('text', `q${index}`, { help_text: '<&"'.repeat(1_000) }),
      ),
    );
  assert.deepEqual(problemsOf(texts(50)), []);
  const message = `"q50" has too many of the characters & < > " and ' (at most 150000 in total).`;
  assert.deepEqual(problemsOf(texts(60)), [{ message, path: [0, 50] }]);
});

test('a form has at most 5,000 options in total; a violation is reported once, with the limit', () => {
  const options = Array.from({ length: 500 }, (_, index) => `option ${index}`);
  const lists = (count: number) =>
    structure(
      ...Array.from({ length: count }, (_, index) => element('radio', `q${index}`, { options })),
      composite('rows', [element('dropdown', 'last', { options: ['One'] })]),
    );
  assert.deepEqual(problemsOf(lists(9)), []);
  const message = 'A form can have at most 5000 options in total.';
  assert.deepEqual(problemsOf(lists(12)), [{ message, path: [0, 10] }]);
});

test('a typed name instead of a signature is rejected as not a file, and a long one because of its length', () => {
  const input = element('signature', 'q');
  assert.match(messageOf(input, 'Ada') ?? '', /^The q: send the file itself/);
  assert.match(
    messageOf(input, 'x'.repeat(10_000)) ?? '',
    /^The q: shorten the answer to at most \d+ characters/,
  );
});

test('a message shows dates and times in the format of the language', () => {
  assert.deepEqual(
    (['date', 'time', 'datetime'] as const).map((format) =>
      formatExampleMoment(format, 'en-US').replaceAll('\u202f', ' '),
    ),
    ['01/31/2026', '02:30 PM', '01/31/2026, 02:30 PM'],
  );
});

test('an email address may use any script before and after the @', () => {
  for (const address of [
    'user@münchen.example',
    '用户@例え.jp',
    'jörg@example.org',
    'δοκιμή@παράδειγμα.δοκιμή',
    'a.b+c@xn--mnchen-3ya.example',
    'root@localhost',
    'root@LOCALHOST',
  ])
    assert.equal(isEmail(address), true, address);
  for (const address of [
    '@münchen.example',
    'a b@münchen.example',
    'a@mün chen.example',
    'a@mün/chen.example',
    'a@münchen.example:25',
    'a@ü..example',
    'a@.ü',
    'a@b@ü.example',
    `a@${'ü'.repeat(70)}.example`,
    'a@\u{200B}ü.example',
    'hr@acme',
    'hr@localhosts',
    'hr@münchen',
    '用户@例え',
  ])
    assert.equal(isEmail(address), false, address);
});
