import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#test/service.ts';
import type { Removal, TrashPage } from '../shapes.ts';
import { list, makeForm, namesOf, pathOf, person, service, submit, tenant } from '../testing.ts';

const trashOf = (form: string, rest = ''): string =>
  `/workspaces/${tenant.workspaceId}/forms/${form}/trash${rest}`;

const trash = async (form: string): Promise<TrashPage> =>
  (await person.call<TrashPage>('GET', trashOf(form))).body;

async function isDone(form: string, id: string): Promise<boolean> {
  return (await person.call<Removal>('GET', pathOf(form, `/removals/${id}`))).body.finished_at !== null;
}

test('what is deleted in the console lies in the trash, says by whom and until when, and can be restored', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  await submit(form, { name: 'Ben' });
  assert.equal((await person.call('DELETE', pathOf(form, `/${id}`))).status, 204);
  assert.deepEqual(namesOf(await list(form)), ['Ben']);
  assert.equal((await tenant.call('GET', `/submissions/${id}`)).status, 404);
  assert.equal((await tenant.call('GET', `/forms/${form}`)).body.submission_count, 1);

  const { data, pagination, at_once } = await trash(form);
  assert.deepEqual(
    data.map((row) => [row.id, row.answers['name'], typeof row.trashed_by]),
    [[id, 'Ada', 'string']],
  );
  assert.deepEqual([pagination.total_count, at_once], [1, 200_000]);
  assert.equal(Date.parse(data[0]!.removed_at) - Date.parse(data[0]!.trashed_at), 30 * 86_400_000);

  const restored = await person.call('POST', trashOf(form, '/restorations'), { ids: [id] });
  assert.deepEqual([restored.status, restored.body], [200, { restored: 1 }]);
  assert.equal((await person.call('POST', trashOf(form, '/restorations'), { ids: [id] })).status, 404);
  assert.deepEqual(namesOf(await list(form)), ['Ben', 'Ada']);
  assert.deepEqual((await trash(form)).data, []);
});

test('emptying the trash asks for its number, and touches nothing that is not in it', async () => {
  const form = await makeForm();
  const ids = [await submit(form, { name: 'Ada' }), await submit(form, { name: 'Ben' })];
  const live = await submit(form, { name: 'Cleo' });
  for (const id of ids) await person.call('DELETE', pathOf(form, `/${id}`));
  assert.equal((await person.call('POST', trashOf(form, '/removals'), { expected: 1 })).status, 409);
  assert.equal(
    (await person.call('POST', trashOf(form, '/removals'), { ids: [live], expected: 1 })).status,
    409,
  );
  const one = await person.call<Removal>('POST', trashOf(form, '/removals'), { ids: [ids[0]], expected: 1 });
  await until('one to go', () => isDone(form, one.body.id));
  const { status, body } = await person.call<Removal>('POST', trashOf(form, '/removals'), { expected: 1 });
  assert.deepEqual([status, body.total, body.to_trash], [202, 1, false]);
  await until('the rest to go', () => isDone(form, body.id));
  assert.deepEqual((await trash(form)).data, []);
  const { rows } = await service.services.database.query('select id from submissions where form_id = $1', [
    form,
  ]);
  assert.deepEqual(rows, [{ id: live }]);
});

test('deleting a form takes its trash with it', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  await person.call('DELETE', pathOf(form, `/${id}`));
  assert.equal((await tenant.call('DELETE', `/forms/${form}`)).status, 204);
  assert.equal((await person.call('GET', trashOf(form))).status, 404);
  assert.equal((await person.call('POST', trashOf(form, '/restorations'), { ids: [id] })).status, 404);
});
