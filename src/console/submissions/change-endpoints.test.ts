import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#test/service.ts';
import type { Removal } from './shapes.ts';
import { detail, list, makeForm, namesOf, pathOf, person, submit } from './testing.ts';

test('a change names its problems by field, and a stale one is a 412', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' }, '?utm=mail');
  const { updated_at: seen } = await detail(form, id);
  const wrong = await person.call('PUT', pathOf(form, `/${id}/answers`), { answers: { age: 'x' }, seen });
  assert.deepEqual([wrong.status, wrong.body.errors.map((item) => item.field)], [422, ['name', 'age']]);
  assert.equal(
    (await person.call('PUT', pathOf(form, `/${id}/answers`), { answers: { name: 'Grace' }, seen })).status,
    200,
  );
  assert.equal(
    (await person.call('PUT', pathOf(form, `/${id}/reference`), { reference: {}, seen })).status,
    412,
  );
  const { updated_at } = await detail(form, id);
  assert.equal(
    (
      await person.call('PUT', pathOf(form, `/${id}/reference`), {
        reference: { utm: 'web' },
        seen: updated_at,
      })
    ).status,
    204,
  );
  const after = await detail(form, id);
  assert.deepEqual([after.answers, after.reference], [{ name: 'Grace' }, { utm: 'web' }]);
});

test('all of a filter are removed when the typed number is theirs; what is not of the filter stays', async () => {
  const form = await makeForm();
  for (const name of ['Spam one', 'Spam two', 'Good']) await submit(form, { name });
  const start = (expected: number) =>
    person.call<Removal & { message: string }>('POST', pathOf(form, '/removals'), {
      view: { q: 'spam' },
      expected,
    });
  const wrong = await start(3);
  assert.deepEqual(
    [wrong.status, wrong.body.message],
    [409, 'You confirmed 3, but now there are 2. Nothing was deleted.'],
  );
  const { status, body } = await start(2);
  assert.deepEqual([status, body.total], [202, 2]);
  await until(
    'the removal',
    async () =>
      (await person.call<Removal>('GET', pathOf(form, `/removals/${body.id}`))).body.finished_at !== null,
  );
  assert.deepEqual(namesOf(await list(form)), ['Good']);
  const [good] = (await list(form)).data;
  const both = { ids: [good!.id], view: {}, expected: 1 };
  assert.equal((await person.call('POST', pathOf(form, '/removals'), both)).status, 422);
});
