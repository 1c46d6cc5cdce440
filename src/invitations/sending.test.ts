import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryMail } from '#mail/endpoints.ts';
import { element } from '#test/ast/forms.ts';
import { openInvitations, queryOf } from '#test/invitations/open-invitations.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { unsubscribeUrl } from './admission.ts';
import { remindUnanswered, sendDueReminders } from './remind.ts';
import { unsubscribe } from './unsubscribe.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
});
const { services } = service;
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
let people = 0;
const someone = (): string => `person-${(people += 1)}@example.org`;

async function stage() {
  const form = await makeForm(tenant, [element('text', 'city')], { settings: { access: 'invited' } });
  const invitations = openInvitations(service, tenant, form.id);
  return {
    form,
    ...invitations,
    /** Waits until an invitation has this status. */
    reach: (id: string, status: string) =>
      until(`an invitation that is ${status}`, async () => {
        const found = await invitations.read(id);
        return found.status === status && found;
      }),
  };
}

test('an invitation is emailed with its own text and link, and is marked as sent when the mail server accepts it', async () => {
  const { inviteOne, reach } = await stage();
  const email = someone();
  const message = { subject: 'Dear {{name}}', message: 'Your number is {{customer}}.' };
  const person = { name: 'Ada Lovelace', reference: { customer: '17' } };
  const invitation = await inviteOne(email, person, message);
  const [taken] = await server.waitFor(email, 1);
  assert.equal(taken!.mail.subject, 'Dear Ada Lovelace');
  assert.equal(taken!.mail.to![0]!.name, 'Ada Lovelace');
  assert.match(taken!.mail.text!, /Your number is 17\./);
  assert.ok(taken!.mail.text!.includes(invitation.url) && taken!.mail.html!.includes('_invitation='));
  const sent = await reach(invitation.id, 'sent');
  assert.equal(typeof sent.sent_at, 'string');
});

test('a rejected address becomes bounced with the reply of the mail server, and can be emailed again on demand', async () => {
  const { inviteOne, reach, path } = await stage();
  const email = someone();
  server.treat(email, 'refuse recipient');
  const { id } = await inviteOne(email);
  const bounced = await reach(id, 'bounced');
  assert.match(bounced.mail_error!, /No such user/);
  assert.equal((await tenant.call('POST', `${path}/${id}/resend`)).status, 200);
  assert.equal((await reach(id, 'sent')).mail_error, null);
});

test('a person is invited once: in one request, in parallel requests, and in another spelling of the address', async () => {
  const { invite, list } = await stage();
  const email = someone();
  const first = await invite([email, email.toUpperCase(), 'Other@example.org']);
  assert.deepEqual(first.body.skipped, [{ index: 1, email: email.toUpperCase() }]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => invite([email, 'new@example.org'])));
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal(answers.flatMap(({ body }) => body.data).length, 1);
  assert.equal((await list()).pagination.total_count, 3);
});

test('an international address is stored as typed, emailed, and invited only once in all of its spellings', async () => {
  const { invite, reach } = await stage();
  const first = await invite(['jösé@bücher.example']);
  assert.deepEqual([first.status, first.body.data[0]!.email], [201, 'jösé@bücher.example']);
  const [mail] = await server.waitFor('jösé@bücher.example', 1);
  assert.match(mail!.raw, /^To: jösé@bücher\.example/m);
  await invite(['ada@bücher.example']);
  const [plain] = await server.waitFor('ada@bücher.example', 1);
  assert.match(plain!.raw, /^To: ada@xn--bcher-kva\.example/m);
  await reach(first.body.data[0]!.id, 'sent');
  const again = [
    'jösé@xn--bcher-kva.example',
    'JÖSÉ@BÜCHER.Example',
    'jo\u0308se\u0301@bu\u0308cher.example',
  ];
  const { body } = await invite(again);
  assert.deepEqual([body.data.length, body.skipped.length], [0, 3]);
});

test('a revoked address can be invited again, and the waiting email of the revoked invitation is not sent', async () => {
  const { inviteOne, path, read } = await stage();
  const email = someone();
  await server.goAway();
  const { id, url } = await inviteOne(email);
  await tenant.call('POST', `${path}/${id}/revoke`);
  const again = await inviteOne(email);
  assert.notEqual(again.id, id);
  await server.comeBack();
  assert.equal((await tenant.call('POST', `${path}/${id}/resend`)).status, 409);
  assert.equal((await read(id)).status, 'revoked');
  await tenant.call('POST', `${path}/${again.id}/resend`);
  await server.waitFor(email, 1);
  assert.ok(!server.taken.some(({ to, mail }) => to.includes(email) && mail.text!.includes(url)));
});

test('a reminder goes to people who have not answered, at most once an hour', async () => {
  const { form, inviteOne, reach, path, age, read } = await stage();
  const [quiet, answered] = [await inviteOne(someone()), await inviteOne(someone())];
  for (const { id } of [quiet, answered]) await reach(id, 'sent');
  await visitor.submit(form.id, { city: 'x' }, queryOf(answered));
  const remind = async () => (await tenant.call('POST', `${path}/reminders`, {})).body as object;
  assert.deepEqual(await remind(), { count: 0 });
  await age(quiet.id, 1);
  await age(answered.id, 1);
  const both = await Promise.all([remind(), remind()]);
  assert.deepEqual(
    both.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [{ count: 0 }, { count: 1 }],
  );
  const mails = await server.waitFor(quiet.email, 2);
  assert.match(mails[1]!.mail.subject!, /^Reminder: /);
  assert.equal((await read(quiet.id)).reminders, 1);
});

test('a person who received the invitation again within the hour gets no reminder', async () => {
  const { form, inviteOne, reach, path, age, read } = await stage();
  const { id, email } = await inviteOne(someone());
  await reach(id, 'sent');
  await age(id, 1);
  await tenant.call('POST', `${path}/${id}/resend`);
  await server.waitFor(email, 2);
  await until('the second mail to be noted', async () => {
    const { rows } = await services.database.query(
      `select state from mails where id = (select mail_id from invitations where id = $1)`,
      [id],
    );
    return rows[0].state === 'sent';
  });
  const remind = () =>
    remindUnanswered(services, { workspaceId: tenant.workspaceId, formId: form.id, accountId: null }, null);
  assert.equal(await remind(), 0);
  await age(id, 1);
  assert.equal(await remind(), 1);
  assert.equal((await read(id)).reminders, 1);
});

test('answers in the spam box count as answered: no email asks for them again', async () => {
  const { form, inviteOne, reach, path, age } = await stage();
  const invitation = await inviteOne(someone(), {}, { remind_after_days: [3] });
  await reach(invitation.id, 'sent');
  const query = queryOf(invitation);
  const spam = [['city', 'x'] as const, ['_website', 'https://spam.test'] as const];
  assert.equal((await visitor.post(form.id, spam, { query })).status, 303);
  assert.equal((await visitor.fetch(`/f/${form.id}${query}`)).status, 410);
  await age(invitation.id, 4);
  const place = { workspaceId: tenant.workspaceId, formId: form.id, accountId: null };
  assert.equal(await remindUnanswered(services, place, null), 0);
  await sendDueReminders(services);
  const { status, body } = await tenant.call('POST', `${path}/${invitation.id}/resend`);
  assert.deepEqual(
    [status, body.message],
    [409, 'This invitation was answered. The submission is in the spam box.'],
  );
  const { rowCount } = await services.database.query('select from mails where form_id = $1', [form.id]);
  assert.equal(rowCount, 1);
});

test('resending an invitation while its email waits sends one email, and revoking it sends none', async () => {
  const { form, inviteOne, path } = await stage();
  await server.goAway();
  const [kept, revoked] = [await inviteOne(someone()), await inviteOne(someone())];
  for (const { id } of [kept, revoked])
    assert.equal((await tenant.call('POST', `${path}/${id}/resend`)).status, 200);
  assert.equal((await tenant.call('POST', `${path}/${revoked.id}/revoke`)).status, 200);
  await server.comeBack();
  const { rows } = await services.database.query(
    `select recipient, count(*) filter (where state <> 'cancelled')::integer as leaving
       from mails where form_id = $1 group by recipient`,
    [form.id],
  );
  assert.deepEqual(
    new Map(rows.map(({ recipient, leaving }) => [recipient, leaving])),
    new Map([
      [kept.email, 1],
      [revoked.email, 0],
    ]),
  );
});

test('a failed email cannot be retried from the log after its address unsubscribed or its link was revoked', async () => {
  const { form, inviteOne, reach, path } = await stage();
  const failed = async () => {
    const email = someone();
    server.treat(email, 'refuse recipient');
    const { id } = await inviteOne(email);
    await reach(id, 'bounced');
    const { rows } = await services.database.query('select mail_id from invitations where id = $1', [id]);
    return { id, mailId: rows[0].mail_id as string };
  };
  const [kept, revoked, unsubscribed] = [await failed(), await failed(), await failed()];
  assert.equal((await tenant.call('POST', `${path}/${revoked.id}/revoke`)).status, 200);
  const link = unsubscribeUrl(
    { vault: services.vault, formUrl: '' },
    { workspaceId: tenant.workspaceId, id: unsubscribed.id, formId: form.id },
  );
  await unsubscribe(services, { formId: form.id, token: link.split('/').at(-1)! });
  const retry = ({ mailId }: { mailId: string }) =>
    retryMail(services, { workspaceId: tenant.workspaceId, id: mailId });
  await retry(kept);
  await reach(kept.id, 'sent');
  await assert.rejects(retry(revoked), /no longer needs it/);
  await assert.rejects(retry(unsubscribed), /no longer needs it/);
});

test('IDs in capital letters identify the same form and invitation', async () => {
  const { form, inviteOne, reach, path } = await stage();
  const { id, email } = await inviteOne(someone());
  await reach(id, 'sent');
  const loud = `/forms/${form.id.toUpperCase()}/invitations/${id.toUpperCase()}`;
  assert.equal((await tenant.call('GET', loud)).body.id, id);
  assert.equal((await tenant.call('POST', `${loud}/resend`)).status, 200);
  await server.waitFor(email, 2);
  const other = await stage();
  assert.equal((await tenant.call('POST', `${other.path}/${id}/resend`)).status, 404, path);
});

test('scheduled reminders are sent on their days, and stop when the form is answered', async () => {
  const { form, inviteOne, reach, age, read } = await stage();
  const message = { remind_after_days: [3, 7], reminder_subject: 'Still time, {{name|friend}}' };
  const [quiet, answered] = [
    await inviteOne(someone(), {}, message),
    await inviteOne(someone(), {}, message),
  ];
  for (const { id } of [quiet, answered]) await reach(id, 'sent');
  const context = { ...services, wakeQueue: services.wakeQueue };
  await sendDueReminders(context);
  assert.equal((await read(quiet.id)).reminders, 0);
  await visitor.submit(form.id, { city: 'x' }, queryOf(answered));
  for (const { id } of [quiet, answered]) await age(id, 4);
  await Promise.all([sendDueReminders(context), sendDueReminders(context)]);
  await sendDueReminders(context);
  const mails = await server.waitFor(quiet.email, 2);
  assert.equal(mails[1]!.mail.subject, 'Still time, friend');
  for (const { id } of [quiet, answered]) await age(id, 4);
  await sendDueReminders(context);
  await server.waitFor(quiet.email, 3);
  await age(quiet.id, 100);
  await sendDueReminders(context);
  assert.deepEqual([(await read(quiet.id)).reminders, (await read(answered.id)).reminders], [2, 0]);
});

test('one click unsubscribes an address from a workspace, a visit alone does not, and the unsubscribe link answers no form', async () => {
  const { inviteOne, reach, path, read, age, form } = await stage();
  const email = someone();
  const first = await inviteOne(email);
  const [taken] = await server.waitFor(email, 1);
  await reach(first.id, 'sent');
  const header = (name: string) => taken!.mail.headers.find(({ key }) => key === name)?.value;
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  const { pathname } = new URL(/<(.*)>/.exec(header('list-unsubscribe')!)![1]!);
  const page = await visitor.fetch(pathname, { headers: { 'Accept-Language': 'de' } });
  assert.match(page.text, /lang="de"[^]*E-Mails abbestellen/);
  assert.equal((await read(first.id)).is_unsubscribed, false);
  const token = pathname.split('/').at(-1)!;
  assert.equal((await visitor.fetch(`/f/${form.id}?_invitation=${token}`)).status, 404);
  const answering = new URL(first.url).searchParams.get('_invitation')!;
  assert.equal((await visitor.fetch(pathname.replace(token, answering))).status, 404);
  const oneClick = {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  };
  for (let times = 0; times < 2; times += 1)
    assert.equal((await visitor.fetch(pathname, oneClick)).status, 200);
  assert.equal((await read(first.id)).is_unsubscribed, true);
  await age(first.id, 5);
  assert.equal(
    await remindUnanswered(
      services,
      { workspaceId: tenant.workspaceId, formId: form.id, accountId: null },
      null,
    ),
    0,
  );
  assert.equal((await tenant.call('POST', `${path}/${first.id}/resend`)).status, 409);
  // Another form of the workspace still creates the invitation without an email; its link works.
  const other = await stage();
  const later = await other.inviteOne(email);
  assert.deepEqual([later.status, later.is_unsubscribed], ['pending', true]);
  assert.equal((await visitor.fetch(`/f/${other.form.id}${queryOf(later)}`)).status, 200);
  // The unsubscription does not apply to another workspace.
  const stranger = await service.makeTenant();
  const foreign = await makeForm(stranger, [element('text', 'city')]);
  const { id } = await openInvitations(service, stranger, foreign.id).inviteOne(email);
  await server.waitFor(email, 2);
  assert.equal(typeof id, 'string');
  assert.equal((await visitor.fetch(`${pathname.slice(0, -3)}xyz`, oneClick)).status, 404);
});
