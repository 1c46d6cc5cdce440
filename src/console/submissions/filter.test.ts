import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#ast/testing.ts';
import type { Condition } from '#submissions/filter/conditions.ts';
import { until } from '#test/service.ts';
import type { Removal, SubmissionDetail } from './shapes.ts';
import { list, makeForm, namesOf, pathOf, person, submit, tenant } from './testing.ts';

/* Filters on answers by the type of their question. */

const form = await makeForm([
  element('text', 'name'),
  element('number', 'age'),
  element('date', 'day'),
  element('datetime', 'moment'),
  element('radio', 'colour', { options: ['Red', 'Blue'] }),
  element('multiple_choice', 'likes', { options: ['Tea', 'Milk', "O'Neil; drop"] }),
  element('yes_no', 'news'),
  composite('guests', [element('text', 'guest')], { repeatable: true }),
]);
const people = [
  { name: 'Ada LOVELACE', age: 36, day: '2026-01-31', colour: 'Red', likes: ['Tea', 'Milk'], news: true },
  {
    name: 'Ben',
    age: -3.5,
    day: '2025-12-31',
    moment: '2026-01-31T23:59',
    colour: 'Blue',
    likes: ['Milk'],
    news: false,
  },
  {
    name: 'Cleo 100%',
    age: 1e21,
    moment: '2026-02-01T00:00',
    likes: ["O'Neil; drop"],
    guests: [{ guest: 'Tom' }],
  },
];
for (const [index, answers] of people.entries())
  await submit(form, answers, `?campaign=${index === 0 ? 'Spring' : 'autumn'}`);

const find = async (where: readonly Condition[], more = ''): Promise<string[]> => {
  const page = await list(form, `?where=${encodeURIComponent(JSON.stringify(where))}${more}`);
  assert.equal(page.pagination.total_count, page.data.length, 'the total is that of the filter');
  return namesOf(page).map((name) => String(name).split(' ')[0]!);
};

const answer = { on: 'answer' } as const;
const scenarios: readonly [what: string, where: Condition, found: readonly string[]][] = [
  [
    'a text contains another, in any case',
    { ...answer, name: 'name', op: 'contains', value: 'lovel' },
    ['Ada'],
  ],
  ['a percent sign is a percent sign', { ...answer, name: 'name', op: 'contains', value: '100%' }, ['Cleo']],
  ['a text equals the whole', { ...answer, name: 'name', op: 'equals', value: 'ben' }, ['Ben']],
  ['a text is not a part', { ...answer, name: 'name', op: 'equals', value: 'cleo' }, []],
  ['numbers between', { ...answer, name: 'age', op: 'number', from: -4, to: 36 }, ['Ben', 'Ada']],
  ['numbers from', { ...answer, name: 'age', op: 'number', from: 36.5 }, ['Cleo']],
  ['numbers up to', { ...answer, name: 'age', op: 'number', to: -3.5 }, ['Ben']],
  ['any number', { ...answer, name: 'age', op: 'number' }, ['Cleo', 'Ben', 'Ada']],
  ['days between', { ...answer, name: 'day', op: 'time', from: '2026-01-01', to: '2026-01-31' }, ['Ada']],
  ['a day includes its last minute', { ...answer, name: 'moment', op: 'time', to: '2026-01-31' }, ['Ben']],
  [
    'any of the options of a choice',
    { ...answer, name: 'colour', op: 'any', values: ['Red', 'Green'] },
    ['Ada'],
  ],
  ['any of several choices', { ...answer, name: 'likes', op: 'any', values: ['Milk'] }, ['Ben', 'Ada']],
  ['all of several choices', { ...answer, name: 'likes', op: 'all', values: ['Milk', 'Tea'] }, ['Ada']],
  [
    'an option that looks like SQL',
    { ...answer, name: 'likes', op: 'any', values: ["O'Neil; drop"] },
    ['Cleo'],
  ],
  ['yes', { ...answer, name: 'news', op: 'equals', value: 'true' }, ['Ada']],
  ['no', { ...answer, name: 'news', op: 'equals', value: 'false' }, ['Ben']],
  ['empty', { ...answer, name: 'news', op: 'empty' }, ['Cleo']],
  ['answered', { ...answer, name: 'guests', op: 'filled' }, ['Cleo']],
  ['a number asked as a text', { ...answer, name: 'name', op: 'number', from: 0 }, []],
  ['an element that no form has', { ...answer, name: 'toString', op: 'filled' }, []],
  ['a reference value', { on: 'reference', name: 'campaign', op: 'equals', value: 'spring' }, ['Ada']],
  [
    'a reference value that is not there',
    { on: 'reference', name: 'x', op: 'empty' },
    ['Cleo', 'Ben', 'Ada'],
  ],
  ['the version', { on: 'version', op: 'equals', value: 1 }, ['Cleo', 'Ben', 'Ada']],
  ['another version', { on: 'version', op: 'equals', value: 2 }, []],
];

for (const [what, where, found] of scenarios) {
  test(`a filter finds by ${what}`, async () => assert.deepEqual(await find([where]), found));
}

test('all filters must hold, with the status and the search too', async () => {
  const milk: Condition = { ...answer, name: 'likes', op: 'any', values: ['Milk'] };
  const grown: Condition = { ...answer, name: 'age', op: 'number', from: 18 };
  assert.deepEqual(await find([milk, grown]), ['Ada']);
  assert.deepEqual(await find([milk], '&status=incomplete'), []);
  assert.deepEqual(await find([milk], '&q=ben'), ['Ben']);
  assert.deepEqual(await find([grown], '&q=ben'), []);
});

const misunderstood: readonly [what: string, where: string][] = [
  ['no JSON', '{'],
  ['no list', '{}'],
  ['an unknown test', '[{"on":"answer","name":"age","op":"like","value":"x"}]'],
  ['an unknown field', '[{"on":"version","op":"equals","value":1,"x":1}]'],
  ['a time that is none', '[{"on":"answer","name":"day","op":"time","from":"\\") || (1 == 1"}]'],
  ['a number that is a text', '[{"on":"answer","name":"age","op":"number","from":"1"}]'],
  ['a NUL', '[{"on":"answer","name":"name","op":"equals","value":"\\u0000"}]'],
  ['half a surrogate pair', '[{"on":"answer","name":"name","op":"equals","value":"\\ud800"}]'],
  [
    'more than twenty',
    JSON.stringify(Array.from({ length: 21 }, () => ({ on: 'version', op: 'equals', value: 1 }))),
  ],
];

for (const [what, where] of misunderstood) {
  test(`a filter that is ${what} is a 400, never ignored`, async () => {
    const { status } = await person.call('GET', pathOf(form, `?where=${encodeURIComponent(where)}`));
    assert.equal(status, 400);
  });
}

test('neighbours, the export and a bulk deletion keep to the filter', async () => {
  const mine = await makeForm();
  for (const [name, age] of [
    ['Ada', 1],
    ['Ben', 2],
    ['Cleo', 1],
  ] as const)
    await submit(mine, { name, age });
  const where = JSON.stringify([{ on: 'answer', name: 'age', op: 'number', to: 1 }]);
  const query = `?where=${encodeURIComponent(where)}`;
  const [cleo, ada] = (await list(mine, query)).data;
  const { body } = await person.call<SubmissionDetail>('GET', pathOf(mine, `/${cleo!.id}${query}`));
  assert.deepEqual([body.previous_id, body.next_id], [null, ada!.id]);

  const file = await person.call<string>('GET', pathOf(mine, `/export${query}&format=csv`));
  assert.deepEqual([file.status, file.body.trim().split('\r\n').length], [200, 3]);

  const removal = await person.call<Removal>('POST', pathOf(mine, '/removals'), {
    view: { where },
    expected: 2,
  });
  assert.deepEqual([removal.status, removal.body.to_trash], [202, true]);
  await until('the removal', async () => {
    const found = await person.call<Removal>('GET', pathOf(mine, `/removals/${removal.body.id}`));
    return found.body.finished_at !== null;
  });
  assert.deepEqual(namesOf(await list(mine)), ['Ben']);
  const left = await tenant.call('GET', `/forms/${mine}/submissions`);
  assert.equal(left.body.pagination.total_count, 1);
});
