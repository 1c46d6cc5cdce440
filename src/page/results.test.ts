import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { callApi, shareService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';

const service = await shareService();
const { url } = service;

type Share = {
  id: string;
  url: string;
  title: string;
  kind: string;
  elements: string[];
  has_password: boolean;
  expires_at: string | null;
  warnings: { element: string; message: string }[];
};

/** Creates a form with two submissions: one question that is shown by default, and two that are not. */
async function openScene() {
  const tenant = await service.makeTenant();
  const elements = [
    element('radio', 'drink', { options: ['Tea', 'Coffee'] }),
    element('email', 'email'),
    element('text', 'who', { label: 'Your name' }),
    composite('guests', [element('phone', 'phone')], { repeatable: true }),
  ];
  const form = await makeForm(tenant, elements);
  const ids: string[] = [];
  for (const drink of ['Tea', 'Coffee'])
    ids.push((await openVisitor(service).submit(form.id, { drink, email: `${drink}@example.org` })).body.id);
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await tenant.call(method, path, body);
    return {
      status: answer.status,
      body: answer.body as unknown as Share & { data: Share[]; errors: { field: string }[] },
    };
  };
  const share = async (body: object = {}) => (await call('POST', `/forms/${form.id}/shares`, body)).body;
  return { tenant, form, ids, call, share };
}

const read = async (address: string, options: RequestInit = {}) => {
  const response = await fetch(address, { redirect: 'manual', ...options });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

test('a summary shows the chosen questions to everyone with the link, without scripts and robots', async () => {
  const { share, form } = await openScene();
  const made = await share({ title: 'Drinks <b>' });
  assert.partialDeepStrictEqual(made, {
    kind: 'summary',
    elements: ['drink'],
    warnings: [],
    has_password: false,
  });
  assert.match(made.url, new RegExp(`/r/${form.id}\\.[\\w-]{43}$`));
  const { status, headers, text } = await read(made.url);
  assert.equal(status, 200);
  assert.equal(headers.get('x-robots-tag'), 'noindex');
  assert.match(headers.get('content-security-policy')!, /frame-ancestors \*/);
  assert.match(text, /<meta name="robots" content="noindex">/);
  assert.match(text, /<h1>Drinks &lt;b&gt;<\/h1>/);
  assert.match(text, /Responses: 2/);
  assert.match(text, /Tea/);
  assert.doesNotMatch(text, /<script|example\.org|email|phone/);
});

test('personal questions are shown only if they are chosen, with a warning', async () => {
  const { call, share, form } = await openScene();
  const made = await share({ kind: 'table', elements: ['email', 'email', 'guests'] });
  assert.deepEqual(made.elements, ['email', 'guests']);
  assert.deepEqual(
    made.warnings.map((warning) => warning.element),
    ['email', 'guests'],
  );
  assert.match((await read(made.url)).text, /Tea@example\.org/);
  const { body } = await call('GET', `/forms/${form.id}/shares`);
  assert.deepEqual(body.data, [made]);
  assert.partialDeepStrictEqual(body.elements, [
    { id: 'drink', is_personal: false },
    { id: 'email', is_personal: true },
    { id: 'who', is_personal: true },
    { id: 'guests', is_personal: true },
  ]);
});

test('a table shows live data in pages: no incomplete, deleted or later changed answers', async () => {
  const { call, share, form, ids } = await openScene();
  const made = await share({ kind: 'table' });
  const visitor = openVisitor(service);
  for (let each = 0; each < 50; each += 1)
    await visitor.submit(form.id, { drink: 'Coffee', email: 'a@example.org' });
  const first = await read(made.url);
  assert.match(first.text, /Responses: 52/);
  assert.match(first.text, /Page 1 of 2/);
  assert.doesNotMatch(first.text, /Tea/);
  assert.match((await read(`${made.url}?page=2`)).text, /Tea[\s\S]*Page 2 of 2/);
  assert.equal((await read(`${made.url}?page=999999`)).status, 200);
  await call('PATCH', `/submissions/${ids[0]!}`, { status: 'incomplete' });
  await call('DELETE', `/submissions/${ids[1]!}`);
  const later = await read(made.url);
  assert.match(later.text, /Responses: 50/);
  assert.doesNotMatch(later.text, /Tea|Page/);
});

test('a link ends when it is revoked or expired, or when its form is deleted', async () => {
  const { tenant, call, share, form } = await openScene();
  const made = await share();
  const other = await share({ expires_at: '2020-01-01T00:00:00Z' });
  assert.equal((await read(other.url)).status, 410);
  const expiryOf = async (expires_at: string | null) =>
    (await call('PATCH', `/shares/${other.id}`, { expires_at })).body.expires_at;
  assert.equal(await expiryOf('2020-01-01'), '2020-01-01T00:00:00.000Z');
  assert.equal(await expiryOf(null), null);
  assert.equal((await read(other.url)).status, 200);
  assert.equal((await call('DELETE', `/shares/${made.id}`)).status, 204);
  assert.equal((await read(made.url)).status, 404);
  assert.equal((await call('PATCH', `/shares/${made.id}`, { title: 'Gone' })).status, 404);
  const forged = other.url.replace(/\.[\w-]{43}$/, `.${'A'.repeat(43)}`);
  for (const address of [forged, `${other.url}.x`, `${url}/r/x`, other.url.slice(0, -1)])
    assert.equal((await read(address)).status, 404, address);
  await tenant.call('DELETE', `/forms/${form.id}`);
  assert.equal((await read(other.url)).status, 404);
});

test('a password is asked once, with limits, and a changed one is asked again', async () => {
  const { call, share } = await openScene();
  const made = await share({ password: 'open sesame' });
  assert.equal(made.has_password, true);
  const closed = await read(made.url);
  assert.equal(closed.status, 403);
  assert.doesNotMatch(closed.text, /Tea/);
  const enter = (password: string, query = '') =>
    read(`${made.url}${query}`, { method: 'POST', body: new URLSearchParams({ _password: password }) });
  assert.equal((await enter('wrong')).status, 403);
  const entered = await enter('open sesame');
  assert.equal(entered.status, 303);
  const [cookie = ''] = entered.headers.get('set-cookie')!.split(';');
  assert.match(entered.headers.get('set-cookie')!, /HttpOnly/);
  const withCookie = { headers: { Cookie: cookie } };
  assert.match((await read(made.url, withCookie)).text, /Tea/);
  const framed = await enter('open sesame', '?_embed=1');
  assert.match((await read(url + framed.headers.get('location')!)).text, /Tea/);
  await call('PATCH', `/shares/${made.id}`, { password: 'other words' });
  assert.equal((await read(made.url, withCookie)).status, 403);
  await call('PATCH', `/shares/${made.id}`, { password: null });
  assert.equal((await read(made.url)).status, 200);
  await call('PATCH', `/shares/${made.id}`, { password: 'other words' });
  const statuses = [];
  for (let each = 0; each < 11; each += 1) statuses.push((await enter('wrong')).status);
  assert.equal(statuses.at(-1), 429);
});

test('invalid shares are rejected, and sharing needs both permissions', async () => {
  const { tenant, call, form } = await openScene();
  const path = `/forms/${form.id}/shares`;
  const cases: [object, string][] = [
    [{ title: ' ' }, 'title'],
    [{ title: 'a\nb' }, 'title'],
    [{ kind: 'chart' }, 'kind'],
    [{ elements: ['drink', 'unknown'] }, 'elements.1'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ password: 'abc' }, 'password'],
    [{ token: 'x' }, 'token'],
  ];
  for (const [body, field] of cases) {
    const answer = await call('POST', path, body);
    assert.deepEqual([answer.status, answer.body.errors[0]?.field], [422, field], JSON.stringify(body));
  }
  for (const permissions of [['forms:write'], ['submissions:read'], ['forms:read']] as const) {
    const key = await tenant.makeKey([...permissions]);
    assert.equal((await callApi(url, key, 'POST', path, {})).status, 403, permissions[0]);
  }
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  assert.equal((await viewer.api('GET', path)).status, 200);
  assert.equal((await viewer.api('POST', path, {})).status, 403);
  const stranger = await service.makeTenant();
  assert.equal((await stranger.call('GET', path)).status, 404);
  const { body } = await call('POST', path, {});
  assert.equal((await stranger.call('DELETE', `/shares/${body.id}`)).status, 404);
});
