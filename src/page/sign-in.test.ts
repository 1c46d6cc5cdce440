import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, stepsOf } from '#test/ast/forms.ts';
import { openProvider, openProviderVisitor, type ProviderPerson, providerSettings } from '#test/provider.ts';
import { freePort, openService, until } from '#test/service.ts';
import { fetchAt } from '#test/visitor.ts';
import { addVerifiedDomain } from '#workspaces/domains.ts';

/* Tests respondents who sign in with an identity provider: a certified one in this process (oidc-provider). */

const port = await freePort();
const service = await openService({ TRUST_PROXY: '1', ...providerSettings(port) });
const { url, services } = service;
const provider = await openProvider(port, () => services.config.publicUrl);
const { visit, finish } = openProviderVisitor(service, provider);
const tenant = await service.makeTenant();

const ada = { sub: 'ada', email: 'Ada@example.org', email_verified: true, name: 'Ada Lovelace' };
const bob = { sub: 'bob', email: 'bob@example.org', email_verified: true };
const adaAsRespondent = { email: 'ada@example.org', name: 'Ada Lovelace', subject: 'ada' };

async function makeForm(settings: object = {}): Promise<string> {
  const made = await tenant.call('POST', '/forms', {
    structure: stepsOf({}, [element('text', 'city', { required: true })]),
    settings: { access: 'organisation', ...settings },
    publish: true,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

const get = (path: string, cookie = '') =>
  fetch(new URL(path, url), { redirect: 'manual', headers: { Cookie: cookie } });

const cookieIn = ({ headers }: Response): string => headers.getSetCookie()[0]!.split(';', 1)[0]!;

/** Opens the provider and returns its answer, with the state cookie of the browser. */
async function ask(person: ProviderPerson, path: string): Promise<{ answer: string; state: string }> {
  provider.person = person;
  const asked = await get(path);
  assert.equal(asked.status, 303, await asked.text());
  return { answer: await visit(asked.headers.get('location')!), state: cookieIn(asked) };
}

/** Signs a person in to a form and returns the response that leads back to it. */
async function signIn(person: ProviderPerson, form: string, query = ''): Promise<Response> {
  const { answer, state } = await ask(person, `/f/${form}/sign-in${query}`);
  const callback = await get(`/app/signed-in${answer}`);
  assert.equal(callback.status, 303);
  return get(callback.headers.get('location')!, state);
}

const send = (form: string, answers: object, cookie = '', headers: Record<string, string> = {}) =>
  fetch(`${url}/f/${form}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: cookie, ...headers },
    body: JSON.stringify({ answers }),
  });

const submissionsOf = async (form: string) =>
  (await tenant.call('GET', `/forms/${form}/submissions`)).body.data;

test('a visitor signs in without a script and returns to the form with a cookie for this form only', async () => {
  const form = await makeForm();
  const page = await get(`/f/${form}?city=Bonn`);
  assert.equal(page.status, 401);
  const text = await page.text();
  assert.match(text, /Sign in with Example/);
  assert.doesNotMatch(text, /name="city"/);
  const [, href] = /href="(\/f\/[^"]+\/sign-in[^"]*)"/.exec(text)!;
  const { answer, state } = await ask(ada, href!.replaceAll('&amp;', '&'));
  const callback = await get(`/app/signed-in${answer}`);
  const back = await get(callback.headers.get('location')!, state);
  assert.equal(back.status, 303);
  assert.equal(back.headers.get('location'), `/f/${form}?city=Bonn`);
  const [cookie] = back.headers.getSetCookie();
  assert.match(cookie!, new RegExp(`; Max-Age=43200; Path=/f/${form}; HttpOnly; SameSite=Lax$`));
  assert.doesNotMatch(decodeURIComponent(cookie!), /ada@/i);
  const open = await get(`/f/${form}?city=Bonn`, cookieIn(back));
  assert.equal(open.status, 200);
  assert.match(await open.text(), /value="Bonn"/);
  const other = await makeForm();
  const renamed = cookieIn(back).replace(form, other);
  assert.equal((await get(`/f/${other}`, renamed)).status, 401);
});

test('the cookie of a respondent is for the address of the form that they opened', async () => {
  await makeForm({ slug: 'members-only' });
  const back = await signIn(ada, 'members-only');
  assert.equal(back.headers.get('location'), '/f/members-only');
  assert.match(back.headers.getSetCookie()[0]!, /; Path=\/f\/members-only;/);
  assert.equal((await get('/f/members-only', cookieIn(back))).status, 200);
});

test("at a workspace's domain, the sign-in continues at the host of the service", async () => {
  const form = await makeForm();
  const { domain } = await addVerifiedDomain(services, tenant.workspaceId, 'members.example.com');
  const { status, headers } = await fetchAt(service, domain, `/f/${form}/sign-in?_next=/f/${form}`);
  assert.deepEqual([status, headers.location], [303, `${url}/f/${form}/sign-in?_next=/f/${form}`]);
});

test('respondents get no account and no session, and their sign-in does not sign a member in', async () => {
  const form = await makeForm();
  const people = async () => (await services.database.query('select from users')).rowCount;
  const before = await people();
  const back = await signIn(ada, form);
  assert.deepEqual(
    back.headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0]),
    [`formloom.respondent.${form}`],
  );
  assert.equal(await people(), before);
  const { answer, state } = await ask(ada, `/f/${form}/sign-in`);
  const [, sealed] = state.split(/=(.*)/);
  assert.equal((await finish(answer, `formloom.provider=${sealed}`)).status, 401);
});

test('only people in the allowed domains and answers from this browser are admitted', async () => {
  const form = await makeForm();
  for (const person of [
    { ...ada, email: 'ada@elsewhere.example' },
    { ...ada, email_verified: false },
    { sub: 'none', email: '' },
  ])
    assert.equal((await signIn(person, form)).status, 403, person.email);
  const { answer, state } = await ask(ada, `/f/${form}/sign-in`);
  for (const [given, cookie] of [
    [answer, ''],
    [answer, `${state}x`],
    [answer.replace(/state=form\.[^&]+/, 'state=form.other'), state],
    ['?error=access_denied&state=form.x', state],
  ] as const) {
    const refused = await get(`/f/signed-in${given}`, cookie);
    assert.deepEqual([refused.status, refused.headers.getSetCookie()], [401, []], given);
  }
  for (const next of [
    'https://evil.example/',
    `//evil.example/f/${form}`,
    'http://[',
    `/f/${form}/../x`,
    '/app/',
  ])
    assert.equal(
      (await signIn(ada, form, `?_next=${encodeURIComponent(next)}`)).headers.get('location'),
      `/f/${form}`,
    );
});

test('answers and uploads need the cookie, and the submission, its event and its export name the person', async () => {
  const form = await makeForm();
  const refused = await send(form, { city: 'Bonn' });
  assert.equal(refused.status, 401);
  assert.equal(((await refused.json()) as { error: string }).error, 'unauthorized');
  assert.equal((await send(form, { city: 'Bonn' }, `formloom.respondent.${form}=made-up`)).status, 401);
  const posted = await fetch(`${url}/f/${form}`, {
    method: 'POST',
    body: new URLSearchParams({ city: 'Bonn' }),
  });
  assert.equal(posted.status, 401);
  assert.equal((await fetch(`${url}/f/${form}/files`, { method: 'POST' })).status, 401);
  const cookie = cookieIn(await signIn(ada, form));
  // The feed records events from the first read on.
  await tenant.call('GET', '/events');
  assert.equal((await send(form, { city: 'Bonn' }, cookie)).status, 201);
  assert.equal((await send(form, { city: 'Ulm' }, cookie)).status, 201);
  const [latest] = await submissionsOf(form);
  const respondent = (metadata: object) => (metadata as { respondent?: object }).respondent;
  assert.deepEqual(respondent(latest!.metadata), adaAsRespondent);
  const byKey = await tenant.call('POST', `/forms/${form}/submissions`, { answers: { city: 'Jena' } });
  assert.equal(byKey.status, 201);
  assert.equal(respondent(byKey.body.metadata), undefined);
  const events = await tenant.call('GET', `/events?form_id=${form}`);
  const sent = events.body.data.map((event) => (event as unknown as { submission: object }).submission);
  assert.deepEqual(
    sent.map((submission) => (submission as { metadata?: object }).metadata),
    [{ respondent: adaAsRespondent }, { respondent: adaAsRespondent }, undefined],
  );
  const csv = await fetch(`${url}/api/v1/forms/${form}/submissions/export`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  const lines = (await csv.text()).split('\r\n');
  assert.match(lines[0]!, /,Reference,Respondent email,Respondent name$/);
  assert.match(lines[2]!, /,ada@example\.org,Ada Lovelace$/);
});

test('with one response per person, the second visit says so, and other people can still respond', async () => {
  const form = await makeForm({ one_per_respondent: true });
  const cookie = cookieIn(await signIn(ada, form));
  const results = await Promise.all(
    Array.from({ length: 5 }, (_, index) =>
      send(form, { city: `City ${index}` }, cookie, { 'Idempotency-Key': `own ${index}`.replace(' ', '-') }),
    ),
  );
  assert.deepEqual(results.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409]);
  assert.equal((await submissionsOf(form)).length, 1);
  const refused = await send(form, { city: 'City 9' }, cookie);
  assert.equal(
    ((await refused.json()) as { message: string }).message,
    'You have already responded to this form.',
  );
  // Another browser and another email address: the subject is the same.
  const later = cookieIn(await signIn({ ...ada, email: 'lovelace@example.org' }, form));
  const again = await get(`/f/${form}`, later);
  assert.equal(again.status, 410);
  assert.match(await again.text(), /Each person can respond to this form once/);
  const other = await fetch(`${url}/f/${form}`, {
    method: 'POST',
    headers: { Cookie: later },
    body: new URLSearchParams({ city: 'Köln' }),
  });
  assert.match(await other.text(), /Each person can respond to this form once/);
  assert.equal((await send(form, { city: 'Rom' }, cookieIn(await signIn(bob, form)))).status, 201);
  assert.deepEqual(
    (await submissionsOf(form)).map(({ metadata }) => (metadata as { respondent?: object }).respondent),
    [{ email: 'bob@example.org', name: 'bob', subject: 'bob' }, adaAsRespondent],
  );
});

test('an embedded page opens the form outside its frame to sign in', async () => {
  const form = await makeForm();
  const text = await (await get(`/f/${form}?_embed=1&_lang=de&source=x`)).text();
  const [link] = /<a [^>]*sign-in[^>]*>/.exec(text)!;
  assert.match(link, /target="_top"/);
  assert.doesNotMatch(link, /_embed/);
  assert.match(link, /source%3Dx/);
});

test('saved answers and answers in the spam box keep the person', async () => {
  const form = await makeForm({ save_progress: true, one_per_respondent: true });
  const cookie = cookieIn(await signIn(ada, form));
  const saved = await fetch(`${url}/f/${form}`, {
    method: 'POST',
    headers: { Cookie: cookie },
    body: new URLSearchParams({ city: 'Bonn', _go: 'save' }),
  });
  assert.equal(saved.status, 200, await saved.text());
  const [incomplete] = await submissionsOf(form);
  assert.equal(incomplete!.status, 'incomplete');
  assert.equal((await send(form, { city: 'Ulm' }, cookie)).status, 201);
  const [completed, ...more] = await submissionsOf(form);
  assert.deepEqual([completed!.id, completed!.status, more], [incomplete!.id, 'completed', []]);
  assert.deepEqual((completed!.metadata as { respondent?: object }).respondent, adaAsRespondent);

  const guarded = await makeForm({ proof_of_work: true });
  const entry = cookieIn(await signIn(ada, guarded));
  await send(guarded, { city: 'Bonn' }, entry);
  const spam = await tenant.call('GET', `/forms/${guarded}/spam`);
  const ids = spam.body.data.map(({ id }) => id);
  assert.equal(ids.length, 1);
  assert.equal((await tenant.call('POST', `/forms/${guarded}/spam/releases`, { ids })).status, 200);
  const [released] = await submissionsOf(guarded);
  assert.deepEqual((released!.metadata as { respondent?: object }).respondent, adaAsRespondent);
});

test('a person is found by the email of their sign-in, and erasing removes it', async () => {
  const form = await makeForm();
  const person = { sub: 'eve', email: 'eve.erased@example.org', email_verified: true, name: 'Eve' };
  await send(form, { city: 'Bonn' }, cookieIn(await signIn(person, form)));
  const key = await tenant.makeFullKey();
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, never>;
  };
  const found = await call('GET', `/people?q=${person.email}`);
  assert.match(JSON.stringify(found), /"Respondent"/);
  const erased = await call('POST', '/people/erasures', {
    q: person.email,
    what: 'identity',
  });
  await until('the person to be erased', async () => {
    const read = await call('GET', `/people/erasures/${String(erased['id'])}`);
    return read['finished_at'] !== null && read;
  });
  const [left] = await submissionsOf(form);
  assert.equal((left!.metadata as { respondent?: object }).respondent, undefined);
  const columns = await services.database.query('select from submissions where respondent::text like $1', [
    '%eve.erased%',
  ]);
  assert.equal(columns.rowCount, 0);
});

test('without an identity provider, the setting is rejected where it is saved', async () => {
  const plain = await openService();
  const owner = await plain.makeTenant();
  const call: typeof owner.call = (...request) => owner.call(...request);
  const structure = stepsOf({}, [element('text', 'city')]);
  const settings = { access: 'organisation' };
  const refused = await call('POST', '/forms', { structure, settings });
  assert.equal(refused.status, 422);
  assert.deepEqual(
    refused.body.errors.map(({ field, code }) => [field, code]),
    [['access', 'invalid_choice']],
  );
  const { id } = (await call('POST', '/forms', { structure, publish: true })).body;
  assert.equal((await call('PATCH', `/forms/${id}`, { settings })).status, 422);
  assert.equal((await call('PUT', `/forms/${id}/draft`, { structure, settings })).status, 422);
  const judged = await call('POST', '/forms/validate', { structure, settings });
  assert.match(JSON.stringify(judged.body), /OIDC_ISSUER/);
  // The provider was removed after the setting was saved, so no visitor can respond.
  await plain.services.database.query(
    `update forms set settings = settings || '{"access": "organisation"}' where id = $1`,
    [id],
  );
  const page = await fetch(`${plain.url}/f/${id}`);
  assert.equal(page.status, 401);
});
