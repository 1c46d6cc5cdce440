import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { openInvitations, queryOf } from '#test/invitations/open-invitations.ts';
import { shareService } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';
import { linksFile } from './links-file.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const questions = [element('text', 'city'), element('text', 'note')];

async function stage(settings: object = {}) {
  const form = await makeForm(tenant, questions, { settings: { access: 'invited', ...settings } });
  return { form, ...openInvitations(service, tenant, form.id) };
}
const keyIn = (page: string): string => /name="_key" value="([^"]+)"/.exec(page)![1]!;

test('a form with invited access opens only through personal links', async () => {
  const { form, inviteOne } = await stage();
  const { id, url } = await inviteOne('ada@example.org');
  assert.equal((await visitor.fetch(`/f/${form.id}`)).status, 403);
  assert.equal((await visitor.submit(form.id, { city: 'x' })).status, 403);
  assert.equal((await visitor.fetch(new URL(url).pathname + new URL(url).search)).status, 200);
  const other = await stage();
  assert.equal((await visitor.fetch(`/f/${other.form.id}${queryOf({ url })}`)).status, 404);
  for (const guess of ['', 'x', id, randomBytes(32).toString('base64url')])
    assert.equal((await visitor.fetch(`/f/${form.id}?_invitation=${guess}`)).status, 404, guess);
});

test('an invitation goes from pending to opened, started and completed, and shows its submission', async () => {
  const { form, inviteOne, read, list } = await stage();
  const invitation = await inviteOne('ada@example.org', { name: 'Ada' });
  const query = queryOf(invitation);
  assert.equal(invitation.status, 'pending');
  const page = await visitor.fetch(`/f/${form.id}${query}`);
  const opened = await read(invitation.id);
  assert.deepEqual([opened.status, typeof opened.opened_at], ['opened', 'string']);
  const key = ['_key', keyIn(page.text)] as const;
  await visitor.post(form.id, [key, ['city', 'x\u0000y']], { query });
  assert.equal((await read(invitation.id)).status, 'started');
  const { status, body } = await visitor.post(form.id, [key, ['city', 'London']], { query, ...asJson });
  assert.equal(status, 201);
  const completed = await read(invitation.id);
  assert.deepEqual([completed.status, completed.submission_id], ['completed', body.id]);
  assert.deepEqual(
    [(await list('?status=completed')).data.length, (await list('?status=opened')).data.length],
    [1, 0],
  );
  assert.equal((await visitor.fetch(`/f/${form.id}${query}`)).status, 410);
});

test('of 20 parallel submits of one invitation with different idempotency keys, one is accepted', async () => {
  const { form, inviteOne } = await stage();
  const query = queryOf(await inviteOne('ada@example.org'));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      visitor.fetch(`/f/${form.id}${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `key-${index}` },
        body: JSON.stringify({ answers: { city: String(index) } }),
      }),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, ...Array.from({ length: 19 }, () => 409)],
  );
  const { body } = await tenant.call('GET', `/forms/${form.id}/submissions`);
  assert.equal(body.pagination.total_count, 1);
});

test('resending the same answers returns the same receipt, and sending different answers shows a page with 409', async () => {
  const { form, inviteOne } = await stage({ save_progress: true });
  const query = queryOf(await inviteOne('ada@example.org'));
  const first = await visitor.submit(form.id, { city: 'x' }, query);
  const again = await visitor.submit(form.id, { city: 'x' }, query);
  assert.deepEqual([again.status, again.body.id], [201, first.body.id]);
  for (const go of ['submit', 'save'] as const) {
    const parts = [
      ['city', 'y'],
      ['_go', go],
    ] as const;
    const other = await visitor.post(form.id, parts, { query });
    assert.equal(other.status, 409);
    assert.match(other.text, /already been answered and can be used only once/);
    assert.match(other.text, /value="y"/);
    assert.ok(!other.text.includes('Submit as a new response'));
  }
});

test('an invitation brings reference data and prefilled answers, and visitors cannot change the reference data', async () => {
  const { form, inviteOne } = await stage();
  const invitation = await inviteOne('ada@example.org', {
    reference: { customer: '17' },
    prefill: { city: 'London' },
  });
  const query = queryOf(invitation);
  const page = await visitor.fetch(`/f/${form.id}${query}&customer=18&from=ad`);
  assert.match(page.text, /value="London"/);
  assert.ok(!/customer=17/.test(page.text), 'reference data stays out of addresses');
  const { body } = await visitor.submit(form.id, { city: 'Paris' }, `${query}&customer=18&from=ad`);
  const submission = (await tenant.call('GET', `/submissions/${body.id}`)).body;
  assert.deepEqual(submission.metadata.reference, { customer: '17', from: 'ad' });
});

test('a revoked or expired link is rejected, even on a public form', async () => {
  const { form, inviteOne, path, age } = await stage({ access: 'public' });
  const [one, two] = [
    await inviteOne('ada@example.org'),
    await inviteOne('grace@example.org', {}, { expires_at: '2090-01-01T00:00:00Z' }),
  ];
  assert.equal((await tenant.call('POST', `${path}/${one.id}/revoke`)).status, 200);
  assert.equal((await visitor.fetch(`/f/${form.id}${queryOf(two)}`)).status, 200);
  await age(two.id, 40_000);
  for (const { url } of [one, two]) {
    assert.equal((await visitor.fetch(`/f/${form.id}${queryOf({ url })}`)).status, 404);
    assert.equal((await visitor.submit(form.id, { city: 'x' }, queryOf({ url }))).status, 404);
  }
  const file = linksFile(service.services, { workspaceId: tenant.workspaceId, formId: form.id });
  assert.equal(await text(file), 'email,name,status,link,expires_at\r\n', 'nor are they handed out');
});

test('an address is stored in its normalized form, and an invalid time is rejected', async () => {
  const { inviteOne, invite } = await stage();
  assert.equal((await inviteOne('<Ada@Example.org>')).email, 'Ada@example.org');
  const leap = await invite(['grace@example.org'], { expires_at: '2090-12-31T23:59:60Z' });
  assert.deepEqual([leap.status, leap.body.errors[0]!.field], [422, 'expires_at']);
});

test('saved answers of an invited person return when the link is opened again, and are completed under the invitation', async () => {
  const { form, inviteOne, read } = await stage({ save_progress: true });
  const invitation = await inviteOne('ada@example.org', { reference: { customer: '17' } });
  const query = queryOf(invitation);
  const key = ['_key', keyIn((await visitor.fetch(`/f/${form.id}${query}`)).text)] as const;
  const saved = await visitor.post(form.id, [key, ['city', 'Rome'], ['_go', 'save']], { query, ...asJson });
  assert.equal(saved.status, 200, saved.text);
  assert.equal((await read(invitation.id)).status, 'started');
  const again = await visitor.fetch(`/f/${form.id}${query}&_lang=de&_embed=1&ref=mail`);
  assert.equal(again.status, 303);
  const { searchParams } = new URL(again.headers.get('location')!, service.url);
  assert.deepEqual(
    [...searchParams],
    [...new URLSearchParams(query), ['_lang', 'de'], ['_embed', '1']],
    'the language and the frame stay',
  );
  const resumed = await visitor.fetch(again.headers.get('location')!);
  assert.match(resumed.text, /value="Rome"/);
  assert.match(resumed.text, /<html lang="de"/);
  assert.ok(!resumed.text.includes('customer=17'));
  const { body } = await visitor.post(
    form.id,
    [
      ['_key', keyIn(resumed.text)],
      ['city', 'Rome'],
    ],
    {
      query,
      ...asJson,
    },
  );
  const completed = await read(invitation.id);
  assert.deepEqual([completed.status, completed.submission_id], ['completed', body.id]);
  assert.deepEqual((await tenant.call('GET', `/submissions/${body.id}`)).body.metadata.reference, {
    customer: '17',
  });
});

test('only invited people can upload files before they submit the form', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'photo')], { settings: { access: 'invited' } });
  const { inviteOne } = openInvitations(service, tenant, form.id);
  const query = queryOf(await inviteOne('ada@example.org'));
  const send = (rest: string) => {
    const body = new FormData();
    body.append('photo', new File(['x'], 'x.txt'));
    return visitor.fetch(`/f/${form.id}/files${rest}`, {
      method: 'POST',
      body,
      headers: { Accept: 'application/json' },
    });
  };
  assert.equal((await send('')).status, 403);
  assert.equal((await send(query)).status, 201);
});

test('hostile text in addresses is rejected, and nothing breaks', async () => {
  const { form, list, invite, path } = await stage();
  assert.equal((await tenant.call('GET', `${path}?q=%00`)).status, 400);
  assert.ok([400, 404].includes((await visitor.fetch(`/f/${form.id}?_invitation=%00`)).status));
  assert.equal((await visitor.fetch(`/f/${form.id}/unsubscribe/%00`)).status, 404);
  const hostile = [
    'a@b.org\r\nBcc: c@d.org',
    'a@b.org,c@d.org',
    '<a@b.org>, <c@d.org>',
    '"a"@b.org\u0007',
    '@',
    'hr@acme',
    '',
  ];
  const { status, body } = await invite(hostile);
  assert.deepEqual([status, body.errors.length], [422, hostile.length]);
  const reserved = await invite([
    { email: 'a@b.org', reference: { _invitation: 'x', '': 'y' }, prefill: { nope: 'z' } },
  ]);
  assert.deepEqual([reserved.status, reserved.body.errors.length], [422, 3]);
  assert.equal((await list()).pagination.total_count, 0);
});

test('after permanent deletion of the submission, the invitation can be answered again', async () => {
  const { form, inviteOne, read } = await stage();
  const invitation = await inviteOne('ada@example.org');
  const { body } = await visitor.submit(form.id, { city: 'x' }, queryOf(invitation));
  await service.services.database.query('delete from submissions where id = $1', [body.id]);
  assert.equal((await read(invitation.id)).status, 'started');
  assert.equal((await visitor.submit(form.id, { city: 'y' }, queryOf(invitation))).status, 201);
});
