import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callConsole, type ConsolePerson, signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const { url } = service;
const owner = await signIn(service, { name: 'Olga' });
const { workspaceId } = owner;
const admin = await signIn(service, { role: 'admin', workspaceId });
const path = `/workspaces/${workspaceId}/member-invitations`;
const password = 'a password of my own';

const invite = async (person: ConsolePerson, email: string, role = 'editor') =>
  person.call<{ id: string; link: string | null; error: string }>('POST', path, { email, role });

/** The token of the latest mail. */
async function tokenFor(email: string, known = 0): Promise<string> {
  const { mail } = await server.waitForOne(email, known);
  return /\/app\/join\/(\S+)/.exec(mail.text!)![1]!;
}

const open = (token: string) =>
  callConsole<Record<string, unknown>>(url, '', 'POST', '/joins/lookups', { token });
const joinNew = (token: string) =>
  callConsole<{ email: string; error: string }>(url, '', 'POST', '/joins/accounts', {
    token,
    name: 'Nora',
    password,
  });
const members = async (): Promise<{ email: string; role: string }[]> =>
  (await owner.call<{ data: { email: string; role: string }[] }>('GET', `/workspaces/${workspaceId}/members`))
    .body.data;

test('a person who is invited by mail makes an account and joins with the role, once', async () => {
  const { status, body } = await invite(admin, ' Nora@Example.org ');
  assert.deepEqual([status, body.link], [201, null], 'the link is in the mail alone');
  const token = await tokenFor('nora@example.org');
  assert.deepEqual((await open(token)).body, {
    workspace: 'Test',
    email: 'nora@example.org',
    role: 'editor',
    invited_by: admin.email.split('@')[0],
    has_account: false,
  });
  const joins = await Promise.all([joinNew(token), joinNew(token)]);
  assert.deepEqual(joins.map(({ status }) => status).toSorted(), [201, 410]);
  const nora = (await members()).find(({ email }) => email === 'nora@example.org');
  assert.equal(nora?.role, 'editor');
  const session = await callConsole(url, '', 'POST', '/session', { email: 'nora@example.org', password });
  assert.equal(session.status, 204);
  await until('owners and admins to be told', async () =>
    [owner, admin].every((keeper) =>
      server.taken.some(
        ({ to, mail }) => to[0] === keeper.email && mail.subject === 'New member of Test: Nora',
      ),
    ),
  );
});

test('a person who has an account joins with it, and nobody else does in their place', async () => {
  const known = await signIn(service);
  await invite(owner, known.email, 'owner');
  const token = await tokenFor(known.email);
  assert.equal((await open(token)).body['has_account'], true);
  assert.equal((await admin.call('POST', '/joins', { token })).status, 403);
  assert.equal((await joinNew(token)).status, 409, 'no second account for the address');
  assert.equal((await known.call('POST', '/joins', { token })).status, 200);
  assert.equal((await members()).find(({ email }) => email === known.email)?.role, 'owner');
  assert.equal((await known.call('POST', '/joins', { token })).status, 410);
});

test('a withdrawn invitation, one whose time is over, a replaced and a forged one lead nowhere', async () => {
  const { body } = await invite(owner, 'gone@example.org');
  const token = await tokenFor('gone@example.org');
  const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
  for (const wrong of [forged, '', 'x', token.replace(/^.{36}/, '00000000-0000-7000-8000-000000000000')]) {
    assert.equal((await open(wrong)).status, 410);
  }
  await service.services.database.query(`update member_invitations set expires_at = now() where id = $1`, [
    body.id,
  ]);
  assert.equal((await open(token)).status, 410);
  assert.equal((await joinNew(token)).status, 410);

  const again = await owner.call('POST', `${path}/${body.id}/mails`);
  assert.equal(again.status, 200);
  assert.equal(await tokenFor('gone@example.org', 1), token, 'the same link works again');
  assert.equal((await open(token)).status, 200);
  await invite(owner, 'gone@example.org', 'viewer');
  assert.equal((await open(token)).status, 410, 'a new invitation replaces the one before');
  const next = await tokenFor('gone@example.org', 2);
  const listed = await until('the invitation to be listed as sent', async () => {
    const { body } = await owner.call<{ data: { id: string; email: string; mail_state: string }[] }>(
      'GET',
      path,
    );
    return body.data.find(({ email, mail_state }) => email === 'gone@example.org' && mail_state === 'sent');
  });
  assert.equal((await owner.call('DELETE', `${path}/${listed.id}`)).status, 204);
  assert.equal((await open(next)).status, 410);
});

test('only an owner invites an owner; a member and what is no address are refused', async () => {
  assert.equal((await invite(admin, 'boss@example.org', 'owner')).status, 403);
  assert.equal((await invite(owner, admin.email)).status, 409);
  for (const wrong of ['nobody', 'a@b.test\r\nBcc: c@d.test', '']) {
    assert.equal((await invite(owner, wrong)).status, 422);
  }
});
