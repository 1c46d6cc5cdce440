import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { request } from 'undici';
import { problemCodes } from '#ast/basics/problems.ts';
import { element, structure } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';

/* Variants that real clients send, although the specification shows one form only. */
const service = await shareService();
const tenant = await service.makeTenant();
const base = `${service.url}/api/v1`;
const form = await makeForm(tenant, [element('text', 'a')], { settings: { editing: true } });

const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) => {
  const answer = await request(`${base}${path}`, {
    method: method as 'GET',
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).startsWith('application/json') && text !== '';
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: (isJson ? JSON.parse(text) : {}) as {
      error: string;
      message: string;
      errors?: { message: string; code: string; field?: string; path?: number[] }[];
      data: { id: string }[];
      next_cursor?: string | null;
      id: string;
      edit_url?: string;
    },
  };
};

test('the scheme Bearer is not case-sensitive, and may be followed by several spaces', async () => {
  for (const scheme of ['bearer ', 'BEARER ', 'BeArEr   ', 'Bearer  '])
    assert.equal((await ask('/forms', { authorization: `${scheme}${tenant.key}` })).status, 200, scheme);
  for (const wrong of [`Bearer${tenant.key}`, `Basic ${tenant.key}`, `Bearer ${tenant.key} x`])
    assert.equal((await ask('/forms', { authorization: wrong })).status, 401, wrong);
});

test("a request with a key is answered on any host, and one without a key only on the service's own hosts", async () => {
  for (const host of ['app:3000', 'host.docker.internal', 'forms.example.org'])
    assert.equal((await ask('/forms', { host })).status, 200, host);
  const unknown = await ask('/forms', { host: 'app:3000', authorization: '' });
  assert.equal(unknown.status, 400);
  assert.ok(unknown.headers['x-ratelimit-limit']);
});

test('one trailing slash is ignored, with and without a query; two make another path', async () => {
  for (const path of [
    '/forms/',
    '/forms/?per_page=1',
    `/forms/${form.id}/`,
    '/submissions/search/?q=x',
    '/openapi.json/',
  ])
    assert.equal((await ask(path)).status, 200, path);
  assert.equal((await ask(`/forms/${form.id}//`)).status, 404);
});

test('an empty query parameter counts as absent, and an empty cursor starts a list by cursor', async () => {
  assert.equal((await ask('/forms?status=&page=&per_page=&cursor=')).status, 200);
  assert.equal((await ask('/submissions/search?q=x&form_id=&page=')).status, 200);
  assert.equal((await ask(`/forms/${form.id}/submissions?status=&where=&created_from=`)).status, 200);
  const list = await ask('/forms?cursor=&per_page=1');
  assert.ok('next_cursor' in list.body);
  const missing = await ask('/submissions/search?q=');
  assert.deepEqual([missing.status, missing.body.errors![0]!.code], [400, 'required']);
  const unknown = await ask(`/forms/${form.id}?foo=`);
  assert.equal(unknown.status, 400);
  assert.equal(unknown.body.message, 'Unknown field "foo". No fields are accepted here. Remove it.');
});

test('every 422 has errors, each with a message, a code from the table, and a field or a path', async () => {
  const bodies = [
    '{"structure":{"type":"form","attrs":{"name":"a\\u0000"},"children":[]}}',
    '{"structure":{"type":"form","attrs":{"name":"a\\ud800"},"children":[]}}',
    '{"structure":9007199254740993}',
    `{"structure":${'['.repeat(80)}${']'.repeat(80)}}`,
    '{"structure":{}}',
    '{"structure":null}',
    '{}',
    JSON.stringify({ structure: structure(element('text', 'a')), settings: { access: 'x', colour: 1 } }),
    JSON.stringify({ structure: structure(element('text', 'a')), other: 1 }),
  ];
  const codes: string[][] = [];
  for (const body of bodies) {
    const answer = await ask('/forms', { 'content-type': 'application/json' }, 'POST', body);
    assert.equal(answer.status, 422, body.slice(0, 80));
    assert.ok(answer.body.errors!.length > 0, body.slice(0, 80));
    for (const item of answer.body.errors!) {
      assert.ok(item.message.length > 5);
      assert.ok(item.code in problemCodes, item.code);
      assert.ok(item.field !== undefined || item.path !== undefined, JSON.stringify(item));
    }
    codes.push(answer.body.errors!.map(({ code }) => code));
  }
  assert.deepEqual(codes.slice(0, 4), [['not_storable'], ['not_storable'], ['not_storable'], ['too_deep']]);
  const submit = (body: string) =>
    ask(`/f/${form.id}`, { 'content-type': 'application/json', authorization: '' }, 'POST', body);
  for (const body of [
    '{"answers":{"a":"\\u0000"}}',
    '{"answers":{"a":9007199254740993}}',
    '{"answers":{"b":1}}',
    '{}',
  ]) {
    const answer = await submit(body);
    assert.deepEqual([answer.status, answer.body.errors!.length], [422, 1], body);
    assert.ok(answer.body.errors![0]!.code in problemCodes);
  }
});

test('every response of the API has the rate limit headers, even without a key', async () => {
  const anonymous = { authorization: '' };
  const json = { 'content-type': 'application/json' };
  const answers = {
    document: await ask('/openapi.json', anonymous),
    docs: await ask('/docs/', anonymous),
    unknown: await ask('/nothing', anonymous),
    'unknown with a key': await ask('/nothing'),
    method: await ask('/forms', {}, 'DELETE'),
    'document by POST': await ask('/openapi.json', anonymous, 'POST'),
    type: await ask('/forms', { 'content-type': 'text/plain' }, 'POST', 'x'),
    size: await ask('/forms', json, 'POST', `"${'x'.repeat(1_100_000)}"`),
    key: await ask('/forms', anonymous),
    submit: await ask(`/f/${form.id}`, { ...json, ...anonymous }, 'POST', '{"answers":{"a":"x"}}'),
  };
  for (const [name, { headers, status }] of Object.entries(answers))
    for (const header of ['limit', 'remaining', 'reset'])
      assert.match(String(headers[`x-ratelimit-${header}`]), /^\d+$/, `${name} (${status}): ${header}`);
  assert.equal(answers.key.headers['x-ratelimit-limit'], '1000');
  const { port } = new URL(service.url);
  for (const [sent, status] of [
    ['NOT HTTP\r\n\r\n', 400],
    [`GET /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(sent);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    await once(socket, 'close');
    const answer = Buffer.concat(parts).toString();
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    assert.match(
      answer,
      /X-RateLimit-Limit: \d+\r\nX-RateLimit-Remaining: \d+\r\nX-RateLimit-Reset: \d+\r\n/,
    );
  }
});

test('a form can be submitted below /api/v1 without a key, and the response gives its edit link', async () => {
  const headers = { 'content-type': 'application/json', authorization: '', origin: 'https://example.org' };
  const sent = await ask(`/f/${form.id}`, headers, 'POST', '{"answers":{"a":"by a client"}}');
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  assert.equal(sent.headers['access-control-allow-origin'], '*');
  assert.equal((await ask(`/submissions/${sent.body.id}`)).status, 200);
  const edit = await request(sent.body.edit_url!);
  assert.equal(edit.statusCode, 200);
  await edit.body.dump();
  const preflight = await ask(
    `/f/${form.id}`,
    { ...headers, 'access-control-request-method': 'POST' },
    'OPTIONS',
  );
  assert.equal(preflight.status, 204);
  // Clients that send their key with every request get an equal response.
  const keyed = await ask(
    `/f/${form.id}/?ref=1`,
    { 'content-type': 'application/json' },
    'POST',
    '{"answers":{"a":"x"}}',
  );
  assert.equal(keyed.status, 201);
});
