import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openLiveForms } from '#forms/live-form.ts';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { createHostCheck } from '#kit/outbound/hosts.ts';
import { permissionNames } from '#rules/permissions.ts';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { idIn, makeOneOfEach } from '#test/one-of-each.ts';
import { requestText, sendRaw } from '#test/raw.ts';
import { callApi, openService, type Tenant, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { anonymousRate } from '#workspaces/authenticate.ts';
import { createKey, revokeKey } from '#workspaces/keys.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { buildServer } from '../server/server.ts';
import { type ApiRoute, apiRoutes } from './operations.ts';

const service = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { database } = service.services;
const routes = apiRoutes(service.services);

const ids = await makeOneOfEach(service, tenant);

const absent = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';
const valid = structure(element('text', 'a'));
const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
/** Returns the path of an operation's example, with this id. */
const pathOf = (
  { path, operation }: ApiRoute,
  id = absent,
  inner: Readonly<Record<string, string>> = {},
): string => {
  const query = new URLSearchParams(operation.example.query as Record<string, string>).toString();
  return (
    path
      .replace(':id', id)
      .replace(/:(version|number)/, '1')
      .replaceAll(/:(\w+)/g, (_all, name: string) => inner[name] ?? absent) + (query && `?${query}`)
  );
};
const bodyOf = ({ operation }: ApiRoute): object | undefined => operation.example.body as object | undefined;
const raw = (text: string, from?: string) => sendRaw(service.url, text, { ...(from && { from }) });

// Authentication
// ----------------------------------------------------------------------------------------------

const keyWith = async (more: {
  permissions?: string[];
  expiresAt?: Date;
}): Promise<{ id: string; key: string }> =>
  createKey(database, { workspaceId: tenant.workspaceId, name: 'Test', ...more });

test('a missing, malformed, unknown, revoked or expired key: 401 with an equal body on every route', async () => {
  const revoked = await keyWith({});
  await revokeKey(database, { workspaceId: tenant.workspaceId, keyId: revoked.id });
  const expired = await keyWith({ expiresAt: new Date(Date.now() - 1_000) });
  const { key } = tenant;
  const headers: (string | undefined)[] = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Bearer ${key}x`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key} ${key}`,
    `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    key,
    `Token ${key}`,
    `Bearer ${'f'.repeat(4_000)}`,
    `Bearer ${revoked.key}`,
    `Bearer ${expired.key}`,
    `Bearer fl_${'A'.repeat(43)}`,
  ];
  const bodies = new Set<string>();
  for (const header of headers) {
    const response = await fetch(`${service.url}/api/v1/forms`, {
      headers: header === undefined ? {} : { Authorization: header },
    });
    assert.equal(response.status, 401, header);
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    bodies.add(await response.text());
  }
  assert.deepEqual([...bodies], ['{"error":"unauthorized","message":"The API key is missing or invalid."}']);
  for (const [index, route] of routes.entries()) {
    // Each request has its own address, because together they exceed the limit without a key.
    const { status } = await raw(
      requestText(route.method, `/api/v1${pathOf(route)}`),
      `127.0.1.${index + 1}`,
    );
    assert.equal(status, 401, route.name);
  }
});

test('a key sent twice, in the address or in a cookie is rejected', async () => {
  const { key } = tenant;
  const head = `GET /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`;
  assert.equal((await raw(`${head}\r\n`)).status, 200);
  assert.equal((await raw(`${head}Authorization: Bearer ${key}\r\n\r\n`)).status, 401);
  assert.equal((await fetch(`${service.url}/api/v1/forms?api_key=${key}`)).status, 401);
  assert.equal(
    (
      await fetch(`${service.url}/api/v1/forms`, {
        headers: { Cookie: `authorization=${key}`, 'X-Api-Key': key },
      })
    ).status,
    401,
  );
});

test("a key without a route's permission: 403 that names it, and no change; with it: any status but 403", async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  for (const route of routes) {
    const { name, method, operation } = route;
    const { permission } = operation;
    const others = permissionNames.filter((other) => other !== permission);
    const lacking = await callApi(
      service.url,
      (await keyWith({ permissions: others })).key,
      method,
      pathOf(route, form.id),
      bodyOf(route),
    );
    assert.deepEqual([lacking.status, lacking.body.error], [403, 'forbidden'], name);
    assert.match(lacking.body.message, new RegExp(permission));
    // A key cannot grant permissions that it lacks.
    const { permissions: given = [] } = (bodyOf(route) ?? {}) as { permissions?: string[] };
    const having = await callApi(
      service.url,
      (await keyWith({ permissions: [permission, ...given] })).key,
      method,
      pathOf(route),
      bodyOf(route),
    );
    assert.notEqual(having.status, 403, name);
  }
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.updated_at, form.updated_at);
});

test("on every route another workspace's ids are answered exactly like unknown ids", async () => {
  const other = await service.makeTenant();
  const form = { id: ids['forms']! };
  const before = (await tenant.call('GET', `/forms/${form.id}`)).body;
  const full = { Authorization: `Bearer ${await other.makeFullKey()}` };
  for (const route of routes.filter(({ path }) => path.includes(':id'))) {
    const { method, path } = route;
    const foreign = await other.call(method, pathOf(route, idIn(path, ids), ids), bodyOf(route), full);
    const missing = await other.call(method, pathOf(route), bodyOf(route), full);
    assert.deepEqual(
      [foreign.status, foreign.body, [...foreign.headers.keys()]],
      [404, missing.body, [...missing.headers.keys()]],
      route.name,
    );
  }
  assert.deepEqual((await tenant.call('GET', `/forms/${form.id}`)).body, before);
  assert.equal((await other.call('GET', '/submissions/search?q=word')).body.pagination.total_count, 0);
});

// Order of checks
// ---------------------------------------------------------------------------------------------

test('requests are checked in order: key, rate limit, permission, shape, existence', async () => {
  const over = await service.makeTenant({ rateLimit: 1, burst: 0 });
  await over.call('GET', '/forms');
  const reader: Tenant['call'] = async (method, path, body, headers) =>
    callApi(service.url, await tenant.makeKey(['submissions:read']), method, path, body, headers);
  const anybody: Tenant['call'] = (method, path, body, headers) =>
    callApi(service.url, 'unknown', method, path, body, headers);
  const text = { 'Content-Type': 'text/plain' };
  const rows: [string, number, ReturnType<Tenant['call']>][] = [
    ['no key, and everything else wrong', 401, anybody('PUT', '/forms/42?x=1', '{', text)],
    ['no key, an unknown path', 401, anybody('GET', '/nothing')],
    ['no key, an unknown method', 401, anybody('PATCH', '/forms')],
    ['over the limit, an unknown path', 429, over.call('GET', '/nothing')],
    ['over the limit, a broken body', 429, over.call('POST', '/forms', '{')],
    ['no permission, a broken body', 403, reader('POST', '/forms', '{')],
    ['no permission, a wrong type', 403, reader('PUT', '/forms/42', 'x', text)],
    ['an unknown path', 404, tenant.call('GET', '/nothing')],
    ['a wrong type for a form that is not there', 415, tenant.call('PUT', `/forms/${absent}`, 'x', text)],
    ['a broken body for a form that is not there', 400, tenant.call('PUT', `/forms/${absent}`, '{')],
    ['a broken id with an invalid structure', 400, tenant.call('PUT', '/forms/42', { structure: {} })],
    [
      'an invalid structure for a form that is not there',
      422,
      tenant.call('PUT', `/forms/${absent}`, { structure: {} }),
    ],
    ['an unknown parameter for a form that is not there', 400, tenant.call('GET', `/forms/${absent}?x=1`)],
    [
      'a valid change of a form that is not there',
      404,
      tenant.call('PUT', `/forms/${absent}`, { structure: valid }),
    ],
  ];
  for (const [name, status, answer] of rows) assert.equal((await answer).status, status, name);
});

// Rate limit
// --------------------------------------------------------------------------------------------------

test('every response has the rate limit headers, whatever its status and method', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const over = await service.makeTenant({ rateLimit: 1, burst: 0 });
  await over.call('GET', '/forms');
  const json = { 'Content-Type': 'application/json' };
  const authorization = { Authorization: `Bearer ${tenant.key}` };
  const send = (method: string, path: string, body?: string, headers: Record<string, string> = json) =>
    fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { ...authorization, ...(body !== undefined && headers) },
      ...(body !== undefined && { body }),
    });
  const answers: [number, Promise<Response>][] = [
    [200, send('GET', '/forms')],
    [200, send('HEAD', '/forms')],
    [201, send('POST', '/forms', JSON.stringify({ structure: valid }))],
    [204, send('DELETE', `/forms/${form.id}`)],
    [400, send('GET', '/forms?page=0')],
    [400, send('POST', '/forms', '{')],
    [400, send('GET', '/forms/%zz')],
    [400, send('GET', `/forms/${'9'.repeat(2_000)}`)],
    [401, fetch(`${service.url}/api/v1/forms`)],
    [401, fetch(`${service.url}/api/v1/%`)],
    [403, callReader()],
    [404, send('GET', `/forms/${absent}`)],
    [404, send('GET', '/nothing')],
    [404, send('GET', '/%ff')],
    [405, send('PATCH', '/forms')],
    [204, send('OPTIONS', '/forms')],
    [413, send('POST', '/forms', `"${'x'.repeat(1_100_000)}"`)],
    [415, send('POST', '/forms', '{}', { 'Content-Type': 'text/plain' })],
    [422, send('POST', '/forms', '{}')],
    [429, fetch(`${service.url}/api/v1/forms`, { headers: { Authorization: `Bearer ${over.key}` } })],
  ];
  async function callReader(): Promise<Response> {
    return fetch(`${service.url}/api/v1/forms`, {
      method: 'POST',
      headers: { ...json, Authorization: `Bearer ${await tenant.makeKey(['forms:read'])}` },
      body: '{}',
    });
  }
  for (const [status, answer] of answers) {
    const response = await answer;
    await response.text();
    assert.equal(response.status, status);
    for (const name of rateHeaders)
      assert.match(response.headers.get(name) ?? '', /^\d+$/, `${status} ${name}`);
  }
});

test('Remaining counts down to 0 and stays there in the burst; after it, 429 gives the wait in message, body and header', async () => {
  const small = await service.makeTenant({ rateLimit: 3, burst: 2 });
  const [before, remaining, resets] = [Math.floor(Date.now() / 1_000), [] as string[], new Set<string>()];
  for (let count = 0; count < 5; count += 1) {
    const { status, headers } = await small.call('GET', '/forms');
    assert.equal(status, 200);
    assert.equal(headers.get('x-ratelimit-limit'), '3');
    remaining.push(headers.get('x-ratelimit-remaining')!);
    resets.add(headers.get('x-ratelimit-reset')!);
  }
  assert.deepEqual(remaining, ['2', '1', '0', '0', '0']);
  const { status, headers, body } = await small.call('GET', '/forms');
  assert.deepEqual(
    [status, body.error, headers.get('x-ratelimit-remaining')],
    [429, 'rate_limit_exceeded', '0'],
  );
  assert.ok(Number.isInteger(body.retry_after) && body.retry_after >= 1 && body.retry_after <= 60);
  assert.equal(headers.get('retry-after'), String(body.retry_after));
  assert.match(body.message, new RegExp(`\\b${body.retry_after} seconds?\\b`));
  const [reset] = resets;
  const after = Math.ceil(Date.now() / 1_000);
  assert.ok(Number(reset) > before && Number(reset) <= after + 60);
});

for (const [plan, limit, burst] of [
  ['free', 60, 10],
  ['pro', 300, 30],
] as const) {
  test(`plan ${plan}: of ${limit + burst + 30} parallel requests exactly ${limit + burst} pass`, {
    skip: isSlice && plan === 'pro',
  }, async () => {
    const caller = await service.makeTenant({ plan });
    const answers = await Promise.all(
      Array.from({ length: limit + burst + 30 }, () => caller.call('GET', `/forms/${absent}`)),
    );
    assert.equal(answers.filter(({ status }) => status === 404).length, limit + burst);
    assert.equal(answers.filter(({ status }) => status === 429).length, 30);
    assert.equal(answers[0]!.headers.get('x-ratelimit-limit'), String(limit));
  });
}

test('the keys of a workspace share its limit, and other workspaces have their own', async () => {
  const [one, two] = [
    await service.makeTenant({ rateLimit: 2, burst: 0 }),
    await service.makeTenant({ rateLimit: 2, burst: 0 }),
  ];
  const second = await one.makeKey();
  const statuses = [
    await one.call('GET', '/forms'),
    await callApi(service.url, second, 'GET', '/forms'),
    await one.call('GET', '/forms'),
    await callApi(service.url, second, 'GET', '/forms'),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  assert.equal((await two.call('GET', '/forms')).status, 200);
});

test('a caller without a key is counted by its address, whatever headers it sends', async () => {
  const anonymous = (index: number) =>
    raw(
      requestText('GET', '/api/v1/forms', {
        'X-Forwarded-For': `10.0.0.${index}`,
        Forwarded: `for=10.0.0.${index}`,
        'X-Real-IP': `10.0.0.${index}`,
        Authorization: `Bearer ${index}`,
      }),
      '127.0.0.9',
    );
  const statuses: number[] = [];
  for (let index = 0; index < 1_002; index += 1) statuses.push((await anonymous(index)).status);
  assert.deepEqual(
    [statuses.slice(0, 1_000).every((status) => status === 401), statuses.slice(1_000)],
    [true, [429, 429]],
  );
  assert.equal((await raw(requestText('GET', '/api/v1/forms'), '127.0.0.10')).status, 401);
  assert.equal(
    (await raw(requestText('GET', '/api/v1/forms', { Authorization: `Bearer ${tenant.key}` }), '127.0.0.9'))
      .status,
    200,
  );
});

test('variants of a path are other paths, and do not bypass the limit', async () => {
  for (const path of [
    '//api/v1/forms',
    '/api//v1/forms',
    '/API/v1/forms',
    '/api/v1/forms/',
    '/api/v1/Forms',
    '/api/v1/./forms',
    '/api/v1;x/forms',
    '/api/v2/forms',
  ]) {
    assert.ok([401, 404].includes((await raw(requestText('GET', path))).status), path);
  }
});

// Errors
// ------------------------------------------------------------------------------------------------------

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
for (const [url, list] of Map.groupBy(routes, ({ path }) => path)) {
  test(`${url} answers unsupported methods with 405 and Allow`, async () => {
    const allowed = [
      ...list.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
      'OPTIONS',
    ];
    const options = await raw(
      requestText('OPTIONS', `/api/v1${pathOf(list[0]!)}`, { Authorization: `Bearer ${tenant.key}` }),
    );
    assert.deepEqual([options.status, options.headers['allow']], [204, allowed.join(', ')]);
    for (const method of methods.filter((name) => !allowed.includes(name as 'GET'))) {
      const { status, headers, body } = await raw(
        requestText(
          method,
          `/api/v1${pathOf(list[0]!)}`,
          { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'text/plain' },
          method === 'TRACE' ? '' : 'x',
        ),
      );
      assert.deepEqual([status, headers['allow']], [405, allowed.join(', ')], method);
      // A response to HEAD has no body (RFC 9110, 9.3.2).
      assert.match(body, method === 'HEAD' ? /^$/ : /"error":"method_not_allowed"/, method);
    }
  });
}

test('HEAD returns the headers of GET, without a body', async () => {
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    const address = `${service.url}/api/v1${pathOf(route, idIn(route.path, ids))}`;
    const request = { headers: { Authorization: `Bearer ${ids.key}`, 'Accept-Encoding': 'identity' } };
    const get = await fetch(address, request);
    const head = await fetch(address, { ...request, method: 'HEAD' });
    // Key usage is counted in the meantime, and appears in the list of keys.
    const later = await fetch(address, request);
    await later.arrayBuffer();
    const plain = (headers: Headers) =>
      [...headers].filter(
        ([name]) =>
          ![
            'date',
            'x-request-id',
            'x-ratelimit-remaining',
            'connection',
            'keep-alive',
            // Headers of a stream, whose length is unknown (RFC 9110, 9.3.2).
            'transfer-encoding',
          ].includes(name),
      );
    const alike = [get, later].find(({ headers }) => isDeepStrictEqual(plain(headers), plain(head.headers)));
    assert.deepEqual(
      [head.status, await head.text(), plain(head.headers)],
      [get.status, '', plain((alike ?? get).headers)],
      route.name,
    );
    const bytes = Buffer.byteLength(await get.text());
    if (!route.operation.reply.content) assert.equal(Number(get.headers.get('content-length')), bytes);
  }
});

/** A past bug of Fastify: a Content-Type that it could not parse skipped validation (docs/rules.md T26). */
const contentTypes: readonly [contentType: string | undefined, statuses: readonly number[]][] = [
  ['application/json', [422]],
  ['application/json; charset=utf-8', [422]],
  ['Application/JSON', [422]],
  [' application/json', [422]],
  ['application/json\t;x', [415, 422]],
  ['application/json garbage', [415, 422]],
  ['application/json;', [415, 422]],
  ['application/json, text/plain', [415, 422]],
  ['application/jsonx', [415]],
  ['application/vnd.api+json', [415]],
  ['text/json', [415]],
  ['text/plain', [415]],
  ['application/x-www-form-urlencoded', [415]],
  ['multipart/form-data; boundary=x', [415]],
  ['', [415]],
  [undefined, [415]],
];
for (const [contentType, statuses] of contentTypes) {
  test(`an invalid body as ${JSON.stringify(contentType)}: ${statuses.join(' or ')}, and nothing is created`, async () => {
    const before = (await tenant.call('GET', '/forms')).body.pagination.total_count;
    const headers = {
      Authorization: `Bearer ${tenant.key}`,
      ...(contentType !== undefined && { 'Content-Type': contentType }),
    };
    const { status } = await raw(
      requestText('POST', '/api/v1/forms', headers, '{"structure":{"type":"form"},"publish":"yes"}'),
    );
    assert.ok(statuses.includes(status), String(status));
    assert.equal((await tenant.call('GET', '/forms')).body.pagination.total_count, before);
  });
}

test('two Content-Type headers do not bypass validation', async () => {
  const body = '{"structure":{}}';
  const { status } = await raw(
    `POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  assert.ok([400, 415, 422].includes(status), String(status));
});

test('unknown keys of a body are rejected by name; keys that the API returns are ignored', async () => {
  const extra = {
    owner: absent,
    plan: 'enterprise',
  };
  const { status, body } = await tenant.call('POST', '/forms', { structure: valid, ...extra });
  assert.deepEqual([status, body.errors.map(({ field }) => field).sort()], [422, Object.keys(extra).sort()]);
  const returned = {
    id: absent,
    status: 'published',
    created_at: 'x',
    submission_count: 5,
    published_at: 'x',
  };
  const created = (await tenant.call('POST', '/forms', { structure: valid, ...returned })).body;
  assert.notEqual(created.id, absent);
  assert.deepEqual([created.status, created.published_at], ['draft', null]);
});

test('a body over 1 MB is rejected when announced, and while it is being sent', async () => {
  const head = (length: string): string =>
    `POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
  let sent = 0;
  function* endless(first: string): Generator<string> {
    yield first;
    for (sent = 0; ; sent += 65_536) yield `10000\r\n${'x'.repeat(65_536)}\r\n`;
  }
  for (const first of [head('Content-Length: 104857600'), head('Transfer-Encoding: chunked')]) {
    const { status, body } = await sendRaw(service.url, endless(first));
    assert.equal(status, 413);
    assert.match(body, /"error":"payload_too_large"/);
    // More is in transit than the server reads, so the sender only notices the end then.
    assert.ok(sent < 50_000_000, `it hung up after ${sent} bytes`);
  }
  // The limit for JSON also applies where a file may be larger.
  const json = `"${'x'.repeat(1_100_000)}"`;
  assert.equal((await callApi(service.url, ids.key, 'POST', '/images', json)).status, 413);
});

test('a body of exactly 1 MB is accepted', async () => {
  const text = `{"structure":"${'x'.repeat(1024 * 1024 - 16)}"}`;
  assert.equal(Buffer.byteLength(text), 1024 * 1024);
  assert.equal((await tenant.call('POST', '/forms', text)).status, 422);
});

test('every response has a new request id, and is JSON that browsers neither store nor sniff', async () => {
  const ids = new Set<string>();
  for (const path of ['/forms', '/nothing', '/forms/42']) {
    const { headers } = await tenant.call('GET', path, undefined, {
      'X-Request-Id': 'mine',
      'Request-Id': 'mine',
      Origin: 'https://evil.example',
    });
    ids.add(headers.get('x-request-id')!);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
  assert.equal(ids.size, 3);
  for (const id of ids) assert.match(id, /^[0-9a-f-]{36}$/);
});

test('a DELETE with a JSON content type and no body succeeds, and a POST with an empty body is rejected', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const json = { 'Content-Type': 'application/json' };
  assert.equal((await tenant.call('DELETE', `/forms/${form.id}`, undefined, json)).status, 204);
  const { status, body } = await tenant.call('POST', '/forms', undefined, json);
  assert.deepEqual([status, body.message], [400, 'The body must be a JSON object.']);
});

test('the service answers under its own names and addresses, and rejects other names that resolve to it', async () => {
  const statusFor = async (host: string, path = '/healthz') =>
    (await raw(requestText('GET', path).replace('Host: localhost', `Host: ${host}`))).status;
  for (const host of [
    'localhost',
    'localhost:3000',
    '127.0.0.1:1',
    '[::1]:3000',
    '10.0.0.7',
    'app.localhost',
  ])
    assert.equal(await statusFor(host), 200, host);
  for (const host of [
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    'a@evil.example',
    '127.0.0.1.nip.io',
    ' ',
  ])
    for (const path of ['/healthz', '/api/v1/forms', '/app/', '/f/x', '/'])
      assert.equal(await statusFor(host, path), 400, host);
  const isOurs = createHostCheck({ publicUrl: 'https://forms.example:8443', allowedHosts: ['formloom'] });
  assert.deepEqual(['forms.example', 'FORMS.example.:443', 'formloom:3000', 'other.example'].map(isOurs), [
    true,
    true,
    true,
    false,
  ]);
});

test('the root address of the service leads to the console', async () => {
  const { status, headers } = await visitor.fetch('/');
  assert.deepEqual([status, headers.get('location')], [302, '/app/']);
});

test('a client that disconnects in the middle of a body causes no warning and no error in the log', async (t) => {
  const lines: string[] = [];
  const log = openLog(
    'info',
    new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) }),
  );
  const server = await buildServer({ ...service.services, log }, { isStopping: () => false });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    server.server.closeAllConnections();
    await server.close();
  });
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'];
  const form = await makeForm(tenant, [element('text', 'a')]);
  for (const [path, type] of [['/api/v1/forms', types[0]], ...types.map((each) => [`/f/${form.id}`, each])]) {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.key}\r\n`;
    const { port, hostname } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(`${head}Content-Type: ${type}\r\nContent-Length: 1000\r\n\r\n--b\r\n{`);
    const [incoming] = (await once(server.server, 'request')) as [IncomingMessage];
    await until('its body to be read', async () => incoming.readableFlowing === true, 10);
    socket.destroy();
    await until('its end', async () => incoming.closed, 10);
  }
  // The server logs about these requests before it answers the next one.
  await (await fetch(`${url}/healthz`)).text();
  await until('the line of the last', async () => lines.some((line) => line.includes('/healthz')));
  assert.deepEqual(
    lines.filter((line) => !line.includes('"level":"info"')),
    [],
  );
});

test('an error has a code and a message, and reveals nothing about the implementation', async () => {
  for (const [path, body] of [
    ['/forms/42', undefined],
    ['/forms', '{'],
    ['/submissions/search?q=%00', undefined],
  ] as const) {
    const answer = await tenant.call(body === undefined ? 'GET' : 'POST', path, body);
    assert.equal(typeof answer.body.error, 'string');
    assert.equal(typeof answer.body.message, 'string');
    assert.doesNotMatch(JSON.stringify(answer.body), /\bat \/|node_modules|select |\.ts\b|pg_|fastify/i);
  }
});

test("only a trusted proxy determines the client's address", async () => {
  const behind = await openService({ TRUST_PROXY: '1' });
  const from = async (forwarded: string): Promise<string> =>
    (await sendRaw(behind.url, requestText('GET', '/api/v1/forms', { 'X-Forwarded-For': forwarded })))
      .headers['x-ratelimit-remaining']!;
  assert.deepEqual(
    [await from('203.0.113.1'), await from('203.0.113.1'), await from('203.0.113.2')],
    ['999', '998', '999'],
  );
  // The proxy appends its entry; a visitor can forge everything before it.
  assert.deepEqual([await from('1.1.1.1, 203.0.113.1'), await from('2.2.2.2, 203.0.113.1')], ['997', '996']);
  assert.deepEqual(
    [await from('::ffff:203.0.113.1'), await from('2001:db8:1:2::1'), await from('2001:db8:1:2:ffff::9')],
    ['995', '999', '998'],
  );
});

test('while the database is away every response is a 503 with Retry-After and the rate limit headers', async () => {
  const { services } = service;
  const away = openDatabase(
    { connectionString: 'postgres://nobody@127.0.0.1:1/none' },
    { pool: 1, log: services.log },
  );
  const state = { isStopping: () => false };
  const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log: services.log });
  const server = await buildServer(
    { ...services, database: away, liveForms: openLiveForms(away), requestCounter },
    state,
  );
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  // A key that this process has just checked, and a new one that it must look up.
  await tenant.call('GET', '/forms');
  const unasked = await tenant.makeKey();
  for (const key of [tenant.key, unasked]) {
    const { status, headers, body } = await callApi(url, key, 'GET', '/forms');
    assert.deepEqual([status, body.error, body.retry_after], [503, 'service_unavailable', 1]);
    for (const name of ['retry-after', ...rateHeaders]) assert.match(headers.get(name) ?? '', /^\d+$/, name);
  }
  // More than an address may send without a key, because nothing can check the key.
  const { perMinute, burst } = anonymousRate;
  const many = await Promise.all(
    Array.from({ length: perMinute + burst }, () => callApi(url, unasked, 'GET', '/forms')),
  );
  assert.deepEqual([...new Set(many.map(({ status }) => status))], [503]);
  const page = await fetch(`${url}/f/${absent}`);
  assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '1']);
  assert.match(await page.text(), /<h1>Please try again in a moment<\/h1>/);
  server.server.closeAllConnections();
  await server.close();
});
