import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import type { SpamPage } from '#submissions/spam-endpoints.ts';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { shareService } from '#test/service.ts';
import { asJson, listFiles, loadPage, makeForm, openVisitor } from '#test/visitor.ts';
import { getPostSource } from './visit/screening.ts';

/* What pages of other sites may send, read and store, according to the list `embed_origins`. */

const service = await shareService();
const tenant = await service.makeTenant();
const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const visitor = openVisitor(service);
const site = 'https://shop.example';
const questions = [element('text', 'name', { required: true }), element('file_upload', 'cv')];

const publish = async (settings: object): Promise<string> =>
  (await makeForm(tenant, questions, { settings })).id;
const stored = async (form: string): Promise<unknown[]> =>
  (await tenant.call('GET', `/forms/${form}/submissions`)).body.data.map(({ answers }) => answers['name']);
const spamOf = async (form: string): Promise<SpamPage> =>
  (await editor.api<SpamPage>('GET', `/forms/${form}/spam`)).body;
const spamReasons = async (form: string): Promise<string[]> =>
  (await spamOf(form)).data.map(({ reason }) => reason);

/** Submits like a script on a page of the origin. */
const send = (form: string, origin: string, name: string) =>
  visitor.post(form, [['name', name]], { multipart: true, headers: { ...asJson.headers, Origin: origin } });
const preflight = (form: string, origin: string) =>
  visitor.fetch(`/f/${form}`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type',
    },
  });

const load = (form: string, headers: Record<string, string>, body: Record<string, string>) =>
  loadPage(service, form, { headers, body });

test('without a list, a page of any site submits and reads the response with its errors, regardless of the minimum time', async () => {
  const form = await publish({ min_seconds: 600 });
  const response = await preflight(form, site);
  assert.deepEqual(
    ['allow-origin', 'allow-methods', 'allow-headers'].map((name) =>
      response.headers.get(`access-control-${name}`),
    ),
    ['*', 'POST', 'Content-Type, Idempotency-Key'],
  );
  assert.equal(response.status, 204);
  const taken = await send(form, site, 'Ada');
  assert.deepEqual([taken.status, taken.headers.get('access-control-allow-origin')], [201, '*']);
  const wrong = await send(form, site, '');
  assert.deepEqual([wrong.status, wrong.headers.get('access-control-allow-origin')], [422, '*']);
  assert.equal((await visitor.submit(form, { name: 'through the API' })).status, 201);
  assert.equal(await load(form, { Origin: site }, { name: 'by a form' }), 303);
  assert.equal((await stored(form)).length, 3);
  assert.deepEqual(await spamReasons(form), []);
});

for (const [origin, isNamed] of [
  [site, true],
  ['https://a.b.shop.example', true],
  ['https://notshop.example', false],
  ['http://shop.example', false],
  ['https://shop.example.evil.test', false],
  ['null', false],
] as const) {
  test(`if a form allows a site and subdomains of another, ${origin} may ${isNamed ? '' : 'not '}submit`, async () => {
    const form = await publish({ embed_origins: [site, 'https://*.shop.example'], proof_of_work: true });
    const headers = { ...asJson.headers, Origin: origin, 'Sec-Fetch-Site': 'cross-site' };
    const file = new File(['bytes'], 'a.txt', { type: 'text/plain' });
    const before = await listFiles(service);
    const { status, headers: answered } = await visitor.post(
      form,
      [
        ['name', 'Ada'],
        ['cv', file],
      ],
      { headers },
    );
    const allowed = isNamed ? origin : null;
    assert.deepEqual([status, answered.get('access-control-allow-origin')], [isNamed ? 201 : 403, allowed]);
    const response = await visitor.fetch(`/f/${form}`, { method: 'OPTIONS', headers });
    assert.deepEqual(
      [response.status, response.headers.get('access-control-allow-origin')],
      [isNamed ? 204 : 403, allowed],
    );
    assert.equal((await stored(form)).length, isNamed ? 1 : 0);
    assert.deepEqual(await spamReasons(form), []);
    if (!isNamed) assert.deepEqual(await listFiles(service), before, 'nothing of it is kept');
  });
}

test("the form's own page can always submit, even if its browser sends no origin", async () => {
  const form = await publish({ embed_origins: [] });
  assert.equal((await send(form, service.url, 'Ada')).status, 201);
  assert.equal(await load(form, { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }, { name: 'Grace' }), 303);
  assert.equal((await stored(form)).length, 2);
});

const ours = 'https://forms.example';
const sent: readonly (readonly [
  what: string,
  headers: Record<string, string>,
  host: string,
  kind: string,
])[] = [
  ['from no browser', {}, 'forms.example', 'own'],
  [
    'without an origin, whatever else its headers say',
    { 'sec-fetch-site': 'cross-site' },
    'forms.example',
    'own',
  ],
  ['from its own page behind a proxy that asks by another name', { origin: ours }, 'inside:3000', 'own'],
  ['from its own page under another name', { origin: 'https://old.example' }, 'old.example', 'own'],
  ['that its browser calls its own', { origin: site, 'sec-fetch-site': 'same-origin' }, 'inside:3000', 'own'],
  ['of an origin that is kept back', { origin: 'null' }, 'forms.example', 'own'],
  [
    'of another site, which is kept back',
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    'forms.example',
    'null',
  ],
  ['of another site', { origin: site }, 'forms.example', site],
];
for (const [what, headers, host, from] of sent) {
  test(`a post ${what} counts as ${from === 'own' ? 'our own' : `that of ${from}`}`, () => {
    const source = getPostSource({ headers, host } as unknown as FastifyRequest, { embed_origins: [] }, ours);
    assert.equal(source.kind === 'own' ? 'own' : source.origin, from);
  });
}

test('a script of an unlisted site is rejected for every response format, and so is a page that asks for JSON', async () => {
  const form = await publish({ embed_origins: [] });
  for (const headers of [{ 'Sec-Fetch-Mode': 'cors' }, { Accept: 'application/json' }])
    assert.equal(await load(form, { Origin: site, ...headers }, { name: 'Ada' }), 403);
  assert.deepEqual(await spamReasons(form), []);
});

test('a site learns nothing about an unpublished draft, but can read that a published form was taken offline', async () => {
  const draft = await makeForm(tenant, questions, { publish: false, settings: { embed_origins: [] } });
  assert.equal((await send(draft.id, site, 'Ada')).status, 404);
  const { id, structure } = await makeForm(tenant, questions, { settings: { embed_origins: [site] } });
  await tenant.call('PUT', `/forms/${id}`, { structure, status: 'draft' });
  const gone = await send(id, site, 'Ada');
  assert.deepEqual([gone.status, gone.headers.get('access-control-allow-origin')], [410, site]);
});

test('page posts from an unlisted site go to spam, and one action allows the site and releases them', async () => {
  const form = await publish({ embed_origins: ['https://old.example'] });
  for (const name of ['Ada', 'Grace']) assert.equal(await load(form, { Origin: site }, { name }), 303);
  assert.equal(await load(form, { Origin: 'https://other.example' }, { name: 'Eve' }), 303);
  // A robot's post is spam because of its content, so its site is not offered for approval.
  const robot = { name: 'Bot', _website: 'https://spam.test' };
  assert.equal(await load(form, { Origin: 'https://spam.test' }, robot), 303);
  assert.deepEqual(await stored(form), []);
  assert.deepEqual((await spamOf(form)).sites, [
    { origin: site, count: 2 },
    { origin: 'https://other.example', count: 1 },
  ]);
  const { status, body } = await editor.api<{ count: number }>('POST', `/forms/${form}/spam/sites`, {
    origin: site,
  });
  assert.deepEqual([status, body.count], [200, 2]);
  assert.deepEqual((await stored(form)).toSorted(), ['Ada', 'Grace']);
  assert.equal((await spamOf(form)).pagination.total_count, 2);
  const { settings } = (await tenant.call('GET', `/forms/${form}`)).body;
  assert.deepEqual(settings['embed_origins'], ['https://old.example', site]);
  assert.equal((await send(form, site, 'Joan')).status, 201);
  const wrong = await editor.api('POST', `/forms/${form}/spam/sites`, {
    origin: 'https://x.example; script-src *',
  });
  assert.equal(wrong.status, 422);
});
