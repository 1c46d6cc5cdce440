import assert from 'node:assert/strict';
import dns from 'node:dns';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { openDnsServer, serverFailure, type Zone } from '#test/dns-server.ts';
import { type Body, callApi, openService } from '#test/service.ts';
import { fetchAt, makeForm } from '#test/visitor.ts';
import { webhookUserAgent } from '#webhooks/signature.ts';
import { addVerifiedDomain } from './domains.ts';

const service = await openService({ ALLOWED_HOSTS: 'intern.example.net' });
const zone: Zone = {};
dns.setServers([await openDnsServer(zone)]);

type Domain = Record<'id' | 'domain' | 'status' | 'record_name' | 'record_value', string> & {
  is_used: boolean;
};
/** The fields of the responses that these tests read. */
type Reply = Omit<Body, 'data'> &
  Domain & {
    url: string;
    form: { public_url: string };
    data: (Domain & { url: string; operation: string })[];
  };

/** Opens a workspace and returns a function that calls the API with every permission. */
async function open() {
  const tenant = await service.makeTenant();
  const key = await tenant.makeFullKey();
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await callApi(service.url, key, method, path, body);
    return { ...answer, body: answer.body as unknown as Reply };
  };
  return { tenant, call };
}
type Opened = Awaited<ReturnType<typeof open>>;

const newDomain = (): string => `forms-${newId().slice(-12)}.example.com`;

async function verify({ call }: Pick<Opened, 'call'>, domain = newDomain()): Promise<Domain> {
  const { body } = await call('POST', '/domains', { domain });
  zone[body.record_name] = { txt: ['another=record', body.record_value] };
  const verified = await call('POST', `/domains/${body.id}/verify`);
  assert.equal(verified.status, 200, JSON.stringify(verified.body));
  return verified.body;
}

test('a domain is pending until its TXT record exists', async () => {
  const { call } = await open();
  const created = await call('POST', '/domains', { domain: 'Bücher.example.org.' });
  assert.equal(created.status, 201);
  const { id, record_name, record_value } = created.body;
  assert.partialDeepStrictEqual(created.body, {
    domain: 'xn--bcher-kva.example.org',
    status: 'pending',
    record_name: '_formloom.xn--bcher-kva.example.org',
    is_used: false,
    verified_at: null,
  });
  assert.match(record_value, /^formloom-verification=[\w-]{43}$/);
  assert.deepEqual((await call('GET', '/domains')).body.data, [created.body]);

  const messages: string[] = [];
  for (const entry of [undefined, { txt: ['wrong'] }, { code: serverFailure }]) {
    if (entry) zone[record_name] = entry;
    const { status, body } = await call('POST', `/domains/${id}/verify`);
    assert.equal(status, 409);
    messages.push(body.message);
  }
  assert.deepEqual(messages, [
    `The TXT record ${record_name} was not found. New records can take up to an hour to appear.`,
    `The TXT record ${record_name} does not have the value ${record_value}.`,
    `DNS did not answer for ${record_name}. Try again later.`,
  ]);
  zone[record_name] = { txt: [record_value] };
  for (const _ of [1, 2])
    assert.partialDeepStrictEqual((await call('POST', `/domains/${id}/verify`)).body, {
      id,
      status: 'verified',
      is_used: true,
    });
  const { body: audit } = await call('GET', '/audit');
  const operations = audit.data.map(({ operation }) => operation);
  assert.ok(operations.includes('createDomain') && operations.includes('verifyDomain'));
});

test('what is not a domain, and the hosts of the service, are refused', async () => {
  const { call } = await open();
  const own = ['localhost', 'app.localhost', '127.0.0.1', 'intern.example.net'];
  for (const domain of ['https://a.com', 'a.com/x', 'a', 'a b.com', '*.a.com', 'a.com:80', '  ', ...own]) {
    const { status, body } = await call('POST', '/domains', { domain });
    assert.deepEqual([status, body.errors?.[0]?.field], [422, 'domain'], domain);
  }
  for (const body of [{}, { domain: 7 }, { domain: null }, { domain: 'a.com', more: 1 }])
    assert.equal((await call('POST', '/domains', body)).status, 422);
  const domain = newDomain();
  assert.equal((await call('POST', '/domains', { domain })).status, 201);
  const again = await call('POST', '/domains', { domain: domain.toUpperCase() });
  assert.deepEqual([again.status, again.body.errors[0]?.code], [409, 'duplicate']);
});

test('the operator can add a domain only to a workspace that exists', async () => {
  const adding = addVerifiedDomain(service.services, newId(), newDomain());
  await assert.rejects(adding, { code: 'not_found', message: 'This workspace does not exist.' });
});

test('a workspace has at most 20 domains', async () => {
  const { call } = await open();
  for (let count = 0; count < 20; count += 1)
    assert.equal((await call('POST', '/domains', { domain: newDomain() })).status, 201);
  const { status, body } = await call('POST', '/domains', { domain: newDomain() });
  assert.deepEqual([status, /at most 20 domains/.test(body.message)], [409, true]);
});

test('a pending domain blocks no other workspace; a verified one cannot be verified by another', async () => {
  const [first, second] = [await open(), await open()];
  const domain = newDomain();
  const pending = await first.call('POST', '/domains', { domain });
  const theirs = await verify(second, domain);
  assert.notEqual(pending.body.record_value, theirs.record_value);
  zone[pending.body.record_name] = { txt: [pending.body.record_value] };
  const refused = await first.call('POST', `/domains/${pending.body.id}/verify`);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [409, 'Another workspace of this service has verified this domain.'],
  );
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/verify'],
  ] as const)
    assert.equal((await first.call(method, `/domains/${theirs.id}${path}`)).status, 404);
  assert.equal((await second.call('DELETE', `/domains/${theirs.id}`)).status, 204);
  assert.equal((await first.call('POST', `/domains/${pending.body.id}/verify`)).status, 200);
});

test('domains need the permissions of the workspace by name', async () => {
  const { tenant } = await open();
  const statuses = async (key: string): Promise<number[]> => {
    const list = await callApi(service.url, key, 'GET', '/domains');
    const create = await callApi(service.url, key, 'POST', '/domains', { domain: newDomain() });
    return [list.status, create.status];
  };
  assert.deepEqual(await statuses(await tenant.makeKey()), [403, 403]);
  assert.deepEqual(await statuses(await tenant.makeKey(['workspace:read'])), [200, 403]);
  assert.deepEqual(await statuses(await tenant.makeKey(['workspace:write'])), [403, 201]);
});

async function makeBranded(of: Opened, settings: object = {}) {
  const { domain } = await verify(of);
  const form = await makeForm(of.tenant, [element('text', 'name')], { settings });
  return { domain, form };
}

test('public pages are served at a verified domain, and posts from them are our own', async () => {
  const slug = `own-${newId().slice(-12)}`;
  const { domain, form } = await makeBranded(await open(), { slug, editing: true, embed_origins: [] });
  assert.equal(form.public_url, `https://${domain}/f/${slug}`);
  for (const name of [slug, form.id]) {
    assert.equal((await fetchAt(service, domain, `/f/${name}`)).status, 200);
    assert.equal((await fetchAt(service, `${domain.toUpperCase()}.:8443`, `/f/${name}?a=b`)).status, 200);
  }
  const [, script] = /src="(\/f\/assets\/[^"]+)"/.exec((await fetchAt(service, domain, `/f/${slug}`)).text)!;
  assert.equal((await fetchAt(service, domain, script!)).status, 200);
  assert.equal((await fetchAt(service, domain, '/embed.js')).status, 200);
  const json = await fetchAt(service, domain, `/f/${slug}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: `http://${domain}` },
    body: JSON.stringify({ answers: { name: 'Ada' } }),
  });
  assert.equal(json.status, 201, json.text);
  assert.match(json.text, new RegExp(`"edit_url":"https://${domain}/f/${slug}/edit/`));
  const html = await fetchAt(service, domain, `/f/${form.id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: `http://${domain}` },
    body: 'name=Bo',
  });
  assert.equal(html.status, 303);
  const webhook = { method: 'POST', headers: { 'User-Agent': webhookUserAgent }, body: '{}' };
  assert.equal(
    (await fetchAt(service, domain, `/f/${form.id}`, webhook)).status,
    403,
    'which would be a loop',
  );
});

test('a domain serves no other form, no console and no API; other hosts stay refused', async () => {
  const [own, other] = [await open(), await open()];
  const { domain, form } = await makeBranded(own);
  const slug = `their-${newId().slice(-12)}`;
  const theirs = await makeForm(other.tenant, [element('text', 'name')], { settings: { slug } });
  for (const path of [`/f/${theirs.id}`, `/f/${slug}`, `/f/${theirs.id}/submitted`, '/f/none-such'])
    assert.equal((await fetchAt(service, domain, path)).status, 404, path);
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"answers":{}}' };
  assert.equal((await fetchAt(service, domain, `/f/${theirs.id}`, post)).status, 404);
  for (const path of [
    '/',
    '/app/',
    '/api/v1/forms',
    '/api/v1/openapi.json',
    '/app/api/session',
    '/healthz',
    '/mcp',
    '/fx',
  ])
    assert.equal((await fetchAt(service, domain, path)).status, 404, path);
  for (const host of [newDomain(), `x.${domain}`, 'a b'])
    assert.equal((await fetchAt(service, host, `/f/${form.id}`)).status, 400, host);
  const pending = newDomain();
  await own.call('POST', '/domains', { domain: pending });
  assert.equal((await fetchAt(service, pending, `/f/${form.id}`)).status, 400);
});

test('links use the first verified domain, and the host of the service without one', async () => {
  const own = await open();
  const { domain: first, form } = await makeBranded(own);
  const second = await verify(own);
  assert.equal(second.is_used, false);
  const share = (await own.call('POST', `/forms/${form.id}/shares`, {})).body;
  const invited = await own.call('POST', `/forms/${form.id}/invitations`, {
    invitations: [{ email: 'ada@example.org' }],
    send: false,
  });
  const copy = await own.call('GET', `/forms/${form.id}/draft`);
  for (const url of [share.url, invited.body.data[0]!.url, copy.body.form.public_url])
    assert.equal(new URL(url).origin, `https://${first}`, url);
  const { pathname, search } = new URL(invited.body.data[0]!.url);
  assert.equal((await fetchAt(service, first, `${pathname}${search}`)).status, 200);
  assert.equal((await fetchAt(service, first, new URL(share.url).pathname)).status, 200);
  const { body: domains } = await own.call('GET', '/domains');
  for (const { id, is_used } of domains.data)
    if (is_used) assert.equal((await own.call('DELETE', `/domains/${id}`)).status, 204);
  assert.equal((await fetchAt(service, first, `/f/${form.id}`)).status, 400);
  const url = async () => (await own.call('GET', `/forms/${form.id}/draft`)).body;
  assert.equal((await url()).form.public_url, `https://${second.domain}/f/${form.id}`);
  await own.call('DELETE', `/domains/${second.id}`);
  assert.equal((await url()).form.public_url, `${service.url}/f/${form.id}`);
});

test('the TLS check accepts verified domains and our own hosts, from any host', async () => {
  const own = await open();
  const { domain } = await verify(own);
  const pending = newDomain();
  await own.call('POST', '/domains', { domain: pending });
  const check = async (query: string, host = 'formloom:3000') =>
    (await fetchAt(service, host, `/internal/tls-check${query}`)).status;
  const names = [domain, domain.toUpperCase(), 'intern.example.net', pending, newDomain(), `x.${domain}`];
  const found = await Promise.all(names.map((name) => check(`?domain=${name}`)));
  assert.deepEqual(found, [200, 200, 200, 404, 404, 404]);
  for (const query of [
    '',
    '?domain=',
    '?domain=a',
    '?domain=a/b.com',
    '?domain=1.2.3.4',
    '?domain=a.com&domain=b.com',
  ])
    assert.equal(await check(query), 400, query);
  assert.equal(await check(`?domain=${domain}`, new URL(service.url).host), 200);
});

test('the domain of a closed workspace serves nothing, and is not free', async () => {
  const own = await open();
  const { domain, form } = await makeBranded(own);
  await own.tenant.database.query("update workspaces set ends_at = now() + interval '7 days' where id = $1", [
    own.tenant.workspaceId,
  ]);
  assert.equal((await fetchAt(service, domain, `/f/${form.id}`)).status, 400);
  assert.equal((await fetchAt(service, 'localhost', `/internal/tls-check?domain=${domain}`)).status, 404);
});
