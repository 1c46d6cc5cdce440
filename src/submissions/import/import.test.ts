import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { writeXlsxStream } from 'hucre/xlsx';
import type { Static } from 'typebox';
import { newId } from '#kit/clock.ts';
import { createTask } from '#tasks/run-tasks.ts';
import { element, formOf, structure } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { type Body, openService, until } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { cancelWorkspaceDeletion, scheduleWorkspaceDeletion } from '#workspaces/account-deletion.ts';
import type { ImportPreview, ImportProgress, ImportStarted } from './endpoints.ts';
import { type ColumnFormat, guessDateOrder, guessDecimalMark } from './mapping.ts';
import { planImport } from './plan-import.ts';
import { readImportCell } from './read-cell.ts';
import { submissionImportJobKind } from './start-import.ts';
import { importableQuestions } from './table.ts';

/* Imports of answers from a file: previewed first, validated as on the page, each line once. */

const elements = [
  element('text', 'name', { label: 'Full name', required: true }),
  element('number', 'age', { label: 'Age', min: 0 }),
  element('date', 'born', { label: 'Born' }),
  element('radio', 'colour', { label: 'Colour', options: [{ id: 'r', label: 'Red' }, 'Blue'], other: true }),
  element('multiple_choice', 'meals', { label: 'Meals', options: ['Tea, milk', 'Cake', 'Soup'] }),
  element('yes_no', 'news', { label: 'News?' }),
  element('matrix', 'likes', { label: 'Likes', options: ['Well', 'Not'] }),
  element('text', 'why', { label: 'Why', show_when: { element: 'news', is: 'equals', value: true } }),
];
const form = formOf(...elements);
const about = {
  form,
  today: '2026-11-23',
  asksSingly: false,
  language: 'en',
  timeZone: 'UTC',
  stages: [{ id: 'done', labels: ['Done'] }],
  members: [{ id: 'm1', labels: ['Ada', 'ada@example.org'] }],
};
/** Returns the reason why a file is rejected as a whole. */
const refusal = async (source: object): Promise<string> => {
  const problem = await planImport(source as Parameters<typeof planImport>[0], about);
  assert.ok(typeof problem === 'string');
  return problem;
};
const plan = async (text: string, more: object = {}) => {
  const plan = await planImport({ kind: 'csv', text, ...more }, about);
  assert.ok(typeof plan !== 'string', JSON.stringify(plan));
  return plan;
};

const file = [
  'Full name,age,Born,Colour,Meals,News?,Likes [Tea],Likes [Coffee],Why,Completed at,Source',
  'Ada,36,10.12.1815,red,"Tea, milk; Cake",yes,Well,Not,Curiosity,2026-01-31T10:00:00Z,spring',
  'Grace,,09.12.1906,Green,"Cake, Soup",no,,,,2026-02-01 12:30,',
].join('\r\n');

test('columns are matched by label, ID and row, and cells by option label and by the date order', async () => {
  const { mapping, writing, entries, problems } = await plan(file);
  assert.deepEqual(
    mapping.map((use) => ('name' in use ? use.name : use.as)),
    ['name', 'age', 'born', 'colour', 'meals', 'news', 'likes', 'likes', 'why', 'submitted_at', 'ignore'],
  );
  assert.equal(writing.dates, 'dmy');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    entries.map(({ line, entry }) => ({ line, ...entry })),
    [
      {
        line: 2,
        answers: {
          name: 'Ada',
          age: 36,
          born: '1815-12-10',
          colour: 'r',
          meals: ['Tea, milk', 'Cake'],
          news: true,
          likes: { Tea: 'Well', Coffee: 'Not' },
          why: 'Curiosity',
        },
        reference: {},
        at: Date.parse('2026-01-31T10:00:00Z'),
      },
      {
        line: 3,
        answers: { name: 'Grace', born: '1906-12-09', colour: 'Green', meals: ['Cake', 'Soup'], news: false },
        reference: {},
        at: Date.parse('2026-02-01T12:30:00Z'),
      },
    ],
  );
});

test('errors name their line and column, and answers to hidden questions are reported too', async () => {
  const { entries, problems } = await plan(
    'Full name,Age,News?,Why\nAda,-1,yes,\n,3,no,\nAnni,many,no,\nBea,2,no,Curiosity\n',
  );
  assert.deepEqual(
    entries.map(({ line }) => line),
    [5],
  );
  assert.deepEqual(
    problems.map(({ line, column, is_left_out }) => [line, column, is_left_out]),
    [
      [2, 'Age', true],
      [3, 'Full name', true],
      [4, 'Age', true],
      [5, 'Why', false],
    ],
  );
});

test('a stage and an assignee are found by name or email, and unknown ones are a problem of their line', async () => {
  const { mapping, entries, problems } = await plan(
    'Full name,Stage,Assignee\nBea, done ,ADA@example.org\nCid,,\nDan,Gone,Ada\nEve,Done,Bob\n',
  );
  assert.deepEqual(
    mapping.map(({ as }) => as),
    ['answer', 'stage', 'assignee'],
  );
  assert.deepEqual(
    entries.map(({ entry }) => entry.assignment),
    [{ stage_id: 'done', assignee_id: 'm1' }, undefined],
  );
  assert.deepEqual(
    problems.map(({ line, column, message }) => [line, column, message]),
    [
      [4, 'Stage', 'The workspace has no stage with this name.'],
      [5, 'Assignee', 'No single member has this name. Use the email address of a member.'],
    ],
  );
});

test('an invalid mapping is rejected with a clear message', async () => {
  const refuse = (mapping: object[]) => refusal({ kind: 'csv', text: 'a,b\n1,2', mapping });
  assert.match(await refuse([{ as: 'ignore' }]), /has 2 columns, but the mapping has 1/);
  const name = { as: 'answer', name: 'name' };
  assert.match(await refuse([name, name]), /Two columns have the same use/);
  assert.match(await refuse([name, { as: 'answer', name: 'likes' }]), /one column for each of its rows/);
  assert.match(await refuse([name, { as: 'answer', name: 'unknown' }]), /no question "unknown"/);
  assert.match(await refuse([{ as: 'ignore' }, { as: 'ignore' }]), /Choose a question/);
  assert.match(await refusal({ kind: 'csv', text: 'a\n' }), /has no submissions/);
  assert.match(await refusal({ kind: 'xlsx', data: 'bm8=' }), /workbook cannot be read/);
});

/** Returns the answer of a cell to a question, for a column with this format of dates and numbers. */
const read = (id: string, cell: string, format: Partial<ColumnFormat> = {}) => {
  const context = { format: { dates: 'ymd', decimal: '.', ...format }, home: about, isOwn: false } as const;
  const found = readImportCell(importableQuestions(form).get(id)!, cell, context);
  return 'problem' in found ? found.problem : found.value;
};

test('dates and numbers are parsed in the format of the file', () => {
  assert.equal(read('born', '1/31/2026', { dates: 'mdy' }), '2026-01-31');
  assert.equal(read('born', '31.1.26', { dates: 'dmy' }), '2026-01-31');
  assert.equal(read('born', '31.1.85', { dates: 'dmy' }), '1985-01-31');
  assert.equal(read('born', '2026-01-31 00:00:00', { dates: 'dmy' }), '2026-01-31');
  assert.equal(read('age', '1.500,5', { decimal: ',' }), 1500.5);
  assert.equal(read('age', '1,500.5'), 1500.5);
  assert.deepEqual(
    ['1/31/2026', '31.1.2026', '2026-01-31'].map((cell) => guessDateOrder([cell], 'en').format),
    ['mdy', 'dmy', 'mdy'],
  );
  assert.deepEqual(
    ['1.500,5', '1500.5'].map((cell) => guessDecimalMark([cell], 'en').format),
    [',', '.'],
  );
});

test("a number in another format than the file's is rejected, not misread", () => {
  for (const [cell, decimal, answer] of [
    ['3,14', '.', '3,14'],
    ['3.14', ',', '3.14'],
    ['1,5,000', '.', '1,5,000'],
    ['5 7', '.', '5 7'],
    ['- 1 500 000', '.', -1_500_000],
    ["1'500.25", '.', 1500.25],
    ['12,34,567', '.', 1_234_567],
    ['1.500', ',', 1500],
    ['1500000,5', ',', 1_500_000.5],
  ] as const)
    assert.equal(read('age', cell, { decimal }), answer, cell);
});

test('the time of a submission must be a valid date from 1970 until tomorrow', async () => {
  const moments = ['0001-01-01', '1969-12-31', '2026-02-31', '2026-13-01', '2999-01-01', '2026-01-31'];
  const { entries, problems } = await plan(
    `Full name,Submitted at\n${moments.map((moment) => `Ada,${moment}`).join('\n')}`,
  );
  assert.deepEqual(
    entries.map(({ line }) => line),
    [7],
  );
  assert.deepEqual(
    problems.map(({ line, column }) => [line, column]),
    [2, 3, 4, 5, 6].map((line) => [line, 'Submitted at']),
  );
});

test('a line with a reference value that is too long is left out, and the value is not cut', async () => {
  const mapping = [
    { as: 'answer', name: 'name' },
    { as: 'reference', name: 'source' },
  ];
  const { entries, problems } = await plan(`a,b\nAda,${'x'.repeat(8_192)}\nBea,${'x'.repeat(8_193)}`, {
    mapping,
  });
  assert.deepEqual(
    entries.map(({ entry }) => entry.reference['source']?.length),
    [8_192],
  );
  assert.deepEqual(problems, [
    {
      line: 3,
      column: 'b',
      message: 'A reference value can have at most 8,192 characters.',
      is_left_out: true,
    },
  ]);
});

test('the example file of the guide can be imported unchanged', async () => {
  const guide = await readFile(new URL('../../../docs/guides/importing.md', import.meta.url), 'utf8');
  const [, text] = /^```csv\n(.*?)^```/ms.exec(guide)!;
  const guideForm = formOf(element('number', 'age'), element('textarea', 'parents'));
  const plan = await planImport({ kind: 'csv', text: text! }, { ...about, form: guideForm });
  assert.ok(typeof plan !== 'string');
  assert.deepEqual(
    plan.entries.map(({ entry }) => entry),
    [
      {
        answers: { age: 17, parents: 'Anni and Bert' },
        reference: {},
        at: Date.parse('2026-01-31T10:00:00Z'),
      },
    ],
  );
});

test('no text and no workbook makes the file reader throw', async () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('31.1.2026', '1,5', 'yes', '"', ';', '=1'));
  const table = fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const head = 'name,age,born,meals';
      await planImport({ kind: 'csv', text: [head, ...rows.map((row) => row.join(','))].join('\n') }, about);
    }),
    { numRuns: cases(200) },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const data = Buffer.concat([Buffer.from('PK\u0003\u0004'), bytes]).toString('base64');
      assert.equal(typeof (await planImport({ kind: 'xlsx', data }, about)), 'string');
    }),
    { numRuns: cases(40) },
  );
});

const service = await openService();
const tenant = await service.makeTenant();
type List = { data: Static<typeof ImportProgress>[] };

async function finished(formId: string): Promise<Static<typeof ImportProgress>> {
  return until('the import to end', async () => {
    const { body } = await tenant.call('GET', `/forms/${formId}/submissions/imports`);
    const [last] = (body as unknown as List).data;
    return last?.finished_at ? last : undefined;
  });
}
const answersOf = async (formId: string) =>
  (await tenant.call('GET', `/forms/${formId}/submissions?per_page=100`)).body.data as (Body & {
    answers: Record<string, unknown>;
  })[];

test('an import pauses with its lines when its workspace is closed, and continues when the workspace is restored', async () => {
  const { id } = await makeForm(tenant, elements);
  const { workspaceId } = tenant;
  const { database, wakeQueue } = service.services;
  const importId = newId();
  const by = { kind: 'operator', id: '' } as const;
  await scheduleWorkspaceDeletion(database, workspaceId, undefined);
  const items = [{ line: 1, entry: { answers: { name: 'Ada' }, reference: {}, key: newId() } }];
  await createTask(
    database,
    { workspaceId, id: importId, kind: 'submissions.import', formId: id, by, items, total: 1 },
    { kind: submissionImportJobKind, lane: importId },
  );
  wakeQueue();
  await until('a step to be over', async () => {
    const { rows } = await database.query(
      'select from jobs where id = $1 and (run_at <= now() or lease_token is not null)',
      [importId],
    );
    return rows.length === 0;
  });
  await cancelWorkspaceDeletion(database, workspaceId, undefined);
  await database.query('update jobs set run_at = now() where id = $1', [importId]);
  wakeQueue();
  assert.deepEqual([(await finished(id)).created, (await finished(id)).refused], [1, 0]);
});

test('a file becomes searchable submissions with its times, and importing it again creates no duplicates', async () => {
  const { id } = await makeForm(tenant, elements);
  const sent = { kind: 'csv', text: file };
  const preview = await tenant.call('POST', `/forms/${id}/submissions/imports/preview`, sent);
  const seen = preview.body as unknown as Static<typeof ImportPreview>;
  assert.deepEqual([preview.status, seen.total, seen.problem_count], [200, 2, 0]);
  assert.equal((await answersOf(id)).length, 0, 'a look changes nothing');
  const started = await tenant.call('POST', `/forms/${id}/submissions/imports`, sent);
  assert.equal(started.status, 202);
  assert.equal((started.body as unknown as Static<typeof ImportStarted>).total, 2);
  assert.deepEqual([(await finished(id)).created, (await finished(id)).refused], [2, 0]);
  const rows = await answersOf(id);
  assert.deepEqual(
    rows.map(({ answers, completed_at }) => [answers['name'], completed_at]),
    [
      ['Grace', '2026-02-01T12:30:00.000Z'],
      ['Ada', '2026-01-31T10:00:00.000Z'],
    ],
  );
  const found = await until('the search to know it', async () => {
    const { body } = await tenant.call('GET', `/submissions/search?q=Curiosity&form_id=${id}`);
    return body.data.length === 1 && body;
  });
  assert.ok(found);

  await tenant.call('POST', `/forms/${id}/submissions/imports`, {
    ...sent,
    text: `${file}\r\nBea,1,,,,,,,,,`,
  });
  const again = await until('the second import', async () => {
    const last = await finished(id);
    return last.total === 3 && last;
  });
  assert.deepEqual(
    [again.created, again.refused, again.problems[0]!.message],
    [1, 2, 'This line was already imported.'],
  );
  assert.equal((await answersOf(id)).length, 3);
});

test('a workbook is read like a CSV file, with its numbers and dates', async () => {
  const { id } = await makeForm(tenant, elements);
  const rows = [
    ['Full name', 'Age', 'Born'],
    ['Ada', 36, new Date('1815-12-10T00:00:00Z')],
  ];
  const chunks = await Array.fromAsync(
    writeXlsxStream(
      (async function* () {
        yield* rows;
      })(),
      { name: 'Answers' },
    ) as AsyncIterable<Uint8Array>,
  );
  const sent = { kind: 'xlsx', data: Buffer.concat(chunks).toString('base64') };
  const preview = await tenant.call('POST', `/forms/${id}/submissions/imports/preview`, sent);
  const { entries, problems } = preview.body as unknown as Static<typeof ImportPreview>;
  assert.deepEqual([problems, entries[0]?.answers], [[], { name: 'Ada', age: 36, born: '1815-12-10' }]);
});

test('a unique answer is also unique within an import, and the other lines are imported', async () => {
  const { id } = await makeForm(tenant, [element('email', 'mail', { unique: true })]);
  const text = 'mail\na@example.org\nb@example.org\nA@example.org\nc@example.org\n';
  await tenant.call('POST', `/forms/${id}/submissions/imports`, { kind: 'csv', text });
  const { created, refused, problems } = await finished(id);
  assert.deepEqual([created, refused, problems.map(({ line }) => line)], [3, 1, [4]]);
});

test('the result of an import includes the lines left out at its start', async () => {
  const { id } = await makeForm(tenant, elements);
  const text = 'Full name,Age\nAda,36\nBea,-1\n,5\nCid,9007199254740993\n';
  const started = await tenant.call('POST', `/forms/${id}/submissions/imports`, { kind: 'csv', text });
  const { total, problem_count } = started.body as unknown as Static<typeof ImportStarted>;
  assert.deepEqual([started.status, total, problem_count], [202, 1, 3]);
  const ended = await finished(id);
  assert.deepEqual([ended.total, ended.created, ended.refused], [4, 1, 3]);
  assert.deepEqual(
    ended.problems.map(({ line, message }) => [line, message.split(' ')[0]]),
    [
      [3, 'Age:'],
      [4, 'Full'],
      [5, 'Age:'],
    ],
  );
});

test('a submission has the consent and both times of its file', async () => {
  const { id } = await makeForm(tenant, [
    element('text', 'name', { label: 'Name' }),
    element('consent', 'terms', { label: 'Terms', statement: 'Yes.' }),
  ]);
  const text =
    'Name,Terms,Start time,Completion time\nAda,yes,2026-01-31 09:00 GMT+1,2026-01-31 10:00:33 GMT+1\n';
  await tenant.call('POST', `/forms/${id}/submissions/imports`, { kind: 'csv', text });
  assert.equal((await finished(id)).created, 1);
  const [row] = await answersOf(id);
  assert.deepEqual(
    [row!['created_at'], row!['completed_at'], row!.answers['terms']],
    [
      '2026-01-31T08:00:00.000Z',
      '2026-01-31T09:00:33.000Z',
      { agreed: true, text: 'Yes.', version: 1, at: '2026-01-31T09:00:33.000Z' },
    ],
  );
});

test('a doubt is shown in the preview, and setting the date order settles it', async () => {
  const { id } = await makeForm(tenant, elements);
  const look = async (more: object) => {
    const sent = { kind: 'csv', text: 'Full name,Born\nAda,03/04/2000\n', ...more };
    const { body } = await tenant.call('POST', `/forms/${id}/submissions/imports/preview`, sent);
    const { doubts, dates, entries } = body as unknown as Static<typeof ImportPreview>;
    return [
      doubts.map(({ line, column }) => [line, column]),
      dates,
      (entries[0]!.answers as Record<string, unknown>)['born'],
    ];
  };
  assert.deepEqual(await look({}), [[[2, 'Born']], 'mdy', '2000-03-04']);
  assert.deepEqual(await look({ dates: 'dmy' }), [[], 'dmy', '2000-04-03']);
});

test('an unpublished form, another workspace, and a request with both kinds of file are rejected', async () => {
  const { body: draft } = await tenant.call('POST', '/forms', { structure: structure(element('text', 'a')) });
  const sent = { kind: 'csv', text: 'a\n1\n' };
  assert.equal((await tenant.call('POST', `/forms/${draft.id}/submissions/imports`, sent)).status, 409);
  const other = await service.makeTenant();
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  assert.equal((await other.call('POST', `/forms/${id}/submissions/imports/preview`, sent)).status, 404);
  assert.equal(
    (await tenant.call('POST', `/forms/${id}/submissions/imports`, { ...sent, data: 'eA==' })).status,
    422,
  );
});
