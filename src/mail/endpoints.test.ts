import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Static } from 'typebox';
import { signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';
import type { LoggedMail, MailLog, MailStatus } from './shapes.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
});
const owner = await signIn(service);
const stranger = await signIn(service);
type Log = Static<typeof MailLog>;

const log = async (query = ''): Promise<LoggedMail[]> =>
  (await owner.api<Log>('GET', `/mails${query}`)).body.data;
const invite = (email: string) => owner.api('POST', '/members', { email, role: 'viewer' });
const settled = (email: string): Promise<LoggedMail> =>
  until(`the mail to ${email} to be settled`, async () =>
    (await log()).find(({ recipient, state }) => recipient === email && state !== 'queued'),
  );

test('the log shows the result of each email with its reason, and a failed email can be retried', async () => {
  server.treat('refused@example.org', 'refuse recipient');
  await invite('refused@example.org');
  const failed = await settled('refused@example.org');
  assert.deepEqual(
    [failed.kind, failed.state, failed.attempts, failed.subject],
    ['member_invitation', 'failed', 1, `${owner.email.split('@')[0]} invited you to Test`],
  );
  assert.match(failed.error!, /^The mail server rejected the recipient: 550 5\.1\.1 No such user/);

  const retry = `/mails/${failed.id}/retry`;
  assert.equal((await stranger.api('POST', retry)).status, 404, 'not in the log of another workspace');
  const answers = await Promise.all([owner.api('POST', retry), owner.api('POST', retry)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409]);
  const { mail } = await server.waitForOne('refused@example.org');
  assert.equal(mail.messageId, `<${failed.id}@formloom.test>`);
  const sent = await settled('refused@example.org');
  assert.deepEqual([sent.state, sent.attempts, sent.error], ['sent', 2, null]);
  assert.deepEqual((await owner.api('GET', `/mails/${failed.id}`)).body, sent);
});

test('the log can be filtered by state, and shows counts', async () => {
  server.treat('bad@example.org', 'refuse recipient');
  await invite('bad@example.org');
  await settled('bad@example.org');
  assert.deepEqual(
    (await log('?state=failed')).map(({ recipient }) => recipient),
    ['bad@example.org'],
  );
  const { body } = await owner.api<MailStatus>('GET', '/mail');
  assert.deepEqual(
    [body.is_on, body.from, body.per_minute, body.counts.failed],
    [true, 'forms@formloom.test', 60_000, 1],
  );
  const pages = await owner.api<Log>('GET', '/mails?per_page=1&page=2');
  assert.equal(pages.body.data.length, 1);
  assert.equal(pages.body.pagination.total_count, (await log()).length);
  assert.equal((await owner.api('GET', '/mails?state=lost')).status, 400);
});

test('a test email immediately returns the reply of the mail server', async () => {
  const send = (to: string) => owner.api<{ sent: boolean; result: string }>('POST', '/mail/test', { to });
  assert.deepEqual((await send('Ada <test@example.org>')).body, {
    sent: true,
    result: 'The mail server accepted the email: 250 Accepted',
  });
  server.treat('wrong@example.org', 'refuse recipient');
  const { sent, result } = (await send('wrong@example.org')).body;
  assert.equal(sent, false);
  assert.match(result, /550 5\.1\.1 No such user/);
  assert.equal((await send('not-an-address')).status, 422);
  await server.goAway();
  assert.match((await send('test@example.org')).body.result, /^The mail server cannot be reached: /);
  await server.comeBack();
  await send('test@example.org');
  await send('test@example.org');
  assert.equal((await send('test@example.org')).status, 429);
});

test('owners and admins are emailed about a new API key and a new secret', async () => {
  const admin = await signIn(service, { role: 'admin', workspaceId: owner.workspaceId });
  const editor = await signIn(service, { role: 'editor', workspaceId: owner.workspaceId });
  const key = await owner.api<{ id: string }>('POST', '/keys', { name: 'The <key>' });
  await owner.api('POST', `/keys/${key.body.id}/rotate`, { grace_hours: 0 });
  for (const subject of ['New API key in Test: The <key>', 'New secret for the API key in Test: The <key>']) {
    const mails = await until('an email to both', async () => {
      const found = server.taken.filter(({ mail }) => mail.subject === subject);
      return found.length >= 2 && found;
    });
    assert.deepEqual(mails.flatMap(({ to }) => to).toSorted(), [owner.email, admin.email].toSorted());
    assert.match(mails[0]!.mail.html!, /The &lt;key&gt;/);
    assert.match(mails[0]!.mail.text!, /\d [A-Z][a-z]+ \d{4} at \d\d:\d\d \(UTC\)/);
  }
  assert.equal(server.taken.filter(({ to }) => to.includes(editor.email)).length, 0);
});
