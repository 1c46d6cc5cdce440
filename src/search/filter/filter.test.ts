import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Answers } from '#ast/answers/check-answers.ts';
import type { ComparisonOperator, Condition, ConditionValue } from '#ast/basics/condition.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { operatorsForType } from '#ast/logic/check-condition.ts';
import { todayIn } from '#ast/rules/today.ts';
import { now, timeOfId } from '#kit/clock.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { readAll } from '#test/read-all.ts';
import { shareService } from '#test/service.ts';
import { insertMany } from '#test/submissions/scene.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { snapshotOf } from '#webhooks/event.ts';
import { meetsFilter } from '#webhooks/record-event.ts';
import { createKey } from '#workspaces/keys.ts';

/* Which submissions of a form are listed, by conditions of the form language and by other filters. */
const service = await shareService();
const tenant = await service.makeTenant({ rateLimit: 1_000_000 });
const visitor = openVisitor(service);
const { database } = service.services;

const today = todayIn('UTC', now());
const elements = [
  element('text', 'name'),
  element('textarea', 'story'),
  element('number', 'age'),
  element('date', 'day'),
  element('datetime', 'moment'),
  element('time', 'hour'),
  element('radio', 'colour', { options: ['Red', 'Blue', 'red'] }),
  element('multiple_choice', 'likes', { options: ['Tea', 'Milk', "O'Neil; drop"] }),
  element('yes_no', 'news'),
  composite('guests', [element('text', 'guest')], { repeatable: true }),
];
const form = await makeForm(tenant, elements);
const people: readonly [answers: Answers, query: string][] = [
  [
    {
      name: 'Ada LOVELACE',
      age: 36,
      day: '2026-01-31',
      hour: '09:30',
      colour: 'Red',
      likes: ['Tea', 'Milk'],
      news: true,
      story: 'First line\nand a second: (a+b)* "quoted" \\ back',
    },
    '?campaign=Spring&seats=12',
  ],
  [
    {
      name: 'Ben',
      age: -3.5,
      day: '2025-12-31',
      moment: '2026-01-31T23:59',
      colour: 'Blue',
      likes: ['Milk'],
      news: false,
    },
    '?campaign=autumn&seats=3',
  ],
  [
    {
      name: 'Cleo 100% ÉCOLE',
      age: 1e21,
      moment: `${today}T12:00`,
      day: today,
      colour: 'red',
      likes: ["O'Neil; drop"],
      guests: [{ guest: 'Tom' }],
    },
    '?campaign=autumn&seats=many',
  ],
  [{ story: '$.name == "x" || true', hour: '23:00', age: 0 }, ''],
];
for (const [answers, query] of people)
  assert.equal((await visitor.submit(form.id, answers, query)).status, 201);
const path = `/forms/${form.id}/submissions`;
const everybody = (await tenant.call('GET', path)).body.data;

const find = (where: unknown, more = '') =>
  tenant.call('GET', `${path}?where=${encodeURIComponent(JSON.stringify(where))}${more}`);

/** Returns the submissions for which the condition passes as a webhook filter. */
const meeting = (where: Condition): string[] =>
  everybody
    .filter(({ id, answers, metadata }) => {
      const fields = metadata.fields as Record<string, FieldDescription>;
      const snapshot = snapshotOf({
        form: { id: form.id, name: 'Form', workspaceId: tenant.workspaceId },
        submission: {
          id,
          submittedAt: null,
          status: 'completed',
          reference: metadata.reference,
          answers: answers as Answers,
        },
        fields,
      });
      return meetsFilter(where, { snapshot, fields }, { today, work: createWorkBudget(), given: new Map() });
    })
    .map(({ id }) => id);

/** Values that match some of the submissions, in all spellings of texts and numbers. */
const compared: Readonly<Record<string, readonly ConditionValue[]>> = {
  name: [' ada lovelace ', 'BEN', 'lovel', '100%', 'école', '.', '^'],
  story: ['(A+B)* "quoted" \\', 'line\nand', '$.name == "x" || true', '|'],
  age: [36, -3.5, 1e21, 0],
  day: ['2026-01-31', '2025-12-31', 'today', 'today-1'],
  moment: ['2026-01-31T23:59', '2026-02-01T00:00', 'today', 'today+1'],
  hour: ['09:30', '23:00'],
  colour: ['Red', 'red', 'Blue'],
  likes: ['Milk', "O'Neil; drop"],
  news: [true, false],
  guests: [],
};
const types = Object.fromEntries(elements.map((node) => [node.attrs!['id'] as string, node.type]));

const comparison = (subject: object, is: ComparisonOperator, value?: ConditionValue): Condition =>
  (is === 'answered' || is === 'not_answered'
    ? { ...subject, is }
    : { ...subject, is, value: is === 'one_of' ? [value] : value }) as Condition;
const answerComparisons = Object.entries(compared).flatMap(([id, values]) =>
  operatorsForType(types[id] as Parameters<typeof operatorsForType>[0]).flatMap((is) =>
    (is.endsWith('answered') ? [undefined] : values).map((value) => comparison({ element: id }, is, value)),
  ),
);
const referenceComparisons = (['campaign', 'seats', 'absent'] as const).flatMap((reference) => [
  ...(['equals', 'not_equals', 'contains', 'not_contains', 'one_of'] as const).flatMap((is) =>
    ['spring', 'AUT', 'many', 12, '1'].map((value) => comparison({ reference }, is, value)),
  ),
  ...(['greater_than', 'at_least', 'less_than', 'at_most'] as const).map((is) =>
    comparison({ reference }, is, 3),
  ),
  comparison({ reference }, 'answered'),
  comparison({ reference }, 'not_answered'),
]);
const comparisons = [...answerComparisons, ...referenceComparisons];

const same = async (where: Condition): Promise<void> => {
  const { status, body } = await find(where);
  assert.equal(status, 200, `${JSON.stringify(where)} ${JSON.stringify(body)}`);
  assert.deepEqual(
    [body.data.map(({ id }) => id), body.pagination.total_count],
    [meeting(where), meeting(where).length],
    JSON.stringify(where),
  );
};

test('every comparison finds the submissions that it passes as a webhook filter', async () => {
  const found = new Set<number>();
  for (const where of comparisons) {
    found.add(meeting(where).length);
    await same(where);
  }
  assert.deepEqual([...found].sort(), [0, 1, 2, 3, 4], 'the comparisons tell people apart');
});

test('combined conditions find the submissions that they pass as webhook filters', async () => {
  const { tree } = fc.letrec<{ tree: Condition }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(...comparisons),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie('tree').map((not) => ({ not })),
    ),
  }));
  await fc.assert(fc.asyncProperty(tree, same), { numRuns: cases(60) });
});

test('a question of an older version is filtered by its old definition, one with a new type by the new definition', async () => {
  const changed = await makeForm(tenant, [
    element('text', 'a'),
    element('radio', 'b', { options: ['Old', 'Kept'] }),
  ]);
  const at = `/forms/${changed.id}`;
  await visitor.submit(changed.id, { a: '5', b: 'Old' });
  const later = structure(element('number', 'a'), element('radio', 'c', { options: ['Kept'] }));
  assert.equal((await tenant.call('PUT', at, { structure: later })).status, 200);
  await visitor.submit(changed.id, { a: 7 });
  const count = async (where: object, more = ''): Promise<unknown> => {
    const query = `where=${encodeURIComponent(JSON.stringify(where))}${more}`;
    const { status, body } = await tenant.call('GET', `${at}/submissions?${query}`);
    return status === 200 ? body.pagination.total_count : body.message;
  };
  assert.equal(await count({ element: 'b', is: 'equals', value: 'Old' }), 1);
  assert.equal(await count({ element: 'a', is: 'at_least', value: 1 }), 1);
  assert.equal(await count({ element: 'a', is: 'contains', value: '5' }), 1);
  assert.equal(await count({ element: 'a', is: 'answered' }, '&version=1'), 1);
  assert.equal(await count({ element: 'a', is: 'answered' }, '&version=3'), 0);
  assert.match(String(await count({ element: 'd', is: 'answered' })), /not an element of the form/);
});

const misunderstood: Readonly<Record<string, string>> = {
  'no JSON': '{',
  'a list': '[]',
  'an unknown operator': '{"element":"age","is":"like","value":1}',
  'an operator that does not fit': '{"element":"news","is":"at_least","value":1}',
  'a comparison of two questions': '{"element":"name","is":"equals","other":"story"}',
  'after on a reference value': '{"reference":"campaign","is":"after","value":"2026-01-01"}',
  'an unknown field': '{"element":"age","is":"answered","x":1}',
  'an unknown element': '{"element":"toString","is":"answered"}',
  'an element of a row': '{"element":"guest","is":"answered"}',
  'a day that is none': '{"element":"day","is":"at_least","value":"\\") || (1 == 1"}',
  'an order of texts': '{"reference":"campaign","is":"at_least","value":"a"}',
  'a NUL': '{"element":"name","is":"equals","value":"\\u0000"}',
  'half a surrogate pair': '{"element":"name","is":"equals","value":"\\ud800"}',
  'six deep': `${'{"not":'.repeat(6)}{"element":"age","is":"answered"}${'}'.repeat(6)}`,
};
for (const [what, where] of Object.entries(misunderstood)) {
  test(`a condition that is ${what} returns 400 and is never ignored`, async () => {
    // In the list of the workspace, the guest condition is valid outside rows.
    for (const list of where.includes('guest') ? [path] : [path, '/submissions']) {
      const { status, body } = await tenant.call('GET', `${list}?where=${encodeURIComponent(where)}`);
      assert.deepEqual([status, body.error, body.errors[0]!.field], [400, 'bad_request', 'where'], list);
    }
  });
}

test('a condition over more submissions than one request may read is rejected with a remedy', async () => {
  const large = await makeForm(tenant, [element('number', 'a')]);
  // The maximum number of comparisons, so that fewer submissions reach the limit.
  const any = Array.from({ length: 100 }, (_, value) => ({ element: 'a', is: 'equals', value }));
  const since = new Date(Date.now() - 120_000);
  await insertMany(database, {
    workspaceId: tenant.workspaceId,
    formId: large.id,
    version: 1,
    answers: { a: 1 },
    since,
    count: 29_412,
  });
  const list = (more: string) =>
    tenant.call(
      'GET',
      `/forms/${large.id}/submissions?where=${encodeURIComponent(JSON.stringify({ any }))}${more}`,
    );
  const refused = await list('');
  assert.deepEqual([refused.status, refused.body.errors[0]!.field], [400, 'where']);
  assert.match(
    refused.body.message,
    /more than 29411 submissions\. Narrow the list with created_from and created_to\./,
  );
  const ofAll = await tenant.call('GET', `/submissions?where=${encodeURIComponent(JSON.stringify({ any }))}`);
  assert.deepEqual([ofAll.status, ofAll.body.message], [400, refused.body.message]);
  const narrowed = await list(`&created_to=${new Date(since.getTime() + 100).toISOString()}`);
  assert.deepEqual([narrowed.status, narrowed.body.pagination.total_count], [200, 100]);
});

test('a condition over forms with more versions than one request may read is rejected with a remedy', async () => {
  const own = await service.makeTenant();
  const { id } = await makeForm(own, [element('number', 'a')]);
  await database.query(
    `insert into form_versions (workspace_id, form_id, version, name, structure, fields, created_at)
     select workspace_id, form_id, version + step, name, '{}', '{}', created_at
     from form_versions, generate_series(1, 20_000) as step where form_id = $1`,
    [id],
  );
  const where = encodeURIComponent(JSON.stringify({ element: 'a', is: 'answered' }));
  const refused = await own.call('GET', `/submissions?where=${where}`);
  assert.deepEqual([refused.status, refused.body.errors[0]!.field], [400, 'where']);
  assert.match(refused.body.message, /more than 20000 versions together\. Filter one form at a time\./);
});

test('status, times, version, tag and condition are combined, in both orders, by page and by cursor', async () => {
  const own = await makeForm(tenant, [element('number', 'a')]);
  const at = `/forms/${own.id}/submissions`;
  const ids: string[] = [];
  for (let a = 0; a < 6; a += 1) ids.push((await visitor.submit(own.id, { a })).body.id);
  const [first, second, third, fourth, fifth, sixth] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  await database.query(`update submissions set tags = array['vip', 'Berlin'] where id = any ($1)`, [
    [second, fourth, fifth],
  ]);
  await database.query(
    `update submissions set status = 'incomplete', completed_at = null where id = any ($1)`,
    [[fifth]],
  );
  await database.query(`update submissions set completed_at = '2020-05-05T12:00:00Z' where id = $1`, [first]);
  const moment = (id: string): string => timeOfId(id).toISOString();
  const even = encodeURIComponent(JSON.stringify({ element: 'a', is: 'one_of', value: [0, 2, 4] }));
  const scenarios: Readonly<Record<string, readonly string[]>> = {
    'tag=vip': [fifth, fourth, second],
    'tag=Vip': [],
    'tag=vip&status=completed': [fourth, second],
    [`tag=Berlin&where=${even}`]: [fifth],
    [`where=${even}`]: [fifth, third, first],
    [`where=${even}&status=completed`]: [third, first],
    'completed_to=2020-06-01T00:00:00%2B02:00': [first],
    'completed_from=2020-06-01T00:00:00Z': [sixth, fourth, third, second],
    'completed_from=2020-05-05T12:00:00Z&completed_to=2020-05-05T12:00:00Z': [],
    [`created_from=${moment(third)}`]: ids.filter((id) => timeOfId(id) >= timeOfId(third)).toReversed(),
    [`created_to=${moment(third)}&status=completed`]: ids
      .filter((id) => timeOfId(id) < timeOfId(third))
      .toReversed(),
    [`created_from=${moment(sixth)}&created_to=${moment(first)}`]: [],
    'version=1&status=incomplete': [fifth],
    'version=2': [],
  };
  for (const [query, newest] of Object.entries(scenarios)) {
    for (const sort of ['newest', 'oldest']) {
      const expected = sort === 'newest' ? newest : newest.toReversed();
      const { body } = await tenant.call('GET', `${at}?${query}&sort=${sort}`);
      assert.deepEqual(
        body.data.map(({ id }) => id),
        expected,
        `${query} ${sort}`,
      );
      assert.equal(body.pagination.total_count, expected.length, query);
      const second = await tenant.call('GET', `${at}?${query}&sort=${sort}&per_page=1&page=2`);
      assert.deepEqual(
        second.body.data.map(({ id }) => id),
        expected.slice(1, 2),
        query,
      );
      const { ids: read } = await readAll(tenant, `${at}?${query}&sort=${sort}&per_page=2`);
      assert.deepEqual(read, expected, `${query} ${sort} by cursor`);
    }
  }
});

test("the list of the workspace has all submissions within the key's scope, with the same filters and cursors", async () => {
  const own = await service.makeTenant();
  const [one, two, gone] = [
    await makeForm(own, [element('text', 'a')]),
    await makeForm(own, [element('text', 'a')]),
    await makeForm(own, [element('text', 'a')]),
  ];
  const ids: string[] = [];
  for (const { id } of [one, two, gone, one, two, one])
    ids.unshift((await visitor.submit(id, { a: 'x' })).body.id);
  const [newest, , , , , oldest] = ids;
  await own.call('DELETE', `/forms/${gone.id}`);
  const left = ids.filter((_, index) => index !== 3);
  const first = (await own.call('GET', '/submissions?per_page=2')).body;
  assert.deepEqual(
    [first.data.map(({ id }) => id), first.pagination],
    [left.slice(0, 2), { page: 1, per_page: 2, total_count: 5, total_pages: 3 }],
  );
  assert.deepEqual(first.data[0], (await own.call('GET', `/submissions/${newest}`)).body);
  assert.deepEqual((await readAll(own, '/submissions?per_page=2')).ids, left);
  assert.deepEqual((await readAll(own, '/submissions?per_page=2&sort=oldest')).ids, left.toReversed());
  const until = timeOfId(newest!).toISOString();
  const before = (await own.call('GET', `/submissions?created_to=${until}&status=completed`)).body;
  assert.equal(before.pagination.total_count, left.filter((id) => timeOfId(id) < timeOfId(newest!)).length);

  const { key } = await createKey(database, {
    workspaceId: own.workspaceId,
    name: 'one form',
    formIds: [two.id],
  });
  const reached = await own.call('GET', '/submissions', undefined, { Authorization: `Bearer ${key}` });
  assert.deepEqual(
    [reached.body.data.map(({ form_id }) => form_id), reached.body.pagination.total_count],
    [[two.id, two.id], 2],
  );
  assert.ok(!reached.body.data.some(({ id }) => id === oldest));
});

test('a condition over all forms follows the element type of each form; forms where it does not apply count as unanswered', async () => {
  const own = await service.makeTenant();
  const numbers = await makeForm(own, [element('number', 'a'), element('text', 'name')]);
  const texts = await makeForm(own, [element('text', 'a'), element('text', 'name')]);
  const without = await makeForm(own, [
    element('text', 'b'),
    composite('rows', [element('text', 'name')], { repeatable: true }),
  ]);
  const names = new Map<string, string>();
  const submit = async (
    name: string,
    { id }: { id: string },
    answers: Answers,
    query = '',
  ): Promise<void> => {
    names.set((await visitor.submit(id, answers, query)).body.id, name);
  };
  await submit('five', numbers, { a: 5, name: 'Ada' });
  await submit('"36"', texts, { a: '36' });
  await submit('none', without, { b: 'x', rows: [{ name: 'Ada' }] }, '?campaign=spring');
  await submit('36', numbers, { a: 36 }, '?campaign=spring');
  await submit('"x"', texts, { a: 'x', name: 'ada' });
  const later = structure(element('text', 'name'));
  assert.equal((await own.call('PUT', `/forms/${texts.id}`, { structure: later })).status, 200);
  const is = (operator: ComparisonOperator, value?: ConditionValue) =>
    comparison({ element: 'a' }, operator, value);
  const ada = comparison({ element: 'name' }, 'equals', 'Ada');
  const spring = comparison({ reference: 'campaign' }, 'equals', 'spring');
  const scenarios: readonly [where: Condition, found: readonly string[]][] = [
    [is('at_least', 18), ['36']],
    [is('equals', 36), ['36']],
    [is('equals', '36'), ['"36"']],
    [is('contains', 'X'), ['"x"']],
    [is('answered'), ['five', '"36"', '36', '"x"']],
    [is('not_answered'), ['none']],
    [is('not_equals', 36), ['five', '"36"', 'none', '"x"']],
    [{ not: is('at_least', 18) }, ['five', '"36"', 'none', '"x"']],
    [{ any: [is('equals', 5), is('equals', 'x')] }, ['five', '"x"']],
    [{ all: [is('equals', 5), is('equals', 'x')] }, []],
    [ada, ['five', '"x"']],
    [{ all: [ada, is('at_most', 5)] }, ['five']],
    [spring, ['none', '36']],
    [{ all: [spring, is('not_answered')] }, ['none']],
    [{ any: [spring, is('less_than', 18)] }, ['five', 'none', '36']],
  ];
  for (const [where, found] of scenarios) {
    const at = `/submissions?sort=oldest&where=${encodeURIComponent(JSON.stringify(where))}`;
    const { status, body } = await own.call('GET', at);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [body.data.map(({ id }) => names.get(id)), body.pagination.total_count],
      [found, found.length],
      JSON.stringify(where),
    );
    const { ids } = await readAll(own, `${at}&per_page=1`);
    assert.deepEqual(
      ids.map((id) => names.get(id)),
      found,
      `${JSON.stringify(where)} by cursor`,
    );
    const newest = await own.call('GET', `${at.replace('oldest', 'newest')}&status=completed`);
    assert.deepEqual(
      newest.body.data.map(({ id }) => names.get(id)),
      found.toReversed(),
    );
  }

  const { key } = await createKey(database, {
    workspaceId: own.workspaceId,
    name: 'one form',
    formIds: [texts.id],
  });
  const reached = (where: Condition) =>
    own.call('GET', `/submissions?where=${encodeURIComponent(JSON.stringify(where))}`, undefined, {
      Authorization: `Bearer ${key}`,
    });
  assert.deepEqual(
    (await reached(is('not_equals', 'x'))).body.data.map(({ id }) => names.get(id)),
    ['"36"'],
  );
  const refused = await reached(is('at_least', 18));
  assert.deepEqual([refused.status, refused.body.errors[0]!.field], [400, 'where']);
  assert.match(
    (await reached(comparison({ element: 'b' }, 'answered'))).body.message,
    /not an element of any accessible form/,
  );
});

test('a filtered list of a missing form returns 404, also with a condition', async () => {
  const { workspaceId: _, ...other } = await service.makeTenant();
  const where = encodeURIComponent(JSON.stringify({ element: 'age', is: 'answered' }));
  for (const query of ['tag=a', 'sort=oldest', 'cursor=*', `where=${where}`])
    assert.equal((await other.call('GET', `${path}?${query}`)).status, 404, query);
});
