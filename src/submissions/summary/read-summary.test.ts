import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { insertMany } from '#test/submissions/scene.ts';
import { change, elements, makeForm, person, service, submit, tenant } from '#test/submissions.ts';
import type { Summary } from '../shapes.ts';
import { sampleSizes } from './endpoints.ts';

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
  const said = ({ incomplete, sampled, days, elements: found }: Summary) => ({
    incomplete,
    sampled,
    days: days.map((day) => day.incomplete),
    answered: found.map(({ id, answered }) => [id, answered]),
  });
  const all = newest + older;
  assert.deepEqual(said(await summaryOf('')), {
    incomplete: all,
    sampled: newest,
    days: [older, newest],
    answered: [['size', newest]],
  });
  assert.deepEqual(said(await summaryOf('&sample=all')), {
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
