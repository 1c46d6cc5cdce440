import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { shareService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { type SpamReason } from './spam.ts';
import type { SpamDetail, SpamPage } from './spam-endpoints.ts';
import { submitAnswers } from './submit.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
const { services } = service;

const pathOf = (form: string, rest = ''): string => `/forms/${form}/spam${rest}`;
type Decided = { count: number };

async function hold(form: string, name: string, reason: SpamReason = 'honeypot', from = 0): Promise<string> {
  const live = (await services.liveForms.find(form))!;
  const request = { live, raw: { name }, files: new Map(), reference: { from: 'ad' }, key: newId() };
  const result = await submitAnswers(services, request, { reason, address: Buffer.alloc(32, from) });
  assert.ok(result.ok);
  return result.submission.id;
}

const list = async (form: string, query = '') =>
  (await viewer.api<SpamPage>('GET', pathOf(form, query))).body;
const makeSpamForm = async () => (await makeForm(tenant, [element('text', 'name', { label: 'Name' })])).id;

test('the spam box is listed in pages, newest first, with the reason for each', async () => {
  const form = await makeSpamForm();
  assert.deepEqual((await list(form)).data, []);
  await hold(form, 'one', 'too_fast');
  await hold(form, 'two', 'no_proof');
  await hold(form, 'three');
  const page = await list(form, '?per_page=2');
  assert.deepEqual(page.pagination, { page: 1, per_page: 2, total_count: 3, total_pages: 2 });
  const shown = [...page.data, ...(await list(form, '?per_page=2&page=2')).data];
  assert.deepEqual(
    new Set(shown.map(({ reason, answers }) => `${JSON.stringify(answers['name'])}: ${reason}`)),
    new Set(['"three": honeypot', '"two": no_proof', '"one": too_fast']),
  );
  assert.deepEqual((await list(form, '?page=9')).data, []);
});

test('spam is shown with its answered version and the number of others from its address', async () => {
  const form = await makeSpamForm();
  const id = await hold(form, 'Ada', 'honeypot', 1);
  await hold(form, 'Eve', 'honeypot', 1);
  await hold(form, 'Bob', 'honeypot', 2);
  const { status, body } = await viewer.api<SpamDetail>('GET', pathOf(form, `/${id}`));
  assert.equal(status, 200);
  assert.deepEqual(
    [body.answers, body.reference, body.others, body.structure.children[0]!.children[0]!.type],
    [{ name: 'Ada' }, { from: 'ad' }, 1, 'text'],
  );
  assert.ok(!('address' in body));
});

test('released spam becomes submissions, deleted spam is gone, and missing IDs do not count', async () => {
  const form = await makeSpamForm();
  const ids = [await hold(form, 'Ada'), await hold(form, 'Grace'), await hold(form, 'spam')];
  const released = await editor.api<Decided>('POST', pathOf(form, '/releases'), {
    ids: [...ids.slice(0, 2), randomUUID()],
  });
  assert.deepEqual([released.status, released.body.count], [200, 2]);
  const removed = await editor.api<Decided>('POST', pathOf(form, '/deletions'), { ids });
  assert.deepEqual([removed.status, removed.body.count], [200, 1]);
  assert.deepEqual((await list(form)).data, []);
  const submissions = (await tenant.call('GET', `/forms/${form}/submissions`)).body;
  assert.deepEqual(new Set(submissions.data.map(({ id }) => id)), new Set(ids.slice(0, 2)));
  assert.equal((await tenant.call('GET', `/submissions/${ids[2]}`)).status, 404);
});

test('the whole spam box is emptied only with `everything`', async () => {
  const form = await makeSpamForm();
  for (const name of ['one', 'two']) await hold(form, name);
  const clear = (body: object) => editor.api<Decided>('POST', pathOf(form, '/deletions'), body);
  assert.equal((await clear({})).status, 422);
  assert.deepEqual((await clear({ everything: true })).body, { count: 2 });
  assert.deepEqual((await list(form)).data, []);
});

test('allowing a site changes the settings, so it also requires the permission forms:write', async () => {
  const form = await makeSpamForm();
  const key = await tenant.makeKey(['submissions:write']);
  const authorization = { Authorization: `Bearer ${key}` };
  const site = { origin: 'https://shop.example' };
  const allow = (headers = {}) => tenant.call('POST', pathOf(form, '/sites'), site, headers);
  const refused = await allow(authorization);
  assert.deepEqual([refused.status, /forms:write/.test(refused.body.message)], [403, true]);
  assert.equal((await allow()).status, 200);
});

test('a viewer cannot decide about spam, and the spam box of another workspace or form is not accessible', async () => {
  const [form, other] = [await makeSpamForm(), await makeSpamForm()];
  const id = await hold(form, 'Ada');
  for (const way of ['/releases', '/deletions']) {
    assert.equal((await viewer.api('POST', pathOf(form, way), { ids: [id] })).status, 403);
    assert.equal((await editor.api<Decided>('POST', pathOf(other, way), { ids: [id] })).body.count, 0);
  }
  assert.equal((await editor.api('GET', pathOf(other, `/${id}`))).status, 404);
  assert.equal((await editor.api('GET', pathOf(randomUUID()))).status, 404);
  const stranger = await signIn(service);
  assert.equal((await stranger.api('GET', pathOf(form))).status, 404);
  assert.equal((await stranger.api('POST', pathOf(form, '/deletions'), { ids: [id] })).status, 404);
  assert.equal((await list(form)).data.length, 1);
});

for (const [what, body] of [
  ['no ids', { ids: [] }],
  ['what is no id', { ids: ['x'] }],
  ['more than a page', { ids: Array.from({ length: 101 }, () => randomUUID()) }],
  ['something else', { all: true }],
] as const) {
  test(`a decision on ${what} is rejected`, async () => {
    assert.equal((await editor.api('POST', pathOf(randomUUID(), '/releases'), body)).status, 422);
  });
}
