import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '#test/console.ts';
import { makeForm, person, service, tenant } from '#test/submissions.ts';

const settings = { order: ['b', 'a'], hidden: ['c'], widths: { a: 120 }, pinned: 1, is_tall: true };

const pathOf = (form: string): string => `/forms/${form}/arrangement`;

test('table settings are stored per person and form, also for viewers, and invalid settings are rejected', async () => {
  const [form, other] = [await makeForm(), await makeForm()];
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const read = async (who: typeof person, of: string): Promise<unknown> =>
    (await who.call('GET', pathOf(of))).body['settings'];
  assert.equal(await read(person, form), null);
  assert.equal((await person.call('PUT', pathOf(form), settings)).status, 204);
  assert.equal((await viewer.call('PUT', pathOf(form), { ...settings, pinned: 0 })).status, 204);
  assert.equal((await person.call('PUT', pathOf(form), { ...settings, is_tall: false })).status, 204);
  assert.deepEqual(await read(person, form), { ...settings, is_tall: false });
  assert.deepEqual(await read(viewer, form), { ...settings, pinned: 0 });
  assert.equal(await read(person, other), null);
  for (const wrong of [{ ...settings, pinned: -1 }, { ...settings, x: 1 }, { order: [] }])
    assert.equal((await person.call('PUT', pathOf(form), wrong)).status, 422);
});
