import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { consoleRoutes } from '#app/operations/operations.ts';
import { element } from '#test/ast/forms.ts';
import { callConsole, signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { openAccounts } from '#workspaces/accounts/users.ts';

const service = await openService();
const { services, url } = service;
const routes = consoleRoutes({
  ...services,
  auditLog: { noteLater() {} },
  accounts: openAccounts({ ...services, publicUrl: services.config.publicUrl }),
});
const person = await signIn(service);
const absentId = randomUUID();
const at = (path: string, id: string): string => path.replace(':id', id);

test('every console operation that is not for visitors is rejected without a session', async () => {
  const personal = routes.filter(({ operation }) => operation.caller !== 'visitor');
  assert.ok(personal.length >= 9);
  for (const { method, path } of personal) {
    const answer = await callConsole<{ error: string }>(url, '', method, at(path, absentId));
    assert.deepEqual([answer.status, answer.body.error], [401, 'unauthorized'], `${method} ${path}`);
  }
});

test('a form of a workspace without membership is answered like one that does not exist', async () => {
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant, [element('text', 'a')]);
  const arrangement = { order: [], hidden: [], widths: {}, pinned: 0, is_tall: false };
  const ofForms = routes.filter(({ path }) => path.startsWith('/forms/:id/'));
  assert.equal(ofForms.length, 3);
  for (const { method, path } of ofForms) {
    const body = method === 'PUT' ? arrangement : undefined;
    const absent = await person.call(method, at(path, absentId), body);
    assert.deepEqual([absent.status, absent.body.error], [404, 'not_found'], `${method} ${path}`);
    const foreign = await person.call(method, at(path, form.id), body);
    assert.deepEqual(plain(foreign), plain(absent), `${method} ${path}`);
  }
  assert.equal((await person.call('DELETE', `/memberships/${tenant.workspaceId}`)).status, 404);
});

const plain = ({ status, body, headers }: { status: number; body: unknown; headers: Headers }) => ({
  status,
  body,
  names: [...headers.keys()],
});

test('an id that is not a UUID is a 400, an unknown path a 404, each as JSON', async () => {
  const malformed = await person.call('GET', '/forms/x/arrangement');
  assert.deepEqual([malformed.status, malformed.body.error], [400, 'bad_request']);
  const unknown = await person.call('GET', '/nothing');
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'not_found']);
});

test('unknown parameters and fields are rejected', async () => {
  assert.equal((await person.call('GET', `/forms/${absentId}/locate?colour=red`)).status, 400);
  assert.equal((await person.call('POST', '/workspaces', { name: 'X', plan: 'enterprise' })).status, 422);
  const { workspaceId } = person;
  assert.equal((await person.call('DELETE', `/memberships/${workspaceId}`, { force: true })).status, 422);
});
