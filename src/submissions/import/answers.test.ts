import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FormNode } from '#ast/form/tree.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { planImport } from './plan-import.ts';

/* Answers as other services write them, and lines that an import rejects like the page. */

const team = { stages: [], members: [] };
const home = { today: '2026-11-28', asksSingly: false, language: 'en', timeZone: 'UTC', ...team };

async function planOf(nodes: readonly FormNode[], text: string, more: object = {}) {
  const plan = await planImport({ kind: 'csv', text, ...more }, { ...home, form: formOf(...nodes) });
  assert.ok(typeof plan !== 'string', JSON.stringify(plan));
  return plan;
}

const answersOf = async (nodes: readonly FormNode[], text: string) => {
  const { entries, problems } = await planOf(nodes, text);
  assert.deepEqual(
    problems.filter((problem) => problem.is_left_out),
    [],
  );
  return entries.map(({ entry }) => entry.answers);
};

const number = element('number', 'age', { label: 'Age' });

test('a line with a number that cannot be stored exactly is left out', async () => {
  for (const cell of [
    '9007199254740993',
    '-9007199254740993',
    '0.1234567890123456789',
    '1e400',
    '12345678901234567890',
    '1e-400',
  ]) {
    const { entries, problems } = await planOf([number], `Age\n${cell}\n`);
    assert.deepEqual([entries.length, problems[0]?.line, problems[0]?.column], [0, 2, 'Age'], cell);
    assert.match(problems[0]!.message, /exactly/);
  }
  assert.deepEqual(
    await answersOf([number], 'Age\n9007199254740991\n0.30000000000000004\n1.50\n007\n1e3\n'),
    [9_007_199_254_740_991, 0.300_000_000_000_000_04, 1.5, 7, 1000].map((age) => ({ age })),
  );
});

test('a number with an ambiguous decimal separator is reported as a doubt, unless its column settles it', async () => {
  const read = async (cells: string, language: string) => {
    const plan = await planImport(
      { kind: 'csv', text: `Age;Name\n${cells}` },
      { ...home, language, form: formOf(number, element('text', 'name', { label: 'Name' })) },
    );
    assert.ok(typeof plan !== 'string');
    return [plan.entries.map(({ entry }) => entry.answers['age']), plan.doubts.length];
  };
  assert.deepEqual(await read('1.234', 'en'), [[1.234], 1]);
  assert.deepEqual(await read('1.234', 'de'), [[1234], 1]);
  assert.deepEqual(await read('1.234\n0,5', 'en'), [[1234, 0.5], 0]);
  assert.deepEqual(await read('1.234;3,14\n0.5;', 'de'), [[1.234, 0.5], 0], 'texts settle no numbers');
});

const meals = element('multiple_choice', 'meals', {
  label: 'Meals',
  options: ['Breakfast, early', { id: 'l', label: 'Lunch' }, 'Tea; with milk', 'Dinner'],
});

test('choices that contain a separator are recognized by the options', async () => {
  for (const [cell, expected] of [
    ['"Breakfast, early"', ['Breakfast, early']],
    ['"Breakfast, early, Lunch"', ['Breakfast, early', 'l']],
    ['"Lunch, Breakfast, early, Dinner"', ['l', 'Breakfast, early', 'Dinner']],
    ['"Lunch,Dinner"', ['l', 'Dinner']],
    ['Lunch;Dinner;', ['l', 'Dinner']],
    ['"Breakfast, early;Tea; with milk"', ['Breakfast, early', 'Tea; with milk']],
    ['Tea; with milk', ['Tea; with milk']],
    ['"""Tea; with milk""; Lunch"', ['Tea; with milk', 'l']],
    ['"lunch\ndinner"', ['l', 'Dinner']],
  ] as const) {
    // A second column makes the comma the separator.
    const text = `Meals,Note\n${cell},x\n`;
    assert.deepEqual(await answersOf([meals], text), [{ meals: expected }], cell);
  }
});

test('a line with ambiguous choices is left out', async () => {
  const input = element('multiple_choice', 'q', { label: 'Q', options: ['A', 'B', 'A, B'] });
  const { entries, problems } = await planOf([input], 'Q,Note\n"A, B",x\n');
  assert.deepEqual([entries.length, problems.length], [0, 1]);
  assert.match(problems[0]!.message, /"A, B" can match different choices/);
});

test('a custom option is read after the other options, as Google Forms writes it', async () => {
  const input = element('multiple_choice', 'q', { label: 'Q', options: ['Tea', 'Cake, fresh'], other: true });
  const { entries, doubts } = await planOf([input], 'Q,Note\n"Tea, Cake, fresh, Juice, cold",x\nWater,x\n');
  assert.deepEqual(
    entries.map(({ entry }) => entry.answers['q']),
    [['Tea', 'Cake, fresh', 'Juice, cold'], ['Water']],
  );
  assert.deepEqual(
    doubts.map(({ line, column }) => [line, column]),
    [[2, 'Q']],
  );
});

for (const [service, head, cells] of [
  ['Typeform', '"Breakfast, early",Lunch,Tea; with milk,Dinner', '"Breakfast, early",,,Dinner'],
  [
    'Tally',
    '"Meals (Breakfast, early)",Meals (Lunch),Meals (Tea; with milk),Meals (Dinner)',
    'TRUE,FALSE,FALSE,true',
  ],
  [
    'LimeSurvey',
    '"Meals [Breakfast, early]",Meals [Lunch],Meals [Tea; with milk],Meals [Dinner]',
    'Yes,No,No,Yes',
  ],
  ['others', '"Meals: Breakfast, early",Meals: Lunch,Meals: Dinner', '1,0,1'],
] as const) {
  test(`separate columns for each choice, as ${service} writes them, become one answer`, async () => {
    assert.deepEqual(await answersOf([meals], `${head}\n${cells}\n`), [
      { meals: ['Breakfast, early', 'Dinner'] },
    ]);
  });
}

test('the two heading lines of SurveyMonkey become one', async () => {
  const inputs = [
    element('multiple_choice', 'meals', { label: 'Meals', options: ['Lunch', 'Dinner'], other: true }),
    element('text', 'name', { label: 'Name' }),
    element('matrix', 'likes', { label: 'Likes', options: ['Well', 'Not'] }),
  ];
  const text = [
    'Respondent ID,Start Date,End Date,Meals,,,Name,Likes,',
    ',,,Lunch,Dinner,Other (please specify),Open-Ended Response,Tea,Coffee',
    '118,11/20/2026 14:01:33,11/20/2026 14:05:33,Lunch,,Brunch,Ada,Well,Not',
  ].join('\n');
  const plan = await planOf(inputs, text, {
    mapping: undefined,
  });
  const mapped = plan.mapping.map((use) =>
    'name' in use ? `${use.name} ${'row' in use ? use.row : ''}` : use.as,
  );
  assert.equal(plan.columns[5]!.title, 'Meals [Other (please specify)]');
  assert.deepEqual(mapped.slice(0, 3), ['ignore', 'started_at', 'submitted_at']);
  assert.deepEqual(
    plan.entries.map(({ line, entry }) => [line, entry]),
    [
      [
        3,
        {
          answers: { name: 'Ada', meals: ['Lunch', 'Brunch'], likes: { Tea: 'Well', Coffee: 'Not' } },
          reference: {},
          begun: Date.parse('2026-11-20T14:01:33Z'),
          at: Date.parse('2026-11-20T14:05:33Z'),
        },
      ],
    ],
  );
});

test('ranks in a column for each option become one order', async () => {
  const input = element('ranking', 'order', { label: 'Order' });
  assert.deepEqual(await answersOf([input], 'Order [Red],Order [Green],Order [Blue]\n2,3,1\n'), [
    { order: ['Blue', 'Red', 'Green'] },
  ]);
  const { problems } = await planOf([input], 'Order [Red],Order [Green],Order [Blue]\n2,2,1\n');
  assert.deepEqual(
    problems.map(({ line }) => line),
    [2],
  );
});

test('columns with equal headings answer questions with equal labels', async () => {
  const inputs = [
    element('text', 'a', { label: 'Name' }),
    element('text', 'b', { label: 'Name' }),
    element('text', 'c', { label: 'name' }),
  ];
  assert.deepEqual(await answersOf(inputs, 'Name,Name,name\nAda,Bea,Cid\n'), [
    { a: 'Ada', b: 'Bea', c: 'Cid' },
  ]);
  assert.deepEqual(await answersOf(inputs, 'Name (b),Name (a)\nBea,Ada\n'), [{ b: 'Bea', a: 'Ada' }]);
});

test('a mapping that answers a question twice is rejected, whatever the order of its properties', async () => {
  const form = formOf(meals);
  const refuse = async (...mapping: object[]) =>
    JSON.stringify(
      await planImport({ kind: 'csv', text: 'a,b\nx,y\n', mapping: mapping as never }, { ...home, form }),
    );
  const whole = { as: 'answer', name: 'meals' };
  assert.match(await refuse(whole, { name: 'meals', as: 'answer' }), /Two columns/);
  assert.match(await refuse(whole, { ...whole, option: 'l' }), /or one column for each of its parts/);
  assert.match(await refuse({ ...whole, option: 'nothing' }, { as: 'ignore' }), /no choice \\"nothing\\"/);
});

test('yes and no are recognized in all page languages and as spreadsheets write them', async () => {
  const input = element('yes_no', 'news', { label: 'News' });
  for (const [cell, answer] of Object.entries({
    WAHR: true,
    falsch: false,
    TRUE: true,
    Vrai: true,
    Não: false,
    はい: true,
    0: false,
  }))
    assert.deepEqual(await answersOf([input], `News\n${cell}\n`), [{ news: answer }], cell);
  const { problems } = await planOf([input], 'News\nperhaps\n');
  assert.equal(problems.length, 1);
});

test('a consent is given by yes or by its statement, and by no other text', async () => {
  const input = element('consent', 'terms', { label: 'Terms', statement: 'I agree to all.' });
  assert.deepEqual(await answersOf([input], 'Terms\nyes\nI agree to all.\n'), [
    { terms: true },
    { terms: true },
  ]);
  assert.deepEqual(await answersOf([input], 'Terms,Note\nno,x\n'), [{ terms: false }]);
  const head = 'Terms [agreed],Terms [text],Terms [version],Terms [at]\n';
  assert.deepEqual(
    await answersOf(
      [input],
      `${head}Yes,I agree to all.,3,2026-01-31T09:30:00.000Z\nNo,,,\n,,,x\n`.replace(',,,x\n', ''),
    ),
    [{ terms: { agreed: true, at: '2026-01-31T09:30:00.000Z' } }, {}],
  );
  const { problems } = await planOf([input], `${head}Yes,I agree to less.,3,2026-01-31T09:30:00.000Z\n`);
  assert.match(problems[0]!.message, /The accepted text differs/);
});

test('rows of a repeatable group are lines of one cell, and an error in them is named', async () => {
  const group = composite(
    'people',
    [
      element('text', 'who', { label: 'Who' }),
      element('number', 'age', { label: 'Age' }),
      element('multiple_choice', 'meals', { label: 'Meals', options: ['Tea', 'Cake'] }),
    ],
    { label: 'People', repeatable: true },
  );
  assert.deepEqual(
    await answersOf(
      [group],
      'People\n"Who: Ada; Age: 3.5; Meals: ""Tea; Cake""\nWho: ""Bea: B; x"""\n'.replace('""Tea', '""Tea'),
    ),
    [{ people: [{ who: 'Ada', age: 3.5, meals: ['Tea', 'Cake'] }, { who: 'Bea: B; x' }] }],
  );
  for (const [cell, reason] of [
    ['Ada', /Write each row/],
    ['Whom: Ada', /"Whom" is not a question/],
    ['Who: Ada; Who: Bea', /twice/],
    ['Age: 9007199254740993', /exactly/],
  ] as const) {
    const { problems } = await planOf([group], `People\n${cell}\n`);
    assert.match(problems[0]!.message, reason, cell);
  }
});

test('an apostrophe before a formula is removed or kept as in the rest of the file, and reported as a doubt', async () => {
  const note = element('textarea', 'note', { label: 'Note' });
  const read = async (text: string) => {
    const { entries, doubts } = await planOf([note], text);
    return [entries.map(({ entry }) => entry.answers['note']), doubts.length];
  };
  assert.deepEqual(await read("Note\n'=1+1\nplain\n"), [['=1+1', 'plain'], 1]);
  assert.deepEqual(await read("Note\n'=1+1\n=2+2\n"), [["'=1+1", '=2+2'], 1]);
  assert.deepEqual(await read('Note\n=2+2\n'), [['=2+2'], 0]);
});

test('exported reference data can be imported, and a line with invalid reference data is left out', async () => {
  const mapping = [{ as: 'answer', name: 'age' }, { as: 'reference_data' }];
  const read = (cell: string) =>
    planOf([number], `Age,Reference\n1,"${cell.replaceAll('"', '""')}"\n`, { mapping });
  const { entries } = await read('{"campaign":"spring","ref":"=1"}');
  assert.deepEqual(entries[0]!.entry.reference, { campaign: 'spring', ref: '=1' });
  for (const cell of ['spring', '["a"]', '{"a":1}']) {
    const { problems } = await read(cell);
    assert.match(problems[0]!.message, /JSON object whose values are strings/, cell);
  }
  const { problems } = await read(JSON.stringify({ a: 'half \uD800' }));
  assert.match(problems[0]!.message, /characters that cannot be stored/);
});

test('columns that a file cannot fill are reported: files, signatures and questions that were removed from the form', async () => {
  const inputs = [
    number,
    element('file_upload', 'photo', { label: 'Photo' }),
    element('signature', 'sign', { label: 'Sign' }),
  ];
  const { problems, entries } = await planOf(inputs, 'Age,Photo,Sign,Note\n1,a.png,b.png,x\n2,,,\n');
  assert.equal(entries.length, 2);
  assert.deepEqual(
    problems.map(({ line, column, is_left_out }) => [line, column, is_left_out]),
    [
      [1, 'Photo', false],
      [1, 'Sign', false],
    ],
  );
  const own = 'Submission ID,Status,Created at,Completed at,Age,Former,Reference\n';
  const second = await planOf(
    [number],
    `${own}1,completed,2026-01-01T00:00:00.000Z,2026-01-02T00:00:00.000Z,1,x,\n2,incomplete,2026-01-01T00:00:00.000Z,,1,,\n`,
  );
  assert.deepEqual(
    second.problems.map(({ line, column, is_left_out }) => [line, column, is_left_out]),
    [
      [1, 'Former', false],
      [3, 'Status', true],
    ],
  );
});

test('answers to hidden questions in a row are reported', async () => {
  const group = composite(
    'people',
    [
      element('yes_no', 'eats', { label: 'Eats' }),
      element('text', 'what', { label: 'What', show_when: { element: 'eats', is: 'equals', value: true } }),
    ],
    { label: 'People', repeatable: true },
  );
  const { problems } = await planOf([group], 'People\nEats: No; What: Cake\n');
  assert.deepEqual(
    problems.map(({ line, column, is_left_out }) => [line, column, is_left_out]),
    [[2, 'People', false]],
  );
});
