import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { callApi, openService } from '#test/service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
});
const owner = await signIn(service);

const leaf = (type: string, id: string) => ({ type, attrs: { id, label: `The ${id}` }, children: [] });
const structure = {
  type: 'form',
  attrs: { name: 'Booking' },
  children: [{ type: 'step', attrs: {}, children: [leaf('email', 'mail'), leaf('text', 'name')] }],
};
type Preview = { subject: string; reply_to: string | null; text: string; html: string };
const { body: form } = await owner.api<{ id: string }>('POST', '/forms', { structure });
const emails = `/forms/${form.id}/emails`;
const receipt = { kind: 'receipt', subject: 'For {{form_name}}', message: 'Hi **you**\n\n{{answers}}' };

test('a preview shows the email about a sample submission to the working copy', async () => {
  const { status, body } = await owner.api<Preview>('POST', `${emails}/preview`, {
    ...receipt,
    reply_to: { answer: 'mail' },
    attach_pdf: true,
  });
  assert.equal(status, 200);
  assert.equal(body.subject, 'For Booking');
  assert.match(body.reply_to!, /@/);
  assert.match(body.html, /<b>you<\/b>/);
  assert.match(body.text, /The name:\n {2}\S/);
  const standard = await owner.api<Preview>('POST', `${emails}/preview`, { kind: 'notification' });
  assert.equal(standard.body.subject, 'New submission: Booking');
  const structured = structuredClone(structure);
  structured.children[0]!.children.push(leaf('text', 'fresh'));
  await owner.api('PUT', `/forms/${form.id}/draft`, { structure: structured, settings: {} });
  const fresh = await owner.api<Preview>('POST', `${emails}/preview`, { ...receipt, message: '{{fresh}}' });
  assert.equal(fresh.status, 200);
  const wrong = await owner.api('POST', `${emails}/preview`, { ...receipt, message: '{{gone}}' });
  assert.equal(wrong.status, 422);
  assert.deepEqual(
    wrong.body.errors.map(({ field }) => field),
    ['message'],
  );
  for (const body of [{ kind: 'other' }, { ...receipt, attach_pdf: 'yes' }])
    assert.equal((await owner.api('POST', `${emails}/preview`, body)).status, 422);
});

test('a test goes to the address of its sender only, a few times a minute', async () => {
  const editor = await signIn(service, { workspaceId: owner.workspaceId, role: 'editor' });
  const { status, body } = await editor.api<{ to: string }>('POST', `${emails}/test`, receipt);
  assert.deepEqual([status, body], [202, { to: editor.email }]);
  const { mail } = await server.waitForOne(editor.email);
  assert.equal(mail.subject, 'Test: For Booking');
  const to = { ...receipt, to: 'victim@example.test' };
  assert.equal((await editor.api('POST', `${emails}/test`, to)).status, 422);
  const viewer = await signIn(service, { workspaceId: owner.workspaceId, role: 'viewer' });
  assert.equal((await viewer.api('POST', `${emails}/preview`, receipt)).status, 200);
  assert.equal((await viewer.api('POST', `${emails}/test`, receipt)).status, 403);
  const stranger = await signIn(service);
  assert.equal((await stranger.api('POST', `${emails}/test`, receipt)).status, 404);
  const { body: made } = await owner.api<{ key: string }>('POST', '/keys', { name: 'Mine' });
  const byKey = await callApi(service.url, made.key, 'POST', `${emails}/test`, receipt);
  assert.deepEqual([byKey.status, (byKey.body as unknown as { to: string }).to], [202, owner.email]);
  const statuses: number[] = [];
  for (let sent = 0; sent < 5; sent += 1)
    statuses.push((await owner.api('POST', `${emails}/test`, receipt)).status);
  assert.deepEqual(statuses, [202, 202, 202, 429, 429]);
});

test('the test of a key without a member goes to an owner, and without one there is none', async () => {
  const tenant = await service.makeTenant();
  const made = await tenant.call('POST', '/forms', { structure });
  const path = `/forms/${made.body.id}/emails/test`;
  assert.equal((await tenant.call('POST', path, receipt)).status, 409);
  const { email } = await signIn(service, { workspaceId: tenant.workspaceId });
  await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const sent = await tenant.call('POST', path, receipt);
  assert.deepEqual([sent.status, (sent.body as unknown as { to: string }).to], [202, email]);
});
