import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, stepsOf } from '#test/ast/forms.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { callApi, openService, shareService } from '#test/service.ts';

/** `verify` of email elements: on the page without a script, over JSON, and after changes. */

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const tenant = await service.makeTenant();
const structure = stepsOf(
  { title: 'You' },
  [element('email', 'email', { verify: true, error_message: 'Enter a work address.' })],
  { title: 'More' },
  [element('text', 'name')],
);
const form = await publishForm(tenant, structure, { editing: true, locale: 'en' });

async function codeFor(address: string, known = 0): Promise<string> {
  const { mail } = await server.waitForOne(address, known);
  return /^(\d{6}) is your code for /.exec(mail.subject!)![1]!;
}
const otherCode = (code: string): string => (code === '000000' ? '000001' : '000000');
const asksForCode = ({ tags }: Paper): boolean =>
  tags.some(({ attrs }) => attrs['name'] === '_code[email]' && attrs['type'] === 'text');

async function post(path: string, body: object, id = form) {
  const response = await fetch(`${service.url}/f/${id}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Fills in the form without a script, and returns the page after the last step. */
async function submitOnPaper(address: string, path = `/f/${form}`): Promise<Paper> {
  const known = server.taken.filter(({ to }) => to.includes(address)).length;
  const asks = await (await openPaper(service, path)).press('next', { email: address });
  const code = await codeFor(address, known);
  const more = await asks.press('next', { '_code[email]': code });
  return more.press('submit', { name: 'Ada' });
}

test('the page asks for the code of an address before the next step', async () => {
  const first = await openPaper(service, `/f/${form}`);
  assert.equal(asksForCode(first), false);
  const asks = await first.press('next', { email: ' Ada@Example.test ' });
  assert.deepEqual([asks.status, asks.headings, asksForCode(asks)], [422, ['You'], true]);
  assert.match(asks.problems.join(), /Enter the six-digit code/);
  const code = await codeFor('ada@example.test');
  const wrong = await asks.press('next', { '_code[email]': otherCode(code) });
  assert.match(wrong.problems.join(), /This code is wrong or has expired\./);
  const more = await wrong.press('next', { '_code[email]': ` ${code} ` });
  assert.deepEqual([more.status, more.headings], [200, ['More']]);
  const { answers, metadata } = await submissionOf(tenant, await more.press('submit', { name: 'Ada' }));
  assert.equal(answers.email, 'Ada@Example.test');
  assert.ok(Math.abs(Date.parse(metadata.fields.email!.verified_at!) - Date.now()) < 60_000);
  assert.equal(metadata.fields.name!.verified_at, undefined);
});

test('a page sends one code until the visitor asks for another or changes the address', async () => {
  const asks = await (await openPaper(service, `/f/${form}`)).press('next', { email: 'once@example.test' });
  const again = await asks.press('next');
  assert.deepEqual([again.status, asksForCode(again)], [422, true]);
  const resent = await again.press('next', { _again: 'email' });
  const [sent] = [resent.values('_sent[email]')[0], await codeFor('once@example.test', 1)];
  assert.notEqual(sent, asks.values('_sent[email]')[0]);
  assert.equal(server.taken.filter(({ to }) => to.includes('once@example.test')).length, 2);
  const code = await codeFor('once@example.test');
  const changed = await asks.press('next', { email: 'else@example.test', '_code[email]': code });
  assert.equal(changed.status, 422);
  await codeFor('else@example.test');
});

test('a verified address that is changed needs a new code', async () => {
  const asks = await (await openPaper(service, `/f/${form}`)).press('next', { email: 'first@example.test' });
  const more = await asks.press('next', { '_code[email]': await codeFor('first@example.test') });
  const changed = await more.press('submit', { email: 'second@example.test' });
  assert.deepEqual([changed.status, changed.headings, asksForCode(changed)], [422, ['You'], true]);
});

test('an edit link needs a code only for a new address', async () => {
  const sent = await submitOnPaper('edit@example.test');
  const { id } = await submissionOf(tenant, sent);
  const edit = `/f/${form}/edit/${new URL(sent.location!, 'http://form').searchParams.get('edit')}`;
  const timeOf = async () =>
    (await tenant.call('GET', `/submissions/${id}`)).body.metadata.fields.email!.verified_at;
  const before = await timeOf();
  const more = await (await openPaper(service, edit)).press('next');
  assert.deepEqual(more.headings, ['More']);
  assert.equal((await more.press('submit', { name: 'Grace' })).status, 303);
  assert.equal(await timeOf(), before);
  assert.equal((await submitOnPaper('new@example.test', edit)).status, 303);
  assert.notEqual(await timeOf(), before);
  await tenant.call('PATCH', `/submissions/${id}`, { answers: { email: 'member@example.test' } });
  assert.equal(await timeOf(), undefined);
});

test('a program requests a code, exchanges it for a token, and submits the token', async () => {
  const email = 'json@example.test';
  const answers = { email };
  const refused = await post('', { answers });
  assert.equal(refused.status, 422);
  assert.deepEqual(
    refused.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['email', 'not_verified']],
  );
  const sent = await post('/verifications', { element: 'email', email });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  const { id } = sent.body;
  const code = await codeFor(email);
  const wrong = await post('/verifications', { element: 'email', email, id, code: otherCode(code) });
  assert.deepEqual([wrong.status, wrong.body.errors[0].code], [422, 'not_verified']);
  const other = await post('/verifications', { element: 'email', email: 'x@example.test', id, code });
  assert.equal(other.status, 422);
  const right = await post('/verifications', { element: 'email', email, id, code });
  assert.equal(right.status, 200);
  const verifications = { email: right.body.token };
  assert.equal((await post('', { answers: { email: 'x@example.test' }, verifications })).status, 422);
  assert.equal((await post('', { answers, verifications: { email: id } })).status, 422);
  const done = await post('', { answers, verifications });
  assert.equal(done.status, 201);
  const listed = (await tenant.call('GET', `/forms/${form}/submissions`)).body.data;
  const found = listed.find((each: { id: string }) => each.id === done.body.id)!;
  assert.ok(found.metadata.fields.email!.verified_at);
});

test('a code has five tries', async () => {
  const email = 'tries@example.test';
  const { id } = (await post('/verifications', { element: 'email', email })).body;
  const code = await codeFor(email);
  const statuses: number[] = [];
  for (const each of [...Array<string>(5).fill(otherCode(code)), code])
    statuses.push((await post('/verifications', { element: 'email', email, id, code: each })).status);
  assert.deepEqual(statuses, [422, 422, 422, 422, 422, 429]);
});

test('parallel tries of a code count, and an element can have the longest ID', async () => {
  const id = `e${'x'.repeat(127)}`;
  const long = await publishForm(tenant, stepsOf({}, [element('email', id, { verify: true })]));
  const target = { element: id, email: 'parallel@example.test' };
  const sent = await post('/verifications', target, long);
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  const code = otherCode(await codeFor(target.email));
  const tries = Array.from({ length: 12 }, () =>
    post('/verifications', { ...target, id: sent.body.id, code }, long),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [...Array<number>(5).fill(422), ...Array<number>(7).fill(429)]);
});

test('bad requests name their field', async () => {
  const problemOf = async (body: object) => {
    const { status, body: problem } = await post('/verifications', body);
    return [status, problem.errors?.[0].field];
  };
  assert.deepEqual(await problemOf({ element: 'name', email: 'a@example.test' }), [422, 'element']);
  assert.deepEqual(await problemOf({ element: 'email', email: 'a@example' }), [422, 'email']);
  assert.deepEqual(await problemOf({ element: 'email' }), [422, 'email']);
  assert.deepEqual(await problemOf({ element: 'email', email: 'a@example.test', x: 1 }), [422, 'x']);
  assert.deepEqual(await problemOf({ element: 'email', email: 'a@example.test', code: '123456' }), [
    422,
    'code',
  ]);
  const html = await fetch(`${service.url}/f/${form}/verifications`, {
    method: 'POST',
    body: new URLSearchParams({ element: 'email', email: 'a@example.test' }),
  });
  assert.deepEqual(
    [html.status, ((await html.json()) as { error: string }).error],
    [415, 'unsupported_media_type'],
  );
  const { status, body } = await post('', { answers: {}, verifications: ['x'] });
  assert.deepEqual([status, body.errors[0].field], [422, 'verifications']);
});

test('a caller of the API needs no code, and the address is then not verified', async () => {
  const { status, body } = await tenant.call('POST', `/forms/${form}/submissions`, {
    answers: { email: 'api@example.test' },
  });
  assert.equal(status, 201);
  assert.equal(body.metadata.fields.email!.verified_at, undefined);
});

test('members cannot read a code in the log of emails', async () => {
  const email = 'logged@example.test';
  await post('/verifications', { element: 'email', email });
  const code = await codeFor(email);
  const key = await tenant.makeFullKey();
  const { data } = (await callApi(service.url, key, 'GET', '/mails')).body;
  const { subject } = data.find(
    (each) => (each as unknown as { recipient: string }).recipient === email,
  )! as unknown as { subject: string };
  assert.match(subject, /^•{6} is your code for /);
  assert.ok(!JSON.stringify(data).includes(code));
});

test('publishing warns if the server sends no emails', async () => {
  const mute = await (await shareService()).makeTenant();
  for (const [owner, rules] of [
    [tenant, []],
    [mute, ['unverifiable']],
  ] as const) {
    const made = await owner.call('POST', '/forms', { structure });
    const tried = await owner.call('POST', `/forms/${made.body.id}/publish?dry_run=true`, {});
    const { warnings } = tried.body.dry_run as { warnings: { rule: string; path: number[] }[] };
    assert.deepEqual(
      warnings.map(({ rule }) => rule),
      rules,
    );
  }
});

test('verify is not allowed in a repeatable group', async () => {
  const group = {
    type: 'composite',
    attrs: { id: 'team', label: 'Team', repeatable: true },
    children: [element('email', 'member', { verify: true })],
  };
  const { status, body } = await tenant.call('POST', '/forms', { structure: stepsOf({}, [group]) });
  assert.equal(status, 422);
  assert.match(JSON.stringify(body), /"verify\\" of/);
});

test('an address gets at most ten codes a day', async () => {
  const request = () => post('/verifications', { element: 'email', email: 'many@example.test' });
  for (let each = 0; each < 10; each += 1) assert.equal((await request()).status, 201);
  const { status, body } = await request();
  assert.deepEqual([status, body.message], [429, 'This address has received too many codes today.']);
});

test('the Enter key in the code of a form with one step submits, and does not send another code', async () => {
  const single = await publishForm(tenant, stepsOf({}, [element('email', 'email', { verify: true })]));
  const asks = await (await openPaper(service, `/f/${single}`)).press('submit', {
    email: 'enter@example.test',
  });
  const first = asks.tags.find(({ tag, attrs }) => tag === 'button' && attrs['type'] === 'submit')!;
  assert.deepEqual([first.attrs['name'], first.attrs['value']], ['_go', 'submit']);
});
