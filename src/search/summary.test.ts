import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt } from '#kit/clock.ts';
import type { Summary } from '#submissions/shapes.ts';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { insertMany } from '#test/submissions/scene.ts';
import { change, elements, makeForm, person, service, submit, tenant } from '#test/submissions.ts';
import { sampleSizes } from './summary-endpoints.ts';

test('the summary counts days in the requested time zone, completion, and the answers to each question', async () => {
  const form = await makeForm([...elements, element('text', 'wish')]);
  await submit(form, {
    name: 'Ada',
    wish: 'soon',
    colour: 'Red',
    age: 1,
    guests: [{ guest: 'Tom' }, { guest: 'Ann' }],
  });
  await submit(form, { name: 'Ben', wish: 'Soon', colour: 'Red', age: 3 });
  const last = await submit(form, { name: 'Cleo', wish: 'Never' });
  await change(last, { status: 'incomplete' });
  // Moves the submission to another day, which its ID contains.
  await service.services.database.query(
    `with gone as (delete from submissions where id = $1 returning *)
     insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at)
     select workspace_id, $2, form_id, version, status, answers, reference, has_files, $3::timestamptz, $3::timestamptz from gone`,
    [last, leastIdAt(new Date('2026-01-01T23:30:00Z')), '2026-01-01T23:30:00Z'],
  );

  const { body } = await person.api<Summary>('GET', `/forms/${form}/summary?time_zone=Europe/Berlin`);
  assert.deepEqual([body.completed, body.incomplete, body.completion_rate, body.sampled], [2, 1, 2 / 3, 3]);
  assert.deepEqual(body.days[0], { day: '2026-01-02', completed: 0, incomplete: 1 });
  const of = (id: string) => body.elements.find((item) => item.id === id)!;
  assert.deepEqual(of('colour').bars, [
    { label: 'Red', count: 2 },
    { label: 'Green', count: 0 },
    { label: 'Blue', count: 0 },
  ]);
  assert.deepEqual(
    [of('age').numbers, of('age').bars],
    [
      { min: 1, max: 3, mean: 2 },
      [
        { label: '1', count: 1, from: 1, to: 1 },
        { label: '2', count: 0 },
        { label: '3', count: 1, from: 3, to: 3 },
      ],
    ],
  );
  // Names identify people, so they are only counted. Answers that several people gave also have bars.
  assert.deepEqual([of('name').chart, of('name').answered, of('name').texts], ['count', 3, []]);
  assert.deepEqual(
    of('wish').texts.map(({ text }) => text),
    ['Soon', 'soon', 'Never'],
  );
  assert.deepEqual(of('wish').bars, [{ label: 'Soon', count: 2 }]);
  assert.deepEqual([of('guests').answered, of('guest').answered, of('guest').group], [1, 2, 'Guests']);
  const zone = await person.api('GET', `/forms/${form}/summary?time_zone=Nowhere/City`);
  assert.equal(zone.status, 400);
});

test('a large summary counts all submissions, and charts the newest answers, or all on request', async () => {
  const [newest, older] = [sampleSizes.newest, 5];
  const form = await makeForm([element('radio', 'size', { label: 'Size' })]);
  const old = element('radio', 'old', { label: 'Old' });
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('radio', 'size', { label: 'Size' }), old),
  });
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('radio', 'size', { label: 'Size' })),
  });
  const many = { workspaceId: tenant.workspaceId, formId: form };
  const since = new Date('2026-01-01T10:00:00Z');
  const { database } = service.services;
  await insertMany(database, { ...many, version: 2, answers: { old: 'Red' }, since, count: older });
  const later = new Date('2026-01-02T10:00:00Z');
  await insertMany(database, { ...many, version: 3, answers: { size: 'Red' }, since: later, count: newest });
  const summaryOf = async (more: string) =>
    (await person.api<Summary>('GET', `/forms/${form}/summary?time_zone=UTC${more}`)).body;
  const pick = ({ incomplete, sampled, days, elements: found }: Summary) => ({
    incomplete,
    sampled,
    days: days.map((day) => day.incomplete),
    answered: found.map(({ id, answered }) => [id, answered]),
  });
  const all = newest + older;
  assert.deepEqual(pick(await summaryOf('')), {
    incomplete: all,
    sampled: newest,
    days: [older, newest],
    answered: [['size', newest]],
  });
  assert.deepEqual(pick(await summaryOf('&sample=all')), {
    incomplete: all,
    sampled: all,
    days: [older, newest],
    answered: [
      ['size', newest],
      ['old', older],
    ],
  });
});

test('an option with a capacity shows its capacity and the remaining number', async () => {
  const options = [{ id: 'w', label: 'Weaving', capacity: 3 }, 'None'];
  const form = await makeForm([element('radio', 'course', { options })]);
  await submit(form, { course: 'w' });
  const { body } = await person.api<Summary>('GET', `/forms/${form}/summary`);
  assert.deepEqual(body.elements[0]?.bars, [
    { label: 'Weaving', option: 'w', count: 1, places: { capacity: 3, left: 2 } },
    { label: 'None', count: 0 },
  ]);
});

const queryOf = (query: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString();
const ask = (form: string, query: Record<string, unknown>) =>
  person.api<Summary>('GET', `/forms/${form}/summary?${queryOf(query)}`);

test('a summary takes the filters of the list, and counts what the list returns', async () => {
  const form = await makeForm([...elements, element('text', 'wish')]);
  await submit(form, { name: 'Ada', colour: 'Red', age: 30 }, '?campaign=spring');
  const late = await submit(form, { name: 'Ben', colour: 'Blue', age: 40 });
  const open = await submit(form, { name: 'Cleo', colour: 'Red', age: 50 });
  await change(open, { status: 'incomplete' });
  // Begun today, received later.
  await service.services.database.query(
    `update submissions set completed_at = '2031-05-06T23:30:00Z' where id = $1`,
    [late],
  );
  const red = { element: 'colour', is: 'equals', value: 'Red' };
  const spring = { reference: 'campaign', is: 'equals', value: 'spring' };
  const ages = {
    '{}': [30, 40, 50],
    '{"status":"completed"}': [30, 40],
    '{"status":"incomplete"}': [50],
    [JSON.stringify({ where: red })]: [30, 50],
    [JSON.stringify({ where: red, status: 'completed' })]: [30],
    [JSON.stringify({ where: { any: [spring, { not: red }] } })]: [30, 40],
    '{"received_from":"2031-01-01T00:00:00Z"}': [40],
    '{"received_to":"2031-01-01T00:00:00Z","status":"completed"}': [30],
    '{"created_from":"2031-01-01T00:00:00Z"}': [],
    '{"version":1}': [30, 40, 50],
    '{"version":2}': [],
    '{"tag":"none"}': [],
    '{"counted":{"element":"colour","by":"option","value":"Blue"}}': [40],
  };
  for (const [query, expected] of Object.entries(ages)) {
    const parameters = JSON.parse(query) as Record<string, unknown>;
    const { status, body } = await ask(form, { ...parameters, time_zone: 'Europe/Berlin' });
    assert.equal(status, 200, `${query}: ${JSON.stringify(body)}`);
    const { numbers, answered } = body.elements.find(({ id }) => id === 'age')!;
    const mean = expected.reduce((sum, age) => sum + age, 0) / expected.length;
    assert.deepEqual(
      [body.completed + body.incomplete, body.sampled, answered, numbers?.mean ?? 0],
      [expected.length, expected.length, expected.length, mean || 0],
      query,
    );
    const list = await person.api<{ pagination: { total_count: number } }>(
      'GET',
      `/forms/${form}/submissions?${queryOf(parameters)}`,
    );
    assert.equal(list.body.pagination.total_count, expected.length, query);
  }
  const received = await ask(form, { received_from: '2031-01-01T00:00:00Z', time_zone: 'Europe/Berlin' });
  assert.deepEqual(received.body.days, [{ day: '2031-05-07', completed: 1, incomplete: 0 }]);
  for (const query of [
    { where: { element: 'unknown', is: 'answered' } },
    { where: 'x' },
    { status: 'open' },
    { where: red, time_zone: 'Nowhere/City' },
    { received_from: '2031-01-01T00:00:00Z', time_zone: 'Nowhere/City' },
  ])
    assert.equal((await ask(form, query)).status, 400, JSON.stringify(query));
});

test('two groups are compared: every bar, figure and row has the counts of both', async () => {
  const form = await makeForm([
    element('radio', 'plan', { options: ['Free', 'Pro'] }),
    element('multiple_choice', 'uses', { options: ['A', 'B'] }),
    element('scale', 'likely'),
    element('number', 'age'),
    element('matrix', 'pleased', { rows: [{ id: 'r', label: 'Room' }], options: ['Good', 'Bad'] }),
    element('ranking', 'order', { options: ['X', 'Y'] }),
    element('text', 'wish'),
  ]);
  await submit(form, {
    plan: 'Free',
    uses: ['A', 'B'],
    likely: 10,
    age: 3.5,
    pleased: { r: 'Good' },
    order: ['X', 'Y'],
    wish: 'Tea',
  });
  await submit(form, { plan: 'Pro', uses: ['B'], likely: 2, age: 99, pleased: { r: 'Bad' }, wish: 'tea' });
  await submit(form, { plan: 'Pro', likely: 9 });
  await submit(form, { uses: ['A'] }, '?campaign=spring');
  const is = (value: string) => ({ element: 'plan', is: 'equals', value });
  const { status, body } = await ask(form, { compare: [is('Free'), is('Pro')] });
  assert.equal(status, 200, JSON.stringify(body));
  const of = (id: string) => body.elements.find((item) => item.id === id)!;
  const counts = (id: string) => of(id).bars.map(({ label, count, groups }) => [label, count, groups]);
  assert.deepEqual([body.sampled, body.groups], [4, [1, 2]]);
  assert.deepEqual(counts('uses'), [
    ['A', 2, [1, 0]],
    ['B', 2, [1, 1]],
  ]);
  assert.deepEqual(
    of('likely').groups!.map(({ answered, numbers, metric }) => [answered, numbers?.mean, metric]),
    [
      [1, 10, { name: 'nps', value: 100, answers: 1 }],
      [2, 5.5, { name: 'nps', value: 0, answers: 2 }],
    ],
  );
  assert.deepEqual(
    of('age')
      .bars.filter(({ count }) => count > 0)
      .map(({ groups }) => groups),
    [
      [1, 0],
      [0, 1],
    ],
  );
  assert.deepEqual(of('pleased').rows![0]!.groups, [1, 1]);
  assert.deepEqual(
    of('pleased').rows![0]!.bars.map(({ groups }) => groups),
    [
      [1, 0],
      [0, 1],
    ],
  );
  assert.deepEqual(counts('order'), [
    ['X', 1, [1, 0]],
    ['Y', 0, [0, 0]],
  ]);
  assert.deepEqual(counts('wish'), [['tea', 2, [1, 1]]]);

  // A reference value and an answer; a filter applies to both groups, and a group can be empty.
  const mixed = [{ reference: 'campaign', is: 'answered' }, is('Pro')];
  const filtered = await ask(form, { compare: mixed, where: { element: 'uses', is: 'answered' } });
  assert.deepEqual([filtered.body.sampled, filtered.body.groups], [3, [1, 1]]);
  const none = await ask(form, { compare: mixed, status: 'incomplete' });
  assert.deepEqual([none.body.groups, none.body.elements[0]!.groups![0].answered], [[0, 0], 0]);
  for (const compare of ['x', '{}', [is('Free')], [is('Free'), { element: 'unknown', is: 'answered' }]]) {
    const refused = await person.api<{ errors: { field: string }[] }>(
      'GET',
      `/forms/${form}/summary?${queryOf({ compare })}`,
    );
    assert.deepEqual([refused.status, refused.body.errors[0]!.field], [400, 'compare']);
  }
});

test('of many submissions, the summary of all charts a random sample, and counts all of them', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([element('radio', 'size', { label: 'Size' })]);
  const many = { workspaceId: tenant.workspaceId, formId: form, version: 1, count: sampleSizes.all };
  for (const [day, size] of ['Red', 'Green'].entries()) {
    const since = new Date(`2026-03-0${day + 1}T10:00:00Z`);
    await insertMany(service.services.database, { ...many, since, answers: { size } });
  }
  const { body } = await ask(form, { sample: 'all' });
  assert.equal(body.incomplete, 2 * sampleSizes.all);
  const isNear = (count: number, expected: number): boolean => Math.abs(count / expected - 1) < 0.02;
  assert.ok(isNear(body.sampled, sampleSizes.all), `${body.sampled} are in the sample`);
  const counts = body.elements[0]!.bars.map(({ count }) => count);
  assert.ok(isNear(counts[0]!, body.sampled / 2), `the sample is even: ${counts.join(', ')}`);
  const filtered = await ask(form, { sample: 'all', where: { element: 'size', is: 'equals', value: 'Red' } });
  assert.deepEqual([filtered.body.incomplete, filtered.body.sampled], [sampleSizes.all, sampleSizes.all]);
});
