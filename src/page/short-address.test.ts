import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element, structure } from '#test/ast/forms.ts';
import { shareService, type Tenant } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();
const other = await service.makeTenant();

const newSlug = (): string => `party-${newId().slice(-12)}`;
const makeNamed = (slug: string, settings: object = {}, of: Tenant = tenant) =>
  makeForm(of, [element('text', 'name')], { settings: { slug, ...settings } });
const change = (id: string, settings: object, of: Tenant = tenant) =>
  of.call('PATCH', `/forms/${id}`, { settings });
const taken = {
  field: 'slug',
  message: '"slug" is already in use. Choose another short address.',
  code: 'duplicate',
};

test('a form opens at its short address in any case, at its ID, and public_url uses the short address', async () => {
  const slug = newSlug();
  const form = await makeNamed(slug);
  assert.equal(form.public_url, `${service.url}/f/${slug}`);
  const pages = await Promise.all(
    [slug, slug.toUpperCase(), form.id].map((name) => visitor.fetch(`/f/${name}`)),
  );
  for (const page of pages) assert.equal(page.status, 200);
  assert.match(pages[0]!.text, new RegExp(`action="/f/${slug}"`));
  assert.match(pages[2]!.text, new RegExp(`action="/f/${form.id}"`));
  assert.equal((await tenant.call('GET', `/forms/${form.id}/draft`)).status, 200);
});

test('JSON and HTML posts to a short address are accepted, also below /api/v1 and with files', async () => {
  const slug = newSlug();
  const form = await makeNamed(slug, { editing: true, save_progress: true });
  const json = await visitor.submit(slug, { name: 'Ada' });
  assert.equal(json.status, 201);
  assert.equal(json.body.form_id, form.id);
  assert.match(json.text, new RegExp(`"edit_url":"${service.url}/f/${slug}/edit/`));
  assert.equal((await visitor.post(slug, [['name', 'Bo']], asJson)).status, 201);
  const sent = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const body = JSON.stringify({ answers: { name: 'Cy' } });
  assert.equal((await visitor.fetch(`/api/v1/f/${slug}`, { ...sent, body })).status, 201);
  const { edit_url } = JSON.parse(json.text) as { edit_url: string };
  assert.equal((await visitor.fetch(new URL(edit_url).pathname)).status, 200);
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.submission_count, 3);
});

test('pages at a former short address redirect to the current one with their path and query; posts are accepted', async () => {
  const [first, second] = [newSlug(), newSlug()];
  const form = await makeNamed(first);
  assert.equal((await change(form.id, { slug: second })).status, 200);
  const moved = await visitor.fetch(`/f/${first.toUpperCase()}?source=poster`);
  assert.deepEqual([moved.status, moved.headers.get('location')], [302, `/f/${second}?source=poster`]);
  const encoded = await visitor.fetch(`/f/%70${first.slice(1)}?a=b`);
  assert.equal(encoded.headers.get('location'), `/f/${second}?a=b`);
  const deeper = await visitor.fetch(`/f/${first}/submitted?receipt=${form.id}`);
  assert.equal(deeper.headers.get('location'), `/f/${second}/submitted?receipt=${form.id}`);
  assert.equal((await visitor.submit(first, { name: 'Ada' })).status, 201);
  assert.equal((await change(form.id, { slug: null })).status, 200);
  assert.equal((await visitor.fetch(`/f/${second}`)).headers.get('location'), `/f/${form.id}`);
  assert.equal((await change(form.id, { slug: first })).status, 200);
  assert.equal((await visitor.fetch(`/f/${first}`)).status, 200);
  assert.equal((await visitor.fetch(`/f/${second}`)).headers.get('location'), `/f/${first}`);
});

test('a short address of another form is taken, also a former one, until that form is deleted', async () => {
  const [slug, next] = [newSlug(), newSlug()];
  const form = await makeNamed(slug);
  const rival = await makeForm(other, [element('text', 'name')]);
  const create = () => other.call('POST', '/forms', { structure: structure(), settings: { slug } });
  for (const answer of [await change(rival.id, { slug }, other), await create()]) {
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.body.errors, [taken]);
  }
  await change(form.id, { slug: next });
  assert.equal((await change(rival.id, { slug }, other)).status, 422);
  const dry = await other.call('PUT', `/forms/${rival.id}?dry_run=true`, {
    structure: rival.structure,
    settings: { slug },
  });
  assert.deepEqual((dry.body.dry_run as { problems: object[] }).problems, [taken]);
  assert.equal((await tenant.call('DELETE', `/forms/${form.id}`)).status, 204);
  for (let tries = 0; (await change(rival.id, { slug }, other)).status !== 200; tries += 1) {
    assert.ok(tries < 200, 'the form is removed');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal((await visitor.fetch(`/f/${slug}`)).status, 200);
});

test('of several forms that are saved with one short address at the same time, one gets it', async () => {
  const forms = await Promise.all(Array.from({ length: 6 }, () => makeForm(tenant, [element('text', 'a')])));
  const slug = newSlug();
  const answers = await Promise.all(forms.map(({ id }) => change(id, { slug })));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422, 422, 422, 422]);
  const same = await Promise.all([1, 2, 3].map(() => change(forms[0]!.id, { slug: `${slug}-own` })));
  assert.deepEqual(
    same.map(({ status }) => status),
    [200, 200, 200],
  );
});

test('a short address must have 3 to 64 letters, digits and hyphens, and not be an ID or a route', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const wrong = ['ab', 'a'.repeat(65), '-abc', 'abc-', 'Abc', 'a b', 'a/b', 'ä-bc', 'assets', 'fonts'];
  for (const slug of [...wrong, 'signed-in', newId(), '', 7, ['abc'], 'abc\n']) {
    const { status, body } = await change(form.id, { slug });
    assert.deepEqual([status, body.errors?.[0]?.field], [422, 'slug'], JSON.stringify(slug));
  }
  assert.equal((await change(form.id, { slug: `a${newSlug()}`.padEnd(64, 'x') })).status, 200);
});

test('copies and imports of a form have no short address', async () => {
  const slug = newSlug();
  const form = await makeNamed(slug, { closed_message: 'Closed.' });
  const exported = await tenant.call('GET', `/forms/${form.id}/export`);
  const copies = await Promise.all([
    tenant.call('POST', `/forms/${form.id}/duplicate`),
    tenant.call('POST', '/forms/import', exported.body),
  ]);
  for (const { status, body } of copies) {
    assert.equal(status, 201);
    const copy = await tenant.call('GET', `/forms/${body.id}`);
    assert.deepEqual(copy.body.settings, { access: 'public', closed_message: 'Closed.' });
  }
});

test('the password and the confirmation of a form stay at the short address', async () => {
  const slug = newSlug();
  await makeNamed(slug, { access: 'password', password: 'open sesame' });
  const asked = await visitor.fetch(`/f/${slug}`);
  assert.match(asked.text, new RegExp(`action="/f/${slug}/enter"`));
  const entered = await visitor.fetch(`/f/${slug}/enter`, {
    method: 'POST',
    body: new URLSearchParams({ _password: 'open sesame' }),
  });
  assert.equal(entered.headers.get('location'), `/f/${slug}`);
  const cookie = entered.headers.get('set-cookie')!;
  assert.match(cookie, new RegExp(`; Path=/f/${slug}; `));
  const headers = { Cookie: cookie.split(';')[0]! };
  const sent = await visitor.post(slug, [['name', 'Ada']], { headers });
  assert.match(sent.headers.get('location')!, new RegExp(`^/f/${slug}/submitted\\?`));
});

test('a former short address of a form that was never published leads nowhere', async () => {
  const [first, second] = [newSlug(), newSlug()];
  const draft = await makeForm(tenant, [element('text', 'a')], { settings: { slug: first }, publish: false });
  await change(draft.id, { slug: second });
  for (const name of [first, second, newSlug()])
    assert.equal((await visitor.fetch(`/f/${name}`)).status, 404, name);
});
