import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';

const service = await openService();
const tenant = await service.makeTenant();
const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const password = 'open sesame 42';
const tree = structure(element('text', 'name'));

const hashOf = async (id: string): Promise<string | null> =>
  (
    await service.services.database.query<{ password_hash: string | null }>(
      'select password_hash from forms where id = $1',
      [id],
    )
  ).rows[0]!.password_hash;

test('the API and the console can set the password of a form, but neither shows it', async () => {
  const created = await tenant.call('POST', '/forms', {
    structure: tree,
    settings: { access: 'password', password },
  });
  assert.equal(created.status, 201);
  const { id } = created.body;
  const answers = [
    created,
    await tenant.call('GET', `/forms/${id}`),
    await tenant.call('PUT', `/forms/${id}`, { structure: tree, settings: { access: 'password', password } }),
    await tenant.call('GET', '/forms'),
    await editor.api('GET', `/forms/${id}/draft`),
    await editor.api('PATCH', `/forms/${id}`, { settings: { password } }),
  ];
  for (const { status, body } of answers) {
    assert.ok(status === 200 || status === 201);
    assert.ok(!JSON.stringify(body).includes(password) && !JSON.stringify(body).includes('hash'));
  }
  const { rows } = await service.services.database.query('select from forms where forms::text like $1', [
    `%${password}%`,
  ]);
  assert.equal(rows.length, 0);
});

test('settings that are read and written back keep the password; null removes it; the settings say whether one is set', async () => {
  const { body } = await tenant.call('POST', '/forms', {
    structure: tree,
    settings: { access: 'password', password },
  });
  const { id } = body;
  const hasPassword = async () =>
    (await editor.api<{ form: { has_password: boolean } }>('GET', `/forms/${id}/draft`)).body.form
      .has_password;
  const first = await hashOf(id);
  const { settings } = (await tenant.call('GET', `/forms/${id}`)).body;
  assert.deepEqual(settings, { access: 'password' });
  await tenant.call('PUT', `/forms/${id}`, { structure: tree, settings });
  await editor.api('PATCH', `/forms/${id}`, { settings: { closed_message: 'Closed.' } });
  assert.deepEqual([await hashOf(id), await hasPassword()], [first, true]);
  await editor.api('PATCH', `/forms/${id}`, { settings: { password: 'another one' } });
  assert.notEqual(await hashOf(id), first);
  await editor.api('PATCH', `/forms/${id}`, { settings: { password: null } });
  assert.deepEqual([await hashOf(id), await hasPassword()], [null, false]);
});

test('an invalid password is rejected with its field and changes nothing', async () => {
  const { id } = (await tenant.call('POST', '/forms', { structure: tree, settings: { password } })).body;
  const before = await hashOf(id);
  for (const wrong of ['abc', 'x'.repeat(129), 12345, {}]) {
    const { status, body } = await editor.api<{ errors: { field: string }[] }>('PATCH', `/forms/${id}`, {
      settings: { password: wrong },
    });
    assert.deepEqual(
      [status, body.errors?.map(({ field }) => field)],
      [422, ['password']],
      JSON.stringify(wrong),
    );
  }
  assert.equal(await hashOf(id), before);
});
