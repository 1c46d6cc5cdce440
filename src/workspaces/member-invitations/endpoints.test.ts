import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConsolePerson, callConsole, signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';
import { createUser } from '../accounts/users.ts';
import { signMemberInvitationToken } from './accept.ts';

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
const path = '/members/invitations';
const password = 'a password of my own';

const invite = async (person: ConsolePerson, email: string, role = 'editor') =>
  person.api<{ id: string; link: string | null; error: string }>('POST', '/members', { email, role });

/** Returns the token of the latest email to an address. */
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
  (await owner.api<{ data: { email: string; role: string }[] }>('GET', '/members')).body.data;

test('an invited person creates an account from the email and joins with the role, only once', async () => {
  const { status, body } = await invite(admin, ' Nora@Example.org ');
  assert.deepEqual([status, body.link], [201, null], 'the link is in the mail alone');
  const token = await tokenFor('nora@example.org');
  assert.deepEqual((await open(token)).body, {
    workspace: 'Test',
    email: 'nora@example.org',
    role: 'editor',
    invited_by: admin.email.split('@')[0],
    way: 'choose_password',
  });
  const joins = await Promise.all([joinNew(token), joinNew(token)]);
  assert.deepEqual(joins.map(({ status }) => status).toSorted(), [201, 410]);
  const nora = (await members()).find(({ email }) => email === 'nora@example.org');
  assert.equal(nora?.role, 'editor');
  const session = await callConsole(url, '', 'POST', '/session', { email: 'nora@example.org', password });
  assert.equal(session.status, 204);
  await until('emails to owners and admins', async () =>
    [owner, admin].every((keeper) =>
      server.taken.some(
        ({ to, mail }) => to[0] === keeper.email && mail.subject === 'New member in Test: Nora',
      ),
    ),
  );
});

test('a person with an account joins with it, and no other person can use the invitation', async () => {
  const known = await signIn(service);
  await invite(owner, known.email, 'owner');
  const token = await tokenFor(known.email);
  assert.equal((await open(token)).body['way'], 'sign_in');
  assert.equal((await admin.call('POST', '/joins', { token })).status, 403);
  assert.equal((await joinNew(token)).status, 409, 'no second account for the address');
  assert.equal((await known.call('POST', '/joins', { token })).status, 200);
  assert.equal((await members()).find(({ email }) => email === known.email)?.role, 'owner');
  assert.equal((await known.call('POST', '/joins', { token })).status, 410);
});

test('a withdrawn, expired, replaced or forged invitation gives 410', async () => {
  const { body } = await invite(owner, 'gone@example.org');
  const token = await tokenFor('gone@example.org');
  const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
  for (const wrong of [forged, '', 'x', token.replace(/^.{36}/, '00000000-0000-7000-8000-000000000000')]) {
    assert.equal((await open(wrong)).status, 410);
  }
  const { database } = service.services;
  const endIn = (end: string) =>
    database.query(`update workspaces set ends_at = ${end} where id = $1`, [workspaceId]);
  await signIn(service);
  await endIn("now() + interval '1 day'");
  const whileItEnds = [(await open(token)).status, (await joinNew(token)).status];
  await endIn('null');
  assert.deepEqual(
    whileItEnds,
    [410, 410],
    'of a workspace that is being deleted, whatever others there are',
  );

  const other = await invite(owner, 'beside@example.org');
  const beside = await tokenFor('beside@example.org');
  await database.query(
    `update member_invitations set expires_at = now() - interval '1 s' where id = any ($1::uuid[])`,
    [[body.id, other.body.id]],
  );
  assert.equal((await open(token)).status, 410);
  assert.equal((await joinNew(token)).status, 410);

  const again = await owner.api('POST', `${path}/${body.id}/resend`);
  assert.equal(again.status, 200);
  assert.equal(await tokenFor('gone@example.org', 1), token, 'the same link works again');
  assert.equal((await open(token)).status, 200);
  assert.equal((await open(beside)).status, 410, 'which another one does not');
  await invite(owner, 'gone@example.org', 'viewer');
  assert.equal((await open(token)).status, 410, 'a new invitation replaces the one before');
  const next = await tokenFor('gone@example.org', 2);
  const listed = await until('the invitation to be listed as sent', async () => {
    const { body } = await owner.api<{ data: { id: string; email: string; mail_state: string }[] }>(
      'GET',
      path,
    );
    return body.data.find(({ email, mail_state }) => email === 'gone@example.org' && mail_state === 'sent');
  });
  const readStored = async () => {
    const { rows } = await database.query<{ id: string; mail_id: string }>(
      'select id, mail_id from member_invitations where id = any ($1::uuid[])',
      [[listed.id, other.body.id]],
    );
    return { ids: rows.map(({ id }) => id), mails: new Set(rows.map(({ mail_id: mail }) => mail)).size };
  };
  assert.equal((await readStored()).mails, 2, 'each has a mail of its own');
  assert.equal((await owner.api('DELETE', `${path}/${listed.id}`)).status, 204);
  assert.equal((await open(next)).status, 410);
  assert.deepEqual((await readStored()).ids, [other.body.id], 'which takes no other one away');
});

test('the owner of an email address gets an account that another person made for it, and that person is locked out', async () => {
  const email = 'taken@example.org';
  const { vault, database } = service.services;
  const { body } = await invite(owner, email);
  const handedOver = signMemberInvitationToken(vault, { workspaceId, id: body.id }, 'unconfirmed');
  assert.equal((await open(handedOver)).body['way'], 'either');
  assert.equal((await joinNew(handedOver)).status, 201);
  const squatter = await callConsole(url, '', 'POST', '/session', { email, password });
  const cookie = squatter.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');

  const other = await signIn(service, { name: 'Other' });
  await invite(other, email, 'viewer');
  const token = await tokenFor(email, 1);
  assert.equal((await open(token)).body['way'], 'choose_password');
  assert.equal((await callConsole(url, cookie, 'POST', '/joins', { token })).status, 403);
  const own = { token, name: 'Tara', password: 'chosen by Tara alone' };
  const weak = await callConsole(url, '', 'POST', '/joins/accounts', { ...own, password: email });
  assert.equal(weak.status, 422);
  assert.equal((await callConsole(url, '', 'POST', '/joins/accounts', own)).status, 201);
  assert.equal((await callConsole(url, cookie, 'GET', '/session')).status, 401);
  assert.equal((await callConsole(url, '', 'POST', '/session', { email, password })).status, 401);
  const { rows } = await database.query(
    'select count(*)::int as memberships, bool_and(email_verified) as sure from users join members on user_id = id where email = $1',
    [email],
  );
  assert.deepEqual(rows, [{ memberships: 2, sure: true }]);
});

test('a password reset by email confirms the address', async () => {
  const { database } = service.services;
  const email = 'unsure@example.org';
  await createUser(database, { email, password });
  await callConsole(url, '', 'POST', '/password-resets', { email });
  const { mail } = await server.waitForOne(email);
  const token = /\/app\/reset-password\/(\S+)/.exec(mail.text!)![1]!;
  const chosen = { token, password: 'the next password' };
  assert.equal((await callConsole(url, '', 'PUT', '/password-resets', chosen)).status, 200);
  const { rows } = await database.query('select email_verified from users where email = $1', [email]);
  assert.deepEqual(rows, [{ email_verified: true }]);
});

test('an admin cannot withdraw or replace the invitation of an owner', async () => {
  const email = 'next-owner@example.org';
  const { body } = await invite(owner, email, 'owner');
  assert.equal((await admin.api('DELETE', `${path}/${body.id}`)).status, 403);
  assert.equal((await admin.api('POST', `${path}/${body.id}/resend`)).status, 403);
  assert.equal((await invite(admin, email, 'viewer')).status, 403);
  const stranger = await signIn(service);
  assert.equal((await invite(stranger, 'else@example.org', 'owner')).status, 201);
  for (const other of ['else@example.org', 'another@example.org'])
    assert.equal((await invite(admin, other, 'viewer')).status, 201, 'it holds back no other invitation');
  assert.equal((await open(await tokenFor(email))).body['role'], 'owner');
  assert.equal((await owner.api('DELETE', `${path}/${body.id}`)).status, 204);
});

test('invitations are limited by inviter and by address, and names in their emails contain no links', async () => {
  const name = 'Click https://evil.example/x now, or call +49 30 1234567: you@evil.example';
  const attacker = await signIn(service, { name });
  await attacker.api('PATCH', '/workspace', { name: 'www.evil.example' });
  const ask = (email: string, person = attacker) => person.api('POST', '/members', { email, role: 'viewer' });
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => ask(`victim-${index}@example.org`)),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 20);
  const refused = answers.find(({ status }) => status === 429)!;
  assert.match(
    refused.body.message,
    /^You can invite up to 20 people per hour\. Try again in [\d,]+ seconds\.$/,
  );
  const { data: invitations } = (await attacker.api<{ data: { id: string }[] }>('GET', path)).body;
  assert.equal(invitations.length, 20);
  assert.equal(
    (await attacker.api('POST', `${path}/${invitations[0]!.id}/resend`)).status,
    429,
    'again is one more',
  );

  const sent = await until('a mail to a victim', async () =>
    server.taken.find(({ to }) => to[0]!.startsWith('victim-')),
  );
  assert.equal(sent.mail.subject, 'Click https evil example x now or call 4 invited you to www evil example');
  assert.doesNotMatch(sent.mail.text!.replaceAll(url, ''), /evil\.example|1234567/);

  const email = 'popular@example.org';
  const responses = [];
  for (let index = 0; index < 6; index += 1) responses.push(await ask(email, await signIn(service)));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 201, 201, 201, 201, 429],
  );
});

test('only an owner can invite an owner, and members and invalid addresses are refused', async () => {
  assert.equal((await invite(admin, 'boss@example.org', 'owner')).status, 403);
  assert.equal((await invite(owner, admin.email)).status, 409);
  for (const wrong of ['no address', 'hr@acme', 'a@b.test\r\nBcc: c@d.test', '']) {
    assert.equal((await invite(owner, wrong)).status, 422);
  }
});
